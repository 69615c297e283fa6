// Multiplies a vector by a factor.
//
// (Describe what the kernel demonstrates and the reasons for its design.)
//
//   scale    y = factor * x, element by element
//
// (Name the note and the section that the chapter follows.)
// Run:  cargo run -p new-chapter

#include "cuda_device.h"

// In the last block, threads past the end of the vector do nothing.
extern "C" __global__ void scale(const float *x, float factor, float *y, unsigned int count) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = factor * x[i];
}
