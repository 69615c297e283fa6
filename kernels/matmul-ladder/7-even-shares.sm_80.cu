// Rung 7: as much work for every multiprocessor, and as much for a thread as it can hold.
//
// A block has had a tile of C, and where the tiles are no multiple of the blocks that run
// at once, most of the GPU waits at the end for the last few: 38x25 tiles of 4800x3200
// fill the 264 places of an H200 3.6 times, which takes as long as 4. Here there are as
// many blocks as run at once, and the steps of all tiles, in a row, are cut into equal
// shares for them. A tile that is cut is begun by one block and finished by the next, with
// its products in order, so that it comes out the same to the last bit.
//
// A thread computes 16x8 elements: 24 numbers from shared memory for 128 multiply-adds,
// where there were 16 for 64. They just fit into the 255 registers that it can have. That
// leaves four warps a block, two blocks a multiprocessor, and a last wave that costs more
// than the elements gain, if there is one.
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
