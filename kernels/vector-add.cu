// The sum of two vectors in linear memory.
//
// Shows the simplest kernel there is: one thread an element, and as many threads
// as elements, rounded up to whole blocks. It reads 8 bytes an element, writes 4
// and adds once, so it takes as long as the memory takes to move them; what it
// costs to bring the vectors there and back is the chapter's subject.
//
//   add           c = a + b, element by element
//   add_float4    the same, 16 bytes an access
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

// Four sums a thread, loaded and stored by one instruction each; up to three threads
// more add what is left over.
//
// The idea: as many bytes by a quarter of the requests. A thread of `add` asks for 8
// bytes and waits, and a multiprocessor cannot hold threads enough for the memory to
// be busy all the time. Here each thread asks for 32 before it waits, and a quarter of
// the threads have to be started.
extern "C" __global__ void add_float4(const float *a, const float *b, float *c,
                                      unsigned long long count) {
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long fours = count / 4;
    if (i < fours) {
        float4 x = ((const float4 *)a)[i];
        float4 y = ((const float4 *)b)[i];
        ((float4 *)c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else if (i - fours < count % 4) {
        i += 3 * fours;
        c[i] = a[i] + b[i];
    }
}
