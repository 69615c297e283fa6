// Reads of one element per thread, in an access pattern that is chosen at launch.
//
// Shows nothing by itself: the book's interactive page and the programs that draw the
// book's figures run it to see which bytes a warp requests. One kernel for each
// memory and each element size:
//
//   read_global_1, _2, _4, _8, _16     global memory
//   read_only_1, ...                   global memory that is never written, with __ldg
//   read_shared_1, ...                 the block's shared memory, as much as the launch
//                                      requests
//   read_constant_1, ...               constant memory
//
// Run it:  cargo run -p patterns -- ask space=global stride=2

#include "cuda_device.h"

// The bytes that are read from constant memory: all 64 KB of it.
constexpr unsigned int CONSTANT_BYTES = 64 * 1024;
__constant__ __align__(16) unsigned char constant_bytes[CONSTANT_BYTES];
extern __shared__ uint4 shared_bytes[];

// Selects the element that a thread reads. The host passes the same numbers.
enum struct Order {
    AlongRows,     // threadIdx.x counts elements of a row, threadIdx.y rows
    DownColumns,   // threadIdx.x counts rows, threadIdx.y elements of a row
    OneForAll,     // every thread reads the same element
    PseudoRandom,  // scattered over `elements` elements, as in add-constant
};

// Rows of elements that start `pitch` bytes apart, of which every `stride`-th is
// read, from element `offset` on.
struct Pattern {
    Order order;
    unsigned int pitch;
    unsigned int stride;
    unsigned int offset;
    unsigned int elements;
};

// Multiplier that scatters the accesses of the pseudo-random pattern (add-constant's value).
constexpr unsigned int magic_number = 1357;

__device__ __forceinline__ unsigned int thread_number() {
    return threadIdx.y * blockDim.x + threadIdx.x;
}

// Returns the offset of a thread's element, in bytes from the start of the data.
__device__ __forceinline__ unsigned int place(const Pattern &pattern, unsigned int bytes) {
    unsigned int row = 0, element = 0;
    switch (pattern.order) {
        case Order::AlongRows: row = threadIdx.y; element = threadIdx.x * pattern.stride; break;
        case Order::DownColumns: row = threadIdx.x; element = threadIdx.y * pattern.stride; break;
        case Order::OneForAll: break;
        case Order::PseudoRandom:
            element = thread_number() * magic_number % pattern.elements;
            break;
    }
    return row * pattern.pitch + (pattern.offset + element) * bytes;
}

__device__ __forceinline__ unsigned int fold(unsigned char value) { return value; }
__device__ __forceinline__ unsigned int fold(unsigned short value) { return value; }
__device__ __forceinline__ unsigned int fold(unsigned int value) { return value; }
__device__ __forceinline__ unsigned int fold(uint2 value) { return value.x ^ value.y; }
__device__ __forceinline__ unsigned int fold(uint4 value) {
    return value.x ^ value.y ^ value.z ^ value.w;
}

// Defines the kernels for elements of one size. Results are stored, because the compiler
// would remove a read whose value is unused.
#define KERNELS(T, size)                                                                   \
    extern "C" __global__ void read_global_##size(const char *data, unsigned int *seen,    \
                                                  Pattern pattern) {                       \
        const T *at = (const T *)(data + place(pattern, size));                            \
        seen[thread_number()] = fold(*at);                                                 \
    }                                                                                      \
    extern "C" __global__ void read_only_##size(const char *data, unsigned int *seen,      \
                                                Pattern pattern) {                         \
        const T *at = (const T *)(data + place(pattern, size));                            \
        seen[thread_number()] = fold(__ldg(at));                                           \
    }                                                                                      \
    extern "C" __global__ void read_shared_##size(const char *data, unsigned int *seen,    \
                                                  Pattern pattern) {                       \
        const T *at = (const T *)((const char *)shared_bytes + place(pattern, size));      \
        seen[thread_number()] = fold(*at);                                                 \
    }                                                                                      \
    extern "C" __global__ void read_constant_##size(const char *data, unsigned int *seen,  \
                                                    Pattern pattern) {                     \
        const T *at = (const T *)(constant_bytes + place(pattern, size));                  \
        seen[thread_number()] = fold(*at);                                                 \
    }

KERNELS(unsigned char, 1)
KERNELS(unsigned short, 2)
KERNELS(unsigned int, 4)
KERNELS(uint2, 8)
KERNELS(uint4, 16)
