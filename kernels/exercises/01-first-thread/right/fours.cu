// A quarter of the threads process four neighbours each; the sectors are the same.
#include "cuda_device.h"

extern "C" __global__ void __launch_bounds__(128) axpy(float a, const float *x, float *y,
                                                       unsigned int n) {
    unsigned int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 four = *(const float4 *)&x[i], sum = *(const float4 *)&y[i];
        *(float4 *)&y[i] = make_float4(a * four.x + sum.x, a * four.y + sum.y, a * four.z + sum.z,
                                       a * four.w + sum.w);
    } else {
        for (; i < n; i++) y[i] = a * x[i] + y[i];
    }
}
