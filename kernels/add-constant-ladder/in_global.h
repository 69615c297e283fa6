// Values behind a pointer to global memory.

#pragma once

#include "four_sums.h"

struct InGlobalMemory {
    const int *values;
    __device__ __forceinline__ int operator[](unsigned int i) const { return values[i]; }
};
