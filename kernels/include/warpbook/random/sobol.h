// Sobol sequences: a thread's state is one dimension, with the direction vectors of cuRAND's host library.

#pragma once

#include "distributions.h"

// Moves to the point with this number: the sum of the vectors in the bits of its Gray code.
template <typename State, typename Word> WARPBOOK_DEVICE_FN void warpbook_sobol_move(State *state, Word number) {
    state->i = number;
    state->x = state->c;
    const int bits = 8 * sizeof(Word);
    const Word gray_code = number ^ number >> 1;
    for (int bit = 0; bit < bits; bit++)
        if (gray_code >> bit & 1) state->x ^= state->direction_vectors[bit];
}

// Returns the bit in which the Gray codes of a point and of the next one differ.
WARPBOOK_DEVICE_FN int warpbook_lowest_zero(unsigned int x) { return __builtin_ctz(~x); }
WARPBOOK_DEVICE_FN int warpbook_lowest_zero(unsigned long long x) { return __builtin_ctzll(~x); }

// The place of a coordinate in the normal distribution.
WARPBOOK_DEVICE_FN double warpbook_sobol_centered(unsigned int x) { return __builtin_fma((double)x, 0x1p-32, 0x1p-33); }
WARPBOOK_DEVICE_FN double warpbook_sobol_centered(unsigned long long x) {
    return __builtin_fma((double)(x >> 11), 0x1p-53, 0x1p-54);
}

// Coordinates above 0, up to 1.
WARPBOOK_DEVICE_FN float warpbook_sobol_uniform(unsigned int x) { return warpbook_uniform(x); }
WARPBOOK_DEVICE_FN float warpbook_sobol_uniform(unsigned long long x) {
    return warpbook_uniform((unsigned int)(x >> 32));
}
WARPBOOK_DEVICE_FN double warpbook_sobol_uniform_double(unsigned int x) {
    return __builtin_fma((double)x, 0x1p-32, 0x1p-32);
}
WARPBOOK_DEVICE_FN double warpbook_sobol_uniform_double(unsigned long long x) { return warpbook_sobol_centered(x); }

#define WARPBOOK_SOBOL(State, Word)                                                          \
    WARPBOOK_DEVICE_FN void skipahead(Word count, State *state) {                            \
        warpbook_sobol_move(state, (Word)(state->i + count));                                \
    }                                                                                        \
    WARPBOOK_DEVICE_FN Word curand(State *state) {                                           \
        const Word x = state->x;                                                             \
        state->x ^= state->direction_vectors[warpbook_lowest_zero(state->i)];                \
        state->i++;                                                                          \
        return x;                                                                            \
    }                                                                                        \
    WARPBOOK_DEVICE_FN float curand_uniform(State *state) {                                  \
        return warpbook_sobol_uniform(curand(state));                                        \
    }                                                                                        \
    WARPBOOK_DEVICE_FN double curand_uniform_double(State *state) {                          \
        return warpbook_sobol_uniform_double(curand(state));                                 \
    }                                                                                        \
    WARPBOOK_DEVICE_FN float curand_normal(State *state) {                                   \
        return normcdfinvf(curand_uniform(state));                                           \
    }                                                                                        \
    WARPBOOK_DEVICE_FN double curand_normal_double(State *state) {                           \
        return normcdfinv(warpbook_sobol_centered(curand(state)));                                     \
    }                                                                                        \
    WARPBOOK_DEVICE_FN float curand_log_normal(State *state, float mean, float deviation) {  \
        return expf(mean + deviation * curand_normal(state));                                \
    }                                                                                        \
    WARPBOOK_DEVICE_FN double curand_log_normal_double(State *state, double mean, double deviation) { \
        return exp(mean + deviation * curand_normal_double(state));                          \
    }
WARPBOOK_SOBOL(curandStateSobol32, unsigned int)
WARPBOOK_SOBOL(curandStateScrambledSobol32, unsigned int)
WARPBOOK_SOBOL(curandStateSobol64, unsigned long long)
WARPBOOK_SOBOL(curandStateScrambledSobol64, unsigned long long)
#undef WARPBOOK_SOBOL

// Copies the direction vectors, and moves to the point with number `offset`.
template <typename State, typename Word>
WARPBOOK_DEVICE_FN void warpbook_sobol_init(const Word *vectors, Word constant, Word offset, State *state) {
    for (unsigned int bit = 0; bit < 8 * sizeof(Word); bit++) state->direction_vectors[bit] = vectors[bit];
    state->c = constant;
    warpbook_sobol_move(state, offset);
}
WARPBOOK_DEVICE_FN void curand_init(curandDirectionVectors32_t direction_vectors, unsigned int offset,
                                    curandStateSobol32 *state) {
    warpbook_sobol_init(direction_vectors, 0u, offset, state);
}
WARPBOOK_DEVICE_FN void curand_init(curandDirectionVectors32_t direction_vectors, unsigned int scramble_c,
                                    unsigned int offset, curandStateScrambledSobol32 *state) {
    warpbook_sobol_init(direction_vectors, scramble_c, offset, state);
}
WARPBOOK_DEVICE_FN void curand_init(curandDirectionVectors64_t direction_vectors, unsigned long long offset,
                                    curandStateSobol64 *state) {
    warpbook_sobol_init(direction_vectors, 0ull, offset, state);
}
WARPBOOK_DEVICE_FN void curand_init(curandDirectionVectors64_t direction_vectors, unsigned long long scramble_c,
                                    unsigned long long offset, curandStateScrambledSobol64 *state) {
    warpbook_sobol_init(direction_vectors, scramble_c, offset, state);
}
