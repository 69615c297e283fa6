// Replaces the CUDA toolkit's headers for the kernels in this folder.
//
// Each `.ptx` file next to it was compiled from the `.cu` file of its name, in this folder, with
//   clang-14 -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_52 \
//     -Xclang -target-feature -Xclang +ptx64 -O3 -S -gline-tables-only \
//     -fdebug-prefix-map="$PWD"=. -fdebug-prefix-map="$(clang-14 -print-resource-dir)/include"=clang \
//     -fdebug-compilation-dir=. NAME.cu -o NAME.ptx
// and `lanes-debug.ptx` from `lanes.cu` with -O0 -g instead of -O3 -gline-tables-only.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __host__ __attribute__((host))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#include <__clang_cuda_builtin_vars.h>
extern "C" __device__ int vprintf(const char *, const void *);
extern "C" __device__ int printf(const char *, ...);
