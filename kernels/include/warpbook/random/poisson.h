// Poisson distribution. The distribution is correct, but for means from 64 to 4000 the numbers differ
// from cuRAND's: there cuRAND inverts an incomplete gamma function with an unpublished approximation.

#pragma once

#include "distributions.h"

// Counts the uniform numbers until their product has fallen to exp(-mean) (Knuth).
template <typename State> WARPBOOK_DEVICE_FN unsigned int warpbook_poisson_small(State *state, float mean) {
    float product = expf(mean);
    unsigned int count = 0;
    do {
        count++;
        product *= curand_uniform(state);
    } while (product > 1.0f);
    return count - 1;
}

// Hörmann, "The transformed rejection method for generating Poisson random variables" (1993): PTRS.
template <typename State> WARPBOOK_DEVICE_FN unsigned int warpbook_poisson_large(State *state, double mean) {
    const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), right = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        const double u = curand_uniform_double(state) - 0.5, v = curand_uniform_double(state);
        const double near = 0.5 - fabs(u);
        const double k = floor((2.0 * a / near + b) * u + mean + 0.43);
        if (near >= 0.07 && v <= right) return (unsigned int)k;
        if (k < 0.0 || (near < 0.013 && v > near)) continue;
        const double height = log(v * inverse / (a / (near * near) + b));
        if (height <= k * log(mean) - mean - lgamma(k + 1.0)) return (unsigned int)k;
    }
}

template <typename State> WARPBOOK_DEVICE_FN unsigned int warpbook_poisson(State *state, double mean) {
    if (mean < 64.0) return warpbook_poisson_small(state, (float)mean);
    if (mean <= 4000.0) return warpbook_poisson_large(state, mean);
    return (unsigned int)(curand_normal_double(state) * sqrt(mean) + mean + 0.5);
}

WARPBOOK_DEVICE_FN unsigned int curand_poisson(curandStateXORWOW *state, double mean) {
    return warpbook_poisson(state, mean);
}
WARPBOOK_DEVICE_FN unsigned int curand_poisson(curandStatePhilox4_32_10 *state, double mean) {
    return warpbook_poisson(state, mean);
}
WARPBOOK_DEVICE_FN unsigned int curand_poisson(curandStateMRG32k3a *state, double mean) {
    return warpbook_poisson(state, mean);
}
WARPBOOK_DEVICE_FN uint4 curand_poisson4(curandStatePhilox4_32_10 *state, double mean) {
    uint4 four;
    four.x = warpbook_poisson(state, mean);
    four.y = warpbook_poisson(state, mean);
    four.z = warpbook_poisson(state, mean);
    four.w = warpbook_poisson(state, mean);
    return four;
}
