// Variables of a module: a constant array, a scalar and a pointer.
//
// Shows variables that nobody allocates. They are there as long as the module is
// loaded; kernels use them by name, without a parameter, and the host copies to
// and from them by name, as a string that the driver looks up in the module.
//
//   combine    uses all three, and writes an array of its own
//   store      writes the scalar, and through the pointer
//
// Belongs to the note on memory, "Device memory", code 4.4.
// Run it:  cargo run -p device-symbols

#include "cuda_device.h"

// Elements of the array, and of the allocation that the host lets the pointer
// point to.
#define LENGTH 256

// Kernels can read it and never write it; the host can write it between launches.
__constant__ float const_data[LENGTH];

// Global memory, for kernels and the host to read and write.
__device__ float dev_data;

// Global memory too: the 8 bytes of an address. What is at that address is the
// host's to allocate.
__device__ float *dev_pointer;

// (Neighbours in a warp read different elements of const_data here, which is not
// what constant memory is fast at: see add-constant.)
extern "C" __global__ void combine(float *out, unsigned long long count) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int j = i % LENGTH;
        out[i] = fmaf(const_data[j], dev_data, dev_pointer[j]);
    }
}

extern "C" __global__ void store(float value) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) dev_data = value;
    if (i < LENGTH) dev_pointer[i] = const_data[i] * value;
}
