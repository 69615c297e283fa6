// A matrix multiplication in pitched memory, whose rows are padded.

#include <cmath>
#include <vector>

#include "check.h"

struct Matrix {
    float *data;
    size_t pitch;
    int rows, columns;
};

__device__ float *row(const Matrix &m, int number)
{
    return (float *)((char *)m.data + number * m.pitch);
}

__global__ void multiply(Matrix a, Matrix b, Matrix c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= c.rows || x >= c.columns)
        return;
    float sum = 0;
    for (int k = 0; k < a.columns; k++)
        sum += row(a, y)[k] * row(b, k)[x];
    row(c, y)[x] = sum;
}

static Matrix on_gpu(int rows, int columns)
{
    Matrix m = {nullptr, 0, rows, columns};
    CHECK(cudaMallocPitch(&m.data, &m.pitch, columns * sizeof(float), rows));
    return m;
}

int main()
{
    const int m = 97, n = 131, p = 75;
    std::vector<float> a(m * n), b(n * p), c(m * p);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = i % 7;
    for (size_t i = 0; i < b.size(); i++)
        b[i] = i % 5;
    Matrix ga = on_gpu(m, n), gb = on_gpu(n, p), gc = on_gpu(m, p);
    CHECK(cudaMemcpy2D(ga.data, ga.pitch, a.data(), n * 4, n * 4, m, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(gb.data, gb.pitch, b.data(), p * 4, p * 4, n, cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid((p + 15) / 16, (m + 15) / 16);
    multiply<<<grid, block>>>(ga, gb, gc);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(c.data(), p * 4, gc.data, gc.pitch, p * 4, m, cudaMemcpyDeviceToHost));
    for (Matrix each : {ga, gb, gc})
        CHECK(cudaFree(each.data));

    size_t wrong = 0;
    for (int y = 0; y < m; y++)
        for (int x = 0; x < p; x++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[y * n + k] * b[k * p + x];
            wrong += sum != c[y * p + x];
        }
    return verdict("products", wrong);
}
