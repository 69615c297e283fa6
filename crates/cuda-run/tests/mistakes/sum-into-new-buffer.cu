// case: `+=` into a buffer that was allocated and never set to zero
// thread: https://github.com/ORNL/HeCBench/pull/289
__global__ void accumulate(float *sums, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sums[i] += in[i]; //~ read of uninitialized device memory | the buffer was never copied to or set to zero
}
int main() {
    const int n = 1000;
    float *sums, *in;
    cudaMalloc(&sums, n * sizeof(float));
    cudaMalloc(&in, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
#ifdef GOOD
    cudaMemset(sums, 0, n * sizeof(float));
#endif
    accumulate<<<(n + 127) / 128, 128>>>(sums, in, n);
    cudaDeviceSynchronize();
    cudaFree(sums);
    cudaFree(in);
}
