// Measures the cost of a kernel's first launch: the stencil's two kernels, each launched once, in
// the order of the note's program and in reverse order. docs/results/notes.md has the results.
//
//   nvcc -O3 -arch=native scripts/first-launch.cu -o first-launch
//   ./first-launch constant; ./first-launch restrict
//
// The argument names the kernel that is launched first. Each order needs its own process,
// because only one launch of a process is its first.

#include "../kernels/stencil-readonly.cu"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t error = (call);                                                         \
        if (error != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));  \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

constexpr int SIZE = 1 << 24, BLOCK = 32;

// Keeps the stream busy until everything to be timed is enqueued: otherwise the times would
// include the host's launch overhead.
__global__ void wait(long long cycles) {
    for (long long start = clock64(); clock64() - start < cycles;) {}
}

// Returns the milliseconds of one launch.
template <typename... Parameters>
float time(void (*kernel)(Parameters...), Parameters... parameters) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    wait<<<1, 1>>>(1'000'000);
    CHECK(cudaEventRecord(start));
    kernel<<<SIZE / BLOCK, BLOCK, (BLOCK + 2 * RADIUS) * sizeof(float)>>>(parameters...);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    return milliseconds;
}

int main(int argc, char **argv) {
    bool constant_first = argc == 2 && strcmp(argv[1], "constant") == 0;
    if (argc != 2 || (!constant_first && strcmp(argv[1], "restrict") != 0)) {
        fprintf(stderr, "error: name the kernel that goes first: %s constant|restrict\n", argv[0]);
        return 2;
    }
    // Loads code to the GPU eagerly instead of at its first launch.
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);

    std::vector<float> points(SIZE + 2 * RADIUS), results(SIZE);
    for (size_t i = 0; i < points.size(); i++) points[i] = (i * 37 % 1000) / 1000.0f;
    const float coefficients[RADIUS + 1] = {0.0f, 0.8f, -0.2f, 0.03809f, -0.00357f};
    float *in, *out, *dcoef;
    CHECK(cudaMalloc(&in, points.size() * sizeof(float)));
    CHECK(cudaMalloc(&out, results.size() * sizeof(float)));
    CHECK(cudaMalloc(&dcoef, sizeof(coefficients)));
    CHECK(cudaMemcpy(dcoef, coefficients, sizeof(coefficients), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(in, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(coef, coefficients, sizeof(coefficients)));

    for (bool constant : {constant_first, !constant_first}) {
        const float *from = in + RADIUS, *dc = dcoef;
        float ms = constant ? time(stencil_constant, from, out, SIZE)
                            : time(stencil_restrict, from, out, SIZE, dc);
        printf("%s %.4f ms\n", constant ? "constant" : "restrict", ms);
        // The note's program copies the results back before it continues.
        CHECK(cudaMemcpy(results.data(), out, results.size() * sizeof(float),
                         cudaMemcpyDeviceToHost));
    }
}
