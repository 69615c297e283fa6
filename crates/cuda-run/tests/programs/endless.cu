#include <cstdio>
#include <thread>
#include <unistd.h>
__global__ void k(volatile int *p) {
    if (threadIdx.x == 0)
        while (p[blockIdx.x] == 0) {}
    __syncthreads();
    p[1] = 2;
}
// A kernel that never ends; a moment after its launch the program prints that it has begun.
int main() {
    int *p; cudaMalloc(&p, 64); cudaMemset(p, 0, 64);
    std::thread([] { usleep(500000); puts("begun"); fflush(stdout); }).detach();
    k<<<4, 64>>>(p); cudaDeviceSynchronize();
}
