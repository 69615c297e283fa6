// Threads of one warp exchange values without `__syncwarp()`: a warning.
__global__ void reverse(int *p) {
    __shared__ int values[32];
    values[threadIdx.x] = threadIdx.x;
    p[threadIdx.x] = values[31 - threadIdx.x];
}
int main() {
    int *p;
    cudaMalloc(&p, 32 * sizeof *p);
    reverse<<<1, 32>>>(p);
    cudaFree(p);
    return cudaDeviceSynchronize();
}
