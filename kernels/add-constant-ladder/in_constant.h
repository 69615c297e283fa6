// Values in constant memory.

#pragma once

#include "four_sums.h"

__constant__ int const_values[N];

struct InConstantMemory {
    __device__ __forceinline__ int operator[](unsigned int i) const { return const_values[i]; }
};
