// MRG32k3a: L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number
// generators" (1999). Two recurrences of order three; the next number is the difference of their newest values.

#pragma once

#include "../../vector_functions.h"
#include "../device_fn.h"
#include "states.h"

// Moduli of the two recurrences.
enum : unsigned int { warpbook_mrg_m1 = 4294967087u, warpbook_mrg_m2 = 4294944443u };

// Transition matrix of one or many steps of a recurrence.
struct warpbook_mrg_matrix {
    unsigned int row[3][3];
};

WARPBOOK_DEVICE_FN unsigned int warpbook_mrg_product(unsigned int a, unsigned int b, unsigned int m) {
    return (unsigned int)((unsigned long long)a * b % m);
}
WARPBOOK_DEVICE_FN unsigned int warpbook_mrg_sum(const unsigned int *a, unsigned int b0,
                                                 unsigned int b1, unsigned int b2, unsigned int m) {
    return (unsigned int)(((unsigned long long)warpbook_mrg_product(a[0], b0, m) +
                           warpbook_mrg_product(a[1], b1, m) + warpbook_mrg_product(a[2], b2, m)) %
                          m);
}

// Applies the matrix `count` times, by repeated squaring.
__attribute__((device, noinline, unused)) static void
warpbook_mrg_skip(unsigned int *s, warpbook_mrg_matrix step, unsigned long long count, unsigned int m) {
    for (; count != 0; count >>= 1) {
        if (count & 1) {
            const unsigned int a = s[0], b = s[1], c = s[2];
            for (int i = 0; i < 3; i++) s[i] = warpbook_mrg_sum(step.row[i], a, b, c, m);
        }
        const warpbook_mrg_matrix once = step;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                step.row[i][j] = warpbook_mrg_sum(once.row[i], once.row[0][j], once.row[1][j],
                                                  once.row[2][j], m);
    }
}

WARPBOOK_DEVICE_FN void skipahead(unsigned long long count, curandStateMRG32k3a *state) {
    const warpbook_mrg_matrix one = {{{0, 1, 0}, {0, 0, 1}, {warpbook_mrg_m1 - 810728u, 1403580u, 0}}};
    const warpbook_mrg_matrix two = {{{0, 1, 0}, {0, 0, 1}, {warpbook_mrg_m2 - 1370589u, 0, 527612u}}};
    warpbook_mrg_skip(state->s1, one, count, warpbook_mrg_m1);
    warpbook_mrg_skip(state->s2, two, count, warpbook_mrg_m2);
}
// Skips `count` times 2^76 numbers: the matrices above, raised to that power.
WARPBOOK_DEVICE_FN void skipahead_subsequence(unsigned long long count, curandStateMRG32k3a *state) {
    const warpbook_mrg_matrix one = {{{82758667u, 1871391091u, 4127413238u},
                                      {3672831523u, 69195019u, 1871391091u},
                                      {3672091415u, 3528743235u, 69195019u}}};
    const warpbook_mrg_matrix two = {{{1511326704u, 3759209742u, 1610795712u},
                                      {4292754251u, 1511326704u, 3889917532u},
                                      {3859662829u, 4292754251u, 3708466080u}}};
    warpbook_mrg_skip(state->s1, one, count, warpbook_mrg_m1);
    warpbook_mrg_skip(state->s2, two, count, warpbook_mrg_m2);
}
// Skips `count` times 2^127 numbers.
WARPBOOK_DEVICE_FN void skipahead_sequence(unsigned long long count, curandStateMRG32k3a *state) {
    const warpbook_mrg_matrix one = {{{2427906178u, 3580155704u, 949770784u},
                                      {226153695u, 1230515664u, 3580155704u},
                                      {1988835001u, 986791581u, 1230515664u}}};
    const warpbook_mrg_matrix two = {{{1464411153u, 277697599u, 1610723613u},
                                      {32183930u, 1464411153u, 1022607788u},
                                      {2824425944u, 32183930u, 2093834863u}}};
    warpbook_mrg_skip(state->s1, one, count, warpbook_mrg_m1);
    warpbook_mrg_skip(state->s2, two, count, warpbook_mrg_m2);
}

// A seed of 0 gives the publication's initial state. A subsequence has 51 bits, which fit into a sequence.
WARPBOOK_DEVICE_FN void curand_init(unsigned long long seed, unsigned long long subsequence,
                                    unsigned long long offset, curandStateMRG32k3a *state) {
    for (int i = 0; i < 3; i++) state->s1[i] = state->s2[i] = 12345u;
    if (seed != 0) {
        const unsigned int low = (unsigned int)seed ^ 0x55555555u;
        const unsigned int high = (unsigned int)(seed >> 32) ^ 0xaaaaaaaau;
        for (int i = 0; i < 3; i++) {
            state->s1[i] = warpbook_mrg_product(i == 1 ? high : low, 12345u, warpbook_mrg_m1);
            state->s2[i] = warpbook_mrg_product(i == 1 ? low : high, 12345u, warpbook_mrg_m2);
        }
    }
    skipahead_subsequence(subsequence & ((1ull << 51) - 1), state);
    skipahead(offset, state);
    state->boxmuller_flag = 0;
    state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

// Returns the next number, from 1 to m1.
WARPBOOK_DEVICE_FN unsigned int warpbook_mrg_next(curandStateMRG32k3a *state) {
    unsigned int *a = state->s1, *b = state->s2;
    const unsigned int newest[2][3] = {{warpbook_mrg_m1 - 810728u, 1403580u, 0},
                                       {warpbook_mrg_m2 - 1370589u, 0, 527612u}};
    const unsigned int x = warpbook_mrg_sum(newest[0], a[0], a[1], a[2], warpbook_mrg_m1);
    const unsigned int y = warpbook_mrg_sum(newest[1], b[0], b[1], b[2], warpbook_mrg_m2);
    a[0] = a[1], a[1] = a[2], a[2] = x;
    b[0] = b[1], b[1] = b[2], b[2] = y;
    return x > y ? x - y : x - y + warpbook_mrg_m1;
}
// Returns the next number, scaled to 32 bits.
WARPBOOK_DEVICE_FN unsigned int curand(curandStateMRG32k3a *state) {
    return (unsigned int)((double)warpbook_mrg_next(state) * 1.000000048662);
}
