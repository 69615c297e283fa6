// Rejected at: launch
// Says: has 5 parameters but is launched with 4
// A comment in inline assembly hides the fifth parameter.
#include "cuda_device.h"
extern "C" __global__ void zz() { asm volatile("ret; }\n// .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)\n.visible .entry zzz() {"); }
extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned int n, unsigned long long more) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i] + more; }
