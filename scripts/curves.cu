// Times memory accesses as a function of one property of their addresses, for the curves of the book: see
// scripts/curves. Prints a JSON record per point: {"curve": "stride", "x": 4, "ms": 0.0123}, the time of one launch.
//
//     cuda-run scripts/curves.cu -- 1                                 modelled on the simulator, one launch per point
//     nvcc -O3 -arch=native scripts/curves.cu -o curves && ./curves   on a GPU, the median of 21 launches
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../kernels/notes/check.h"

const int BLOCK = 256;
// More than an L2 cache holds, so that each launch reads device memory.
const int ELEMENTS = 1 << 24;
const int ITERATIONS = 512;
const int CONSTANTS = 1 << 14;

__constant__ int table[CONSTANTS];

// Every thread reads the element `offset` after its own, and every stride-th element.
__global__ void copy(const float *in, float *out, int offset, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[offset + (size_t)i * stride];
}

// Every request reads `distinct` addresses of constant memory, from a part that the nearest cache holds. `step` is a
// parameter, so that the compiler cannot move the loads out of the loop.
__global__ void constant_addresses(int *out, int distinct, int step) {
    int sum = 0;
    int lane = threadIdx.x % 32 % distinct;
    #pragma unroll 16
    for (int k = 0; k < ITERATIONS; ++k) {
        sum += table[lane + (k * step & 127)];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Every request reads one address; the loop visits `ints` integers, 64 bytes apart.
__global__ void constant_footprint(int *out, int ints) {
    int sum = 0;
    #pragma unroll 16
    for (int k = 0; k < ITERATIONS; ++k) {
        sum += table[k * 16 & (ints - 1)];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Neighbouring threads read words of shared memory that are `stride` words apart.
__global__ void shared_stride(int *out, int stride) {
    // Volatile, so that the compiler does not move the loads out of the outer loop.
    __shared__ volatile int words[2048];
    for (int i = threadIdx.x; i < 2048; i += BLOCK) {
        words[i] = i;
    }
    __syncthreads();
    int sum = 0;
    int first = threadIdx.x % 32 * stride;
    for (int k = 0; k < ITERATIONS / 32; ++k) {
        #pragma unroll
        for (int j = 0; j < 32; ++j) {
            sum += words[first + j];
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Prints the median time of a launch, after a warm-up if there are several.
template <typename Launch>
void point(const char *curve, int x, int launches, Launch launch) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> times;
    const int warmups = launches > 1;
    for (int i = 0; i < warmups + launches; ++i) {
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        times.push_back(ms);
    }
    times.erase(times.begin(), times.begin() + warmups);
    std::sort(times.begin(), times.end());
    printf("{\"curve\": \"%s\", \"x\": %d, \"ms\": %.6f}\n", curve, x, times[times.size() / 2]);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
}

int main(int argc, char **argv) {
    int launches = argc > 1 ? atoi(argv[1]) : 21;
    if (launches < 1) {
        fprintf(stderr, "usage: curves [LAUNCHES], at least 1\n");
        return 2;
    }
    const int offsets[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32};
    const int strides[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32};
    float *in, *out;
    CHECK(cudaMalloc(&in, ELEMENTS * sizeof(float) * 32));
    CHECK(cudaMalloc(&out, ELEMENTS * sizeof(float)));
    for (int offset : offsets) {
        point("offset", offset, launches, [&] { copy<<<ELEMENTS / BLOCK, BLOCK>>>(in, out, offset, 1); });
    }
    for (int stride : strides) {
        point("stride", stride, launches, [&] { copy<<<ELEMENTS / BLOCK, BLOCK>>>(in, out, 0, stride); });
    }
    int *sums = (int *)out;
    // Enough blocks to fill the streaming multiprocessors of any GPU several times.
    const int blocks = 2048;
    for (int distinct = 1; distinct <= 32; ++distinct) {
        point("addresses", distinct, launches, [&] { constant_addresses<<<blocks, BLOCK>>>(sums, distinct, 32); });
    }
    for (int ints = 64; ints <= CONSTANTS; ints *= 2) {
        point("footprint", ints * 4, launches, [&] { constant_footprint<<<blocks, BLOCK>>>(sums, ints); });
    }
    for (int stride = 1; stride <= 33; ++stride) {
        point("banks", stride, launches, [&] { shared_stride<<<blocks, BLOCK>>>(sums, stride); });
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}
