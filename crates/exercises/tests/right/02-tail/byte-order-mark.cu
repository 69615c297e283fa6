// The file begins with a byte-order mark, as some editors write it. 中文。
#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) samples[i] = samples[i] * gain; // 判断边界
}
