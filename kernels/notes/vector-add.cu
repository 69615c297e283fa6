// Linear memory: allocate, copy, add two vectors, copy back, free.

#include <vector>

#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        c[i] = a[i] + b[i];
}

int main()
{
    const int count = 1 << 20;
    const size_t bytes = count * sizeof(float);
    std::vector<float> a(count), b(count), c(count);
    for (int i = 0; i < count; i++) {
        a[i] = 0.5f * i;
        b[i] = 3.0f;
    }
    float *on_gpu[3];
    for (float *&memory : on_gpu)
        CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemcpy(on_gpu[0], a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(on_gpu[1], b.data(), bytes, cudaMemcpyHostToDevice));
    add<<<(count + 255) / 256, 256>>>(on_gpu[0], on_gpu[1], on_gpu[2], count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), on_gpu[2], bytes, cudaMemcpyDeviceToHost));
    for (float *memory : on_gpu)
        CHECK(cudaFree(memory));

    size_t wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += c[i] != a[i] + b[i];
    return verdict("sums", wrong);
}
