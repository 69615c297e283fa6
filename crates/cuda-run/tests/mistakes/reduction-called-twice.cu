// case: a block's reduction is called again before all threads have read its result
// thread: https://github.com/pytorch/pytorch/pull/20182
__device__ float block_sum(float value, float *partial) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(~0u, value, offset);
#ifdef GOOD
    __syncthreads();
#endif
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value; //~ write-after-read data race | a missing `__syncthreads()` at the end of a loop, before the next iteration writes, or between two calls of a function
    __syncthreads();
    float total = 0;
    for (int warp = 0; warp < blockDim.x / 32; warp++)
        total += partial[warp];
    return total;
}
__global__ void standardize(float *x) {
    __shared__ float partial[32];
    float mean = block_sum(x[threadIdx.x], partial) / blockDim.x;
    float deviation = x[threadIdx.x] - mean;
    x[threadIdx.x] = deviation / block_sum(deviation * deviation, partial);
}
int main() {
    float *x;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMemset(x, 0, 256 * sizeof(float));
    standardize<<<1, 256>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
