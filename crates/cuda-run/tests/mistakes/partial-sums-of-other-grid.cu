// case: the second launch of a sum reads more partial sums than the first launch writes
// thread: https://github.com/CoffeeBeforeArch/cuda_programming/issues/9
#define THREADS 128
__global__ void sum(const int *in, int *out) {
    __shared__ int partial[THREADS];
    partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x]; //~ read of uninitialized device memory | only the first 128 bytes of 16384 bytes have been written | an earlier launch covers fewer elements than this kernel reads
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}
int main() {
    const int blocks = 32, n = blocks * THREADS;
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(in, 0, n * sizeof(int));
    sum<<<blocks, THREADS>>>(in, out);
#ifdef GOOD
    sum<<<1, blocks>>>(out, out);
#else
    sum<<<1, THREADS>>>(out, out);
#endif
    int total;
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
}
