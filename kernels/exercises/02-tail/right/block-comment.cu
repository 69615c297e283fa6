// A comment follows the include.
#include <stdio.h> /* for printf */
#include <assert.h> /* for assert */

/* Kernel: fade. Grid-stride as in "An Easy Introduction to CUDA". */
extern "C" __global__
void fade(float *samples, float gain, int count)
{
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = blockDim.x * gridDim.x;
  for (int i = index; i < count; i += stride)
    samples[i] = samples[i] * gain;
}
