// Rejected at: time
// Says: times the solution's time
// Each thread executes twenty fences of the whole system.
#include "cuda_device.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        __threadfence_system();
        __threadfence_system();
        __threadfence_system();
        __threadfence_system();
        __threadfence_system();
    }
    if (i < n) y[i] = a * x[i] + y[i];
}
