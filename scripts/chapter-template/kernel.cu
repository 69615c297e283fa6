// Multiplies a vector by a factor.
//
// Describe what the kernel shows, and why it is written this way.
//
//   scale    y = factor * x, element by element
//
// Name the note and the section that it follows.
// Run it:  cargo run -p new-chapter

#include "cuda_device.h"

// Threads past the end, in the last block, do nothing.
extern "C" __global__ void scale(const float *x, float factor, float *y, unsigned int count) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = factor * x[i];
}
