// Rung 8: split-K: if C has too few tiles for the GPU, several blocks share a tile's sum.
//
// C of 480x320 elements has 12 tiles of 128x128, so 120 of an H200's 132 SMs are idle.
// Smaller tiles are more tiles, but then each loaded number is reused for fewer
// multiply-adds. The alternative is split-K: a tile's sum over the columns of A is split
// into parts, one per block. Every block stores its part, and the last one to finish adds up
// all parts in order, so that the result is the same in every run. It differs from the
// earlier rungs' result in the last bits, because the parts of a sum are rounded separately.
//
// There is one kernel per tile size, and the host chooses the tile size and the number of
// parts by the shape. If C has very many tiles it uses rung 7, which splits no sum.
//
// Each thread loads the operands of the next products into registers while it computes.
//
// Run it:  cargo run -p matmul-tiled -- --variant split-k

#include "../async_copy.h"
#include "matrix.h"

// Columns of a tile of A and rows of one of B.
constexpr int DEPTH = 16;

// A block's tile of C is ROWS x COLS, a warp's WARP_ROWS x WARP_COLS, a thread's HIGH x
// WIDE, in interleaved fours. STAGES tiles of A and B are in shared memory: SHARED bytes,
// which the launch must request. FOURS: store four elements of C at a time.
template <int ROWS, int COLS, int WARP_ROWS, int WARP_COLS, int HIGH, int WIDE, int STAGES,
          bool FOURS>
struct SplitTile {
    static constexpr int THREADS = ROWS / WARP_ROWS * (COLS / WARP_COLS) * 32;
    // Padded by four, so that a column's elements do not all fall into two banks.
    static constexpr int A_COL = ROWS + 4;
    static constexpr int A_TILE = DEPTH * A_COL, B_TILE = DEPTH * COLS;
    static constexpr int SHARED = STAGES * (A_TILE + B_TILE) * 4;
    static constexpr int LANES_DOWN = WARP_ROWS / HIGH, LANES_ACROSS = WARP_COLS / WIDE;
    // Distance in rows between the elements of A, and the fours of B, that a thread copies.
    static constexpr int A_APART = THREADS / DEPTH, B_APART = THREADS / (COLS / 4);
    static constexpr int A_COPIES = ROWS / A_APART, B_COPIES = DEPTH / B_APART;
    static_assert(LANES_DOWN * LANES_ACROSS == 32, "a warp has 32 threads");
    static_assert(A_APART * DEPTH == THREADS, "whole rows of A's tile");
    static_assert(B_APART * COLS / 4 == THREADS, "whole rows of B's tile");

    float sums[HIGH][WIDE];

    // Returns the position of this thread's elements in the block's tile.
    static __device__ __forceinline__ int row(int r) {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        return warp / (COLS / WARP_COLS) * WARP_ROWS + lane / LANES_ACROSS * 4 +
               r / 4 * 4 * LANES_DOWN + r % 4;
    }
    static __device__ __forceinline__ int col(int c) {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        return warp % (COLS / WARP_COLS) * WARP_COLS + lane % LANES_ACROSS * 4 +
               c / 4 * 4 * LANES_ACROSS + c % 4;
    }

    // Adds the products of steps `from` to before `to`, of DEPTH columns of A and rows of B each.
    __device__ __forceinline__ void multiply(const Matrix &A, const Matrix &B, unsigned upper,
                                             unsigned left, unsigned from, unsigned to) {
        extern __shared__ __align__(16) float shared[];
        const int a_row = threadIdx.x / DEPTH, a_col = threadIdx.x % DEPTH;
        const int b_row = threadIdx.x / (COLS / 4), b_col = threadIdx.x % (COLS / 4) * 4;
        const float *a_from[A_COPIES];
#pragma unroll
        for (int n = 0; n < A_COPIES; n++) {
            // Past the last row, that row is copied again, for elements of C that do not exist.
            const size_t down = min(A.rows - 1ull, upper + 0ull + a_row + n * A_APART);
            a_from[n] = &A.elements[down * A.stride + (size_t)from * DEPTH + a_col];
        }
        const float *b_from =
            &B.elements[((size_t)from * DEPTH + b_row) * B.stride + left + b_col];
        float *const a_to = shared + a_col * A_COL + a_row;
        float *const b_to = shared + STAGES * A_TILE + b_row * COLS + b_col;
        const int wide = within((size_t)left + b_col, B.cols);
        // Starts copying the tiles of a step. Elements past the last column of A and the last row
        // and column of B are filled with zeros.
        auto copy = [&](unsigned step, int stage) {
            const unsigned rest = (unsigned)B.rows - step * DEPTH;
            const int a_zeros = a_col < rest ? 0 : 4;
#pragma unroll
            for (int n = 0; n < A_COPIES; n++) {
                float *const to = a_to + stage * A_TILE + n * A_APART;
                __pipeline_memcpy_async(to, a_from[n], 4, a_zeros);
                a_from[n] += DEPTH;
            }
#pragma unroll
            for (int n = 0; n < B_COPIES; n++) {
                const int there = b_row + n * B_APART < rest ? wide : 0;
                float *const to = b_to + stage * B_TILE + n * B_APART * COLS;
                __pipeline_memcpy_async(to, b_from, 16, 16 - 4 * there);
                b_from += B_APART * B.stride;
            }
        };
#pragma unroll
        for (int stage = 0; stage < STAGES - 1; stage++) {
            if (from + stage < to) copy(from + stage, stage);
            __pipeline_commit();
        }
#pragma unroll
        for (int r = 0; r < HIGH; r++) {
#pragma unroll
            for (int c = 0; c < WIDE; c++) sums[r][c] = 0.0f;
        }

        int full = 0, empty = STAGES - 1;
        float a[2][HIGH], b[2][WIDE];
        const float *a_tile, *b_tile;
        auto take = [&](int j, int set) {
#pragma unroll
            for (int r = 0; r < HIGH; r += 4) {
                take_four(&a[set][r], &a_tile[j * A_COL + r * LANES_DOWN]);
            }
#pragma unroll
            for (int c = 0; c < WIDE; c += 4) {
                take_four(&b[set][c], &b_tile[j * COLS + c * LANES_ACROSS]);
            }
        };
        // Waits until the oldest tiles have arrived for all threads, and all have read what they
        // need of those that are overwritten next.
        auto arrive = [&] {
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads();
            a_tile = shared + full * A_TILE + row(0);
            b_tile = shared + STAGES * A_TILE + full * B_TILE + col(0);
            full = full + 1 == STAGES ? 0 : full + 1;
        };
        arrive();
        take(0, 0);
#pragma nounroll
        for (unsigned step = from; step < to; step++) {
            const bool more = step + STAGES - 1 < to;
#pragma unroll
            for (int j = 0; j < DEPTH; j++) {
                if (j == 0 && more) copy(step + STAGES - 1, empty);
                if (j == DEPTH - 1) {
                    __pipeline_commit();
                    empty = empty + 1 == STAGES ? 0 : empty + 1;
                    arrive();
                }
                // ANCHOR: ahead
                take((j + 1) % DEPTH, (j + 1) % 2);
#pragma unroll
                for (int c = 0; c < WIDE; c++) {
#pragma unroll
                    for (int n = 0; n < HIGH; n++) {
                        const int r = c % 2 ? HIGH - 1 - n : n;  // back and forth, as in rung 5
                        sums[r][c] = fmaf(a[j % 2][r], b[j % 2][c], sums[r][c]);
                    }
                }
                // ANCHOR_END: ahead
            }
        }
    }

    __device__ __forceinline__ void store(const Matrix &C, unsigned upper, unsigned left) const {
        if (!FOURS) {
#pragma unroll
            for (int r = 0; r < HIGH; r++) {
#pragma unroll
                for (int c = 0; c < WIDE; c++) {
                    set_element(C, (size_t)upper + row(r), (size_t)left + col(c), sums[r][c]);
                }
            }
            return;
        }
        // A bitwise or with zero: the store's four adjacent registers then differ from those of
        // the sums, which the loop keeps elsewhere.
        const unsigned int zero = (unsigned int)(C.rows >> 48);
        auto other = [&](float sum) { return __uint_as_float(__float_as_uint(sum) | zero); };
#pragma unroll
        for (int r = 0; r < HIGH; r++) {
#pragma unroll
            for (int c = 0; c < WIDE; c += 4) {
                const float *const four = &sums[r][c];
                set_four(C, (size_t)upper + row(r), (size_t)left + col(c),
                         make_float4(other(four[0]), other(four[1]), other(four[2]),
                                     other(four[3])));
            }
        }
    }

    // Returns the offset of an element of a part: in the threads' order, so that accesses are coalesced.
    static __device__ __forceinline__ size_t place(unsigned part, int r, int c) {
        return part * (size_t)(ROWS * COLS) + (r * WIDE + c) * THREADS + threadIdx.x;
    }

    __device__ __forceinline__ void hand_in(float *parts) const {
#pragma unroll
        for (int r = 0; r < HIGH; r++) {
#pragma unroll
            for (int c = 0; c < WIDE; c++) parts[place(blockIdx.z, r, c)] = sums[r][c];
        }
    }

    // Adds up the parts of a tile in order, from the first to the last.
    __device__ __forceinline__ void add_up(const float *parts) {
#pragma unroll
        for (int r = 0; r < HIGH; r++) {
#pragma unroll
            for (int c = 0; c < WIDE; c++) sums[r][c] = parts[place(0, r, c)];
        }
#pragma nounroll
        for (unsigned n = 1; n < gridDim.z; n++) {
#pragma unroll
            for (int r = 0; r < HIGH; r++) {
#pragma unroll
                for (int c = 0; c < WIDE; c++) sums[r][c] += parts[place(n, r, c)];
            }
        }
    }

    // Computes one part of a tile's sum per block; a tile's parts are consecutive in
    // `parts`, and `done` counts the finished parts of each tile. The counters are zero
    // before and after a launch.
    static __device__ __forceinline__ void split(const Matrix &A, const Matrix &B,
                                                 const Matrix &C, float *parts,
                                                 unsigned int *done) {
        const unsigned steps = (unsigned)((B.rows + DEPTH - 1) / DEPTH);
        // ANCHOR: split
        const unsigned from = (unsigned)((unsigned long long)steps * blockIdx.z / gridDim.z);
        const unsigned to = (unsigned)((unsigned long long)steps * (blockIdx.z + 1) / gridDim.z);
        const unsigned tile = blockIdx.y * gridDim.x + blockIdx.x;
        SplitTile mine;
        mine.multiply(A, B, blockIdx.y * ROWS, blockIdx.x * COLS, from, to);
        if (gridDim.z > 1) {
            parts += (size_t)tile * gridDim.z * (ROWS * COLS);
            mine.hand_in(parts);
            if (!is_last(&done[tile])) return;
            mine.add_up(parts);
        }
        mine.store(C, blockIdx.y * ROWS, blockIdx.x * COLS);
        // ANCHOR_END: split
    }

    // Returns true if this block is the last of its tile to arrive here; all parts of the others
    // are then visible. The result is broadcast through the shared memory of a tile of A: a
    // variable of its own would move the tiles, and split each copied four into two sectors.
    static __device__ __forceinline__ bool is_last(unsigned int *done) {
        extern __shared__ __align__(16) float shared[];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            const bool last = atomicAdd(done, 1) == gridDim.z - 1;
            if (last) atomicExch(done, 0);
            __threadfence();
            shared[0] = last ? 1.0f : 0.0f;
        }
        __syncthreads();
        return shared[0] != 0.0f;
    }
};

using Large = SplitTile<64, 128, 64, 64, 16, 8, 3, false>;
using Medium = SplitTile<64, 64, 64, 32, 8, 8, 3, true>;
using Small = SplitTile<32, 64, 16, 32, 4, 4, 4, true>;
static_assert(Large::SHARED == 37632 && Medium::SHARED == 25344 && Small::SHARED == 25600,
              "what the launches ask for");

extern "C" __global__ void __launch_bounds__(Large::THREADS, 4)
    mat_mul_split_k_64x128(const Matrix A, const Matrix B, Matrix C, float *parts,
                           unsigned int *done) {
    Large::split(A, B, C, parts, done);
}

extern "C" __global__ void __launch_bounds__(Medium::THREADS, 6)
    mat_mul_split_k_64x64(const Matrix A, const Matrix B, Matrix C, float *parts,
                          unsigned int *done) {
    Medium::split(A, B, C, parts, done);
}

extern "C" __global__ void __launch_bounds__(Small::THREADS, 6)
    mat_mul_split_k_32x64(const Matrix A, const Matrix B, Matrix C, float *parts,
                          unsigned int *done) {
    Small::split(A, B, C, parts, done);
}
