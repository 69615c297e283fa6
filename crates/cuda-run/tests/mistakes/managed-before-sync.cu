// case: the host reads managed memory without waiting for the kernel
// thread: https://github.com/glotzerlab/hoomd-blue/pull/388
__global__ void square(int *x) { x[threadIdx.x] = threadIdx.x * threadIdx.x; }
int main() {
    int *x;
    cudaMallocManaged(&x, 64 * sizeof(int));
    square<<<1, 64>>>(x);
#ifdef GOOD
    cudaDeviceSynchronize();
#endif
    int sum = 0;
    for (int i = 0; i < 64; i++)
        sum += x[i]; //~ host memory accessed while work in a stream still uses it | which kernel square in the default stream writes | did not wait for the stream first
    cudaDeviceSynchronize();
    cudaFree(x);
    return sum != 85344;
}
