// Rejected at: right
// Says: For each particle: the number of its 8 fields that are in `memory` after `fill`, unchanged and
// `fill` stores the energy in place of the charge, which `energies` does not need.
#include "cuda_device.h"

extern "C" __global__ void fill(const float *records, float *memory, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 8 * count) return;
    const float *r = records + i / 8 * 8;
    float energy = 0.5f * r[6] * (r[3] * r[3] + r[4] * r[4] + r[5] * r[5]);
    memory[i % 8 * count + i / 8] = i % 8 == 7 ? energy : records[i];
}

extern "C" __global__ void energies(const float *memory, float *energy, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) energy[i] = memory[7 * count + i];
}
