// The kinetic energy of particles. A particle has eight fields; its energy takes four.
//
// `fill` puts all fields into memory, and `energies` reads some of them from there. Where
// a field lies is for `place` alone to say: it may be any place in `memory`, which has
// FIELDS floats a particle, for `count` particles rounded up to a multiple of 32.

#include "cuda_device.h"

#define FIELDS 8
enum Field { X, Y, Z, VX, VY, VZ, MASS, CHARGE };

// The index in `memory` of a field of a particle.
__device__ int place(int particle, int field, int count) {
    // An array for each field: neighbouring particles are neighbours in it.
    return field * count + particle;
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
