// case: a reduction that halves the block, in a block of 96 threads
// thread: https://github.com/karpathy/llm.c/pull/439
__global__ void sum(int *out) {
    __shared__ int partial[128];
    partial[threadIdx.x] = 1;
#ifdef GOOD
    if (threadIdx.x < 128 - 96)
        partial[96 + threadIdx.x] = 0;
#endif
    __syncthreads();
#ifdef GOOD
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half)
#else
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
#endif
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = partial[0];
}
int main() {
    int *out, total;
    cudaMalloc(&out, sizeof(int));
    sum<<<1, 96>>>(out);
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
}
