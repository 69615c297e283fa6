// Records of twelve bytes, a tag of four and a count of eight, read through a byte pointer.
// The count of the first record is at byte 4, which is not aligned for an 8-byte load.

#include "cuda_device.h"

#define RECORD 12
#define TAG 4

extern "C" __global__ void misaligned_record(const char *records, unsigned long long *counts,
                                             int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    counts[i] = *(const unsigned long long *)(records + i * RECORD + TAG); // BUG: mem
}

extern "C" __global__ void misaligned_record_right(const char *records,
                                                   unsigned long long *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int *count = (const unsigned int *)(records + i * RECORD + TAG);
    counts[i] = count[0] | (unsigned long long)count[1] << 32;
}
