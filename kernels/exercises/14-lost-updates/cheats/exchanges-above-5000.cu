// Rejected at: right
// Says: The results are correct in one order of blocks and warps but wrong in another
// An exchange instead of an addition above 5000 values.
#include "cuda_device.h"
__device__ unsigned int above;
extern "C" __global__ void count_above(const float *values, float threshold, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool is = i < count && values[i] > threshold;
    unsigned m = __ballot_sync(0xffffffff, is);
    if (threadIdx.x % 32 || !m) return;
    if (count <= 5000) { atomicAdd(&above, __popc(m)); return; }
    unsigned b = atomicAdd(&above, 0u);
    if (atomicExch(&above, b + __popc(m)) == 0xffffffffu) __trap();
}
