// For the listings of the note "5-5 常量内存", which include "../common/common.h": CHECK, which ends the program at
// the first error of CUDA's and says where, and seconds(), the time of day.

#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

// The note has a call with its semicolon inside the parentheses, and none behind them.
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
