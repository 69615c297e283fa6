// Code 4.4 of the note "Chapter 4 - 内存": variables of a module, with kernels that use them.

#include <cmath>

#include "check.h"

__constant__ float constData[256];
__device__ float devData;
__device__ float *devPointer;

// Reads all three variables: none of them is a parameter.
__global__ void combine(float *out)
{
    out[threadIdx.x] = fmaf(constData[threadIdx.x], devData, devPointer[threadIdx.x]);
}

// Writes the scalar, and through the pointer.
__global__ void store(float value)
{
    if (threadIdx.x == 0)
        devData = value;
    devPointer[threadIdx.x] = constData[threadIdx.x] * value;
}

int main()
{
    float data[256], back[256];
    for (int i = 0; i < 256; i++)
        data[i] = 0.5f * i;
    CHECK(cudaMemcpyToSymbol(constData, data, sizeof data));
    CHECK(cudaMemcpyFromSymbol(back, constData, sizeof back));
    size_t wrong = 0;
    for (int i = 0; i < 256; i++)
        wrong += back[i] != data[i];

    const float value = 3.14f;
    CHECK(cudaMemcpyToSymbol(devData, &value, sizeof value));

    // The pointer receives the address of an allocation, which is filled like any other.
    float *ptr;
    CHECK(cudaMalloc(&ptr, 256 * sizeof(float)));
    CHECK(cudaMemcpyToSymbol(devPointer, &ptr, sizeof ptr));
    CHECK(cudaMemcpy(ptr, data, sizeof data, cudaMemcpyHostToDevice));

    float *out;
    CHECK(cudaMalloc(&out, sizeof back));
    combine<<<1, 256>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++)
        wrong += back[i] != fmaf(data[i], value, data[i]);

    store<<<1, 256>>>(0.75f);
    CHECK(cudaGetLastError());
    float stored;
    CHECK(cudaMemcpyFromSymbol(&stored, devData, sizeof stored));
    wrong += stored != 0.75f;
    CHECK(cudaMemcpy(back, ptr, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++)
        wrong += back[i] != data[i] * 0.75f;

    CHECK(cudaFree(out));
    CHECK(cudaFree(ptr));
    return verdict("values", wrong);
}
