// CUDA's mathematics for the device: all functions of the single and double precision sections, the fast and the rounded
// ones, those of whole numbers, and C++'s overloads. The names and what they do are those of the CUDA Math API,
// and so are the largest errors: docs/results/mathematics.md has them, measured.
//
// It has to stand before any header of C++ (see mathematics/overloads.h).

#pragma once
#define __MATH_FUNCTIONS_H__ // programs ask for it

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

// Products and quotients of complex numbers, which clang calls as functions.
#pragma push_macro("__device__")
#undef __device__
#define __device__ __attribute__((device))
#include <__clang_cuda_complex_builtins.h>
#pragma pop_macro("__device__")

#endif
