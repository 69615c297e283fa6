// The bounds of a matrix multiplication, each compared with the other dimension. In a matrix
// that is not square, some threads write outside it, and others do no work.

#include "cuda_device.h"

// Computes C (rows x cols) = A (rows x depth) B (depth x cols).
extern "C" __global__ void rows_and_columns(const float *A, const float *B, float *C, int rows,
                                            int cols, int depth) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < cols && col < rows) {
        float sum = 0.0f;
        for (int k = 0; k < depth; k++) {
            sum += A[row * depth + k] * B[k * cols + col]; // BUG: mem
        }
        C[row * cols + col] = sum;
    }
}

extern "C" __global__ void rows_and_columns_right(const float *A, const float *B, float *C,
                                                  int rows, int cols, int depth) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        float sum = 0.0f;
        for (int k = 0; k < depth; k++) {
            sum += A[row * depth + k] * B[k * cols + col];
        }
        C[row * cols + col] = sum;
    }
}
