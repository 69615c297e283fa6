// Loads and stores sixteen bytes with PTX instructions.
#include "cuda_device.h"

__device__ float clip(float x, float level) { return fminf(fmaxf(x, -level), level); }

extern "C" __global__ void clip_all(const float *in, float *out, float level, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, fours = count / 4;
    if (i < fours) {
        float a, b, c, d;
        asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                     : "l"(in + 4 * i));
        asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(out + 4 * i),
                     "f"(clip(a, level)), "f"(clip(b, level)), "f"(clip(c, level)),
                     "f"(clip(d, level))
                     : "memory");
    }
    int last = 4 * fours + i;
    if (i < 3 && last < count) out[last] = clip(in[last], level);
}
