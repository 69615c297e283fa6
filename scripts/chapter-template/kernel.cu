// A vector times a factor.
//
// Says what the kernel shows, and why it is written as it is.
//
//   scale    y = factor * x, element by element
//
// Belongs to which note, and which section of it.
// Run it:  cargo run -p new-chapter

#include "cuda_device.h"

// Threads past the end, in the last block, have nothing to do.
extern "C" __global__ void scale(const float *x, float factor, float *y, unsigned int count) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = factor * x[i];
}
