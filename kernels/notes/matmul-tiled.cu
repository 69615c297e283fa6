// A tiled matrix multiplication in shared memory.

#include <vector>

#include "check.h"

const int TILE = 16;

__global__ void multiply(const float *a, const float *b, float *c, int size)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int from = 0; from < size; from += TILE) {
        of_a[threadIdx.y][threadIdx.x] = a[y * size + from + threadIdx.x];
        of_b[threadIdx.y][threadIdx.x] = b[(from + threadIdx.y) * size + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
        __syncthreads();
    }
    c[y * size + x] = sum;
}

int main()
{
    const int size = 160;
    const size_t bytes = size * size * sizeof(float);
    std::vector<float> a(size * size), b(size * size), c(size * size);
    for (int i = 0; i < size * size; i++) {
        a[i] = i % 11;
        b[i] = i % 3;
    }
    float *ga, *gb, *gc;
    CHECK(cudaMalloc(&ga, bytes));
    CHECK(cudaMalloc(&gb, bytes));
    CHECK(cudaMalloc(&gc, bytes));
    CHECK(cudaMemcpy(ga, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(gb, b.data(), bytes, cudaMemcpyHostToDevice));
    multiply<<<dim3(size / TILE, size / TILE), dim3(TILE, TILE)>>>(ga, gb, gc, size);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), gc, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(ga));
    CHECK(cudaFree(gb));
    CHECK(cudaFree(gc));

    size_t wrong = 0;
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            float sum = 0;
            for (int k = 0; k < size; k++)
                sum += a[y * size + k] * b[k * size + x];
            wrong += sum != c[y * size + x];
        }
    return verdict("products", wrong);
}
