// Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
// 3" (2011). Ten rounds mix a 128-bit counter with a key and give four numbers.

#pragma once

#include "../../vector_functions.h"
#include "../bits.h"
#include "../device_fn.h"
#include "states.h"

WARPBOOK_DEVICE_FN uint4 curand_Philox4x32_10(uint4 c, uint2 key) {
    for (int round = 0; round < 10; round++) {
        const unsigned int high0 = __umulhi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
        const unsigned int high1 = __umulhi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
        c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}

// Adds to the counter's lower half, with carry; the second function adds to its upper half only.
WARPBOOK_DEVICE_FN void warpbook_philox_add(curandStatePhilox4_32_10 *state,
                                            unsigned long long count) {
    const unsigned long long low = (unsigned long long)state->ctr.y << 32 | state->ctr.x;
    const unsigned long long sum = low + count;
    state->ctr.x = (unsigned int)sum;
    state->ctr.y = (unsigned int)(sum >> 32);
    if (sum < low && ++state->ctr.z == 0) ++state->ctr.w;
}
WARPBOOK_DEVICE_FN void warpbook_philox_add_high(curandStatePhilox4_32_10 *state,
                                                 unsigned long long count) {
    const unsigned long long sum =
        ((unsigned long long)state->ctr.w << 32 | state->ctr.z) + count;
    state->ctr.z = (unsigned int)sum;
    state->ctr.w = (unsigned int)(sum >> 32);
}

WARPBOOK_DEVICE_FN void skipahead(unsigned long long count, curandStatePhilox4_32_10 *state) {
    state->STATE += (unsigned int)count & 3;
    count /= 4;
    if (state->STATE > 3) {
        count++;
        state->STATE -= 4;
    }
    warpbook_philox_add(state, count);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}
WARPBOOK_DEVICE_FN void skipahead_sequence(unsigned long long count,
                                           curandStatePhilox4_32_10 *state) {
    warpbook_philox_add_high(state, count);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

WARPBOOK_DEVICE_FN void curand_init(unsigned long long seed, unsigned long long subsequence,
                                    unsigned long long offset, curandStatePhilox4_32_10 *state) {
    state->ctr = make_uint4(0, 0, 0, 0);
    state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    state->STATE = 0;
    state->boxmuller_flag = 0;
    state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

WARPBOOK_DEVICE_FN unsigned int curand(curandStatePhilox4_32_10 *state) {
    const uint4 numbers = state->output;
    const unsigned int spent = state->STATE++;
    if (spent == 3) {
        warpbook_philox_add(state, 1);
        state->output = curand_Philox4x32_10(state->ctr, state->key);
        state->STATE = 0;
    }
    return spent == 0 ? numbers.x : spent == 1 ? numbers.y : spent == 2 ? numbers.z : numbers.w;
}
// Returns the next four numbers.
WARPBOOK_DEVICE_FN uint4 curand4(curandStatePhilox4_32_10 *state) {
    const uint4 a = state->output;
    warpbook_philox_add(state, 1);
    const uint4 b = state->output = curand_Philox4x32_10(state->ctr, state->key);
    switch (state->STATE) {
    case 0: return a;
    case 1: return make_uint4(a.y, a.z, a.w, b.x);
    case 2: return make_uint4(a.z, a.w, b.x, b.y);
    default: return make_uint4(a.w, b.x, b.y, b.z);
    }
}
