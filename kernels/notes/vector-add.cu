// Code 4.1 of the note "Chapter 4 - 内存": linear memory, with the kernel that the note omits.

#include <vector>

#include "check.h"

const int N = 1 << 20;

__global__ void add(const float *A, const float *B, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        C[i] = A[i] + B[i];
}

int main()
{
    std::vector<float> host_A(N), host_B(N), host_C(N);
    for (int i = 0; i < N; i++) {
        host_A[i] = 0.5f * i;
        host_B[i] = 3.0f;
    }

    float *A, *B, *C;
    CHECK(cudaMalloc(&A, N * sizeof(float)));
    CHECK(cudaMalloc(&B, N * sizeof(float)));
    CHECK(cudaMalloc(&C, N * sizeof(float)));
    CHECK(cudaMemcpy(A, host_A.data(), N * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(B, host_B.data(), N * sizeof(float), cudaMemcpyHostToDevice));

    add<<<(N + 255) / 256, 256>>>(A, B, C);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(host_C.data(), C, N * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));

    size_t wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += host_C[i] != host_A[i] + host_B[i];
    return verdict("sums", wrong);
}
