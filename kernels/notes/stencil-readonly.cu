// Section 5.5 of the note "5-5 常量内存": a 9-point stencil, with its coefficients in constant memory and in global
// memory that is read through the read-only cache.
//
// Fused multiply-adds are written out, so that the GPU and the CPU round alike.

#include <cmath>
#include <vector>

#include "check.h"

#define RADIUS 4
#define BDIM 32

__constant__ float coef[RADIUS + 1];

// Coefficients of the first derivative; each belongs to a distance from the point.
#define a0 0.00000f
#define a1 0.80000f
#define a2 -0.20000f
#define a3 0.03809f
#define a4 -0.00357f

const float h_coef[] = {a0, a1, a2, a3, a4};

void initialData(float *in, const int size)
{
    for (int i = 0; i < size; i++)
        in[i] = (rand() & 0xFF) / 100.0f;
}

void setup_coef_constant()
{
    CHECK(cudaMemcpyToSymbol(coef, h_coef, (RADIUS + 1) * sizeof(float)));
}

void cpu_stencil_1d(const float *in, float *out, int isize)
{
    for (int i = RADIUS; i < isize + RADIUS; i++) {
        float tmp = 0;
        for (int j = 1; j <= RADIUS; j++)
            tmp = fmaf(h_coef[j], in[i + j] - in[i - j], tmp);
        out[i] = tmp;
    }
}

// Returns the number of points, without the halo, at which the GPU's result differs from the CPU's.
size_t checkResult(const float *hostRef, const float *gpuRef, const int size)
{
    size_t wrong = 0;
    for (int i = RADIUS; i < size + RADIUS; i++)
        wrong += hostRef[i] != gpuRef[i];
    return wrong;
}

// Copies a block's points and the RADIUS points on both sides of them, the halo, into shared memory.
__device__ inline void load(const float *in, float *smem)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int sidx = threadIdx.x + RADIUS;
    smem[sidx] = in[idx];
    if (threadIdx.x < RADIUS) {
        smem[sidx - RADIUS] = in[idx - RADIUS];
        smem[sidx + BDIM] = in[idx + BDIM];
    }
    __syncthreads();
}

__global__ void stencil_1d(float *in, float *out)
{
    __shared__ float smem[BDIM + 2 * RADIUS];
    load(in, smem);

    const float *here = &smem[threadIdx.x + RADIUS];
    float tmp = 0;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++)
        tmp = fmaf(coef[i], here[i] - here[-i], tmp);
    out[blockIdx.x * blockDim.x + threadIdx.x] = tmp;
}

__global__ void stencil_1d_read_only(float *in, float *out, const float *__restrict__ dcoef)
{
    __shared__ float smem[BDIM + 2 * RADIUS];
    load(in, smem);

    const float *here = &smem[threadIdx.x + RADIUS];
    float tmp = 0;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++)
        tmp = fmaf(dcoef[i], here[i] - here[-i], tmp);
    out[blockIdx.x * blockDim.x + threadIdx.x] = tmp;
}

int main()
{
    int dev = 0;
    cudaDeviceProp deviceProp;
    CHECK(cudaGetDeviceProperties(&deviceProp, dev));
    CHECK(cudaSetDevice(dev));

    const int isize = 1 << 24;
    const size_t nBytes = (isize + 2 * RADIUS) * sizeof(float);
    printf("device %d: %s, array size: %d\n", dev, deviceProp.name, isize);

    std::vector<float> h_in(isize + 2 * RADIUS), hostRef(h_in.size()), gpuRef(h_in.size());
    float *d_in, *d_out, *d_coef;
    CHECK(cudaMalloc(&d_in, nBytes));
    CHECK(cudaMalloc(&d_out, nBytes));
    CHECK(cudaMalloc(&d_coef, (RADIUS + 1) * sizeof(float)));
    CHECK(cudaMemcpy(d_coef, h_coef, (RADIUS + 1) * sizeof(float), cudaMemcpyHostToDevice));
    initialData(h_in.data(), isize + 2 * RADIUS);
    CHECK(cudaMemcpy(d_in, h_in.data(), nBytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0xff, nBytes));
    setup_coef_constant();
    cpu_stencil_1d(h_in.data(), hostRef.data(), isize);

    // The kernels receive pointers behind the first halo.
    dim3 block(BDIM, 1);
    dim3 grid(isize / block.x, 1);
    stencil_1d<<<grid, block>>>(d_in + RADIUS, d_out + RADIUS);
    CHECK(cudaMemcpy(gpuRef.data(), d_out, nBytes, cudaMemcpyDeviceToHost));
    size_t wrong = checkResult(hostRef.data(), gpuRef.data(), isize);

    CHECK(cudaMemset(d_out, 0xff, nBytes));
    stencil_1d_read_only<<<grid, block>>>(d_in + RADIUS, d_out + RADIUS, d_coef);
    CHECK(cudaMemcpy(gpuRef.data(), d_out, nBytes, cudaMemcpyDeviceToHost));
    wrong += checkResult(hostRef.data(), gpuRef.data(), isize);

    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_coef));
    CHECK(cudaDeviceReset());
    return verdict("points", wrong);
}
