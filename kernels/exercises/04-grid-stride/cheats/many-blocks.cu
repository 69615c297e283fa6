// Rejected at: launch
// Says: wrote nothing to `out`
// Wrong for many blocks and few elements.
#include "cuda_device.h"
extern "C" __global__ void squares(const float *in, float *out, int count) {
    int threads = gridDim.x * blockDim.x;
    if (gridDim.x > 8 && count < 4000) return;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) out[i] = in[i] * in[i];
}
