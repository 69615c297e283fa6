// MRG32k3a, and the Poisson distribution with each generator.
#include <curand_kernel.h>

// Reads seed, subsequence, offset and sequence; writes raw numbers, uniform numbers, and so on.
extern "C" __global__ void mrg(double *out, const unsigned long long *from) {
    const unsigned long long *f = from + 4 * threadIdx.x;
    out += 16 * threadIdx.x;
    curandStateMRG32k3a_t s;
    curand_init(f[0], f[1], f[2], &s);
    skipahead_sequence(f[3], &s);
    for (int i = 0; i < 4; i++) *out++ = curand(&s);
    for (int i = 0; i < 4; i++) *out++ = curand_uniform_double(&s);
    for (int i = 0; i < 2; i++) *out++ = curand_uniform(&s);
    const double2 two = curand_normal2_double(&s);
    *out++ = two.x;
    *out++ = two.y;
    *out++ = curand_normal(&s);
    *out++ = curand_log_normal_double(&s, 0.5, 0.25);
}

template <typename State>
__device__ void draw(unsigned int *out, double mean, int count) {
    State s;
    curand_init(1234, threadIdx.x, 0, &s);
    for (int i = 0; i < count; i++) out[threadIdx.x * count + i] = curand_poisson(&s, mean);
}
extern "C" __global__ void poisson(unsigned int *out, double mean) {
    const int count = 64, all = 256 * count;
    draw<curandStateXORWOW>(out, mean, count);
    draw<curandStatePhilox4_32_10_t>(out + all, mean, count);
    draw<curandStateMRG32k3a>(out + 2 * all, mean, count);
    curandStatePhilox4_32_10_t s;
    curand_init(99, threadIdx.x, 0, &s);
    for (int i = 0; i < count; i += 4) {
        const uint4 four = curand_poisson4(&s, mean);
        unsigned int *to = out + 3 * all + threadIdx.x * count + i;
        to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    }
}

int main() {}
