// Matrices with padded rows, for the rungs of the ladder that use only global memory. Each
// rung adds up the products of an element in the order of mat_mul_pitched, the note's
// kernel in kernels/matmul-pitched.cu, so that results are identical bit by bit.

#pragma once

#include "cuda_device.h"

// A row-major matrix whose rows start `stride` elements apart.
struct Matrix {
    size_t rows;
    size_t cols;
    float *elements;
    size_t stride;
};
