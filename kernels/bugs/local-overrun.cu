// A median needs its points in an array of the thread's own, and this one has room for a radius
// of up to 3. The launch asks for a larger one.

#include "cuda_device.h"

// The median of the points around i, `radius` on either side; `window` has room for all.
__device__ __forceinline__ float median(const float *in, int i, int radius, float *window) {
    int count = 0;
    for (int j = i - radius; j <= i + radius; j++) {
        float value = in[j];
        int place = count++;
        while (place > 0 && window[place - 1] > value) {
            window[place] = window[place - 1]; // BUG: mem
            place--;
        }
        window[place] = value; // BUG: mem
    }
    return window[radius];
}

extern "C" __global__ void local_overrun(const float *in, float *out, int n, int radius) {
    float window[2 * 3 + 1];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= radius && i < n - radius) out[i] = median(in, i, radius, window);
}

extern "C" __global__ void local_overrun_right(const float *in, float *out, int n, int radius) {
    float window[2 * 60 + 1];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= radius && i < n - radius) out[i] = median(in, i, radius, window);
}
