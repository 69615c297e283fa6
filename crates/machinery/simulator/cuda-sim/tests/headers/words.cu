// Functions on words and half words, applied to a table of numbers.

#include <cuda_pipeline.h>

__device__ unsigned int both(unsigned int word, bool high, bool low) {
    return word ^ (high ? 0x80000000u : 0) ^ (low ? 0x8000u : 0);
}

// Writes 32 words for every three numbers.
extern "C" __global__ void dpx(unsigned int *to, const unsigned int *from) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int a = from[3 * i], b = from[3 * i + 1], c = from[3 * i + 2];
    unsigned int *out = to + 32 * i;
    int n = 0;
    bool high, low;
#define THREE(name)                                                \
    out[n++] = (unsigned int)name##_s32((int)a, (int)b, (int)c);   \
    out[n++] = name##_u32(a, b, c);                                \
    out[n++] = name##_s16x2(a, b, c);                              \
    out[n++] = name##_u16x2(a, b, c);                              \
    out[n++] = (unsigned int)name##_s32_relu((int)a, (int)b, (int)c); \
    out[n++] = name##_s16x2_relu(a, b, c);
    THREE(__vimax3) THREE(__vimin3) THREE(__viaddmax) THREE(__viaddmin)
    out[n++] = (unsigned int)__vimax_s32_relu((int)a, (int)b);
    out[n++] = (unsigned int)__vimin_s32_relu((int)a, (int)b);
    out[n++] = __vimax_s16x2_relu(a, b) ^ __vimin_s16x2_relu(a, c);
    out[n++] = both((unsigned int)__vibmax_s32((int)a, (int)b, &high), high, false);
    out[n++] = both(__vibmin_u32(a, b, &high), high, false);
    out[n++] = both(__vibmax_s16x2(a, b, &high, &low), high, low);
    out[n++] = both(__vibmin_u16x2(a, b, &high, &low), high, low);
    out[n++] = both(__vibmin_s16x2(a, b, &high, &low), high, low) ^
               both(__vibmax_u16x2(a, b, &high, &low), high, low);
}

// Copies through shared memory and fills the last four bytes of each 16 bytes with zeros.
extern "C" __global__ void copies(int4 *to, const int4 *from) {
    __shared__ int4 tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &from[threadIdx.x], 16, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    to[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void neighbours(float *f, double *d) {
    f[0] = nexttowardf(1.0f, 2.0L);
    f[1] = std::nexttoward(1.0f, (long double)(1.0 - 1e-12));
    f[2] = nexttoward(0.0f, (long double)-1e-300);
    f[3] = nexttoward(2.0f, 2.0L);
    d[0] = nexttoward(1.0, 0.0L);
    d[1] = std::nexttoward(3, 4.0L);
}

int main() {
    bool first;
    return __vimax3_s32(1, 2, 3) + __vibmin_s32(1, 2, &first);
}
