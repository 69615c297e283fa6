// case: 32 lanes read an array with one element per warp
// thread: https://github.com/xlite-dev/LeetCUDA/issues/409
__global__ void sum(const float *in, float *out) {
    __shared__ float partial[256 / 32];
    int lane = threadIdx.x % 32;
    float value = in[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(~0u, value, offset);
    if (lane == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
#ifdef GOOD
        value = lane < 8 ? partial[lane] : 0;
#else
        value = partial[lane]; //~ out-of-bounds access | right past the end of the array `partial` of 32 bytes
#endif
        for (int offset = 4; offset > 0; offset /= 2)
            value += __shfl_down_sync(~0u, value, offset);
        if (lane == 0)
            *out = value;
    }
}
int main() {
    float *in, *out;
    cudaMalloc(&in, 256 * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(float));
    sum<<<1, 256>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
