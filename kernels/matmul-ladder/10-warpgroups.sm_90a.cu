// Rung 10: warpgroup multiplications (wgmma), which read one factor from shared memory.
//
// GPUs of compute capability 9.0 have a faster matrix multiplication: `wgmma`, executed by
// a warpgroup of 128 threads. It runs asynchronously, and one of its factors stays in
// shared memory, which saves registers and load instructions. The rows of both factors must
// run along the sum. Rows of A do. Those of B do not, so B is the factor in registers, for
// which a lane can load any elements, and the kernel computes the transposed product: 64
// columns of C by 256 of its rows.
//
//   - Tensor cores take TF32 and truncate the rest of a float. Numbers of B are rounded in registers,
//     as on rung 9. Numbers of A are truncated: rounding them in shared memory would cost a third of
//     the speed.
//   - A warpgroup's tile of C is 256x64, 128 registers per thread, and a block's 256x128. For 32
//     columns of A the block copies 48 KB to shared memory and reads 80 KB from it, which is the most
//     that shared memory can deliver while the tensor cores multiply.
//   - Tiles are copied two steps ahead. While the tensor cores multiply one step, the warps wait for
//     the step before it, copy, and load the next step's numbers of B.
//
// Run it:  cargo run -p matmul-tiled -- --variant warpgroups

#include "../async_copy.h"
#include "../warpgroup.h"
#include "matrix.h"
#include "tf32.h"

constexpr int ROWS = 256, COLS = 128;  // tile of C per block
constexpr int DEPTH = 32;              // columns of a tile of A, rows of one of B
constexpr int STAGES = 4;              // tiles in shared memory
constexpr int THREADS = 256;           // two warpgroups of 64 columns each
constexpr int STEPS = DEPTH / 8;       // multiplications along a tile

// Rows of B are padded, so that the rows that a warp reads together
// are in different banks.
constexpr int B_ROW = COLS + 8;
constexpr int A_TILE = ROWS * DEPTH, B_TILE = DEPTH * B_ROW;
static_assert(STAGES * (A_TILE + B_TILE) * 4 == 200704, "what the launch asks for");

// Distance in rows between the fours (float4) of A and of B that a thread copies.
constexpr int A_APART = THREADS / (DEPTH / 4), B_APART = THREADS / (COLS / 4);

// A block's work on its tile of C, as executed by one of its threads.
struct Block {
    const Matrix &A, &B;
    float *const As, *const Bs;
    const size_t upper, left;
    // First column of A to copy next, and the start of this thread's part.
    size_t next;
    const float *a_from, *b_from;
    // The stage to read and the stage to overwrite.
    int full, empty;
    float sums[128];
    unsigned int b[2][STEPS][4];

    __device__ __forceinline__ Block(const Matrix &A, const Matrix &B, float *shared)
        : A(A), B(B), As(shared), Bs(shared + STAGES * A_TILE),
          upper((size_t)blockIdx.y * ROWS), left((size_t)blockIdx.x * COLS), next(0),
          a_from(A.elements + (upper + a_row()) * A.stride + a_col()),
          b_from(B.elements + b_row() * B.stride + left + b_col()), full(0), empty(0), sums{} {}

    // Returns the row or column of the first four that this thread copies of a tile.
    static __device__ __forceinline__ int a_row() { return threadIdx.x / (DEPTH / 4); }
    static __device__ __forceinline__ int a_col() { return threadIdx.x % (DEPTH / 4) * 4; }
    static __device__ __forceinline__ int b_row() { return threadIdx.x / (COLS / 4); }
    static __device__ __forceinline__ int b_col() { return threadIdx.x % (COLS / 4) * 4; }

    // Returns the first of the two columns of C that this thread computes, in a warp's 16.
    static __device__ __forceinline__ int col() {
        return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 * 2;
    }

    static __device__ __forceinline__ int turned(int stage) {
        return stage + 1 == STAGES ? 0 : stage + 1;
    }

    // Starts copying the next tiles. Elements past the edges are filled with zeros.
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

    // Starts the multiplication of the oldest tiles. SET selects registers that the previous
    // multiplication, which may still be running, does not use.
    template <int SET> __device__ __forceinline__ void multiply() {
        // Waits until the copies have arrived for all threads, and all have waited for the
        // multiplication that read the tiles to overwrite.
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
    // Two steps per iteration; past the last column of A they add zeros.
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
