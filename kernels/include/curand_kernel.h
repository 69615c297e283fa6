// Random numbers in kernels: XORWOW, Philox and MRG32k3a, with the seeds, sequences and
// distributions of cuRAND's device functions.
//
// MTGP32, Sobol sequences and distributions given by a table are not implemented: their
// tables come from cuRAND's host library.

#pragma once
#define CURAND_KERNEL_H_ // guard that programs test

#if defined(__CUDA__)

#include "warpbook/random/distributions.h"
#include "warpbook/random/mrg32k3a.h"
#include "warpbook/random/philox.h"
#include "warpbook/random/poisson.h"
#include "warpbook/random/xorwow.h"

#endif
