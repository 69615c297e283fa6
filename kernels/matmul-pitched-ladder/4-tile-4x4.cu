// Rung 4: four rows and four columns a thread.
//
// 64 products for eight loads of 16 bytes, where the book's kernel takes 128 of four.
//
// Run it:  cargo run -p matmul-pitched -- --variant tile-4x4

#include "tile.h"

extern "C" __global__ void __launch_bounds__(128)
    mat_mul_tile_4x4(const Matrix A, const Matrix B, Matrix C) {
    tile<4, 1>(A, B, C);
}
