// case: all threads increment one counter without an atomic
// thread: https://github.com/scikit-hep/awkward/pull/2225
__global__ void count_nulls(int *nulls, const char *mask, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && mask[i] == 0)
#ifdef GOOD
        atomicAdd(nulls, 1);
#else
        *nulls = *nulls + 1; //~ data race | two threads with the same index, or a sum without `atomicAdd`
#endif
}
int main() {
    const int n = 1000;
    int *nulls;
    char *mask;
    cudaMalloc(&nulls, sizeof(int));
    cudaMalloc(&mask, n);
    cudaMemset(nulls, 0, sizeof(int));
    cudaMemset(mask, 0, n);
    count_nulls<<<(n + 255) / 256, 256>>>(nulls, mask, n);
    cudaDeviceSynchronize();
    cudaFree(nulls);
    cudaFree(mask);
}
