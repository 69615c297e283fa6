// Atomic operations on global and on shared memory.
#include "../../../../../kernels/cuda_device.h"

// One place for each operation; every thread puts its value in.
template <typename T> __device__ void integers(T *place, T x) {
    atomicAdd(&place[0], x);
    atomicAnd(&place[1], (T)~x);
    atomicOr(&place[2], x);
    atomicXor(&place[3], x);
    atomicMin(&place[4], x);
    atomicMax(&place[5], x);
}

extern "C" __global__ void operations_i32(int *place, const int *in) {
    int x = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&place[0], x);
    atomicAnd(&place[1], ~x);
    atomicOr(&place[2], x);
    atomicXor(&place[3], x);
    atomicMin(&place[4], x);
    atomicMax(&place[5], x);
}

extern "C" __global__ void operations_u32(unsigned *place, const unsigned *in) {
    integers(place, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void operations_u64(unsigned long long *place,
                                          const unsigned long long *in) {
    integers(place, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void operations_shared(unsigned *out, const unsigned *in) {
    __shared__ unsigned place[6];
    if (threadIdx.x < 6) place[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    integers(place, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 6) out[threadIdx.x] = place[threadIdx.x];
}

// Operations whose old value or order shows.
extern "C" __global__ void ordered(unsigned *place, unsigned *old) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    old[5 * i] = atomicExch(&place[0], i);
    old[5 * i + 1] = atomicCAS(&place[1], i, i + 1);
    old[5 * i + 2] = atomicInc(&place[2], 6);
    old[5 * i + 3] = atomicDec(&place[3], 4);
    old[5 * i + 4] = atomicAdd(&place[4], i);
}

extern "C" __global__ void ordered_shared(unsigned *old) {
    __shared__ unsigned place[5];
    unsigned i = threadIdx.x;
    if (i < 5) place[i] = 0;
    __syncthreads();
    old[5 * i] = atomicExch(&place[0], i);
    old[5 * i + 1] = atomicCAS(&place[1], i, i + 1);
    old[5 * i + 2] = atomicInc(&place[2], 6);
    old[5 * i + 3] = atomicDec(&place[3], 4);
    old[5 * i + 4] = atomicAdd(&place[4], i);
}

extern "C" __global__ void histogram(unsigned *bins, const unsigned char *in, unsigned n) {
    __shared__ unsigned own[256];
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) own[k] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[in[i]], 1);
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&bins[k], own[k]);
}

// The order of rounding shows in the last bits of the sum.
extern "C" __global__ void float_sum(float *sum, const float *in) {
    atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
