// case: one thread writes a total that all read without a barrier
// thread: https://github.com/ORNL/HeCBench/issues/254
__global__ void normalize(float *x) {
    __shared__ float total;
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < blockDim.x; i++)
            sum += x[blockIdx.x * blockDim.x + i];
        total = sum;
    }
#ifdef GOOD
    __syncthreads();
#endif
    float scale = 1 / total; //~ data race | a missing `__syncthreads()` between the two lines
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] *= scale;
}
int main() {
    float *x;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMemset(x, 0, 256 * sizeof(float));
    normalize<<<2, 128>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
