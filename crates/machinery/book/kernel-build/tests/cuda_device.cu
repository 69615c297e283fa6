// Uses every function of kernels/cuda_device.h, so that a test can check that each compiles,
// with clang and with nvcc, and to which instruction.

#include "cuda_device.h"

struct __align__(16) Aligned { int a, b, c; };
static_assert(sizeof(Aligned) == 16, "__align__");
static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4, "uchar4");
static_assert(sizeof(float3) == 12 && alignof(float3) == 4, "float3");
static_assert(sizeof(float2) == 8 && alignof(float2) == 8, "float2");
static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "float4");
static_assert(sizeof(double2) == 16 && alignof(double2) == 16, "double2");
static_assert(sizeof(double4) == 32 && alignof(double4) == 16, "double4");
static_assert(sizeof(longlong4) == 32 && alignof(longlong4) == 16, "longlong4");
static_assert(sizeof(size_t) == 8, "size_t");

__constant__ float table[4];
__device__ int counter;

__host__ __device__ __forceinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int thrice(int x) { return 3 * x; }

__device__ dim3 block() { return blockDim; }
__device__ uint3 thread() { return threadIdx; }

extern "C" __global__ void __launch_bounds__(256) indices(uint4 *out) {
    __shared__ unsigned int first[4];
    extern __shared__ unsigned int rest[];
    unsigned int i = threadIdx.x + threadIdx.y + threadIdx.z;
    unsigned int b = blockIdx.x + blockIdx.y + blockIdx.z;
    unsigned int d = blockDim.x + blockDim.y + blockDim.z;
    unsigned int g = gridDim.x + gridDim.y + gridDim.z;
    first[i % 4] = rest[i] = block().x + thread().y + dim3(uint3(blockIdx)).z + dim3(4).y;
    __syncthreads();
    int votes = __syncthreads_count(i < 3) + __syncthreads_and(i < 4) + __syncthreads_or(i < 5);
    __syncwarp();
    __threadfence_block();
    __threadfence();
    __threadfence_system();
    long long start = clock64();
    out[i] = make_uint4(b + first[(i + 1) % 4], d + rest[i + 1], g + votes,
                        warpSize + twice(thrice((int)start)) + (unsigned int)table[i % 4]);
}

extern "C" __global__ void read_only(const char *__restrict__ c, const unsigned char *uc,
                                     const short *s, const unsigned short *us, const int *i,
                                     const unsigned int *ui, const long *l,
                                     const unsigned long *ul, const long long *ll,
                                     const unsigned long long *ull, const float *f,
                                     const double *d, double *out) {
    out[0] = __ldg(c) + __ldg(uc) + __ldg(s) + __ldg(us) + __ldg(i) + __ldg(ui) + __ldg(l) +
             __ldg(ul) + __ldg(ll) + __ldg(ull) + __ldg(f) + __ldg(d);
}

extern "C" __global__ void read_only_vectors(const int2 *i2, const uint2 *u2, const float2 *f2,
                                             const double2 *d2, const uchar4 *uc4, const int4 *i4,
                                             const uint4 *u4, const float4 *f4, float4 *out) {
    uchar4 bytes = __ldg(uc4);
    out[0] = make_float4(__ldg(i2).x + __ldg(u2).y, __ldg(f2).x + __ldg(d2).y,
                         __ldg(i4).z + __ldg(u4).w, __ldg(f4).x + bytes.x + bytes.w);
}

// 16-byte structs in global and shared memory, as a parameter, in another struct and by
// component.
struct Pair { float4 a, b; };
extern "C" __global__ void vectors(int4 *out, const int4 *in, Pair *pairs, double2 *d2, int4 v) {
    __shared__ int4 tile[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    int4 copied = tile[63 - i];
    out[i] = copied;
    int *x = &v.x;
    *x += copied.y;
    out[i + 64] = v;
    out[i + 128] = {copied.w, copied.z};
    pairs[i] = pairs[i + 64];
    d2[i] = d2[i + 64];
}

extern "C" __global__ void arithmetic(float *f, double *d, int *i, unsigned int *u, long long *l,
                                      unsigned long long *w) {
    f[0] = sqrtf(f[10]);
    f[1] = rsqrtf(f[11]);
    f[2] = fabsf(f[12]) + fminf(f[13], f[14]) + fmaxf(f[15], f[16]);
    f[3] = fmaf(f[17], f[18], f[19]);
    f[4] = floorf(f[20]) + ceilf(f[21]) + truncf(f[22]) + rintf(f[23]);
    f[5] = copysignf(f[24], f[25]) + min(f[26], f[27]) + max(f[28], f[29]);
    d[0] = sqrt(d[10]) + fabs(d[11]) + fmin(d[12], d[13]) + fmax(d[14], d[15]);
    d[1] = fma(d[16], d[17], d[18]) + floor(d[19]) + ceil(d[20]) + trunc(d[21]) + rint(d[22]);
    d[2] = min(d[23], d[24]) + max(d[25], d[26]);
    i[0] = min(i[1], i[2]) + max(i[3], i[4]) + abs(i[5]);
    u[0] = min(u[1], u[2]) + max(u[3], u[4]);
    l[0] = min(l[1], l[2]) + max(l[3], l[4]);
    w[0] = min(w[1], w[2]) + max(w[3], w[4]);
}

extern "C" __global__ void bits(int *i, unsigned int *u, long long *l, unsigned long long *w,
                                float *f) {
    i[0] = __popc(u[1]) + __clz(i[1]) + __ffs(i[2]) + __float_as_int(f[1]);
    i[3] = __popcll(w[1]) + __clzll(l[1]) + __ffsll(l[2]);
    u[0] = __brev(u[2]) + __float_as_uint(f[2]);
    w[0] = __brevll(w[2]);
    f[0] = __int_as_float(i[4]) + __uint_as_float(u[3]);
}

extern "C" __global__ void atomics(int *i, unsigned int *u, long long *l, unsigned long long *w,
                                   float *f) {
    i[1] = atomicAdd(i, 1) + atomicSub(i, 2) + atomicExch(i, 3) + atomicCAS(i, 4, 5);
    i[2] = atomicAnd(i, 6) + atomicOr(i, 7) + atomicXor(i, 8) + atomicMin(i, 9) + atomicMax(i, 10);
    u[1] = atomicAdd(u, 1u) + atomicSub(u, 2u) + atomicExch(u, 3u) + atomicCAS(u, 4u, 5u);
    u[2] = atomicAnd(u, 6u) + atomicOr(u, 7u) + atomicXor(u, 8u);
    u[3] = atomicMin(u, 9u) + atomicMax(u, 10u) + atomicInc(u, 11u) + atomicDec(u, 12u);
    w[1] = atomicAdd(w, 1ull) + atomicExch(w, 3ull) + atomicCAS(w, 4ull, 5ull);
    w[2] = atomicAnd(w, 6ull) + atomicOr(w, 7ull) + atomicXor(w, 8ull);
    w[3] = atomicMin(w, 9ull) + atomicMax(w, 10ull);
    l[1] = atomicMin(l, 9ll) + atomicMax(l, 10ll);
    f[1] = atomicAdd(f, 1.0f) + atomicExch(f, 2.0f);
    atomicAdd(&counter, 1);
}

extern "C" __global__ void lanes(int *i, unsigned int *u, long long *l, unsigned long long *w,
                                 float *f, double *d) {
    unsigned int all = 0xffffffff;
    u[0] = __ballot_sync(all, i[0]) + __all_sync(all, i[1]) + __any_sync(all, i[2]);
    u[1] = __activemask();
    i[3] = __shfl_sync(all, i[3], 0) + __shfl_up_sync(all, i[4], 1);
    u[2] = __shfl_down_sync(all, u[2], 2, 16) + __shfl_xor_sync(all, u[3], 4, 8);
    f[0] = __shfl_sync(all, f[0], 3) + __shfl_xor_sync(all, f[1], 16);
    l[0] = __shfl_up_sync(all, l[0], 5);
    w[0] = __shfl_down_sync(all, w[0], 6);
    d[0] = __shfl_xor_sync(all, d[0], 7);
}

extern "C" __global__ void messages(int *i) {
    printf("thread %u has %d\n", threadIdx.x, i[threadIdx.x]);
    assert(i[threadIdx.x] > 0);
}
