// Rung 2: values that are kept.
//
// A thread adds them to the inputs of eight blocks, and asks the constant cache an eighth as
// often.
//
// Run it:  cargo run -p add-constant -- --variant constant-kept

#include "in_constant.h"

extern "C" __global__ void add_constant_kept_constant(int *sums, const int *inputs,
                                                      const int *values,
                                                      unsigned int num_sums,
                                                      AccessPattern access_pattern) {
    // ANCHOR: kept
    add_int4<8>(sums, inputs, InConstantMemory(), num_sums, access_pattern);
    // ANCHOR_END: kept
}
