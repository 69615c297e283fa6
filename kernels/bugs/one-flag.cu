// Every warp writes to one flag whether it has found something. The last warp to write
// decides, even if another warp had found something.

#include "cuda_device.h"

extern "C" __global__ void one_flag(const float *in, float limit, int *found) {
    __shared__ int flag;
    int t = threadIdx.x;
    int any = __any_sync(0xffffffff, in[blockIdx.x * blockDim.x + t] > limit);
    if (t % 32 == 0) {
        flag = any; // BUG: race
    }
    __syncthreads();
    if (t == 0) found[blockIdx.x] = flag;
}

extern "C" __global__ void one_flag_right(const float *in, float limit, int *found) {
    __shared__ int flag;
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    int any = __any_sync(0xffffffff, in[blockIdx.x * blockDim.x + t] > limit);
    if (t % 32 == 0) {
        atomicOr(&flag, any);
    }
    __syncthreads();
    if (t == 0) found[blockIdx.x] = flag;
}
