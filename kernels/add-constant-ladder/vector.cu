// No values: the same bytes in and out, sixteen of them a thread.
//
// No rung, but what all of them can be held against: about as fast as memory goes. The same
// number is added to every input. `value` is a kernel parameter, and so in constant memory
// as well.
//
// Run it:  cargo run -p add-constant

#include "cuda_device.h"

// Four sums a thread, loaded and stored by one instruction each; up to three threads more
// add what is left over.
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
