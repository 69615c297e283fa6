// Functions: calls with results, recursion, a function pointer, a local array, a trap.
#include "stand_in.h"
struct Pair { double a; int b; };
__device__ __attribute__((noinline)) Pair swap(Pair p) { Pair r = {(double)p.b, (int)p.a}; return r; }
__device__ __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __attribute__((noinline)) void stop() { __builtin_trap(); }
__device__ __attribute__((noinline)) int twice(int x) { return x * 2; }
__device__ __attribute__((noinline)) int thrice(int x) { return x * 3; }
__device__ int (*table[2])(int) = {twice, thrice};
extern "C" __global__ void calls(int *out, Pair p, int which) {
  int local[8];
  for (int i = 0; i < 8; ++i) local[i] = fib(i + which);
  int t = threadIdx.x;
  Pair q = swap(p);
  if (q.b < 0) stop();
  switch (which) {
    case 0: t += 5; break; case 1: t *= 7; break; case 2: t ^= 9; break;
    case 3: t -= local[t & 7]; break; case 4: t /= 3; break;
  }
  out[threadIdx.x] = table[which & 1](t) + local[t & 7] + (int)q.a;
}
