#include <cstdio>
#include <cstdlib>

__global__ void add(const float *a, const float *b, float *c, int count, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        c[i] = a[i * stride] + b[i * stride];
}

// Arguments: the stride, 1 by default, and the exit status, 0 by default.
int main(int argc, char **argv)
{
    const int count = 1024, max_stride = 8;
    int stride = argc > 1 ? atoi(argv[1]) : 1;
    float *a, *b, *c;
    cudaMallocManaged(&a, count * max_stride * sizeof(float));
    cudaMallocManaged(&b, count * max_stride * sizeof(float));
    cudaMallocManaged(&c, count * sizeof(float));
    for (int i = 0; i < count * max_stride; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    add<<<count / 256, 256>>>(a, b, c, count, stride);
    cudaDeviceSynchronize();
    printf("c[7] = %g\n", c[7]);
    fprintf(stderr, "stride %d\n", stride);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return argc > 2 ? atoi(argv[2]) : 0;
}
