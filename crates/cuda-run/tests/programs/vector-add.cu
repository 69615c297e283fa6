#include <cstdio>
#include <cstdlib>
#include <vector>

#include "size.h"

__global__ void vectorAdd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : SIZE;
    std::vector<float> a(n, 1.5f), b(n, 2.0f), c(n);
    size_t bytes = n * sizeof(float);
    float *da, *db, *dc;
    cudaMalloc(&da, bytes);
    cudaMalloc(&db, bytes);
    cudaMalloc(&dc, bytes);
    cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    for (int repeat = 0; repeat < 3; repeat++)
        vectorAdd<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (c[i] != 3.5f)
            return 2;
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    printf("%d sums are right, %s\n", n, ms > 0 ? "timed" : "not timed");
    return 0;
}
