// Calls that fail, and whose errors the program ignores. With an argument, it asks for each error.
#include <cstdio>

__device__ int total;
__global__ void k(int *p) { extern __shared__ int s[]; s[threadIdx.x] = 1; p[threadIdx.x] = s[0]; }
__global__ void __launch_bounds__(64) bounded() {}

static bool checks;
static void handled() { if (checks) printf("%s\n", cudaGetErrorString(cudaGetLastError())); }

template <typename T> void launch(T *p, int threads, int shared) {
    k<<<1, threads, shared>>>(p); handled(); // launch
}

int main(int argc, char **) {
    checks = argc > 1;
    int host[4] = {}, *p, *freed;
    cudaMalloc(&freed, 4);
    cudaMalloc(&p, 4096);
    launch(p, 0, 4096);
    bounded<<<1, 128>>>(); handled(); // bounds
    k<<<1, 32, 50000>>>(p); handled(); // shared
    cudaMemcpyToSymbol("total", host, 4); handled(); // symbol
    cudaMemcpyToSymbol(total, host, 16); handled(); // size
    cudaMemcpy(host, p, 4, cudaMemcpyHostToDevice); handled(); // direction
    cudaMemcpy(p, host, 5000, cudaMemcpyDeviceToDevice); handled(); // host
    int *none; cudaMalloc(&none, 1ull << 50); handled(); // huge
    cudaMemset(p, 0, 8192); handled(); // set
    cudaMemcpy(p + 4096, host, 4, cudaMemcpyHostToDevice); handled(); // past
    cudaMemcpy2D(p, 4, host, 16, 16, 1, cudaMemcpyHostToDevice); handled(); // pitch
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    cudaMallocArray(&array, &channel, 4);
    cudaMemcpy(array, host, 16, cudaMemcpyHostToDevice); handled(); // array
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    float ms;
    cudaEventElapsedTime(&ms, start, stop); handled(); // event
    cudaFree(freed);
    cudaFree(freed); handled(); // free
    // Queries: none of these is an error.
    cudaEventQuery(start);
    cudaHostRegister(host, 16, 0);
    cudaHostRegister(host, 16, 0);
    cudaHostUnregister(host);
    cudaHostUnregister(host);
    cudaFreeArray(array);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaFree(p);
    return 0;
}
