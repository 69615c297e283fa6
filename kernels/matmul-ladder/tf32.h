// How the rungs on tensor cores make a float one of TF32.

#pragma once

#include "cuda_device.h"

// Half of what tensor cores cut off is added, so that they round; what they cut off may stay.
// A NaN can overflow into a zero by that. The larger of the two numbers, which is the same
// instruction on an H200, saves the one that CUDA makes, 0x7FFFFFFF, but none from 0xFFFFF000
// on. `cvt_rna_tf32` saves all, in three instructions, which cost a quarter of the speed.
__device__ __forceinline__ unsigned int rounded(unsigned int x) {
    return max((int)(x + 0x1000), (int)x);
}
