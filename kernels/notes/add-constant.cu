// Constant memory compared with global memory: one addend for a whole warp, or one per thread; timed with events.

#include <vector>

#include "check.h"

const int CONSTANTS = 1024;

__constant__ int constants[CONSTANTS];

__global__ void from_constant(int *sums, const int *inputs, int count, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sums[i] = inputs[i] + constants[i / stride % CONSTANTS];
}

__global__ void from_global(int *sums, const int *inputs, const int *addends, int count, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sums[i] = inputs[i] + addends[i / stride % CONSTANTS];
}

int main()
{
    const int count = 128000;
    std::vector<int> inputs(count), addends(CONSTANTS), sums(count);
    for (int i = 0; i < count; i++)
        inputs[i] = 3 * i;
    for (int i = 0; i < CONSTANTS; i++)
        addends[i] = 7 * i + 1;
    int *gi, *ga, *gs;
    CHECK(cudaMalloc(&gi, count * sizeof(int)));
    CHECK(cudaMalloc(&ga, CONSTANTS * sizeof(int)));
    CHECK(cudaMalloc(&gs, count * sizeof(int)));
    CHECK(cudaMemcpy(gi, inputs.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(ga, addends.data(), CONSTANTS * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(constants, addends.data(), CONSTANTS * sizeof(int)));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));

    size_t wrong = 0;
    for (int stride : {1, 32})
        for (bool constant : {false, true}) {
            CHECK(cudaMemset(gs, 0xff, count * sizeof(int)));
            CHECK(cudaEventRecord(begin));
            if (constant)
                from_constant<<<(count + 255) / 256, 256>>>(gs, gi, count, stride);
            else
                from_global<<<(count + 255) / 256, 256>>>(gs, gi, ga, count, stride);
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            printf("%s memory, %s: %.5f ms\n", constant ? "constant" : "global",
                   stride == 1 ? "one addend a thread" : "one addend a warp", ms);
            CHECK(cudaMemcpy(sums.data(), gs, count * sizeof(int), cudaMemcpyDeviceToHost));
            for (int i = 0; i < count; i++)
                wrong += sums[i] != inputs[i] + addends[i / stride % CONSTANTS];
        }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(gi));
    CHECK(cudaFree(ga));
    CHECK(cudaFree(gs));
    return verdict("sums", wrong);
}
