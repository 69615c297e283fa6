// Rung 4: values loaded through the read-only cache.
//
// This helps only on GPUs whose read-only cache is separate from the cache that the inputs
// use; on newer GPUs both are one cache, and the time is unchanged.
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
