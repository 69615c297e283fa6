// Conversion of floats to TF32 for the rungs on tensor cores.

#pragma once

#include "cuda_device.h"

// Returns `x` plus half of what tensor cores truncate, so that the truncation rounds. A NaN can
// overflow to zero in this addition. The maximum of the two numbers, in the same instruction on
// an H200, preserves the NaN that CUDA generates, 0x7FFFFFFF, but none from 0xFFFFF000 on.
// `cvt_rna_tf32` preserves all, in three instructions, which cost a quarter of the speed.
__device__ __forceinline__ unsigned int rounded(unsigned int x) {
    return max((int)(x + 0x1000), (int)x);
}
