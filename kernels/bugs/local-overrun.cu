// A median needs its points in a local array of the thread, and this array has space for a
// radius of up to 3. The launch requests a larger radius.

#include "cuda_device.h"

// Returns the median of the points around i, `radius` on either side; `window` must hold them all.
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
