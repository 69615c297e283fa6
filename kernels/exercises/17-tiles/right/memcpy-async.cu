// Groups copy the tiles.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
#define TILE 16
// each row of 16 threads copies one row of each tile
extern "C" __global__ void product(const float *A, const float *B, float *C, int M, int N, int P) {
    __shared__ __align__(16) float As[TILE][TILE];
    __shared__ __align__(16) float Bs[TILE][TILE];
    auto block = cg::this_thread_block();
    auto line = cg::tiled_partition<TILE>(block);
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < N; first += TILE) {
        cg::memcpy_async(line, As[ty], A + row * N + first, sizeof(float) * TILE);
        cg::memcpy_async(line, Bs[ty], B + (first + ty) * P + blockIdx.x * TILE, sizeof(float) * TILE);
        cg::wait(line);
        block.sync();
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        block.sync();
    }
    C[row * P + col] = sum;
}
