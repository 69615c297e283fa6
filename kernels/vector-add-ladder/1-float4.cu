// Rung 1: four sums per thread, with one vector load per operand and one vector store; up
// to three further threads compute the remaining sums.
//
// The same number of bytes is moved by a quarter of the requests. A thread of `add`
// requests 8 bytes and waits, and an SM cannot hold enough threads to keep the memory
// busy all the time. Here each thread requests 32 bytes before it waits, and a quarter
// of the threads is launched.
//
// Run it:  cargo run -p vector-add -- --variant float4

#include "cuda_device.h"

// ANCHOR: add_float4
extern "C" __global__ void add_float4(const float *a, const float *b, float *c,
                                      unsigned long long count) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long fours = count / 4;
    if (i < fours) {
        float4 x = ((const float4 *)a)[i];
        float4 y = ((const float4 *)b)[i];
        ((float4 *)c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else if (i - fours < count % 4) {
        i += 3 * fours;
        c[i] = a[i] + b[i];
    }
}
// ANCHOR_END: add_float4
