// Products of a warpgroup as kernels write them: 128 registers of sums, a loop that waits for each tile, and
// tiles whose 16-byte chunks change places.

#include "../../../../../kernels/cuda_device.h"

constexpr int ROWS = 64, COLUMNS = 256, DEPTH = 32;

// A tile of rows of 128 bytes, at an address in shared memory.
static __device__ unsigned long long descriptor(unsigned int at) {
    return at >> 4 | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

#define S4(n) "+f"(d[n]), "+f"(d[n + 1]), "+f"(d[n + 2]), "+f"(d[n + 3])
#define S16(n) S4(n), S4(n + 4), S4(n + 8), S4(n + 12)
#define S64(n) S16(n), S16(n + 16), S16(n + 32), S16(n + 48)

static __device__ __forceinline__ void multiply(float (&d)[128], unsigned long long a,
                                                unsigned long long b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
        "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, "
        "%124, %125, %126, %127}, %128, %129, 1, 1, 1;"
        : S64(0), S64(64)
        : "l"(a), "l"(b));
}

// Row `row` of a tile from `from`: its 16-byte chunks change places with the row's number.
static __device__ void store(float *tile, const float *from, int row) {
    for (int chunk = 0; chunk < 8; chunk++)
        for (int k = 0; k < 4; k++)
            tile[32 * row + 4 * (chunk ^ row % 8) + k] = from[4 * chunk + k];
}

// c = a * b: a by rows, b by columns, both `depth` long; 64 x 256 of c by rows. Each block has a c of its own.
extern "C" __global__ void product(const float *a, const float *b, float *c, int depth) {
    __shared__ __attribute__((aligned(1024))) float tile_a[ROWS * DEPTH];
    extern __shared__ __attribute__((aligned(1024))) float tile_b[];
    int thread = threadIdx.x;
    float d[128];
#pragma unroll
    for (int n = 0; n < 128; n++) d[n] = 0;
    unsigned int at_a = (unsigned int)(size_t)(__attribute__((address_space(3))) float *)tile_a;
    unsigned int at_b = (unsigned int)(size_t)(__attribute__((address_space(3))) float *)tile_b;
    for (int from = 0; from < depth; from += DEPTH) {
        if (thread < ROWS) store(tile_a, a + thread * depth + from, thread);
        for (int row = thread; row < COLUMNS; row += 128)
            store(tile_b, b + row * depth + from, row);
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < 4; step++)
            multiply(d, descriptor(at_a + 32 * step), descriptor(at_b + 32 * step));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    c += blockIdx.x * ROWS * COLUMNS;
    int row = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int n = 0; n < 128; n++)
        c[(row + n % 4 / 2 * 8) * COLUMNS + n / 4 * 8 + thread % 4 * 2 + n % 2] = d[n];
}
