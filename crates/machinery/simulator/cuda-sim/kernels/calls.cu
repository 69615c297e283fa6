// Device functions that stay functions: structs in and out, recursion, pointers.
#include "../../../../../kernels/cuda_device.h"

struct Pair {
    double a;
    int b;
    short c[3];
};

__device__ __noinline__ Pair turn(Pair p, signed char by) {
    Pair r = {(double)p.b + by, (int)p.a, {p.c[2], p.c[0], p.c[1]}};
    return r;
}

extern "C" __global__ void structs(double *out, Pair p) {
    unsigned t = threadIdx.x;
    p.b += t;
    Pair q = turn(p, -3);
    if (t & 1) q = turn(q, (signed char)t);
    out[t] = q.a * 1000 + q.b + q.c[0] * 100 + q.c[1] * 10 + q.c[2];
}

__device__ __noinline__ unsigned long long factorial(unsigned n) {
    return n < 2 ? 1 : n * factorial(n - 1);
}
__device__ __noinline__ unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ unsigned is_odd(unsigned n);
__device__ __noinline__ unsigned is_even(unsigned n) {
    volatile unsigned m = n;
    return m == 0 ? 1 : is_odd(m - 1);
}
__device__ __noinline__ unsigned is_odd(unsigned n) {
    volatile unsigned m = n;
    return m == 0 ? 0 : is_even(m - 1);
}

extern "C" __global__ void recursion(unsigned long long *out) {
    unsigned t = threadIdx.x;
    out[3 * t] = factorial(t % 21);
    out[3 * t + 1] = fibonacci(t % 11);
    out[3 * t + 2] = is_even(t % 13);
}

__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int through_shared(int x) {
    __shared__ int tile[32];
    tile[threadIdx.x & 31] = x;
    return tile[threadIdx.x & 31] + 7;
}
typedef int (*Function)(int);
__device__ Function table[3] = {twice, square, through_shared};

extern "C" __global__ void pointers(int *out, const int *which) {
    unsigned t = threadIdx.x;
    out[2 * t] = table[which[0]](t);
    out[2 * t + 1] = table[which[t]](t);
}

extern "C" __global__ void bad_pointer(int *out, unsigned long long pointer) {
    out[threadIdx.x] = ((Function)pointer)(1);
}

// Goes down as deep as it is told.
__device__ __noinline__ unsigned deep(unsigned n) {
    volatile unsigned kept[4];
    kept[n & 3] = n;
    return n == 0 ? 0 : deep(n - 1) + kept[n & 3];
}

extern "C" __global__ void depth(unsigned *out, unsigned n) { out[threadIdx.x] = deep(n); }
