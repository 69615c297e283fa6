// Rung 5: a copy of the values in shared memory.
//
// In shared memory, scattered words cost no more than contiguous words as long as they are in
// different banks. Each block makes its own copy, 64 KB, so the launch has only as many
// blocks as fit on the GPU at once, and each block loops over the inputs until none are left.
//
// Run it:  cargo run -p add-constant -- --variant shared

#include "in_global.h"

// threadIdx.x is the index in one of the notes' blocks; threadIdx.y selects one of several such blocks.
extern "C" __global__ void add_constant_shared(int *sums, const int *inputs,
                                               const int *values, unsigned int num_sums,
                                               AccessPattern access_pattern) {
    extern __shared__ int4 table[];
    for (unsigned int i = threadIdx.y * blockDim.x + threadIdx.x; i < N / 4;
         i += blockDim.y * blockDim.x) {
        table[i] = ((const int4 *)values)[i];
    }
    __syncthreads();

    // ANCHOR: shared
    InGlobalMemory copied{(const int *)table};
    unsigned int block_id = blockIdx.x * blockDim.y + threadIdx.y;
    for (; block_id * blockDim.x <= num_sums / 4; block_id += gridDim.x * blockDim.y) {
        unsigned int i = block_id * blockDim.x + threadIdx.x;
        int4 input;
        if (i < num_sums / 4) input = ((const int4 *)inputs)[i];
        int4 value = four_values(copied, access_pattern, block_id, 4 * threadIdx.x);
        add_four(sums, inputs, input, value, i, num_sums);
    }
    // ANCHOR_END: shared
}
