// A nine-point stencil, its coefficients in constant memory and through the read-only
// cache.
//
// Shows two ways to read data that no thread changes and all threads read alike: the
// constant cache, and the read-only cache in front of global memory. Each thread
// computes one point of a first derivative from four points on either side. A block
// fetches its points and the RADIUS points beyond either end, its halo, into shared
// memory once, instead of nine times.
//
//   stencil_constant   coefficients in constant memory: the note's stencil_1d
//   stencil_ldg        coefficients in global memory, read through __ldg
//   stencil_restrict   the same memory, const and __restrict__, from which the
//                      compiler concludes that it may use the read-only cache: the
//                      note's stencil_1d_read_only
//
// From there to the memory's limit, one idea a rung:
//
//   stencil_cached     no shared memory: neighbours come out of the first cache
//   stencil_vectors    four points a thread, sixteen bytes a load and a store
//   stencil_aligned    a warp's loads and stores begin where a sector does
//   stencil_read_only  the same, its coefficients through the read-only cache
//
// Belongs to the note on constant memory and the read-only cache, 5.5.1 and 5.5.2.
// Run it:  cargo run -p stencil-readonly

#include "cuda_device.h"

// Points on either side that a result depends on.
#define RADIUS 4

__constant__ float coef[RADIUS + 1];

// ANCHOR: fetch
// A block's points and its halo: blockDim.x + 2 * RADIUS floats, as many bytes as the
// launch asks for.
extern __shared__ float smem[];

// Fetches this thread's point, `idx`, and its share of the halo. `in` has `size` points
// and RADIUS more on either side; a thread past all of them fetches the last one, which
// nobody will use. The first RADIUS threads fetch the halo, so that a block has to have
// as many.
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
// The note's kernel: one thread a point. A result is the step times the derivative.
// Multiply-adds are written out as fused, so that every GPU, the simulator and the
// reference in Rust round alike, and their results can be compared bit by bit.
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

// Makes `value` here, whatever branch comes next. A compiler that sees it used in one
// branch only computes it there; the driver's assembler then moves loads there as well,
// from before the barrier to behind it, where nothing hides how long they take.
__device__ __forceinline__ void make_here(float &value) { asm volatile("" : "+f"(value)); }

// ANCHOR: stencil_ldg
// The same, but for where the coefficients are. They are asked for before the points are
// fetched, and so are there when the block has met.
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

// The same again; here the compiler has to find out that nothing writes to `dcoef`.
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

// ---- The ladder -------------------------------------------------------------------

// One point's result, from its neighbours, which are in registers: `points[RADIUS]` is
// the point itself. Additions come in the order of the kernels above, and so results are
// theirs bit by bit.
__device__ __forceinline__ float stencil(const float *points, const float *c) {
    float tmp = 0.0f;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) {
        tmp = fmaf(c[i], points[RADIUS + i] - points[RADIUS - i], tmp);
    }
    return tmp;
}

// The same, from neighbours in global memory that nobody writes to.
__device__ __forceinline__ float stencil_at(const float *point, const float *c) {
    float points[2 * RADIUS + 1];
#pragma unroll
    for (int i = -RADIUS; i <= RADIUS; i++) points[RADIUS + i] = __ldg(&point[i]);
    return stencil(points, c);
}

// No shared memory, and so no barrier: a thread asks for its eight neighbours itself. A
// warp's eight loads lie in five sectors, which the first of them to come brings into the
// first cache for the others. That answers more requests than before, but no thread waits
// for another.
extern "C" __global__ void stencil_cached(const float *in, float *out, int size) {
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    if (idx < size) out[idx] = stencil_at(&in[idx], coef);
}

// The results of four points from `first` on, a multiple of four; fewer where the array
// ends. A halo of four is a vector of its own on either side: three loads of sixteen
// bytes fetch what four points need, in place of 32 loads of four bytes.
__device__ __forceinline__ void four_points(const float *in, float *out, int size,
                                            int first, const float *c) {
    if (first > size - 4) {
#pragma unroll 1
        for (int idx = first; idx < size; idx++) out[idx] = stencil_at(&in[idx], c);
        return;
    }
    const float4 *vector = (const float4 *)&in[first];
    float4 before = __ldg(vector - 1), here = __ldg(vector), after = __ldg(vector + 1);
    float points[4 + 2 * RADIUS] = {before.x, before.y, before.z, before.w,
                                    here.x,   here.y,   here.z,   here.w,
                                    after.x,  after.y,  after.z,  after.w};
    *(float4 *)&out[first] = make_float4(stencil(points, c), stencil(points + 1, c),
                                         stencil(points + 2, c), stencil(points + 3, c));
}

// A request brings four times as much, and there is a quarter of the threads to start.
// `in` and `out` have to lie on a boundary of 16 bytes, as they do behind a halo of four.
extern "C" __global__ void stencil_vectors(const float *in, float *out, int size) {
    int vector = threadIdx.x + blockIdx.x * blockDim.x;
    four_points(in, out, size, 4 * vector, coef);
}

// The first point lies behind a halo of 16 bytes, and so in the middle of a sector. Here
// the grid's first thread stands for the halo and has nothing to do: all others are off by
// one vector, a warp's 512 bytes begin with a sector, and none is written by two warps.
extern "C" __global__ void stencil_aligned(const float *in, float *out, int size) {
    int vector = threadIdx.x + blockIdx.x * blockDim.x - 1;
    if (vector >= 0) four_points(in, out, size, 4 * vector, coef);
}

// Where the coefficients are makes no difference any more.
extern "C" __global__ void stencil_read_only(const float *in, float *out, int size,
                                             const float *dcoef) {
    float c[RADIUS + 1];
#pragma unroll
    for (int i = 1; i <= RADIUS; i++) c[i] = __ldg(&dcoef[i]);

    int vector = threadIdx.x + blockIdx.x * blockDim.x - 1;
    if (vector >= 0) four_points(in, out, size, 4 * vector, c);
}
