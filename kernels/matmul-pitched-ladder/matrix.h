// Matrices with padded rows, for all rungs of the ladder in global memory alone. Each rung
// adds up the products of an element in the order of mat_mul_pitched, the book's kernel in
// kernels/matmul-pitched.cu, so that results are the same bit by bit.

#pragma once

#include "cuda_device.h"

// Elements in rows, `stride` elements from the start of a row to that of the next.
struct Matrix {
    size_t rows;
    size_t cols;
    float *elements;
    size_t stride;
};
