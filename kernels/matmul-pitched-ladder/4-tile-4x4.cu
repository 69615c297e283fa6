// Rung 4: four rows and four columns per thread.
//
// 64 products for eight loads of 16 bytes, where the note's kernel takes 128 of 4 bytes.
//
// Run it:  cargo run -p matmul-pitched -- --variant tile-4x4

#include "tile.h"

extern "C" __global__ void __launch_bounds__(128)
    mat_mul_tile_4x4(const Matrix A, const Matrix B, Matrix C) {
    tile<4, 1>(A, B, C);
}
