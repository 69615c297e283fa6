// One vector spread over all GPUs. Each GPU has its part and its own copy of a factor; the first one gathers
// the parts, and finally reads the last one's memory by peer access.

#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("%s:%d: %s\n", #call, __LINE__, cudaGetErrorString(error));                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const int PART = 1000, THREADS = 128, BLOCKS = (PART + THREADS - 1) / THREADS;

__device__ int factor = 1;

__global__ void fill(int *part, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PART) part[i] = (first + i) * factor;
}

__global__ void add(int *to, const int *from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PART) to[i] += from[i];
}

int main(int argc, char **argv) {
    int count;
    CHECK(cudaGetDeviceCount(&count));
    std::vector<int *> parts(count);
    for (int device = 0; device < count; device++) {
        CHECK(cudaSetDevice(device));
        int own = device + 2;
        CHECK(cudaMemcpyToSymbol(factor, &own, sizeof own));
        CHECK(cudaMalloc(&parts[device], PART * sizeof(int)));
        fill<<<BLOCKS, THREADS>>>(parts[device], device * PART);
        CHECK(cudaGetLastError());
        cudaPointerAttributes attributes;
        CHECK(cudaPointerGetAttributes(&attributes, parts[device]));
        if (attributes.device != device) printf("memory of device %d is of %d\n", device, attributes.device);
    }
    CHECK(cudaSetDevice(0));
    int *all;
    CHECK(cudaMalloc(&all, count * PART * sizeof(int)));
    for (int device = 0; device < count; device++)
        CHECK(cudaMemcpyPeer(all + device * PART, 0, parts[device], device, PART * sizeof(int)));
    std::vector<int> found(count * PART);
    CHECK(cudaMemcpy(found.data(), all, found.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < count * PART; i++) wrong += found[i] != i * (i / PART + 2);

    // A kernel can access another GPU's memory once peer access is enabled.
    int last = count - 1, can = 0;
    if (last > 0) {
        CHECK(cudaDeviceCanAccessPeer(&can, 0, last));
        bool allowed = argc < 2;
        if (can && allowed) CHECK(cudaDeviceEnablePeerAccess(last, 0));
        if (can && allowed && cudaDeviceEnablePeerAccess(last, 0) != cudaErrorPeerAccessAlreadyEnabled) wrong++;
        cudaGetLastError();
        add<<<BLOCKS, THREADS>>>(parts[0], parts[last]);
        CHECK(cudaMemcpy(found.data(), parts[0], PART * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < PART; i++) wrong += found[i] != i * 2 + (last * PART + i) * (last + 2);
    }
    CHECK(cudaFree(all));
    for (int *part : parts) CHECK(cudaFree(part));
    printf("%d devices, %d wrong\n", count, wrong);
    return wrong > 0;
}
