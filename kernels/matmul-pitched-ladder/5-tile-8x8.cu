// Rung 5: eight rows and eight columns per thread.
//
// 256 products for sixteen loads. The sums take 64 registers per thread: with larger tiles
// an SM has too few resident threads to hide the latency of loads.
//
// Run it:  cargo run -p matmul-pitched -- --variant tile-8x8

#include "tile.h"

extern "C" __global__ void __launch_bounds__(128)
    mat_mul_tile_8x8(const Matrix A, const Matrix B, Matrix C) {
    tile<8, 2>(A, B, C);
}
