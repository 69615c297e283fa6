// Code shared by the programs of matrix multiplication: the factors, and the check of the product.

#pragma once

#include <cstddef>
#include <vector>

// Fills the factors with small integers, so that every sum is exact.
template <size_t M, size_t N, size_t P>
void fill(float (&A)[M][N], float (&B)[N][P])
{
    for (size_t row = 0; row < M; row++)
        for (size_t col = 0; col < N; col++)
            A[row][col] = (3 * row + col) % 7;
    for (size_t row = 0; row < N; row++)
        for (size_t col = 0; col < P; col++)
            B[row][col] = (row + 2 * col) % 5;
}

// Returns the number of elements of C that differ from the product that the CPU computes.
template <size_t M, size_t N, size_t P>
size_t wrong_elements(const float (&A)[M][N], const float (&B)[N][P], const float (&C)[M][P])
{
    size_t wrong = 0;
    for (size_t row = 0; row < M; row++) {
        std::vector<float> expected(P);
        for (size_t i = 0; i < N; i++)
            for (size_t col = 0; col < P; col++)
                expected[col] += A[row][i] * B[i][col];
        for (size_t col = 0; col < P; col++)
            wrong += C[row][col] != expected[col];
    }
    return wrong;
}
