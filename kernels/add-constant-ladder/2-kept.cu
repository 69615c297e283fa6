// Rung 2: values reused from registers.
//
// Each thread adds the same values to the inputs of eight blocks, which reduces the requests
// to the constant cache to an eighth.
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
