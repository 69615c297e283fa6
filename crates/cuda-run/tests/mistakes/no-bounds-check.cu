// case: a kernel without the number of elements, in a grid rounded up
// thread: https://github.com/risc0/risc0/issues/3803
__global__ void zeroize(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef GOOD
    if (i >= n)
        return;
#endif
    x[i] = x[i] < 0 ? 0 : x[i]; //~ out-of-bounds access | right past the end of the 360-byte allocation `x` | a missing `if (i < n)`
}
int main() {
    const int n = 90;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    zeroize<<<(n + 63) / 64, 64>>>(x, n);
    cudaDeviceSynchronize();
    cudaFree(x);
}
