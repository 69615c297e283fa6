// Each block has a contiguous range with coalesced accesses. A range need not start at a sector
// boundary, so a warp may access five sectors instead of four.
#include "cuda_device.h"

extern "C" __global__ void squares(const float *in, float *out, int count) {
    int chunk = (count + gridDim.x - 1) / gridDim.x;
    int end = min(count, (int)(blockIdx.x + 1) * chunk);
    for (int i = blockIdx.x * chunk + threadIdx.x; i < end; i += blockDim.x) out[i] = in[i] * in[i];
}
