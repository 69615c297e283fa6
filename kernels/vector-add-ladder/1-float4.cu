// Rung 1: four sums a thread, loaded and stored by one instruction each; up to three
// threads more add what is left over.
//
// As many bytes by a quarter of the requests. A thread of `add` asks for 8 bytes and
// waits, and a multiprocessor cannot hold threads enough for the memory to be busy all
// the time. Here each thread asks for 32 before it waits, and a quarter of the threads
// have to be started.
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
