// Loads and stores of every width in every space, and addresses of all kinds.
#include "../../../../../kernels/cuda_device.h"

#define COPY(T, name)                                                                  \
    extern "C" __global__ void copy_##name(T *out, const T *in, unsigned n) {          \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                            \
        __shared__ T tile[256];                                                        \
        if (i < n) tile[threadIdx.x] = in[i];                                          \
        __syncthreads();                                                               \
        unsigned other = (blockIdx.x + 1) * blockDim.x - 1 - threadIdx.x;              \
        if (other < n) out[other] = tile[blockDim.x - 1 - threadIdx.x];                \
    }
COPY(unsigned char, u8)
COPY(unsigned short, u16)
COPY(unsigned, u32)
COPY(float, f32)
COPY(unsigned long long, u64)
COPY(double, f64)
COPY(uchar2, uchar2)
COPY(uchar4, uchar4)
COPY(ushort2, ushort2)
COPY(ushort4, ushort4)
COPY(uint2, uint2)
COPY(uint4, uint4)
COPY(float2, float2)
COPY(float4, float4)
COPY(ulonglong2, ulonglong2)
COPY(double2, double2)

extern "C" __global__ void widen(long long *out, const signed char *a, const short *b,
                                 const int *c, const unsigned char *d,
                                 const unsigned short *e) {
    unsigned i = threadIdx.x;
    out[5 * i] = a[i];
    out[5 * i + 1] = b[i];
    out[5 * i + 2] = c[i];
    out[5 * i + 3] = d[i];
    out[5 * i + 4] = e[i];
}

extern "C" __global__ void gather(unsigned *out, const unsigned *in, const unsigned *index,
                                  unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]];
}

extern "C" __global__ void scatter(unsigned *out, const unsigned *in, const unsigned *index,
                                   unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[index[i]] = in[i];
}

extern "C" __global__ void strided(float *out, const float *in, unsigned stride,
                                   unsigned offset) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride + offset];
}

// Indices only known at run time keep the array in local memory.
extern "C" __global__ void local_array(unsigned *out, const unsigned *in) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned kept[16];
    for (unsigned k = 0; k < 16; ++k) kept[k] = k * 3 + t;
    unsigned x = in[t];
#pragma nounroll
    for (unsigned k = 0; k < 40; ++k) {
        x = x * 1664525 + 1013904223;
        kept[x >> 28] += kept[x >> 13 & 15];
    }
    unsigned sum = 0;
#pragma nounroll
    for (unsigned k = 0; k < 16; ++k) sum = sum * 31 + kept[k];
    out[t] = sum;
}

__device__ __noinline__ unsigned sum_at(const unsigned *p, unsigned n) {
    unsigned sum = 0;
#pragma nounroll
    for (unsigned k = 0; k < n; ++k) sum += p[k];
    return sum;
}

__constant__ unsigned primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

// One function, called with pointers into every space, also different ones in one warp.
extern "C" __global__ void generic_pointers(unsigned *out, const unsigned *in) {
    __shared__ unsigned tile[8];
    unsigned own[8];
    unsigned t = threadIdx.x;
    if (t < 8) tile[t] = 100 + t;
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) own[k] = t * k + in[k];
    const unsigned *of[4] = {in, tile, own, primes};
    out[2 * t] = sum_at(of[t & 3], 8);
    out[2 * t + 1] = sum_at(own, 1 + (t & 7));
}

struct Node {
    const Node *next;
    unsigned value;
};

extern "C" __global__ void chase(unsigned *out, const Node *nodes) {
    unsigned sum = 0;
#pragma nounroll
    for (const Node *node = nodes + threadIdx.x; node; node = node->next) {
        sum = sum * 3 + node->value;
    }
    out[threadIdx.x] = sum;
}

struct Mixed {
    unsigned char a;
    double b;
    unsigned short c[5];
    float d;
};

__device__ __noinline__ double look(const Mixed *m, unsigned k) {
    return m->a + m->b + m->c[k] + m->d;
}

extern "C" __global__ void by_value(double *out, Mixed m, unsigned char tail) {
    unsigned t = threadIdx.x;
    out[2 * t] = look(&m, t % 5);
    out[2 * t + 1] = m.c[t % 5] + tail;
}

extern __shared__ unsigned dynamic[];

extern "C" __global__ void static_and_dynamic(unsigned *out, unsigned n) {
    __shared__ unsigned short fixed[33];
    unsigned t = threadIdx.x;
    if (t < 33) fixed[t] = t * 7;
    for (unsigned k = t; k < n; k += blockDim.x) dynamic[k] = k * k;
    __syncthreads();
    for (unsigned k = t; k < n; k += blockDim.x) out[k] = dynamic[n - 1 - k] + fixed[k % 33];
}

// 40 KB each: they fit only if every kernel has its own.
#define LARGE_TILE(name, factor)                                                    \
    extern "C" __global__ void name(unsigned *out) {                                \
        __shared__ unsigned tile[10240];                                            \
        for (unsigned k = threadIdx.x; k < 10240; k += blockDim.x) tile[k] = k * factor; \
        __syncthreads();                                                            \
        out[threadIdx.x] = tile[10239 - threadIdx.x];                               \
    }
LARGE_TILE(large_tile_a, 2)
LARGE_TILE(large_tile_b, 3)
LARGE_TILE(large_tile_c, 5)

struct Entry {
    const char *name;
    const unsigned *value;
    short tag;
    float weight;
};

__device__ unsigned counters[3] = {10, 20, 30};
// Not const: clang puts the constants that one initialiser names in any order.
__device__ char first[] = "first";
__device__ char second[] = "second";
__device__ const Entry entries[2] = {{first, &counters[2], -3, 0.5f},
                                     {second, primes + 4, 9, -2.25f}};
__device__ double uninitialised[4];

extern "C" __global__ void variables(double *out) {
    unsigned t = threadIdx.x;
    const Entry &e = entries[t & 1];
    unsigned length = 0;
    while (e.name[length]) ++length;
    out[4 * t] = length * 1000 + e.name[t % length];
    out[4 * t + 1] = *e.value;
    out[4 * t + 2] = e.tag * e.weight;
    out[4 * t + 3] = uninitialised[t & 3];
}

__constant__ unsigned bank[64];

extern "C" __global__ void constants(unsigned *out, const unsigned *index) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = bank[index[i] & 63];
}

// Where a pointer is wrong: the line of the store is what a fault must name.
extern "C" __global__ void store_at(unsigned *out, unsigned n, unsigned far) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == n) {
        out[far] = 1; // here
    }
}

extern "C" __global__ void shared_out_of_bounds(unsigned *out, unsigned far) {
    __shared__ unsigned tile[8];
    tile[threadIdx.x & 7] = far;
    __syncthreads();
    out[threadIdx.x] = tile[far + threadIdx.x];
}

extern "C" __global__ void local_out_of_bounds(unsigned *out, unsigned far) {
    unsigned own[4];
    for (unsigned k = 0; k < 4; ++k) own[k] = k;
    own[far & 1] = 5;
    out[threadIdx.x] = own[far];
}

extern "C" __global__ void constant_out_of_bounds(unsigned *out, unsigned far) {
    out[threadIdx.x] = bank[far + threadIdx.x];
}
