// Support for the listings of the note "5-5 常量内存", which include "../common/common.h": CHECK ends
// the program at the first CUDA error and reports its location; seconds() returns the time of day.

#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

// The note puts a call's semicolon inside the parentheses, and none after them.
#define CHECK(call)                                                                                                  \
    {                                                                                                                \
        const cudaError_t error = call;                                                                              \
        if (error != cudaSuccess)                                                                                    \
        {                                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                           \
            exit(1);                                                                                                 \
        }                                                                                                            \
    }

inline double seconds()
{
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
