// Variables of a module: a constant array, a scalar, and a pointer to allocated memory.

#include "check.h"

__constant__ float factors[256];
__device__ float offset;
__device__ float *results;

__global__ void apply(int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        results[i] = factors[i % 256] * i + offset;
}

int main()
{
    const int count = 1000;
    float on_host[256], back[count], add = 0.25f, *memory;
    for (int i = 0; i < 256; i++)
        on_host[i] = 0.5f * i;
    CHECK(cudaMalloc(&memory, sizeof back));
    CHECK(cudaMemcpyToSymbol(factors, on_host, sizeof on_host));
    CHECK(cudaMemcpyToSymbol(offset, &add, sizeof add));
    CHECK(cudaMemcpyToSymbol(results, &memory, sizeof memory));
    apply<<<(count + 127) / 128, 128>>>(count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&add, offset, sizeof add));
    CHECK(cudaFree(memory));

    size_t wrong = add != 0.25f;
    for (int i = 0; i < count; i++)
        wrong += back[i] != on_host[i % 256] * i + 0.25f;
    return verdict("values", wrong);
}
