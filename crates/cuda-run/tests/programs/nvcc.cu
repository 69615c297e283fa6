// Code that nvcc compiles and clang rejects: each mistake or old form is repaired before it is compiled again.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cuda_runtime.h>

#define STORE(p, v) asm volatile("st.global.f32 [%1], %0;" ::"f"(v) "l"(p) : "memory")

struct cell {
    int value = 3;
    __device__ cell() {}
    __device__ void set(int v) { value = v; }
};

texture<float> line;
static texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> image;
surface<void, cudaSurfaceType2D> canvas;

// Declared for host and device as in templates that probe a type; no kernel calls it.
template <class T> __host__ __device__ char probe(...);

__global__ void forms(float *out) {
    __shared__ alignas(64) float aligned[4];
    __shared__ cell cells[2];
    cells[1].set(4);
    aligned[threadIdx.x] = cells[1].value + (unsigned)__cvta_generic_to_shared(aligned) % 64;
    STORE(out + threadIdx.x, aligned[threadIdx.x]);
}

__global__ void prefetch(const float *from, float *to) {
    __shared__ alignas(16) float staged[4];
    unsigned at = (unsigned)__cvta_generic_to_shared(staged);
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 0; i < 4; i++) to[i] = staged[i];
}

__global__ void fetches(float *out) {
    out[threadIdx.x] = tex1Dfetch(line, threadIdx.x) + tex2D(image, threadIdx.x + 0.5f, 1.5f);
    surf2Dwrite(make_float2(threadIdx.x, 7), canvas, threadIdx.x * (int)sizeof(float2), 1);
}

// Tiles of two warps, with memory from the program and without.
__global__ void tiles(float *out) {
    namespace cg = cooperative_groups;
    __shared__ cg::block_tile_memory<256> memory;
    auto with = cg::tiled_partition<64>(cg::this_thread_block(memory));
    auto without = cg::tiled_partition<64>(cg::this_thread_block());
    float sum = cg::reduce(with, (float)threadIdx.x, cg::plus<float>());
    float half = cg::reduce(without, threadIdx.x / 2.0f, cg::plus<float>());
    if (with.thread_rank() == 0) out[with.meta_group_rank()] = sum + half;
}

static bool check(const char *name, const float *d, const float (&expected)[4]) {
    float h[4];
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    bool equal = true;
    for (int i = 0; i < 4; i++) equal = equal && h[i] == expected[i];
    printf("%s: %s\n", name, equal ? "right" : "WRONG");
    return equal;
}

int main() {
    float *in, *out, host[4] = {1, 2, 3, 4};
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);

    forms << <1, 4 >> > (out);
    bool right = check("forms", out, {4, 4, 4, 4});
    prefetch << < dim3(1), dim3(1) >> >(in, out);
    right &= check("newer PTX", out, {1, 2, 3, 4});

    tiles<<<{1}, {256, 1}>>>(out);
    right &= check("tiles", out, {3024, 9168, 15312, 21456});

    size_t offset = 1;
    cudaBindTexture(&offset, line, in, sizeof host);
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
    cudaArray *pixels;
    cudaMallocArray(&pixels, &bytes, 4, 2);
    unsigned char rows[2][4] = {{9, 9, 9, 9}, {0, 255, 51, 0}};
    cudaMemcpy2DToArray(pixels, 0, 0, rows, 4, 4, 2, cudaMemcpyHostToDevice);
    image.filterMode = cudaFilterModePoint;
    cudaBindTextureToArray(image, pixels);
    cudaChannelFormatDesc pairs = cudaCreateChannelDesc<float2>();
    cudaArray *painted;
    cudaMallocArray(&painted, &pairs, 4, 2, cudaArraySurfaceLoadStore);
    cudaMemset2D(out, 16, 0, 16, 1);
    cudaBindSurfaceToArray(canvas, painted);
    fetches<<<1, 4>>>(out);
    right &= check("references", out, {1, 3, 3.2f, 4}) && offset == 0;
    float pairs_read[8];
    cudaMemcpy2DFromArray(pairs_read, 32, painted, 0, 1, 32, 1, cudaMemcpyDeviceToHost);
    right &= pairs_read[4] == 2 && pairs_read[5] == 7;
    cudaUnbindTexture(line);
    cudaUnbindTexture(image);
    cudaFreeArray(pixels);
    cudaFreeArray(painted);
    cudaFree(in);
    cudaFree(out);
    return !right;
}
