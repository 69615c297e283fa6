// Marks the elements of a matrix that are processed by a thread.

#include "cuda_device.h"

extern "C" __global__ void visit(unsigned int *visits, unsigned int columns, unsigned int rows) {
    unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) visits[y * columns + x] += 1;
}
