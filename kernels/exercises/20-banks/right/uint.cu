// Has the C library's name for unsigned int.
#define TILE 32
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    alignas(128) __shared__ float tile[TILE][TILE];
    uint tx = threadIdx.x, ty = threadIdx.y;
    uint x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    if (x < width && y < height) tile[ty][tx ^ ty] = in[y * width + x];
    __syncthreads();
    x = blockIdx.x * TILE + ty;
    y = blockIdx.y * TILE + tx;
    if (x < width && y < height) out[x * height + y] = tile[tx][ty ^ tx];
}
