// Variables of a module: a constant array, a scalar and a pointer.
//
// Shows variables that need no allocation. They exist as long as the module is loaded;
// kernels use them by name, without a parameter, and the host copies to and from them by
// name, a string that the driver looks up in the module.
//
//   combine    uses all three variables and writes an array
//   store      writes the scalar, and through the pointer
//
// Follows the note on memory, "Device memory", code 4.4.
// Run it:  cargo run -p device-symbols

#include "cuda_device.h"

// Number of elements of the array, and of the allocation that the host
// stores in the pointer.
#define LENGTH 256

// Constant memory: kernels can only read it; the host can write it between launches.
__constant__ float const_data[LENGTH];

// Global memory that kernels and the host can read and write.
__device__ float dev_data;

// Global memory too: the 8 bytes of an address. The host allocates the
// memory at that address.
__device__ float *dev_pointer;

// (Neighbouring threads of a warp read different elements of const_data here, an access
// pattern that constant memory serves slowly: see add-constant.)
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
