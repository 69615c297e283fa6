// case: a kernel gets a pointer to host memory
// thread: https://github.com/uxlfoundation/oneDPL/pull/1523
#include <vector>
__global__ void gather(int *out, const int *in, const int *order) {
    out[threadIdx.x] = in[order[threadIdx.x]]; //~ address of the wrong memory space | a host pointer passed to the kernel instead of a device pointer
}
int main() {
    std::vector<int> order(32, 3);
    int *in, *out, *device_order;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMalloc(&device_order, 32 * sizeof(int));
    cudaMemset(in, 0, 32 * sizeof(int));
    cudaMemcpy(device_order, order.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
#ifdef GOOD
    gather<<<1, 32>>>(out, in, device_order);
#else
    gather<<<1, 32>>>(out, in, order.data());
#endif
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(device_order);
}
