// Rung 10: four warps multiply together, and take one factor from shared memory.
//
// GPUs of compute capability 9.0 have a faster product: `wgmma`, of a warpgroup of 128
// threads. It runs while the threads do other things, and one of its factors stays in shared
// memory, so that registers and instructions for it are saved. Both factors' rows have to
// run along the sum. Rows of A do. Those of B do not, so B is the factor in registers, where
// a lane takes what it wants, and the product is the transposed one: 64 columns of C by 256
// of its rows.
//
//   - Tensor cores take TF32 and cut the rest of a float off. Numbers of B are rounded as on
//     rung 9, in registers. Nobody rounds those of A: doing so in shared memory would take a
//     third of the speed.
//   - A warpgroup's tile of C is 256x64, 128 registers a thread, and a block's 256x128. For 32
//     columns of A it moves 48 KB to shared memory and takes 80 KB from there, which is all
//     that shared memory can do while the tensor cores multiply.
//   - Tiles are copied two steps ahead. While the tensor cores multiply a step, the warps
//     wait for the step before it, copy, and load the next step's numbers of B.
//
// Run it:  cargo run -p matmul-tiled -- --variant warpgroups

#include "../async_copy.h"
#include "../warpgroup.h"
#include "matrix.h"
#include "tf32.h"

constexpr int ROWS = 256, COLS = 128;  // of a block's tile of C
constexpr int DEPTH = 32;              // columns of a tile of A, rows of one of B
constexpr int STAGES = 4;              // tiles in shared memory
constexpr int THREADS = 256;           // two warpgroups, of 64 columns each
constexpr int STEPS = DEPTH / 8;       // products along a tile

// A row of B is a bit longer, so that the rows that a warp reads together lie in different
// banks.
constexpr int B_ROW = COLS + 8;
constexpr int A_TILE = ROWS * DEPTH, B_TILE = DEPTH * B_ROW;
static_assert(STAGES * (A_TILE + B_TILE) * 4 == 200704, "what the launch asks for");

// A thread copies fours of A and of B, so many rows apart.
constexpr int A_APART = THREADS / (DEPTH / 4), B_APART = THREADS / (COLS / 4);

// A block's work on its tile of C, as one of its threads does it.
struct Block {
    const Matrix &A, &B;
    float *const As, *const Bs;
    const size_t upper, left;
    // The first column of A that is copied next, and where this thread's part begins.
    size_t next;
    const float *a_from, *b_from;
    // The tile to read and the one to overwrite.
    int full, empty;
    float sums[128];
    unsigned int b[2][STEPS][4];

    __device__ __forceinline__ Block(const Matrix &A, const Matrix &B, float *shared)
        : A(A), B(B), As(shared), Bs(shared + STAGES * A_TILE),
          upper((size_t)blockIdx.y * ROWS), left((size_t)blockIdx.x * COLS), next(0),
          a_from(A.elements + (upper + a_row()) * A.stride + a_col()),
          b_from(B.elements + b_row() * B.stride + left + b_col()), full(0), empty(0), sums{} {}

    // The first four that this thread copies of a tile.
    static __device__ __forceinline__ int a_row() { return threadIdx.x / (DEPTH / 4); }
    static __device__ __forceinline__ int a_col() { return threadIdx.x % (DEPTH / 4) * 4; }
    static __device__ __forceinline__ int b_row() { return threadIdx.x / (COLS / 4); }
    static __device__ __forceinline__ int b_col() { return threadIdx.x % (COLS / 4) * 4; }

    // The first of the two columns of C that this thread computes, in a warp's 16.
    static __device__ __forceinline__ int col() {
        return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 * 2;
    }

    static __device__ __forceinline__ int turned(int stage) {
        return stage + 1 == STAGES ? 0 : stage + 1;
    }

    // Starts copying the next tiles. Past the edges there are zeros.
    __device__ __forceinline__ void copy() {
        // ANCHOR: swizzle
        float *const a_to =
            As + empty * A_TILE + a_row() * DEPTH + (a_col() ^ a_row() % 8 * 4);
        // ANCHOR_END: swizzle
        float *const b_to = Bs + empty * B_TILE + b_row() * B_ROW + b_col();
        const int deep = within(next + a_col(), A.cols), wide = within(left + b_col(), B.cols);
#pragma unroll
        for (int n = 0; n < ROWS; n += A_APART) {
            const int there = upper + a_row() + n < A.rows ? deep : 0;
            __pipeline_memcpy_async(a_to + n * DEPTH, a_from + n * A.stride, 16, 16 - 4 * there);
        }
#pragma unroll
        for (int n = 0; n < DEPTH; n += B_APART) {
            const int there = next + b_row() + n < B.rows ? wide : 0;
            __pipeline_memcpy_async(b_to + n * B_ROW, b_from + n * B.stride, 16, 16 - 4 * there);
        }
        __pipeline_commit();
        a_from += DEPTH;
        b_from += DEPTH * B.stride;
        next += DEPTH;
        empty = turned(empty);
    }

    // Starts adding the product of the oldest tiles. SET: registers that the product before
    // it, which may not be done, does not use.
    template <int SET> __device__ __forceinline__ void multiply() {
        // The copies have arrived, for all threads; and all have waited for the product that
        // read the tiles to overwrite.
        __pipeline_wait_prior(STAGES - 3);
        fence_proxy_async();
        __syncthreads();
        const float *const from = Bs + full * B_TILE + threadIdx.x % 4 * B_ROW + col();
#pragma unroll
        for (int n = 0; n < 2 * STEPS; n++) {
            const float2 two = *(const float2 *)(from + 4 * n * B_ROW);
            b[SET][n / 2][n % 2 * 2] = rounded(__float_as_uint(two.x));
            b[SET][n / 2][n % 2 * 2 + 1] = rounded(__float_as_uint(two.y));
        }
        // ANCHOR: product
        const unsigned long long tile = wgmma_tile(As + full * A_TILE);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            wgmma_m64n256k8_tf32(sums, b[SET][step], tile + 2 * step);
        }
        wgmma_commit_group();
        copy();
        wgmma_wait_group<1>();
        // ANCHOR_END: product
        full = turned(full);
    }

    __device__ __forceinline__ void store(const Matrix &C) const {
        const size_t across = left + col();
#pragma unroll
        for (int n = 0; n < 64; n++) {
            const size_t down = upper + n / 2 * 8 + threadIdx.x % 4 * 2 + n % 2;
            const float *const two = &sums[n / 2 * 4 + n % 2];
            if (down < C.rows && across + 2 <= C.cols) {
                *(float2 *)&C.elements[down * C.stride + across] = make_float2(two[0], two[2]);
            } else {
                set_element(C, down, across, two[0]);
            }
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    mat_mul_warpgroups(const Matrix A, const Matrix B, Matrix C) {
    extern __shared__ __align__(1024) float shared[];
    Block block(A, B, shared);
#pragma unroll
    for (int n = 0; n < STAGES - 2; n++) block.copy();
    // Two steps a turn; past the last column of A they add zeros.
    size_t done = 0;
#pragma unroll 1
    do {
        block.multiply<0>();
        block.multiply<1>();
        done += 2 * DEPTH;
    } while (done < A.cols);
    wgmma_wait_group<0>();
    block.store(C);
}
