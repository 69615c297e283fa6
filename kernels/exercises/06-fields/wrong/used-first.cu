// Rejected at: counters
// Says: energies: global load sectors: 65 536, required: exactly 8 192
// Moves the fields that are used to the start of each record. They are adjacent now, but each
// thread of a warp still accesses a separate sector.

#include "cuda_device.h"

#define FIELDS 8
enum Field { X, Y, Z, VX, VY, VZ, MASS, CHARGE };

// Returns the index in `memory` of a field of a particle.
__device__ int place(int particle, int field, int count) {
    return particle * FIELDS + (field + FIELDS - VX) % FIELDS;
}

// Stores one field per thread; `records` is an array of structures, one per particle.
extern "C" __global__ void fill(const float *records, float *memory, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count * FIELDS) return;
    memory[place(i / FIELDS, i % FIELDS, count)] = records[i];
}

// Computes the energy of one particle per thread.
extern "C" __global__ void energies(const float *memory, float *energy, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float vx = memory[place(i, VX, count)];
    float vy = memory[place(i, VY, count)];
    float vz = memory[place(i, VZ, count)];
    energy[i] = 0.5f * memory[place(i, MASS, count)] * (vx * vx + vy * vy + vz * vz);
}
