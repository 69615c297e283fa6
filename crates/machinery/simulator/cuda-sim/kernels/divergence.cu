// Control flow in which the lanes of a warp part and meet again. Each kernel writes one word a
// thread; the tests compute the same word in plain Rust.
#include "../../../../../kernels/cuda_device.h"

// A branch whose sides write memory cannot be turned into a selection.
extern "C" __global__ void nested_ifs(unsigned *out, const unsigned *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    out[i] = 1;
    if (x & 1) {
        out[i] += 10;
        if (x & 2) {
            out[i] *= 3;
            if (x & 4) out[i] += 7; else out[i] ^= 5;
        } else {
            out[i] += x;
        }
        out[i] += 100;
    } else if (x & 2) {
        out[i] += 20;
    } else if (x & 4) {
        out[i] += 30;
    } else {
        out[i] += 40;
    }
    out[i] += 1000;
}

// As many rounds as the lane's input says: Collatz steps until 1.
extern "C" __global__ void trip_counts(unsigned *out, const unsigned *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], steps = 0;
#pragma nounroll
    while (x > 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        ++steps;
    }
    out[i] = steps;
}

extern "C" __global__ void nested_loops(unsigned *out, const unsigned *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], sum = 0;
#pragma nounroll
    for (unsigned a = 0; a < (x & 15); ++a) {
        if (a == (x >> 4 & 7)) continue;
#pragma nounroll
        for (unsigned b = 0; b < 9; ++b) {
            if ((a + b + x) % 5 == 0) continue;
            if (a * b > (x & 31)) break;
            out[i] = sum;
            sum += a * 16 + b;
        }
        if (sum > 700) break;
    }
    out[i] = sum;
}

extern "C" __global__ void early_return(unsigned *out, const unsigned *in, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = in[i];
    out[i] = 1;
    if (x & 1) return;
    out[i] = 2;
#pragma nounroll
    for (unsigned k = 0; k < x; ++k) {
        if (k == 5) return;
        out[i] += k;
    }
    out[i] += 50;
}

extern "C" __global__ void switches(unsigned *out, const unsigned *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    out[i] = x;
    switch (x % 7) {
        case 0: out[i] += 3; break;
        case 1: out[i] *= 5; // falls through
        case 2: out[i] ^= 0x55; break;
        case 3: out[i] = 9; // falls through
        case 4: out[i] -= 2; // falls through
        case 5: out[i] <<= 1; break;
        default: out[i] = ~out[i];
    }
    out[i] += 1;
}

// The second operand of && and || runs only where the first asks for it.
extern "C" __global__ void short_circuit(unsigned *out, const unsigned *in, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    unsigned r = 0;
    // in[x] is outside the array unless x < n.
    if (x < n && in[x] < n && in[in[x]] & 1) r |= 1;
    if (x >= n || in[x] & 2) r |= 2;
    out[i] = r;
}

__device__ __noinline__ unsigned collatz(unsigned x, unsigned most) {
    unsigned steps = 0;
#pragma nounroll
    while (x > 1) {
        if (steps == most) return 1000 + x;
        if (x & 1) {
            x = 3 * x + 1;
        } else {
            x /= 2;
        }
        ++steps;
    }
    return steps;
}

__device__ __noinline__ unsigned choose(unsigned *place, unsigned x) {
    if (x % 3 == 0) return collatz(x, 10);
    *place = 5;
    if (x % 3 == 1) {
        *place += collatz(x + 1, 3);
        return *place;
    }
    return x;
}

// Lanes part inside functions, and functions are called where lanes have parted.
extern "C" __global__ void in_functions(unsigned *out, const unsigned *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    unsigned r = choose(&out[i], x);
    if (x & 1) r += choose(&out[i], x / 2);
    out[i] = r * 2;
}

__device__ __noinline__ unsigned leave(unsigned *place, unsigned x) {
    *place = 7;
    if (x & 1) asm volatile("exit;");
    *place += 1;
    return x + collatz(x, 5);
}

// Threads that end inside a function, while others come back from it.
extern "C" __global__ void exit_in_function(unsigned *out, const unsigned *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    if (x & 2) {
        out[i] = leave(&out[i], x);
    } else {
        out[i] = 3;
    }
    out[i] += 100;
}
