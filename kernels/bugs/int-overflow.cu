// A thread's index in an `int`: it overflows and is negative from 2^31 on. A launch
// that large takes long, so this one runs only the last blocks of it: `window` holds
// the elements from `first` on.

#include "cuda_device.h"

extern "C" __global__ void int_overflow(float *window, long long first, long long n,
                                        unsigned int blocks_before) {
    int i = (blocks_before + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        window[i - first] *= 2.0f; // BUG: mem
    }
}

extern "C" __global__ void int_overflow_right(float *window, long long first, long long n,
                                              unsigned int blocks_before) {
    long long i = (long long)(blocks_before + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        window[i - first] *= 2.0f;
    }
}
