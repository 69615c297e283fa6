// The matrix product in pitched memory, from one element a thread to tiles in registers.
//
// Shows how far global memory alone can be taken, without shared memory: what a warp
// should ask for together, and how often a value should be used once it has been asked
// for. Each kernel adds one idea to the one before.
//
//   mat_mul_uncoalesced    a step down: the book's kernel with x and y swapped
//   mat_mul_read_only      the book's kernel through the read-only cache
//   mat_mul_float4         four columns a thread: 16 bytes of a row of B at once
//   mat_mul_tile_4x4       four rows too: each load is used four times
//   mat_mul_tile_8x8       eight rows and eight columns: eight times
//
// The book's kernel is mat_mul_pitched in matmul-pitched.cu. All of them add up the
// products of an element in its order, so that results are the same bit by bit.
//
// Goes on from the note on memory, "Device memory", code 4.3.
// Run it:  cargo run -p matmul-pitched -- --variant ladder

#include "cuda_device.h"

// Elements in rows, `stride` elements from the start of a row to that of the next.
struct Matrix {
    size_t rows;
    size_t cols;
    float *elements;
    size_t stride;
};

// Neighbouring threads take neighbouring rows, so those of a warp read A in 16 or 32
// rows at once: a sector each, of which 4 bytes are used. As all rows start at multiples
// of the pitch, those sectors fall into few sets of the cache as well.
extern "C" __global__ void mat_mul_uncoalesced(const Matrix A, const Matrix B, Matrix C) {
    size_t row = blockIdx.x * blockDim.x + threadIdx.x;
    size_t col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= C.rows || col >= C.cols) return;

    float result = 0.0f;
#pragma unroll 4
    for (size_t i = 0; i < B.rows; i++) {
        result = fmaf(A.elements[row * A.stride + i], B.elements[i * B.stride + col], result);
    }
    C.elements[row * C.stride + col] = result;
}

// The same loads as the book's, through the read-only cache. GPUs before Volta have it
// beside the first cache; on newer ones both are one.
extern "C" __global__ void mat_mul_read_only(const Matrix A, const Matrix B, Matrix C) {
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= C.rows || col >= C.cols) return;

    float result = 0.0f;
#pragma unroll 4
    for (size_t i = 0; i < B.rows; i++) {
        result = fmaf(__ldg(&A.elements[row * A.stride + i]),
                      __ldg(&B.elements[i * B.stride + col]), result);
    }
    C.elements[row * C.stride + col] = result;
}

// Adds x times four columns of B to four sums.
__device__ __forceinline__ void add_products(float (&sums)[4], float x, float4 y) {
    sums[0] = fmaf(x, y.x, sums[0]);
    sums[1] = fmaf(x, y.y, sums[1]);
    sums[2] = fmaf(x, y.z, sums[2]);
    sums[3] = fmaf(x, y.w, sums[3]);
}

// Stores those of four sums that are elements of C.
__device__ __forceinline__ void store(Matrix C, size_t row, size_t col, const float (&sums)[4]) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (col + c < C.cols) C.elements[row * C.stride + col + c] = sums[c];
    }
}

// Four columns a thread. This is what pitched memory is for: every row starts on a
// boundary of 16 bytes, whatever its width, so four floats are one load; and past the
// last column there is padding, which may be read: its products are not stored. One load
// of A now serves four products, and one request of a warp up to four times the columns.
extern "C" __global__ void mat_mul_float4(const Matrix A, const Matrix B, Matrix C) {
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t col = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (row >= C.rows || col >= C.cols) return;

    float sums[4] = {};
#pragma unroll 4
    for (size_t i = 0; i < B.rows; i++) {
        float4 y = __ldg((const float4 *)&B.elements[i * B.stride + col]);
        add_products(sums, __ldg(&A.elements[row * A.stride + i]), y);
    }
    store(C, row, col, sums);
}

// ROWS rows and FOURS times four columns a thread, whose sums are in registers: what is
// loaded of A serves all those columns, what is loaded of B all those rows. Rows are
// blockDim.y apart and fours of columns blockDim.x fours, so that threads side by side
// read side by side. A row of A is read 16 bytes at a time as well, four products deep.
//
// Rows and columns are counted in 32 bits, and only their places in memory in 64. The
// largest matrix has fewer than 2^29 of either, and each number of 64 bits is a register
// more: at 8x8 they make the difference between three blocks a multiprocessor and two.
template <int ROWS, int FOURS>
__device__ __forceinline__ void tile(const Matrix A, const Matrix B, Matrix C) {
    unsigned int top = blockIdx.y * blockDim.y * ROWS + threadIdx.y;
    unsigned int left = (blockIdx.x * blockDim.x * FOURS + threadIdx.x) * 4;
    if (top >= C.rows || left >= C.cols) return;

    // Past the edges of C a thread does what it does at the first row or column, and does
    // not store it.
    const float *a[ROWS];
    const float *b[FOURS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned int row = top + r * blockDim.y;
        a[r] = A.elements + (row < C.rows ? row : top) * A.stride;
    }
#pragma unroll
    for (int f = 0; f < FOURS; f++) {
        unsigned int col = left + f * blockDim.x * 4;
        b[f] = B.elements + (col < C.cols ? col : left);
    }

    float sums[ROWS][FOURS][4] = {};
    size_t i = 0;
#pragma unroll 1
    for (; i + 4 <= B.rows; i += 4) {
        float4 x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) x[r] = *(const float4 *)(a[r] + i);
#pragma unroll
        for (int k = 0; k < 4; k++) {
#pragma unroll
            for (int f = 0; f < FOURS; f++) {
                float4 y = __ldg((const float4 *)b[f]);
                b[f] += B.stride;
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    float each = k == 0 ? x[r].x : k == 1 ? x[r].y : k == 2 ? x[r].z : x[r].w;
                    add_products(sums[r][f], each, y);
                }
            }
        }
    }
    // Up to three products more.
#pragma unroll 1
    for (; i < B.rows; i++) {
#pragma unroll
        for (int f = 0; f < FOURS; f++) {
            float4 y = __ldg((const float4 *)b[f]);
            b[f] += B.stride;
#pragma unroll
            for (int r = 0; r < ROWS; r++) add_products(sums[r][f], a[r][i], y);
        }
    }

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned int row = top + r * blockDim.y;
        if (row >= C.rows) break;
#pragma unroll
        for (int f = 0; f < FOURS; f++) {
            store(C, row, left + f * blockDim.x * 4, sums[r][f]);
        }
    }
}

// 64 products for eight loads of 16 bytes, where the book's kernel takes 128 of four.
extern "C" __global__ void __launch_bounds__(128)
    mat_mul_tile_4x4(const Matrix A, const Matrix B, Matrix C) {
    tile<4, 1>(A, B, C);
}

// 256 products for sixteen loads. The sums take 64 registers of a thread: with larger tiles
// a multiprocessor holds too few threads for some to work while others wait.
extern "C" __global__ void __launch_bounds__(128)
    mat_mul_tile_8x8(const Matrix A, const Matrix B, Matrix C) {
    tile<8, 2>(A, B, C);
}
