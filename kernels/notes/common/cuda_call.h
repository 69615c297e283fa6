// Support for the listings of the note "Chapter 4 - 内存", which include "cuda_call.h":
// cc(...) ends the program at the first CUDA error and reports its location.

#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define cc(call) cuda_call((call), #call, __FILE__, __LINE__)

inline void cuda_call(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
    exit(1);
}
