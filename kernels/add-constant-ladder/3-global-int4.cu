// Rung 3: the values back in global memory.
//
// Global memory serves a request by sectors: the L1 cache returns 32 scattered sectors at once.
//
// Run it:  cargo run -p add-constant -- --variant global-int4

#include "in_global.h"

extern "C" __global__ void add_constant_int4_global(int *sums, const int *inputs,
                                                    const int *values, unsigned int num_sums,
                                                    AccessPattern access_pattern) {
    // ANCHOR: global
    add_int4<1>(sums, inputs, InGlobalMemory{values}, num_sums, access_pattern);
    // ANCHOR_END: global
}
