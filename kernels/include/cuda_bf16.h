// Brain floating point: `__nv_bfloat16` and `__nv_bfloat162`. Types and conversions, arithmetic
// and comparisons for host and device; mathematics, shuffles, loads and atomics for the device.

#pragma once
#define __CUDA_BF16_H__ // guard that programs test

#include "warpbook/narrow/bfloat16_type.h"

#define WARPBOOK_NARROW __nv_bfloat16
#define WARPBOOK_NARROW2 __nv_bfloat162
#define WARPBOOK_NARROW_FROM warpbook_bfloat16_from
#define WARPBOOK_NARROW_TO warpbook_bfloat16_to
#define WARPBOOK_NAME(before, after) before##bfloat16##after
#define WARPBOOK_NARROW_PTX "bf16"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WARPBOOK_NARROW_NATIVE 1
#else
#define WARPBOOK_NARROW_NATIVE 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WARPBOOK_NARROW_FMA 1
#else
#define WARPBOOK_NARROW_FMA 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WARPBOOK_NARROW_ATOMICS2 1
#else
#define WARPBOOK_NARROW_ATOMICS2 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WARPBOOK_NARROW_ATOMICS 1
#else
#define WARPBOOK_NARROW_ATOMICS 0
#endif

WARPBOOK_NARROW_FN __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
WARPBOOK_NARROW_FN __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }

#include "warpbook/narrow/arithmetic.h"
#if !defined(__CUDA_NO_BFLOAT16_OPERATORS__)
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
