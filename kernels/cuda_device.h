// The parts of the CUDA toolkit's headers that a kernel needs, for a clang without the toolkit.
//
// nvcc, NVRTC, and clang with a toolkit bring their own, so this file is empty for them.
// For others it includes the part of kernels/include (the headers that whole programs are
// compiled with) that a kernel needs and that compiles fast. Functions that need a newer
// GPU than the target of the compilation are not declared.

#pragma once

#if defined(__NVCC__) && !defined(__CUDACC_RTC__)
#include <assert.h>
#include <stdio.h>
#endif

#if defined(__clang__) && defined(__CUDA__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include "include/warpbook/kernel.h"
#endif
