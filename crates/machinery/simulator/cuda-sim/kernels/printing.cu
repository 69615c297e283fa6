// What kernels print, and how they stop themselves.
#include "../../../../../kernels/cuda_device.h"

// Not const: clang puts the constants that one initialiser names in any order.
__device__ char odd[] = "odd";
__device__ char even[] = "even";
__device__ const char *words[2] = {odd, even};

extern "C" __global__ void conversions(const void *p, double x, long long big) {
    int n = -42;
    printf("%d %i %u %o %x %X|", n, 7, 3000000000u, 8, 255, 255);
    printf("%lld %llu %llx %ld|", big, (unsigned long long)big, (unsigned long long)big, (long)n);
    printf("%hd %hhu|", (short)-5, (unsigned char)200);
    printf("%5d|%-5d|%05d|%+d|% d|", n, n, n, 5, 5);
    printf("%5.2f|%e|%g|%g|%g|%.3f|", x, x, x, 1e-10, 1e20, -x);
    printf("%s|%10s|%-6s|%.2s|", words[0], words[1], "ab", "abcdef");
    printf("%c%c|%p|%%|", 'o', 'k', p);
    printf("%*d|%-*d|%.*f|", 6, n, 6, n, 1, x);
    printf("plain\n");
}

extern "C" __global__ void shortest(const double *in) {
    double x = in[threadIdx.x];
    printf("%g|%10g|%-10g|%.3g|%.0g|%G|%+g\n", x, x, x, x, x, x, x);
}

extern "C" __global__ void by_block() {
    printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
}

extern "C" __global__ void result(int *out) {
    out[threadIdx.x] = printf("%d%% %d\n", threadIdx.x, 5);
}

extern "C" __global__ void checked(const int *in) {
    assert(in[threadIdx.x] >= 0 && "must not be negative");
}

extern "C" __global__ void trapped(const int *in) {
    if (in[threadIdx.x] < 0) __builtin_trap();
}
