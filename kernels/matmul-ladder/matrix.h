// Code shared by the ladder's rungs: matrices with padded rows, read and written one
// element or four at a time, and never past their edges.

#pragma once

#include "cuda_device.h"

// A row-major matrix whose rows start `stride` elements apart, at a multiple of 16
// bytes, as in pitched memory.
struct Matrix {
    size_t rows;
    size_t cols;
    float *elements;
    size_t stride;
};

// Returns an element, or zero past the edge, which adds nothing to a sum; reads nothing there.
__device__ __forceinline__ float get_element(const Matrix &A, size_t row, size_t col) {
    return row < A.rows && col < A.cols ? A.elements[row * A.stride + col] : 0.0f;
}

// Stores an element; does nothing past the edge.
__device__ __forceinline__ void set_element(const Matrix &A, size_t row, size_t col, float value) {
    if (row < A.rows && col < A.cols) A.elements[row * A.stride + col] = value;
}

// Returns four elements of a row from column `col` on, a multiple of 4: one load, except at the edge.
__device__ __forceinline__ float4 get_four(const Matrix &A, size_t row, size_t col) {
    float4 four;
    if (row < A.rows && col + 4 <= A.cols) {
        four = *(const float4 *)&A.elements[row * A.stride + col];
    } else {
        four.x = get_element(A, row, col);
        four.y = get_element(A, row, col + 1);
        four.z = get_element(A, row, col + 2);
        four.w = get_element(A, row, col + 3);
    }
    return four;
}

// Stores four elements likewise.
__device__ __forceinline__ void set_four(const Matrix &A, size_t row, size_t col, float4 four) {
    if (row < A.rows && col + 4 <= A.cols) {
        *(float4 *)&A.elements[row * A.stride + col] = four;
    } else {
        set_element(A, row, col, four.x);
        set_element(A, row, col + 1, four.y);
        set_element(A, row, col + 2, four.z);
        set_element(A, row, col + 3, four.w);
    }
}

// Loads four numbers to registers with one load.
__device__ __forceinline__ void take_four(float *to, const float *from) {
    float4 four;
    four = *(const float4 *)from;
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// Returns how many of the four elements from `first` on come before `end`.
__device__ __forceinline__ int within(size_t first, size_t end) {
    return first >= end ? 0 : end - first < 4 ? (int)(end - first) : 4;
}
