// Rung 9: tensor cores, which multiply small matrices of a warp in one instruction.
//
// An `mma` multiplies 16x8 elements of A by 8x8 of B, 1024 multiply-adds where a warp's
// `fmaf` does 32, so far fewer numbers are read from shared memory and registers. It takes
// factors in TF32, floats whose fraction has 10 bits, and accumulates in 32 bits: the results
// differ from those of the other rungs, and are compared with a reference of their own.
//
//   - A warp's tile of C is 80x64, 160 registers per thread. For 8 columns of A it reads 36 wavefronts
//     from shared memory for 40 `mma`s.
//   - `ldmatrix` loads 16x8 elements of A at once. Of B a lane loads four adjacent columns, so the
//     columns of one `mma` are four apart: an `mma` may take any eight columns.
//   - Tiles are copied two ahead. Copies, and loads of the next factors, are interleaved with the
//     `mma`s, so that these never wait. Blocks without an edge use, for all but the end of A's
//     columns, a loop without bounds checks.
//   - 320x128 elements of C per block: 375 blocks for 4800x3200, 2.84 for each of an H200's 132 SMs,
//     which is not much less than 3.
//
// Run it:  cargo run -p matmul-tiled -- --variant tensor-cores

#include "../async_copy.h"
#include "../tensor_core.h"
#include "matrix.h"
#include "tf32.h"

constexpr int ROWS = 320, COLS = 128;          // tile of C per block
constexpr int DEPTH = 32;                      // columns of a tile of A, rows of one of B
constexpr int WARP_ROWS = 80, WARP_COLS = 64;  // of a warp's tile
constexpr int STAGES = 3;                      // tiles in shared memory
constexpr int THREADS = ROWS / WARP_ROWS * (COLS / WARP_COLS) * 32;
// Number of `mma`s down and across a warp's tile, and along a tile of A.
constexpr int HIGH = WARP_ROWS / 16, WIDE = WARP_COLS / 8, STEPS = DEPTH / 8;

// Rows in shared memory are padded, so that the eight rows of A that `ldmatrix` reads
// together are in different banks, and so are the rows of B that a warp reads together.
constexpr int A_ROW = DEPTH + 4, B_ROW = COLS + 8;
constexpr int A_TILE = ROWS * A_ROW, B_TILE = DEPTH * B_ROW;
static_assert(STAGES * (A_TILE + B_TILE) * 4 == 190464, "what the launch asks for");

// Distance in rows between the fours (float4) of A and of B that a thread copies.
constexpr int A_APART = THREADS / (DEPTH / 4), B_APART = THREADS / (COLS / 4);
constexpr int A_FOURS = ROWS / A_APART, B_FOURS = DEPTH / B_APART;
static_assert(A_FOURS + B_FOURS <= (STEPS - 1) * HIGH, "one before each row of `mma`s");
// Loads of B for the next step, likewise.
constexpr int B_LOADS = WIDE / 2;
static_assert(B_LOADS < HIGH, "one before each row of `mma`s but the last");

// A block's work on its tile of C, as executed by one of its threads.
struct Block {
    const Matrix &A, &B;
    float *const As, *const Bs;
    const size_t upper, left;
    // The tile to copy next, and the start of this thread's part of it.
    size_t next;
    const float *a_from, *b_from;
    // The stage to read and the stage to overwrite, and this thread's pointers into them.
    int full, empty;
    const float *a_full, *b_full;
    float *a_empty, *b_empty;
    float sums[HIGH][WIDE][4];
    unsigned int a[HIGH][4], b[2][WIDE][2];

    __device__ __forceinline__ Block(const Matrix &A, const Matrix &B, float *shared)
        : A(A), B(B), As(shared), Bs(shared + STAGES * A_TILE),
          upper((size_t)blockIdx.y * ROWS), left((size_t)blockIdx.x * COLS), next(0),
          a_from(A.elements + (upper + a_row()) * A.stride + a_col()),
          b_from(B.elements + b_row() * B.stride + left + b_col()), full(0), empty(0), sums{} {
        turn();
    }

    // Returns the row or column of the first four that this thread copies of a tile.
    static __device__ __forceinline__ int a_row() { return threadIdx.x / (DEPTH / 4); }
    static __device__ __forceinline__ int a_col() { return threadIdx.x % (DEPTH / 4) * 4; }
    static __device__ __forceinline__ int b_row() { return threadIdx.x / (COLS / 4); }
    static __device__ __forceinline__ int b_col() { return threadIdx.x % (COLS / 4) * 4; }

    // Returns the first row and column of this warp's tile.
    static __device__ __forceinline__ int row() {
        return threadIdx.x / 32 / (COLS / WARP_COLS) * WARP_ROWS;
    }
    static __device__ __forceinline__ int col() {
        return threadIdx.x / 32 % (COLS / WARP_COLS) * WARP_COLS;
    }

    // Returns the destination of a four that this thread copies.
    __device__ __forceinline__ float *a_to(int four) const {
        return a_empty + four * A_APART * A_ROW;
    }
    __device__ __forceinline__ float *b_to(int four) const {
        return b_empty + four * B_APART * B_ROW;
    }
    // Updates the pointers after another stage has become the one to read, or to overwrite.
    __device__ __forceinline__ void turn() {
        const int lane = threadIdx.x % 32;
        a_full = As + full * A_TILE + (row() + lane % 16) * A_ROW + lane / 16 * 4;
        b_full = Bs + full * B_TILE + lane % 4 * B_ROW + col() + lane / 4 * 4;
        a_empty = As + empty * A_TILE + a_row() * A_ROW + a_col();
        b_empty = Bs + empty * B_TILE + b_row() * B_ROW + b_col();
    }
    // Advances to the next four of A, in the same tile or in the next one.
    __device__ __forceinline__ void a_done(int four) {
        a_from += A_APART * A.stride;
        if (four == A_FOURS - 1) a_from -= ROWS * A.stride - DEPTH;
    }

    // Starts copying one four of the next tile, all of which is within the matrix.
    __device__ __forceinline__ void copy(int four) {
        if (four < A_FOURS) {
            __pipeline_memcpy_async(a_to(four), a_from, 16);
            a_done(four);
        } else if (four < A_FOURS + B_FOURS) {
            __pipeline_memcpy_async(b_to(four - A_FOURS), b_from, 16);
            b_from += B_APART * B.stride;
        }
    }

    // Starts copying the next tile, if there is one; elements outside the matrices are zeros.
    __device__ __forceinline__ void copy_edge() {
        const size_t first = next * DEPTH;
#pragma unroll 1
        for (int four = 0; four < A_FOURS; four++) {
            const bool there = upper + a_row() + four * A_APART < A.rows;
            copy_some(a_to(four), a_from, there ? within(first + a_col(), A.cols) : 0);
            a_done(four);
        }
#pragma unroll 1
        for (int four = 0; four < B_FOURS; four++) {
            const bool there = first + b_row() + four * B_APART < B.rows;
            copy_some(b_to(four), b_from, there ? within(left + b_col(), B.cols) : 0);
            b_from += B_APART * B.stride;
        }
    }

    static __device__ __forceinline__ void copy_some(float *to, const float *from, int elements) {
        if (elements > 0) {
            __pipeline_memcpy_async(to, from, 16, 16 - 4 * elements);
        } else {
            *(float4 *)to = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
    }

    // Loads 16x8 elements of A: each lane passes the address of half a row.
    __device__ __forceinline__ void load_a(int down, int step) {
        ldmatrix_x4(a[down], a_full + 16 * down * A_ROW + 8 * step);
#pragma unroll
        for (int i = 0; i < 4; i++) a[down][i] = rounded(a[down][i]);
    }

    // Loads half of 8x32 elements of B: a lane loads four adjacent ones, for as many `mma`s.
    __device__ __forceinline__ void load_b(int half, int step) {
        float four[4];
        take_four(four, b_full + (8 * step + half % 2 * 4) * B_ROW + half / 2 * 32);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            b[step % 2][half / 2 * 4 + i][half % 2] = rounded(__float_as_uint(four[i]));
        }
    }

    // Loads the first factors of the first tile.
    __device__ __forceinline__ void load_first() {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
#pragma unroll
        for (int down = 0; down < HIGH; down++) load_a(down, 0);
#pragma unroll
        for (int half = 0; half < B_LOADS; half++) load_b(half, 0);
    }

    // Multiplies two tiles, whose first factors are loaded, and loads the first factors of the
    // next. WHOLE: another tile, without an edge, is copied meanwhile.
    template <bool WHOLE> __device__ __forceinline__ void multiply() {
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            if (step == STEPS - 1) {
                // Waits until all copies but the newest have arrived for all threads, and all threads have
                // loaded what they need of this tile.
                __pipeline_commit();
                __pipeline_wait_prior(STAGES - 2);
                __syncthreads();
                full = full + 1 == STAGES ? 0 : full + 1;
                empty = empty + 1 == STAGES ? 0 : empty + 1;
                turn();
            }
            // ANCHOR: mma
#pragma unroll
            for (int down = 0; down < HIGH; down++) {
                if (WHOLE && step < STEPS - 1) copy(step * HIGH + down);
                if (down < B_LOADS) load_b(down, (step + 1) % STEPS);
#pragma unroll
                for (int n = 0; n < WIDE; n++) {
                    // Back and forth, as in rung 5.
                    const int across = down % 2 ? WIDE - 1 - n : n;
                    mma_m16n8k8_tf32(sums[down][across], a[down], b[step % 2][across]);
                }
                // These factors are not needed any more; their replacements have until the next step to arrive.
                load_a(down, (step + 1) % STEPS);
            }
            // ANCHOR_END: mma
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
    mat_mul_tensor_cores(const Matrix A, const Matrix B, Matrix C) {
    extern __shared__ __align__(16) float shared[];
    Block block(A, B, shared);
    const size_t tiles = (A.cols + DEPTH - 1) / DEPTH;
    const bool inside = block.upper + ROWS <= A.rows && block.left + COLS <= B.cols;
    const size_t whole = inside ? A.cols / DEPTH : 0;

#pragma unroll 1
    for (; block.next < STAGES - 1; block.next++) {
        block.copy_edge();
        __pipeline_commit();
        block.empty++;
        block.turn();
    }
    block.load_first();
#pragma unroll 1
    for (; block.next < whole; block.next++) block.multiply<true>();
#pragma unroll 1
    for (; block.next < tiles + STAGES - 1; block.next++) {
        block.copy_edge();
        block.multiply<false>();
    }

    // A lane has two neighbours of a row of an `mma`; four `mma`s have the columns between.
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int down = 0; down < 2 * HIGH; down++) {
        const size_t row = block.upper + block.row() + 8 * down + lane / 4;
#pragma unroll
        for (int n = 0; n < WIDE / 2; n++) {
            const size_t col = block.left + block.col() + n / 2 * 32 + lane % 4 * 8 + n % 2 * 4;
            const float(*sums)[4] = &block.sums[down / 2][n / 2 * 4];
            const int which = down % 2 * 2 + n % 2;
            set_four(C, row, col,
                     make_float4(sums[0][which], sums[1][which], sums[2][which], sums[3][which]));
        }
    }
}
