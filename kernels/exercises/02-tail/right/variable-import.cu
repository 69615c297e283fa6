// A variable named `import`.
#include "cuda_device.h"
// The recording has two tracks, of which one is an import.
extern "C" __global__ void fade(float *samples, float gain, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool import = i < count;
    if (import) samples[i] = samples[i] * gain;
}
