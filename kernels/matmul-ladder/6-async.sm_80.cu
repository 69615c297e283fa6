// Rung 6: copies that pass the registers by.
//
// Global memory is copied to shared memory without a register in between, two tiles
// ahead: more time for it to answer, registers for other things, and fewer instructions
// that are no multiply-add. The tile of A is transposed on the way, an element a copy.
// Tiles are twice as deep as before, with half as many barriers.
//
// Run it:  cargo run -p matmul-tiled -- --variant async

#include "async_tiles.h"

using Tiles = AsyncTiles<128, 128, 16, 64, 32, 8, 8, 3>;
static_assert(Tiles::SHARED == 49920, "what the launch asks for");

extern "C" __global__ void __launch_bounds__(Tiles::THREADS, 2)
    mat_mul_async(const Matrix A, const Matrix B, Matrix C) {
    Tiles::one_tile(A, B, C);
}
