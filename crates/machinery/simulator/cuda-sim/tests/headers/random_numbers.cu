// Results of curand_kernel.h for a seed, a sequence and an offset, compared with those of an H200.
#include <curand_kernel.h>

template <typename S>
__device__ void one_by_one(unsigned long long seed, unsigned long long sequence,
                           unsigned long long offset, double *o) {
    S s;
    curand_init(seed, sequence, offset, &s);
    for (int i = 0; i < 8; i++) *o++ = curand(&s);
    *o++ = curand_uniform(&s);
    *o++ = curand_uniform(&s);
    *o++ = curand_uniform_double(&s);
    *o++ = curand_uniform_double(&s);
    for (int i = 0; i < 4; i++) *o++ = curand_normal(&s);
    for (int i = 0; i < 3; i++) *o++ = curand_normal_double(&s);
    float2 f = curand_normal2(&s);
    *o++ = f.x;
    *o++ = f.y;
    double2 d = curand_normal2_double(&s);
    *o++ = d.x;
    *o++ = d.y;
    for (int i = 0; i < 3; i++) *o++ = curand_log_normal(&s, 0.5f, 0.25f);
    *o++ = curand_log_normal_double(&s, 0.5, 0.25);
    skipahead(1000003ull, &s);
    *o++ = curand(&s);
    skipahead_sequence(5ull, &s);
    *o++ = curand(&s);
}

__device__ void four_at_once(unsigned long long seed, unsigned long long sequence,
                             unsigned long long offset, double *o) {
    curandStatePhilox4_32_10_t s;
    curand_init(seed, sequence, offset, &s);
    uint4 a = curand4(&s);
    *o++ = a.x; *o++ = a.y; *o++ = a.z; *o++ = a.w;
    *o++ = curand(&s);
    float4 u = curand_uniform4(&s);
    *o++ = u.x; *o++ = u.y; *o++ = u.z; *o++ = u.w;
    double2 d = curand_uniform2_double(&s);
    *o++ = d.x; *o++ = d.y;
    double4 e = curand_uniform4_double(&s);
    *o++ = e.x; *o++ = e.y; *o++ = e.z; *o++ = e.w;
    u = curand_normal4(&s);
    *o++ = u.x; *o++ = u.y; *o++ = u.z; *o++ = u.w;
    e = curand_normal4_double(&s);
    *o++ = e.x; *o++ = e.y; *o++ = e.z; *o++ = e.w;
    u = curand_log_normal4(&s, 0.5f, 0.25f);
    *o++ = u.x; *o++ = u.y; *o++ = u.z; *o++ = u.w;
}

extern "C" __global__ void random_numbers(const unsigned long long *from, double *out) {
    const unsigned long long *f = from + 3 * threadIdx.x;
    out += 96 * threadIdx.x;
    one_by_one<curandState>(f[0], f[1], f[2], out);
    one_by_one<curandStatePhilox4_32_10_t>(f[0], f[1], f[2], out + 32);
    four_at_once(f[0], f[1], f[2], out + 64);
}
