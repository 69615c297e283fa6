// XORWOW: Marsaglia's generator of five words (Journal of Statistical Software 8,
// 2003) with its Weyl sequence.

#pragma once

#include "../device_fn.h"
#include "states.h"
#include "xorwow_jumps.h"

WARPBOOK_DEVICE_FN void warpbook_xorwow_step(unsigned int v[5]) {
    const unsigned int t = v[0] ^ v[0] >> 2;
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
}

// Skips `count` steps, or `count` times 2^67: for each digit, a sum of the next 160 states.
static inline __attribute__((device, noinline, nodebug, unused)) void
warpbook_xorwow_jump(curandStateXORWOW *state, unsigned long long count, int table) {
    unsigned int v[5];
    for (int n = 0; n < 5; n++) v[n] = state->v[n];
    for (int place = 0; count != 0; place++, count >>= 4) {
        const unsigned int digit = (unsigned int)count & 15;
        if (digit == 0) continue;
        unsigned int sum[5] = {};
        for (int word = 0; word < 5; word++) {
            const unsigned int bits = warpbook_xorwow_jumps[table][place][digit - 1][word];
            for (int bit = 0; bit < 32; bit++) {
                if (bits >> bit & 1)
                    for (int n = 0; n < 5; n++) sum[n] ^= v[n];
                warpbook_xorwow_step(v);
            }
        }
        for (int n = 0; n < 5; n++) v[n] = sum[n];
    }
    for (int n = 0; n < 5; n++) state->v[n] = v[n];
}

WARPBOOK_DEVICE_FN void skipahead(unsigned long long count, curandStateXORWOW *state) {
    warpbook_xorwow_jump(state, count, 0);
    state->d += 362437u * (unsigned int)count;
}
WARPBOOK_DEVICE_FN void skipahead_sequence(unsigned long long count, curandStateXORWOW *state) {
    warpbook_xorwow_jump(state, count, 1);
}

WARPBOOK_DEVICE_FN void curand_init(unsigned long long seed, unsigned long long subsequence,
                                    unsigned long long offset, curandStateXORWOW *state) {
    const unsigned int low = ((unsigned int)seed ^ 0xaad26b49u) * 1099087573u;
    const unsigned int high = ((unsigned int)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    state->d = 6615241u + low + high;
    state->v[0] = 123456789u + low;
    state->v[1] = 362436069u ^ low;
    state->v[2] = 521288629u + high;
    state->v[3] = 88675123u ^ high;
    state->v[4] = 5783321u + low;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    state->boxmuller_flag = 0;
    state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

WARPBOOK_DEVICE_FN unsigned int curand(curandStateXORWOW *state) {
    warpbook_xorwow_step(state->v);
    state->d += 362437u;
    return state->v[4] + state->d;
}
