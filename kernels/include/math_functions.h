// CUDA's mathematics for the device: all single and double precision functions, the fast and the
// explicitly rounded ones, integer functions, and C++'s overloads. Names and semantics are those of the
// CUDA Math API, and so are the maximum errors: docs/results/mathematics.md lists the measured ones.
//
// Must be included before any header of the C++ library (see mathematics/overloads.h).

#pragma once
#define __MATH_FUNCTIONS_H__ // guard that programs test

#if defined(__clang__) && defined(__CUDA__)

#include <__clang_cuda_math_forward_declares.h>

#include "mathematics/core.h"

#include "mathematics/bessel.h"
#include "mathematics/error.h"
#include "mathematics/exp.h"
#include "mathematics/gamma.h"
#include "mathematics/inverse_trigonometric.h"
#include "mathematics/light.h"
#include "mathematics/log.h"
#include "mathematics/pow.h"
#include "mathematics/remainders.h"
#include "mathematics/roots.h"
#include "mathematics/rounded.h"
#include "mathematics/trigonometric.h"
#include "mathematics/video.h"

#include "mathematics/overloads.h"

// Products and quotients of complex numbers, for which clang emits function calls.
#pragma push_macro("__device__")
#undef __device__
#define __device__ __attribute__((device))
#include <__clang_cuda_complex_builtins.h>
#pragma pop_macro("__device__")

#endif
