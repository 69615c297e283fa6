// Rung 1: 16-byte vector accesses.
//
// Issues a quarter of the requests for inputs and sums, launches a quarter of the threads,
// and computes one index per four sums. This is all that is needed if a warp has one value;
// if it has many, the number of requests to the constant cache is unchanged.
//
// Run it:  cargo run -p add-constant -- --variant constant-int4

#include "in_constant.h"

extern "C" __global__ void add_constant_int4_constant(int *sums, const int *inputs,
                                                      const int *values,
                                                      unsigned int num_sums,
                                                      AccessPattern access_pattern) {
    add_int4<1>(sums, inputs, InConstantMemory(), num_sums, access_pattern);
}
