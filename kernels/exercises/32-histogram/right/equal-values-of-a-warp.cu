// Lanes with equal values elect one that adds for all: __match_any_sync.
#define BINS 256
extern "C" __global__ void histogram(const unsigned char *values, unsigned int *counts, int n) {
    __shared__ unsigned int h[BINS];
    h[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned active = __activemask();
        unsigned peers = __match_any_sync(active, (unsigned)values[i]);
        if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&h[values[i]], __popc(peers));
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], h[threadIdx.x]);
}
