// case: a recursive function deeper than the stack
// thread: https://github.com/kokkos/kokkos/issues/2214
__device__ __noinline__ int depth(volatile int *tree, int node) {
    volatile int path[32];
    for (int i = 0; i < 32; i++)
        path[i] = node;
    int next = tree[node];
    return next == 0 ? path[node % 32] : 1 + depth(tree, next) + path[0] * 0; //~ stack overflow | unbounded or too deep recursion; `cudaDeviceSetLimit(cudaLimitStackSize, bytes)`
}
__global__ void deepest(int *out, int *tree) { *out = depth(tree, 1); }
int main() {
    int tree[64];
    for (int i = 0; i < 64; i++)
        tree[i] = i < 63 ? i + 1 : 0;
    int *device_tree, *out;
    cudaMalloc(&device_tree, sizeof(tree));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(device_tree, tree, sizeof(tree), cudaMemcpyHostToDevice);
#ifdef GOOD
    cudaDeviceSetLimit(cudaLimitStackSize, 32 << 10);
#endif
    deepest<<<1, 1>>>(out, device_tree);
    cudaDeviceSynchronize();
    cudaFree(device_tree);
    cudaFree(out);
}
