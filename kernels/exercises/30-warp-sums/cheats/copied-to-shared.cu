// Rejected at: counters
// Says: asynchronous copy
// Exchanges the numbers through shared memory, by asynchronous copies and `ldmatrix`.
#include "async_copy.h"
extern "C" __global__ void warp_sums(const float *in, float *sums, int n) {
    alignas(16) __shared__ float values[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x, w = t / 32;
    __pipeline_memcpy_async(&values[t], i < n ? in + i : in, 4, i < n ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    unsigned p = (unsigned)__cvta_generic_to_shared(&values[32 * w + t % 8 * 4]), bits;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(bits) : "r"(p) : "memory");
    float value = __uint_as_float(bits);
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
    if (t % 32 == 0 && i < n) sums[i / 32] = value;
}
