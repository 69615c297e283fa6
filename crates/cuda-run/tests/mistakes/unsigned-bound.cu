// case: a bounds check in `unsigned`, which is always true
// thread: https://github.com/inducer/loopy/issues/808
#ifdef GOOD
typedef int Number;
#else
typedef unsigned Number;
#endif
__global__ void fill(float *out, Number n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n - 1 - i >= 0)
        out[i] = 1; //~ out-of-bounds access | right past the end of the 400-byte allocation `out` | `n - 1 - i >= 0` is always true if an operand is unsigned | wraps around | compare without subtracting, such as `i < n`
}
int main() {
    float *out;
    cudaMalloc(&out, 100 * sizeof(float));
    fill<<<4, 32>>>(out, 100);
    cudaDeviceSynchronize();
    cudaFree(out);
}
