// The sum of two vectors in linear memory.
//
// Shows the simplest kernel there is: one thread an element, and as many threads
// as elements, rounded up to whole blocks. It reads 8 bytes an element, writes 4
// and adds once, so it takes as long as the memory takes to move them; what it
// costs to bring the vectors there and back is the chapter's subject.
//
//   add    c = a + b, element by element
//          (kernels/vector-add-ladder has what follows it)
//
// Belongs to the note on memory, "Device memory", code 4.1.
// Run it:  cargo run -p vector-add

#include "cuda_device.h"

// Threads past the end, in the last block, have nothing to do. Elements are
// counted in 64 bits, as bytes of memory are.
extern "C" __global__ void add(const float *a, const float *b, float *c,
                               unsigned long long count) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}
