// Includes no header, like a program for nvcc.
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
