// Rejected at: right
// Says: `kernel 0`: you predicted 200, which is wrong.
// Ignores that y is both read and written.
#include "cuda_device.h"

// 0  y[i] = a * x[i] + y[i], for 100 million i
// 1  the product of two matrices of 3000 x 3000: each of the three matrices is read or written once
// 2  the same product, but both factors of every multiplication are read from memory (and the result is
//    written once, which you neglect)
// 3  out[i] = the sum of 90 products w[k] * in[i + k], 90 multiplications and 90 additions, for 100 million
//    i: each in[i] is read once, each out[i] is written once
// 4  the sum of 1000 million floats
// 5  10 million pixels, each a float that takes 1000 iterations of 6 operations and is written once

extern "C" {
// Minimum time of each, in microseconds.
__device__ unsigned int microseconds[6] = {200, 900, 54000, 300, 1000, 1000};
// The roof that limits it: 1 is compute, 0 is memory.
__device__ unsigned int computes[6] = {0, 1, 0, 1, 0, 1};
}
