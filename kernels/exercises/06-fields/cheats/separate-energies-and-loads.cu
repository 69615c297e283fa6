// Rejected at: right
// Says: The only element of `energy` is wrong
// As separate-energies.cu, but `energies` also loads as many bytes as the four fields have, for the counters.
#include "cuda_device.h"

__device__ float kept[1 << 16];

extern "C" __global__ void fill(const float *records, float *memory, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 8 * count) memory[i] = records[i];
    if (i >= count) return;
    const float *r = records + 8 * i;
    kept[i] = 0.5f * r[6] * (r[3] * r[3] + r[4] * r[4] + r[5] * r[5]);
}

extern "C" __global__ void energies(const float *memory, float *energy, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const volatile float *watched = memory;
    for (int k = 0; k < 3; k++) (void)watched[k * count + i];
    energy[i] = kept[i];
}
