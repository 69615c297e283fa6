// Prints the results of NVIDIA's headers that this project's headers must reproduce: see scripts/header-values.

#if defined(RANDOM)
#include "../crates/machinery/simulator/cuda-sim/tests/headers/random_numbers.cu"
#else
#include "../crates/machinery/simulator/cuda-sim/tests/headers/narrow_functions.cu"
#endif
#include <cstdio>
#include <vector>

template <typename In, typename Out>
int print(void (*kernel)(const In *, Out *), const std::vector<In> &from, int rows, int results,
          int block, const char *in, const char *out) {
    std::vector<Out> to(rows * results);
    In *f;
    Out *o;
    cudaMalloc(&f, from.size() * sizeof(In));
    cudaMalloc(&o, to.size() * sizeof(Out));
    cudaMemset(o, 0, to.size() * sizeof(Out));
    cudaMemcpy(f, from.data(), from.size() * sizeof(In), cudaMemcpyHostToDevice);
    kernel<<<rows / block, block>>>(f, o);
    cudaMemcpy(to.data(), o, to.size() * sizeof(Out), cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; row++) {
        for (int n = 0; n < 3; n++) printf(in, from[3 * row + n]);
        for (int n = 0; n < results; n++) printf(out, to[results * row + n]);
        printf("\n");
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}

int main() {
#if defined(RANDOM)
    // Triples of seed, sequence and offset.
    const std::vector<unsigned long long> from = {
        0, 0, 0, 1234, 0, 0, 1234, 1, 0, 1234, 1000, 0, 42, 3, 5, 42, 12345678, 77,
        0x123456789abcdefull, 0xfedcba9876543210ull, 0x0f1e2d3c4b5a6978ull, 1, 0, 1, 1, 0, 2,
        1, 0, 3, 1, 2, 4, 7, 0x100000000ull, 0xffffffffffffull};
    return print(random_numbers, from, 12, 96, 12, "%llu ", "%.17g ");
#else
    // Boundary cases of both types, and numbers between them.
    const unsigned int edges[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00,
                                  0xbc00, 0x3f80, 0xbf80, 0x7bff, 0x7c00, 0xfc00, 0x7f7f,
                                  0x7f80, 0xff80, 0x7e00, 0x7fff, 0x0080, 0x4248};
    std::vector<unsigned int> from(3 * 256);
    unsigned int number = 12345;
    for (size_t n = 0; n < from.size(); n++) {
        number = number * 1664525u + 1013904223u;
        from[n] = n < 600 ? edges[(number >> 16) % 20] : number >> 16;
    }
    return print(narrow_functions, from, 256, 80, 64, "%x ", "%x ");
#endif
}
