// Code shared by rungs 6 and 7: tiles of A and B that are copied to shared memory
// asynchronously, some of them ahead, and multiplied from there.

#pragma once

#include "../async_copy.h"
#include "matrix.h"

// A block's tile of C is ROWS x COLS, a warp's WARP_ROWS x WARP_COLS, a thread's HIGH x
// WIDE, in interleaved fours. Tiles of A and B are DEPTH deep, and STAGES of them are in
// shared memory: SHARED bytes, which the launch must request.
template <int ROWS, int COLS, int DEPTH, int WARP_ROWS, int WARP_COLS, int HIGH, int WIDE,
          int STAGES>
struct AsyncTiles {
    static constexpr int THREADS = ROWS / WARP_ROWS * (COLS / WARP_COLS) * 32;
    // Padded by four, so that a column's elements do not all fall into two banks.
    static constexpr int A_COL = ROWS + 4;
    static constexpr int A_TILE = DEPTH * A_COL, B_TILE = DEPTH * COLS;
    static constexpr int SHARED = STAGES * (A_TILE + B_TILE) * 4;
    static constexpr int LANES_DOWN = WARP_ROWS / HIGH, LANES_ACROSS = WARP_COLS / WIDE;
    // Distance in rows between the elements of A, and the fours of B, that a thread copies.
    static constexpr int A_APART = THREADS / DEPTH, B_APART = THREADS / (COLS / 4);
    static_assert(LANES_DOWN * LANES_ACROSS == 32, "a warp has 32 threads");
    static_assert(A_APART * DEPTH == THREADS, "whole rows of A's tile");
    static_assert(B_APART * COLS / 4 == THREADS, "whole rows of B's tile");
    static_assert(ROWS % A_APART == 0 && DEPTH % B_APART == 0, "all copy as much");

    // Computes a tile of C from row `upper` and column `left` on: adds the products of steps
    // `from` to before `to`, of DEPTH columns of A and rows of B each, to the partial sums in
    // `begun`. Stores to `result`, from `result_row` and `result_col` on.
    static __device__ __forceinline__ void multiply(const Matrix &A, const Matrix &B,
                                                    unsigned upper, unsigned left, unsigned from,
                                                    unsigned to, const Matrix &begun,
                                                    const Matrix &result, unsigned result_row,
                                                    unsigned result_col) {
        extern __shared__ __align__(16) float shared[];
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int row = warp / (COLS / WARP_COLS) * WARP_ROWS + lane / LANES_ACROSS * 4;
        const int col = warp % (COLS / WARP_COLS) * WARP_COLS + lane % LANES_ACROSS * 4;
        const int a_row = threadIdx.x / DEPTH, a_col = threadIdx.x % DEPTH;
        const int b_row = threadIdx.x / (COLS / 4), b_col = threadIdx.x % (COLS / 4) * 4;

        const float *a_from[ROWS / A_APART];
#pragma unroll
        for (int n = 0; n < ROWS / A_APART; n++) {
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
            // ANCHOR: copy
#pragma unroll
            for (int n = 0; n < ROWS / A_APART; n++) {
                float *const to = a_to + stage * A_TILE + n * A_APART;
                __pipeline_memcpy_async(to, a_from[n], 4, a_zeros);
                a_from[n] += DEPTH;
            }
            // ANCHOR_END: copy
#pragma unroll
            for (int n = 0; n < DEPTH; n += B_APART) {
                const int there = b_row + n < rest ? wide : 0;
                float *const to = b_to + stage * B_TILE + n * COLS;
                __pipeline_memcpy_async(to, b_from + n * B.stride, 16, 16 - 4 * there);
            }
            b_from += DEPTH * B.stride;
        };
        __syncthreads();  // no thread still reads the previous tiles
#pragma unroll
        for (int stage = 0; stage < STAGES - 1; stage++) {
            if (from + stage < to) copy(from + stage, stage);
            __pipeline_commit();
        }

        float results[HIGH][WIDE];
#pragma unroll
        for (int r = 0; r < HIGH; r++) {
#pragma unroll
            for (int c = 0; c < WIDE; c++) {
                results[r][c] = get_element(begun, row + r / 4 * 4 * LANES_DOWN + r % 4,
                                            col + c / 4 * 4 * LANES_ACROSS + c % 4);
            }
        }
        int full = 0, empty = STAGES - 1;
        // ANCHOR: ahead
#pragma nounroll
        for (unsigned step = from; step < to; step++) {
            // Waits until the oldest tiles have arrived for all threads, and all are done with
            // those that are overwritten now.
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads();
            if (step + STAGES - 1 < to) copy(step + STAGES - 1, empty);
            __pipeline_commit();
            // ANCHOR_END: ahead
            const float *const a_tile = shared + full * A_TILE + row;
            const float *const b_tile = shared + STAGES * A_TILE + full * B_TILE + col;
            full = full + 1 == STAGES ? 0 : full + 1;
            empty = empty + 1 == STAGES ? 0 : empty + 1;
#pragma unroll
            for (int j = 0; j < DEPTH; j++) {
                float a[HIGH], b[WIDE];
#pragma unroll
                for (int r = 0; r < HIGH; r += 4) {
                    take_four(&a[r], &a_tile[j * A_COL + r * LANES_DOWN]);
                }
#pragma unroll
                for (int c = 0; c < WIDE; c += 4) {
                    take_four(&b[c], &b_tile[j * COLS + c * LANES_ACROSS]);
                }
                // Back and forth, as in rung 5.
#pragma unroll
                for (int c = 0; c < WIDE; c++) {
#pragma unroll
                    for (int n = 0; n < HIGH; n++) {
                        const int r = c % 2 ? HIGH - 1 - n : n;
                        results[r][c] = fmaf(a[r], b[c], results[r][c]);
                    }
                }
            }
        }
        // Stores one element at a time: a float4 would need four adjacent registers, exactly those
        // that conflict with b's in the loop.
#pragma unroll
        for (int r = 0; r < HIGH; r++) {
            const size_t to_row = (size_t)result_row + row + r / 4 * 4 * LANES_DOWN + r % 4;
#pragma unroll
            for (int c = 0; c < WIDE; c++) {
                const size_t to_col = (size_t)result_col + col + c / 4 * 4 * LANES_ACROSS + c % 4;
                set_element(result, to_row, to_col, results[r][c]);
            }
        }
    }

    // Computes one tile of C per block.
    static __device__ __forceinline__ void one_tile(const Matrix &A, const Matrix &B,
                                                    const Matrix &C) {
        const Matrix nothing = {0, 0, nullptr, 0};
        const unsigned upper = blockIdx.y * ROWS, left = blockIdx.x * COLS;
        multiply(A, B, upper, left, 0, (unsigned)((B.rows + DEPTH - 1) / DEPTH), nothing, C,
                 upper, left);
    }

    // Computes an equal share of the steps of all tiles per block (Stream-K). A block starts at the end
    // of its share: first a tile that it begins and hands on in `parts`, last a tile that the previous
    // block has handed on, long ago if all are equally fast. `ready` has one flag per block, set by it
    // and cleared by the next. A block waits only for the previous one, which starts no later.
    static __device__ __forceinline__ void share(const Matrix &A, const Matrix &B,
                                                 const Matrix &C, float *parts,
                                                 unsigned int *ready) {
        const unsigned across = (unsigned)((C.cols + COLS - 1) / COLS);
        const unsigned down = (unsigned)((C.rows + ROWS - 1) / ROWS);
        const unsigned steps = (unsigned)((B.rows + DEPTH - 1) / DEPTH);
        // ANCHOR: share
        const unsigned long long all = (unsigned long long)across * down * steps;
        const unsigned long long first = all * blockIdx.x / gridDim.x;
        unsigned long long end = all * (blockIdx.x + 1) / gridDim.x;
#pragma nounroll
        while (first < end) {
            const unsigned tile = (unsigned)((end - 1) / steps);
            const unsigned long long start = (unsigned long long)tile * steps;
            const unsigned from = first > start ? (unsigned)(first - start) : 0;
            const unsigned to = (unsigned)(end - start);
            // ANCHOR_END: share
            Matrix begun = {0, 0, nullptr, COLS};
            if (from != 0) {
                if (threadIdx.x == 0) {
                    while (atomicExch(&ready[blockIdx.x - 1], 0) == 0) {}
                    __threadfence();
                }
                __syncthreads();
                begun = {ROWS, COLS, parts + (size_t)(blockIdx.x - 1) * ROWS * COLS, COLS};
            }
            const bool hands_on = to != steps;
            const Matrix part = {ROWS, COLS, parts + (size_t)blockIdx.x * ROWS * COLS, COLS};
            const unsigned upper = tile / across * ROWS, left = tile % across * COLS;
            multiply(A, B, upper, left, from, to, begun, hands_on ? part : C,
                     hands_on ? 0 : upper, hands_on ? 0 : left);
            if (hands_on) {
                __threadfence();
                __syncthreads();
                if (threadIdx.x == 0) atomicExch(&ready[blockIdx.x], 1);
            }
            end = start + from;
        }
    }
};
