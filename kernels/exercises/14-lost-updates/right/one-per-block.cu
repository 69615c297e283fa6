// A block counts with its barrier (`__syncthreads_count`).
#include "cuda_device.h"

__device__ unsigned int above;

extern "C" __global__ void __launch_bounds__(256) count_above(const float *values, float threshold,
                                                              int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int here = __syncthreads_count(i < count && values[i] > threshold);
    if (threadIdx.x == 0) atomicAdd(&above, (unsigned int)here);
}
