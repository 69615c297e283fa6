// Computes the kinetic energy of particles. A particle has eight fields; its energy depends on four.
//
// `fill` writes all fields to memory, and `energies` reads some of them from there.
// `place` alone decides where a field is stored: anywhere in `memory`, which has FIELDS
// floats per particle, for `count` particles rounded up to a multiple of 32.

#include "cuda_device.h"

#define FIELDS 8
enum Field { X, Y, Z, VX, VY, VZ, MASS, CHARGE };

// Returns the index in `memory` of a field of a particle.
__device__ int place(int particle, int field, int count) {
    // A structure of arrays: in each array, neighbouring particles are adjacent.
    return field * count + particle;
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
