// The program of the workflows on pages.
#include <cstdio>

__global__ void twice(float *numbers, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        numbers[i] *= 2;
}

int main()
{
    float *numbers;
    cudaMallocManaged(&numbers, 1024 * sizeof(float));
    numbers[1023] = 5;
    twice<<<5, 256>>>(numbers, 1024);
    cudaDeviceSynchronize();
    puts(numbers[1023] == 10 ? "passed" : "failed");
    cudaFree(numbers);
}
