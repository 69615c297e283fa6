// Adds two vectors in linear memory.
//
// Shows the simplest kernel: one thread per element, with the number of threads
// rounded up to whole blocks. It reads 8 bytes per element, writes 4 and adds
// once, so it is memory-bound; the cost of copying the vectors to the device and
// back is the chapter's subject.
//
//   add    c = a + b, element by element
//          (kernels/vector-add-ladder has the optimized version)
//
// Follows the note on memory, "Device memory", code 4.1.
// Run it:  cargo run -p vector-add

#include "cuda_device.h"

// Threads past the end, in the last block, do nothing. Elements are counted in 64
// bits, as bytes of memory are.
extern "C" __global__ void add(const float *a, const float *b, float *c,
                               unsigned long long count) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}
