// Support for the listings of "CUDA by Example", which include "../common/book.h":
// HANDLE_ERROR and HANDLE_NULL end the program at the first error and report its location.

#pragma once

#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>

#define HANDLE_ERROR(call) handle_error((call), __FILE__, __LINE__)
#define HANDLE_NULL(pointer) handle_null((pointer), __FILE__, __LINE__)

inline void handle_error(cudaError_t error, const char *file, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
    exit(1);
}

inline void handle_null(const void *pointer, const char *file, int line)
{
    if (pointer)
        return;
    fprintf(stderr, "%s:%d: the host's memory is full\n", file, line);
    exit(1);
}
