// Rung 6: asynchronous copies that bypass the registers.
//
// Global memory is copied to shared memory without passing through registers, two tiles
// ahead: this gives loads more time, frees registers, and needs fewer instructions other
// than multiply-adds. The tile of A is transposed on the way, one element per copy. Tiles
// are twice as deep as before, with half as many barriers.
//
// Run it:  cargo run -p matmul-tiled -- --variant async

#include "async_tiles.h"

using Tiles = AsyncTiles<128, 128, 16, 64, 32, 8, 8, 3>;
static_assert(Tiles::SHARED == 49920, "what the launch asks for");

extern "C" __global__ void __launch_bounds__(Tiles::THREADS, 2)
    mat_mul_async(const Matrix A, const Matrix B, Matrix C) {
    Tiles::one_tile(A, B, C);
}
