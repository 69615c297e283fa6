// What a CUDA toolkit's headers give a kernel, for a clang without the toolkit.
//
// nvcc, NVRTC, and clang with a toolkit bring their own: for them this file is
// empty. For others it is the part of kernels/include, which whole programs are
// compiled with, that a kernel needs and a compiler reads fast. Functions that
// need a newer GPU than the one that a kernel is compiled for are not there.

#pragma once

#if defined(__NVCC__) && !defined(__CUDACC_RTC__)
#include <assert.h>
#include <stdio.h>
#endif

#if defined(__clang__) && defined(__CUDA__) && !defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__)
#include "include/warpbook/kernel.h"
#endif
