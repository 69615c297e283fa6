// case: `cudaMemcpy` with the number of elements as its size
// thread: https://github.com/bokesyo/CSC4005_2022Fall_Demo/issues/31
#include <vector>
#ifdef GOOD
#define BYTES(n) ((n) * sizeof(double))
#else
#define BYTES(n) (n)
#endif
__global__ void halve(double *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] /= 2; //~ read of uninitialized device memory | only the first 1000 bytes of 8000 bytes have been written | sizes are in bytes, `n * sizeof(T)`
}
int main() {
    const int n = 1000;
    std::vector<double> ones(n, 1);
    double *x;
    cudaMalloc(&x, n * sizeof(double));
    cudaMemcpy(x, ones.data(), BYTES(n), cudaMemcpyHostToDevice);
    halve<<<(n + 127) / 128, 128>>>(x, n);
    cudaDeviceSynchronize();
    cudaFree(x);
}
