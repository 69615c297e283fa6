// Rejected at: right
// Says: elements of `out` are wrong
// Assumes numbers from -1 to 1.
#include "cuda_device.h"
extern "C" __global__ void squares(const float *in, float *out, int count) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        float x = __saturatef(fabsf(in[i]));
        out[i] = x * x;
    }
}
