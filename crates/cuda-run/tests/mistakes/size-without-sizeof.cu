// case: `cudaMalloc` and `cudaMemcpy` with numbers of elements instead of bytes
// thread: https://github.com/bokesyo/CSC4005_2022Fall_Demo/issues/31
#include <vector>
#ifdef GOOD
#define BYTES(n) ((n) * sizeof(double))
#else
#define BYTES(n) (n)
#endif
__global__ void move(double *x, const double *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += v[i]; //~ out-of-bounds access | right past the end of the 1000-byte allocation `v` | 1000 bytes for as many elements
}
int main() {
    const int n = 1000;
    std::vector<double> ones(n, 1);
    double *x, *v;
    cudaMalloc(&x, BYTES(n));
    cudaMalloc(&v, BYTES(n));
    cudaMemcpy(x, ones.data(), BYTES(n), cudaMemcpyHostToDevice);
    cudaMemcpy(v, ones.data(), BYTES(n), cudaMemcpyHostToDevice);
    move<<<(n + 127) / 128, 128>>>(x, v, n);
    cudaMemcpy(ones.data(), x, BYTES(n), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(v);
}
