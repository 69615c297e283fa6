// Rung 4: the same through the read-only cache.
//
// On GPUs where that is another one than the one that inputs go through; on newer ones it is
// the same, and so is the time.
//
// Run it:  cargo run -p add-constant -- --variant read-only-int4

#include "four_sums.h"

// ANCHOR: read_only
struct ThroughReadOnlyCache {
    const int *values;
    __device__ __forceinline__ int operator[](unsigned int i) const { return __ldg(values + i); }
};
// ANCHOR_END: read_only

extern "C" __global__ void add_constant_int4_read_only(int *sums, const int *inputs,
                                                       const int *values,
                                                       unsigned int num_sums,
                                                       AccessPattern access_pattern) {
    add_int4<1>(sums, inputs, ThroughReadOnlyCache{values}, num_sums, access_pattern);
}
