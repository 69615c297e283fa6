// case: a counter in shared memory that no thread sets to zero
// thread: https://github.com/bluekds/CUDA_Programming/issues/2
__global__ void count(int *total) {
    __shared__ int of_block;
#ifdef GOOD
    if (threadIdx.x == 0)
        of_block = 0;
    __syncthreads();
#endif
    atomicAdd(&of_block, 1); //~ read of uninitialized shared memory | a counter or a sum in shared memory that no thread sets to its initial value
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(total, of_block);
}
int main() {
    int *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    count<<<8, 64>>>(total);
    cudaDeviceSynchronize();
    cudaFree(total);
}
