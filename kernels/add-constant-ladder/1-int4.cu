// Rung 1: sixteen bytes an access.
//
// A quarter of the requests for inputs and sums, a quarter of the threads to start, and one
// index for four sums. Where a warp has one value this is all that it takes; where it has
// many, the constant cache is asked as often as before.
//
// Run it:  cargo run -p add-constant -- --variant constant-int4

#include "in_constant.h"

extern "C" __global__ void add_constant_int4_constant(int *sums, const int *inputs,
                                                      const int *values,
                                                      unsigned int num_sums,
                                                      AccessPattern access_pattern) {
    add_int4<1>(sums, inputs, InConstantMemory(), num_sums, access_pattern);
}
