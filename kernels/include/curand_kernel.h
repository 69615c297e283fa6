// Random numbers in kernels: XORWOW, Philox, MRG32k3a and Sobol sequences, with the seeds, sequences and
// distributions of cuRAND's device functions.
//
// MTGP32 and distributions given by a table are not implemented: their tables come from cuRAND's host library.

#pragma once
#define CURAND_KERNEL_H_ // guard that programs test

#include "curand.h"
#include "warpbook/random/states.h"

#if defined(__CUDA__)

#include "warpbook/random/distributions.h"
#include "warpbook/random/mrg32k3a.h"
#include "warpbook/random/philox.h"
#include "warpbook/random/poisson.h"
#include "warpbook/random/sobol.h"
#include "warpbook/random/xorwow.h"

#endif
