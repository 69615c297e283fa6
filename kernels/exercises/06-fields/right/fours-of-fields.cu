// The four fields that are needed are adjacent, so one load reads all four floats.
#include "cuda_device.h"

extern "C" __global__ void fill(const float *records, float *memory, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count * 8) return;
    int particle = i / 8, field = i % 8;
    bool needed = field >= 3 && field <= 6;
    int others = field < 3 ? field : 3;
    memory[4 * particle + (needed ? field - 3 : 4 * count + others)] = records[i];
}

extern "C" __global__ void energies(const float *memory, float *energy, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float4 moving = ((const float4 *)memory)[i];
    float speed2 = moving.x * moving.x + moving.y * moving.y + moving.z * moving.z;
    energy[i] = 0.5f * moving.w * speed2;
}
