// The file starts with a byte order mark, which some editors write. 中文。
#include "cuda_device.h"

extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) samples[i] = samples[i] * gain; // 判断边界
}
