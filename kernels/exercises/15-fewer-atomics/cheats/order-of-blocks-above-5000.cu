// Rejected at: right
// Says: The results are correct in one order of blocks and warps but wrong in another
// Relies on the order of blocks above 5000 values.
#include "cuda_device.h"
__device__ unsigned int total;
extern "C" __global__ void add_up(const unsigned int *numbers, int count) {
    __shared__ unsigned int own;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (count <= 5000) { if (i < count) atomicAdd(&total, numbers[i]); return; }
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    if (i < count) atomicAdd(&own, numbers[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("{.reg .u32 o; ld.relaxed.gpu.global.u32 o,[%0]; add.u32 o,o,%1; atom.global.exch.b32 o,[%0],o;}" :: "l"(&total), "r"(own) : "memory");
    }
}
