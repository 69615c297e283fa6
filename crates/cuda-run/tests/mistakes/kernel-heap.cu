// case: `malloc` in a kernel returns null because the device's heap is too small
// thread: https://github.com/owl-project/owl/issues/151
__global__ void allocate(int **buffers) {
    int *buffer = (int *)malloc(20000);
    buffer[0] = threadIdx.x; //~ null-pointer access | a `malloc` or `new` in a kernel that returned null, because the heap of 8388608 bytes is used up
    buffers[threadIdx.x] = buffer;
}
__global__ void release(int **buffers) { free(buffers[threadIdx.x]); }
int main() {
    int **buffers;
    cudaMalloc(&buffers, 512 * sizeof(int *));
#ifdef GOOD
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
#endif
    allocate<<<1, 512>>>(buffers);
    release<<<1, 512>>>(buffers);
    cudaDeviceSynchronize();
    cudaFree(buffers);
}
