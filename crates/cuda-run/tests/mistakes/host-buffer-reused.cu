// case: host memory that is reused while an asynchronous copy reads it
// thread: https://github.com/rapidsai/rapidsmpf/pull/1101
#include <string.h>
__global__ void add(int *sums, const int *in) { sums[threadIdx.x] += in[threadIdx.x]; }
int main() {
    const size_t bytes = 256 * sizeof(int);
    int *staging, *in, *sums;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&staging, bytes);
    cudaMalloc(&in, bytes);
    cudaMalloc(&sums, bytes);
    cudaMemsetAsync(sums, 0, bytes, stream);
    for (int part = 0; part < 4; part++) {
#ifdef GOOD
        cudaStreamSynchronize(stream);
#endif
        memset(staging, part, bytes); //~ host memory accessed while work in a stream still uses it | which a copy of 1024 bytes in stream 1 reads | did not wait for the stream first
        cudaMemcpyAsync(in, staging, bytes, cudaMemcpyHostToDevice, stream);
        add<<<1, 256, 0, stream>>>(sums, in);
    }
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFreeHost(staging);
    cudaFree(in);
    cudaFree(sums);
}
