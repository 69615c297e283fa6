template <typename T> __global__ void race(T *p) { p[0] = threadIdx.x; p[1] = p[0]; }
__global__ void swap(int *p) { p[blockIdx.x] = p[1 - blockIdx.x] + 1; }
__global__ void outside(int *p) { p[threadIdx.x + 128] = 1; }
int main() {
    int *p, host[2];
    cudaMalloc(&p, 8);
    cudaMemset(p, 0, 8);
    race<<<1, 64>>>(p);
    swap<<<2, 1>>>(p);
    cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost);
    cudaFree(p);
    cudaMalloc(&p, 8);
    outside<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
