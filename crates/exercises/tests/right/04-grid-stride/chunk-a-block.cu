// A stretch for each block, which its threads walk through side by side. The stretches need not begin
// where a sector does, so that a warp touches five sectors instead of four.
#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    int chunk = (count + gridDim.x - 1) / gridDim.x;
    int end = min(count, (int)(blockIdx.x + 1) * chunk);
    for (int i = blockIdx.x * chunk + threadIdx.x; i < end; i += blockDim.x) out[i] = in[i] * in[i];
}
