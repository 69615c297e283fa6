// case: dynamic shared memory for another block size than that of the launch
// thread: https://github.com/InfiniTensor/InfiniTrain/pull/172
#define BLOCK_SIZE 256
__global__ void reverse(float *x) {
    extern __shared__ float buffer[];
    buffer[threadIdx.x] = x[threadIdx.x]; //~ out-of-bounds access | right past the end of the block's 1024 bytes of shared memory | a launch with too little dynamic shared memory
    __syncthreads();
    x[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
int main() {
    const int block = 512;
    float *x;
    cudaMalloc(&x, block * sizeof(float));
    cudaMemset(x, 0, block * sizeof(float));
#ifdef GOOD
    reverse<<<1, block, block * sizeof(float)>>>(x);
#else
    reverse<<<1, block, BLOCK_SIZE * sizeof(float)>>>(x);
#endif
    cudaDeviceSynchronize();
    cudaFree(x);
}
