// Uniform and normal distributions, computed from a generator's 32-bit numbers.

#pragma once

#include <math_functions.h>
#include "mrg32k3a.h"
#include "philox.h"
#include "xorwow.h"

// Returns a uniform number, above 0, up to 1.
WARPBOOK_DEVICE_FN float warpbook_uniform(unsigned int x) {
    const float unit = 2.3283064e-10f;
    return __builtin_fmaf((float)x, unit, unit / 2.0f);
}
// Returns a uniform double with 53 random bits.
WARPBOOK_DEVICE_FN double warpbook_uniform(unsigned int x, unsigned int y) {
    const double unit = 1.1102230246251565e-16;
    const unsigned long long bits = x ^ (unsigned long long)y << 21;
    return __builtin_fma((double)bits, unit, unit / 2.0);
}

// Returns two normal numbers, computed from two uniform ones (Box-Muller transform).
WARPBOOK_DEVICE_FN float2 warpbook_normal(unsigned int x, unsigned int y) {
    const float turn = 2.3283064e-10f * 6.2831855f;
    const float angle = __builtin_fmaf((float)y, turn, turn / 2.0f);
    const float size = sqrtf(-2.0f * logf(warpbook_uniform(x)));
    return make_float2(__sinf(angle) * size, __cosf(angle) * size);
}
WARPBOOK_DEVICE_FN double2 warpbook_normal(unsigned int x0, unsigned int x1, unsigned int y0,
                                           unsigned int y1) {
    const double unit = 1.1102230246251565e-16;
    const unsigned long long bits = y0 ^ (unsigned long long)y1 << 21;
    const double turns = __builtin_fma((double)bits, unit * 2.0, unit);
    const double size = sqrt(-2.0 * log(warpbook_uniform(x0, x1)));
    return make_double2(sinpi(turns) * size, cospi(turns) * size);
}

WARPBOOK_DEVICE_FN float curand_uniform(curandStateXORWOW *state) {
    return warpbook_uniform(curand(state));
}
WARPBOOK_DEVICE_FN float curand_uniform(curandStatePhilox4_32_10 *state) {
    return warpbook_uniform(curand(state));
}
// MRG32k3a's uniform numbers use its own state, as it lacks 32 uniform bits: divided by its modulus plus one.
WARPBOOK_DEVICE_FN double curand_uniform_double(curandStateMRG32k3a *state) {
    return (double)warpbook_mrg_next(state) * 2.3283065498378288e-10;
}
WARPBOOK_DEVICE_FN float curand_uniform(curandStateMRG32k3a *state) {
    return (float)curand_uniform_double(state);
}

// Returns the next two normal numbers of a generator.
template <typename State> WARPBOOK_DEVICE_FN float2 warpbook_normal_of(State *state) {
    const unsigned int x = curand(state), y = curand(state);
    return warpbook_normal(x, y);
}
template <typename State> WARPBOOK_DEVICE_FN double2 warpbook_normal_double_of(State *state) {
    const unsigned int x0 = curand(state), x1 = curand(state);
    const unsigned int y0 = curand(state), y1 = curand(state);
    return warpbook_normal(x0, x1, y0, y1);
}
WARPBOOK_DEVICE_FN float2 warpbook_normal_of(curandStateMRG32k3a *state) {
    const float x = curand_uniform(state), angle = curand_uniform(state) * 6.2831855f;
    const float size = sqrtf(-2.0f * logf(x));
    return make_float2(__sinf(angle) * size, __cosf(angle) * size);
}
WARPBOOK_DEVICE_FN double2 warpbook_normal_double_of(curandStateMRG32k3a *state) {
    const double x = curand_uniform_double(state), turns = curand_uniform_double(state) * 2.0;
    const double size = sqrt(-2.0 * log(x));
    return make_double2(sinpi(turns) * size, cospi(turns) * size);
}

// The second number of a pair is saved for the next call, separately for normal and log-normal numbers.
enum warpbook_pair { warpbook_no_pair, warpbook_pair_normal, warpbook_pair_log_normal };

template <typename State>
WARPBOOK_DEVICE_FN float warpbook_next_normal(State *state, warpbook_pair pair) {
    if (state->boxmuller_flag == pair) {
        state->boxmuller_flag = warpbook_no_pair;
        return state->boxmuller_extra;
    }
    const float2 normal = warpbook_normal_of(state);
    state->boxmuller_extra = normal.y;
    state->boxmuller_flag = pair;
    return normal.x;
}
template <typename State>
WARPBOOK_DEVICE_FN double warpbook_next_normal_double(State *state, warpbook_pair pair) {
    if (state->boxmuller_flag_double == pair) {
        state->boxmuller_flag_double = warpbook_no_pair;
        return state->boxmuller_extra_double;
    }
    const double2 normal = warpbook_normal_double_of(state);
    state->boxmuller_extra_double = normal.y;
    state->boxmuller_flag_double = pair;
    return normal.x;
}

#define WARPBOOK_RANDOM(State)                                                               \
    WARPBOOK_DEVICE_FN float curand_normal(State *state) {                                   \
        return warpbook_next_normal(state, warpbook_pair_normal);                            \
    }                                                                                        \
    WARPBOOK_DEVICE_FN double curand_normal_double(State *state) {                           \
        return warpbook_next_normal_double(state, warpbook_pair_normal);                     \
    }                                                                                        \
    WARPBOOK_DEVICE_FN float curand_log_normal(State *state, float mean, float deviation) {  \
        return expf(mean + deviation * warpbook_next_normal(state, warpbook_pair_log_normal)); \
    }                                                                                        \
    WARPBOOK_DEVICE_FN double curand_log_normal_double(State *state, double mean,            \
                                                       double deviation) {                   \
        return exp(mean +                                                                    \
                   deviation * warpbook_next_normal_double(state, warpbook_pair_log_normal)); \
    }                                                                                        \
    WARPBOOK_DEVICE_FN float2 curand_normal2(State *state) { return warpbook_normal_of(state); }      \
    WARPBOOK_DEVICE_FN double2 curand_normal2_double(State *state) {                               \
        return warpbook_normal_double_of(state);                                             \
    }                                                                                        \
    WARPBOOK_DEVICE_FN float2 curand_log_normal2(State *state, float mean, float deviation) { \
        const float2 normal = curand_normal2(state);                                         \
        return make_float2(expf(mean + deviation * normal.x),                                \
                           expf(mean + deviation * normal.y));                               \
    }                                                                                        \
    WARPBOOK_DEVICE_FN double2 curand_log_normal2_double(State *state, double mean,          \
                                                         double deviation) {                 \
        const double2 normal = curand_normal2_double(state);                                 \
        return make_double2(exp(mean + deviation * normal.x),                                \
                            exp(mean + deviation * normal.y));                               \
    }
WARPBOOK_RANDOM(curandStateXORWOW)
WARPBOOK_RANDOM(curandStatePhilox4_32_10)
WARPBOOK_RANDOM(curandStateMRG32k3a)
#undef WARPBOOK_RANDOM

// Uniform doubles: XORWOW uses two 32-bit numbers, Philox one.
WARPBOOK_DEVICE_FN double curand_uniform_double(curandStateXORWOW *state) {
    const unsigned int x = curand(state), y = curand(state);
    return warpbook_uniform(x, y);
}
WARPBOOK_DEVICE_FN double curand_uniform_double(curandStatePhilox4_32_10 *state) {
    return __builtin_fma((double)curand(state), 0x1p-32, 0x1p-32);
}

// Returns four numbers at once, for Philox.
WARPBOOK_DEVICE_FN float4 curand_uniform4(curandStatePhilox4_32_10 *state) {
    const uint4 x = curand4(state);
    return make_float4(warpbook_uniform(x.x), warpbook_uniform(x.y), warpbook_uniform(x.z),
                       warpbook_uniform(x.w));
}
WARPBOOK_DEVICE_FN double2 curand_uniform2_double(curandStatePhilox4_32_10 *state) {
    const uint4 x = curand4(state);
    return make_double2(warpbook_uniform(x.x, x.y), warpbook_uniform(x.z, x.w));
}
WARPBOOK_DEVICE_FN double4 curand_uniform4_double(curandStatePhilox4_32_10 *state) {
    const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
    return make_double4(a.x, a.y, b.x, b.y);
}
WARPBOOK_DEVICE_FN float4 curand_normal4(curandStatePhilox4_32_10 *state) {
    const uint4 x = curand4(state);
    const float2 a = warpbook_normal(x.x, x.y), b = warpbook_normal(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
WARPBOOK_DEVICE_FN double4 curand_normal4_double(curandStatePhilox4_32_10 *state) {
    const uint4 x = curand4(state), y = curand4(state);
    const double2 a = warpbook_normal(x.x, x.y, x.z, x.w), b = warpbook_normal(y.x, y.y, y.z, y.w);
    return make_double4(a.x, a.y, b.x, b.y);
}
WARPBOOK_DEVICE_FN float4 curand_log_normal4(curandStatePhilox4_32_10 *state, float mean,
                                             float deviation) {
    const float4 normal = curand_normal4(state);
    return make_float4(expf(mean + deviation * normal.x), expf(mean + deviation * normal.y),
                       expf(mean + deviation * normal.z), expf(mean + deviation * normal.w));
}
WARPBOOK_DEVICE_FN double4 curand_log_normal4_double(curandStatePhilox4_32_10 *state, double mean,
                                                     double deviation) {
    const double4 normal = curand_normal4_double(state);
    return make_double4(exp(mean + deviation * normal.x), exp(mean + deviation * normal.y),
                        exp(mean + deviation * normal.z), exp(mean + deviation * normal.w));
}
