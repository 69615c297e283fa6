// Rejected at: launch
// Says: threads past the end that no `if (i < n)` keeps out
// Pads the records, which helps against bank conflicts in shared memory and not here;
// and the memory has no room for it.

#include "cuda_device.h"

#define FIELDS 8
enum Field { X, Y, Z, VX, VY, VZ, MASS, CHARGE };

// The index in `memory` of a field of a particle.
__device__ int place(int particle, int field, int count) {
    return particle * (FIELDS + 1) + field;
}

// A thread a field; `records` has particle after particle.
extern "C" __global__ void fill(const float *records, float *memory, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count * FIELDS) return;
    memory[place(i / FIELDS, i % FIELDS, count)] = records[i];
}

// A thread a particle.
extern "C" __global__ void energies(const float *memory, float *energy, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float vx = memory[place(i, VX, count)];
    float vy = memory[place(i, VY, count)];
    float vz = memory[place(i, VZ, count)];
    energy[i] = 0.5f * memory[place(i, MASS, count)] * (vx * vx + vy * vy + vz * vz);
}
