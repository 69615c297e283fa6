// case: more than 65,535 blocks in y
// thread: https://github.com/ml-explore/mlx/issues/2267
__global__ void touch(int *count) {
    if (threadIdx.x == 0 && blockIdx.y == gridDim.y - 1)
        *count = blockIdx.y;
}
int main() {
    int *count;
    cudaMalloc(&count, sizeof(int));
#ifdef GOOD
    touch<<<dim3(1, 65535), 1>>>(count);
#else
    touch<<<dim3(1, 65536), 1>>>(count); //~ cudaErrorInvalidValue | the grid is 1 x 65536 x 1, at most 2147483647 x 65535 x 65535 is allowed
#endif
    cudaDeviceSynchronize();
    cudaFree(count);
}
