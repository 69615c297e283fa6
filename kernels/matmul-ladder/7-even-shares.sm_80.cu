// Rung 7: Stream-K: equal work for every SM, and as much per thread as its registers hold.
//
// So far a block computes one tile of C. If the number of tiles is not a multiple of the
// resident blocks, most of the GPU idles in the last, partial wave (the tail effect):
// 38x25 tiles of 4800x3200 fill an H200's 264 slots 3.6 times, which takes as long as 4.
// Here there are as many blocks as fit at once, and the steps of all tiles, concatenated,
// are split into equal shares. A split tile is started by one block and finished by the
// next, with its products in order, so that the result is identical to the last bit.
//
// A thread computes 16x8 elements: 24 numbers from shared memory for 128 multiply-adds,
// instead of 16 for 64. They just fit into the 255 registers that a thread can have. This
// leaves four warps per block and two blocks per SM, and makes a partial last wave, if
// there is one, cost more than the larger thread tile gains.
//
// Run it:  cargo run -p matmul-tiled -- --variant even-shares

#include "async_tiles.h"

using Tiles = AsyncTiles<128, 128, 16, 64, 64, 16, 8, 3>;
static_assert(Tiles::SHARED == 49920, "what the launch asks for");

extern "C" __global__ void __launch_bounds__(Tiles::THREADS, 2)
    mat_mul_even_shares(const Matrix A, const Matrix B, Matrix C, float *parts,
                        unsigned int *ready) {
    Tiles::share(A, B, C, parts, ready);
}
