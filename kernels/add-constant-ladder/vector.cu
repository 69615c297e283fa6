// Baseline without values: the same bytes in and out, 16 bytes per thread.
//
// This kernel is not a rung but the reference that all rungs are compared with: about as
// fast as the memory allows. It adds the same number to every input. `value` is a kernel
// parameter, so it is in constant memory as well.
//
// Run it:  cargo run -p add-constant

#include "cuda_device.h"

// Computes four sums per thread with one vector load and one vector store; up to three
// further threads compute the remaining sums.
extern "C" __global__ void add_constant_vector(int *sums, const int *inputs, int value,
                                               unsigned int num_sums) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned int fours = num_sums / 4;
    if (i < fours) {
        int4 input = ((const int4 *)inputs)[i];
        ((int4 *)sums)[i] = make_int4(input.x + value, input.y + value, input.z + value,
                                      input.w + value);
    } else if (i - fours < num_sums % 4) {
        i += 3 * fours;
        sums[i] = inputs[i] + value;
    }
}
