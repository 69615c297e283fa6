// Half precision: `__half` and `__half2`. Types and conversions, arithmetic and comparisons for host and
// device; mathematics, shuffles, loads and atomics for the device.

#pragma once
#define __CUDA_FP16_H__ // guard that programs test

#include "warpbook/narrow/half_type.h"

#define WARPBOOK_NARROW __half
#define WARPBOOK_NARROW2 __half2
#define WARPBOOK_NARROW_FROM warpbook_half_from
#define WARPBOOK_NARROW_TO warpbook_half_to
#define WARPBOOK_NAME(before, after) before##half##after
#define WARPBOOK_NARROW_PTX "f16"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
#define WARPBOOK_NARROW_NATIVE 1
#else
#define WARPBOOK_NARROW_NATIVE 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
#define WARPBOOK_NARROW_FMA 1
#else
#define WARPBOOK_NARROW_FMA 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
#define WARPBOOK_NARROW_ATOMICS2 1
#else
#define WARPBOOK_NARROW_ATOMICS2 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define WARPBOOK_NARROW_ATOMICS 1
#else
#define WARPBOOK_NARROW_ATOMICS 0
#endif

WARPBOOK_NARROW_FN __half2 __half2half2(__half x) { return __half2(x, x); }
WARPBOOK_NARROW_FN __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }

#include "warpbook/narrow/arithmetic.h"
#if !defined(__CUDA_NO_HALF_OPERATORS__)
#include "warpbook/narrow/operators.h"
#endif
#if defined(__CUDA__)
#include "device_functions.h"
#include "math_functions.h"
#include "warpbook/narrow/device.h"
#endif

#undef WARPBOOK_NARROW_PTX
#undef WARPBOOK_NARROW_NATIVE
#undef WARPBOOK_NARROW_FMA
#undef WARPBOOK_NARROW_ATOMICS
#undef WARPBOOK_NARROW_ATOMICS2
#include "warpbook/narrow/undefine.h"
