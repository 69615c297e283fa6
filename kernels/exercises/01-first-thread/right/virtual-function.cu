// A pure virtual function: the table of the abstract class has an entry for it.
#include "cuda_device.h"

struct Operation {
    __device__ virtual float operator()(float x, float y) const = 0;
};
struct Axpy final : Operation {
    float a;
    __device__ Axpy(float a) : a(a) {}
    __device__ float operator()(float x, float y) const override { return a * x + y; }
};

__device__ void apply(const Operation &operation, const float *x, float *y, unsigned i) { y[i] = operation(x[i], y[i]); }

extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) apply(Axpy(a), x, y, i);
}
