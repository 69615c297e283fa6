// case: a tile whose right halo no thread loads in the last block
// thread: https://github.com/dlsys-course/examples/issues/1
#define RADIUS 3
#define THREADS 64
__global__ void window_sum(const float *in, float *out, int n) {
    __shared__ float tile[THREADS + 2 * RADIUS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int local = threadIdx.x + RADIUS;
#ifdef GOOD
    int block_end = min(THREADS, n - (int)(blockIdx.x * blockDim.x));
#else
    int block_end = THREADS;
#endif
    if (i < n) {
        tile[local] = in[i + RADIUS];
        if (threadIdx.x < RADIUS) {
            tile[local - RADIUS] = in[i];
            tile[local + block_end] = in[min(i + block_end, n + RADIUS - 1) + RADIUS];
        }
    }
    __syncthreads();
    if (i < n) {
        float sum = 0;
        for (int offset = -RADIUS; offset <= RADIUS; offset++)
            sum += tile[local + offset]; //~ read of uninitialized shared memory | the edge or the halo of a tile that no thread loads
        out[i] = sum;
    }
}
int main() {
    const int n = 100;
    float *in, *out;
    cudaMalloc(&in, (n + 2 * RADIUS) * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, (n + 2 * RADIUS) * sizeof(float));
    window_sum<<<(n + THREADS - 1) / THREADS, THREADS>>>(in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
