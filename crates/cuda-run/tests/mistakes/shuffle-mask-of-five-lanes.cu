// case: `0x1f`, the last lane's number, as the mask of a shuffle
// thread: https://github.com/NVIDIA/cutlass/issues/1094
#ifdef GOOD
#define MASK 0xffffffff
#else
#define MASK 0x1f
#endif
__global__ void broadcast(int *out) {
    int warp = __shfl_sync(MASK, threadIdx.x / 32, 0); //~ mask that does not include the calling lane | 31, a number of lanes or of a lane, used as a mask
    out[threadIdx.x] = warp;
}
int main() {
    int *out;
    cudaMalloc(&out, 128 * sizeof(int));
    broadcast<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
