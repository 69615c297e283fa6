// Rejected at: launch
// Says: a store or an atomic through a pointer to a `__constant__` variable
// Writes to constant memory through a generic address, which no GPU allows.
#include "cuda_device.h"

__constant__ int numbers[4] = {1, 2, 3, 4};

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) asm volatile("st.u32 [%0], 77;" ::"l"(&numbers[1]) : "memory");
    if (i < n) y[i] = a * x[i] + y[i];
}
