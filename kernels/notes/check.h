// Code shared by the notes' programs: the first CUDA error ends the program and reports its location.

#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call) check((call), #call, __FILE__, __LINE__)

inline void check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    exit(1);
}

// Prints whether all results are correct, and returns the program's exit status.
inline int verdict(const char *what, size_t wrong)
{
    if (wrong == 0)
        printf("%s: correct\n", what);
    else
        printf("%s: %zu wrong\n", what, wrong);
    return wrong != 0;
}
