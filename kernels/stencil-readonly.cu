// A nine-point stencil whose coefficients are in constant memory or read
// through the read-only cache.
//
// Shows two ways to read data that no thread changes and that is the same for all
// threads: the constant cache, and the read-only cache in front of global memory. Each
// thread computes one point of a first derivative from four points on either side. A
// block loads its points and the RADIUS points beyond either end, its halo, into shared
// memory once, instead of nine times.
//
//   stencil_constant   coefficients in constant memory: the note's stencil_1d
//   stencil_ldg        coefficients in global memory, read through __ldg
//   stencil_restrict   the same memory, const and __restrict__, from which the
//                      compiler infers that it may use the read-only cache: the
//                      note's stencil_1d_read_only
//
// Further rungs up to the memory's limit, one file each in kernels/stencil-readonly-ladder:
//
//   1-cached      no shared memory: neighbours come from the L1 cache
//   2-vectors     four points per thread, with 16-byte loads and stores
//   3-aligned     a warp's loads and stores start at a sector boundary
//   4-read-only   3-aligned with coefficients read through the read-only cache
//
// Follows the note on constant memory and the read-only cache, 5.5.1 and 5.5.2.
// Run it:  cargo run -p stencil-readonly

#include "cuda_device.h"

// Points on either side that a result depends on.
#define RADIUS 4

__constant__ float coef[RADIUS + 1];

// ANCHOR: fetch
// A block's points and its halo: blockDim.x + 2 * RADIUS floats; the launch
// passes the number of bytes.
extern __shared__ float smem[];

// Loads this thread's point, `idx`, and its share of the halo. `in` has `size`
// points and RADIUS more on either side; a thread past all of them loads the last
// one, whose value is not used. The first RADIUS threads load the halo, so a block
// must have at least that many threads.
__device__ __forceinline__ void fetch(const float *in, int size, int idx) {
    int sidx = threadIdx.x + RADIUS;
    int bdim = blockDim.x;
    int last = size + RADIUS - 1;
    smem[sidx] = in[min(idx, last)];
    if (threadIdx.x < RADIUS) {
        smem[sidx - RADIUS] = in[idx - RADIUS];
        smem[sidx + bdim] = in[min(idx + bdim, last)];
    }
    __syncthreads();
}
// ANCHOR_END: fetch

// ANCHOR: stencil_constant
// The note's kernel: one thread per point. A result is the step times the derivative.
// Multiply-adds are explicitly fused, so that every GPU, the simulator and the reference
// in Rust round in the same places, and their results can be compared bit by bit.
extern "C" __global__ void stencil_constant(const float *in, float *out, int size) {
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    fetch(in, size, idx);
    int sidx = threadIdx.x + RADIUS;
    float tmp = 0.0f;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) {
        tmp = fmaf(coef[i], smem[sidx + i] - smem[sidx - i], tmp);
    }
    if (idx < size) out[idx] = tmp;
}
// ANCHOR_END: stencil_constant

// Forces `value` to be computed here, before any branch. A compiler that sees it used in
// only one branch computes it there; the driver's assembler then moves the loads there as
// well, from before the barrier to after it, where nothing hides their latency.
__device__ __forceinline__ void make_here(float &value) { asm volatile("" : "+f"(value)); }

// ANCHOR: stencil_ldg
// Computes the same with coefficients in global memory. They are loaded before the points,
// so that they have arrived by the time the block passes the barrier.
extern "C" __global__ void stencil_ldg(const float *in, float *out, int size,
                                       const float *dcoef) {
    float c[RADIUS + 1];
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) c[i] = __ldg(&dcoef[i]);

    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    fetch(in, size, idx);
    int sidx = threadIdx.x + RADIUS;
    float tmp = 0.0f;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) {
        tmp = fmaf(c[i], smem[sidx + i] - smem[sidx - i], tmp);
    }
    make_here(tmp);
    if (idx < size) out[idx] = tmp;
}
// ANCHOR_END: stencil_ldg

// Computes the same again; the compiler must infer that nothing writes to `dcoef`.
extern "C" __global__ void stencil_restrict(const float *in, float *out, int size,
                                            const float *__restrict__ dcoef) {
    float c[RADIUS + 1];
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) c[i] = dcoef[i];

    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    fetch(in, size, idx);
    int sidx = threadIdx.x + RADIUS;
    float tmp = 0.0f;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) {
        tmp = fmaf(c[i], smem[sidx + i] - smem[sidx - i], tmp);
    }
    make_here(tmp);
    if (idx < size) out[idx] = tmp;
}
