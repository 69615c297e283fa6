// Random numbers in a kernel: XORWOW and Philox, with the seeds, sequences and distributions of
// cuRAND's device functions.
//
// MRG32k3a, MTGP32, Sobol's sequences and Poisson's distribution are not here.

#pragma once

#if defined(__CUDA__)

#include "warpbook/random/distributions.h"
#include "warpbook/random/philox.h"
#include "warpbook/random/xorwow.h"

#endif
