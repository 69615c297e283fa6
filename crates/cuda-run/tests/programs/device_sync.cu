// Kernels that wait for kernels that they launch.
#include <cstdio>

__global__ void reduce(int *data, int n) {
    int half = n / 2;
    if (threadIdx.x < half) data[threadIdx.x] += data[threadIdx.x + half];
    __syncthreads();
    if (threadIdx.x == 0 && half > 1) {
        reduce<<<1, half / 2>>>(data, half);
        cudaDeviceSynchronize();
        if (half == 2) printf("sum %d\n", data[0]);
    }
}

__global__ void parent(int *data) {
    data += 256 * blockIdx.x;
    data[threadIdx.x] = threadIdx.x + blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        reduce<<<1, 128>>>(data, 256);
        cudaError_t status = cudaDeviceSynchronize();
        printf("block %d: %d %s\n", blockIdx.x, data[0], cudaGetErrorString(status));
    }
}

__global__ void count(int *counter) {
    int sum = 0;
    for (int i = 0; i < 200; i++) sum += i % 2;
    atomicAdd(counter, sum);
}

// Many blocks wait, each for many blocks, at the same time on all threads of the host.
__global__ void wide(int *counters) {
    if (threadIdx.x == 0) {
        count<<<64, 256>>>(counters + blockIdx.x);
        cudaDeviceSynchronize();
        counters[blockIdx.x] /= 100 * 256;
    }
}

__global__ void nothing() {}

__device__ volatile int turn;

// Three blocks make 1,024 launches each, one block after the other. No more than 2,048 may be pending at a time, so those
// of a block must be complete when it has waited for them.
__global__ void in_turn(int *failed) {
    if (threadIdx.x == 0)
        while (turn != blockIdx.x) {}
    __syncthreads();
    nothing<<<1, 1>>>();
    if (cudaGetLastError() != cudaSuccess) atomicAdd(failed, 1);
    cudaDeviceSynchronize();
    __syncthreads();
    if (threadIdx.x == 0) turn = blockIdx.x + 1;
}

int main() {
    int *data;
    cudaMalloc(&data, 3 * 256 * sizeof *data);
    parent<<<3, 256>>>(data);
    int status = cudaDeviceSynchronize();
    int counters[64], different = 0;
    cudaMemset(data, 0, sizeof counters);
    wide<<<64, 32>>>(data);
    cudaMemcpy(counters, data, sizeof counters, cudaMemcpyDeviceToHost);
    for (int counter : counters) different += counter != 64;
    int failed = 0;
    cudaMemset(data, 0, sizeof *data);
    in_turn<<<3, 1024>>>(data);
    cudaMemcpy(&failed, data, sizeof failed, cudaMemcpyDeviceToHost);
    printf("different: %d, failed: %d\n", different, failed);
    cudaFree(data);
    return status;
}
