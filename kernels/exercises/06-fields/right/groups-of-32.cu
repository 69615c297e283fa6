// Arrays of 32 for each field, one per group of particles: an array of structures of arrays.
#include "cuda_device.h"

enum Field { X, Y, Z, VX, VY, VZ, MASS, CHARGE };

__device__ int place(int particle, int field, int count) {
    return (particle / 32 * 8 + field) * 32 + particle % 32;
}

extern "C" __global__ void fill(const float *records, float *memory, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count * 8) return;
    memory[place(i / 8, i % 8, count)] = records[i];
}

extern "C" __global__ void energies(const float *memory, float *energy, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float vx = memory[place(i, VX, count)];
    float vy = memory[place(i, VY, count)];
    float vz = memory[place(i, VZ, count)];
    energy[i] = 0.5f * memory[place(i, MASS, count)] * (vx * vx + vy * vy + vz * vz);
}
