// case: the host reads the destination of an asynchronous copy too early
// thread: https://github.com/votca/xtp/issues/391
__global__ void square(int *x) { x[threadIdx.x] = threadIdx.x * threadIdx.x; }
int main() {
    const size_t bytes = 64 * sizeof(int);
    int *host, *x;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&host, bytes);
    cudaMalloc(&x, bytes);
    square<<<1, 64, 0, stream>>>(x);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream);
#ifdef GOOD
    cudaStreamSynchronize(stream);
#endif
    int last = host[63]; //~ host memory accessed while work in a stream still uses it | which a copy of 256 bytes in stream 1 writes | did not wait for the stream first
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFreeHost(host);
    cudaFree(x);
    return last != 63 * 63;
}
