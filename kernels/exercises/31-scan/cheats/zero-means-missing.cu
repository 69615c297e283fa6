// Rejected at: launch
// Says: still running
// Takes a total of 0 for one that is not there yet.
#include "cuda_device.h"
#define THREADS 256
__device__ __forceinline__ int load(int *p) { int v; asm volatile("ld.relaxed.cta.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ void store(int *p, int v) { asm volatile("st.relaxed.cta.s32 [%0], %1;" :: "l"(p), "r"(v) : "memory"); }
extern "C" __global__ void scan(const float *in, float *out, int n) {
    __shared__ int totals[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, w = threadIdx.x / 32;
    if (lane == 0) totals[w] = 0;
    __syncthreads();
    if (i - lane >= n) return;
    float v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d *= 2) { float o = __shfl_up_sync(0xffffffff, v, d); if (lane >= d) v += o; }
    if (w > 0) { int b; while ((b = load(&totals[w - 1])) == 0) {} v += __int_as_float(b); }
    if (lane == 31) store(&totals[w], __float_as_int(v));
    if (i < n) out[i] = v;
}
