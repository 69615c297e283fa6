// The chapters' kernels as compiled by nvcc, timed in the same way as the chapters do, for
// comparison with clang's PTX. scripts/results --nvcc compiles and runs this file, once per
// chapter (each fills constant memory on its own), and lists the times next to the others.
//
//   nvcc -O3 -std=c++17 -arch=native -I kernels -DMATMUL scripts/nvcc.cu -o nvcc-matmul
//   ./nvcc-matmul 4800 6400 3200
//
// Prints one line of JSON per kernel: its name in the chapter, and milliseconds. Results
// are not checked here; the chapters do that.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
    do {                                                                         \
        cudaError_t error = (call);                                              \
        if (error != cudaSuccess) {                                              \
            fprintf(stderr, "error: %s: %s\n", #call, cudaGetErrorString(error)); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

// Returns the median of 20 samples, each with as many launches as take 5 ms, as in common::timing.
template <class Launch>
double median_ms(Launch launch) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    auto sample = [&](int launches) {
        float ms;
        CHECK(cudaEventRecord(start));
        for (int i = 0; i < launches; i++) launch();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaGetLastError());
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        return double(ms) / launches;
    };
    sample(1);
    int launches = std::clamp(int(std::ceil(5 / sample(1))), 1, 1000);
    sample(launches);
    std::vector<double> samples;
    for (int i = 0; i < 20; i++) samples.push_back(sample(launches));
    std::sort(samples.begin(), samples.end());
    return (samples[9] + samples[10]) / 2;
}

// Allocates device memory filled with zeros; it is freed when the program ends.
template <class T>
T *zeros(size_t count) {
    T *memory;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

int blocks(size_t count, int block) { return int((count + block - 1) / block); }

#if defined(VECTOR_ADD)
#include "vector-add.cu"

int main(int, char **arguments) {
    size_t count = atol(arguments[1]);
    float *a = zeros<float>(count), *b = zeros<float>(count), *c = zeros<float>(count);
    double ms = median_ms([&] { add<<<blocks(count, 256), 256>>>(a, b, c, count); });
    printf("{\"variant\": \"add\", \"ms\": %.6f}\n", ms);
}

#elif defined(MATMUL)
// The kernels of both chapters, in namespaces, because both files declare Matrix and its functions.
namespace pitched {
#include "matmul-pitched.cu"
}
namespace tiled {
#include "matmul-tiled.cu"
}

template <class Matrix>
Matrix allocate(size_t rows, size_t cols) {
    float *elements;
    size_t pitch;
    CHECK(cudaMallocPitch(&elements, &pitch, cols * sizeof(float), rows));
    CHECK(cudaMemset(elements, 0, pitch * rows));
    return Matrix{rows, cols, elements, pitch / sizeof(float)};
}

template <class Matrix, class Kernel>
void multiply(const char *variant, Kernel kernel, int block, char **sizes) {
    size_t m = atol(sizes[1]), n = atol(sizes[2]), p = atol(sizes[3]);
    Matrix a = allocate<Matrix>(m, n), b = allocate<Matrix>(n, p), c = allocate<Matrix>(m, p);
    dim3 grid(blocks(p, block), blocks(m, block)), threads(block, block);
    double ms = median_ms([&] { kernel<<<grid, threads>>>(a, b, c); });
    printf("{\"variant\": \"%s\", \"ms\": %.6f}\n", variant, ms);
    CHECK(cudaFree(a.elements));
    CHECK(cudaFree(b.elements));
    CHECK(cudaFree(c.elements));
}

int main(int, char **arguments) {
    multiply<pitched::Matrix>("pitched", pitched::mat_mul_pitched, 16, arguments);
    multiply<tiled::Matrix>("tiled 8", tiled::mat_mul_tiled_8, 8, arguments);
    multiply<tiled::Matrix>("tiled 16", tiled::mat_mul_tiled_16, 16, arguments);
    multiply<tiled::Matrix>("tiled 32", tiled::mat_mul_tiled_32, 32, arguments);
}

#elif defined(ADD_CONSTANT)
#include "add-constant.cu"
#include "add-constant-ladder/vector.cu"

int main() {
    const char *names[] = {"one_access_per_block", "one_access_per_warp",
                           "one_access_per_thread", "pseudo_random"};
    int block = 1024;
    int *values = zeros<int>(N);
    for (unsigned int sums : {12800000u, 128000u}) {
        int *to = zeros<int>(sums), *from = zeros<int>(sums);
        int grid = blocks(sums, block);
        for (int i = 0; i < 4; i++) {
            AccessPattern pattern = AccessPattern(i);
            double global = median_ms([&] {
                add_constant_global_memory<<<grid, block>>>(to, from, values, sums, N, pattern);
            });
            double constant = median_ms([&] {
                add_constant_constant_memory<<<grid, block>>>(to, from, sums, pattern);
            });
            const char *line = "{\"variant\": \"%s\", \"sums\": %u, \"pattern\": \"%s\", \"ms\": %.6f}\n";
            printf(line, "global", sums, names[i], global);
            printf(line, "constant", sums, names[i], constant);
        }
        double vector = median_ms([&] {
            add_constant_vector<<<blocks(sums / 4, block), block>>>(to, from, 1, sums);
        });
        printf("{\"variant\": \"vector\", \"sums\": %u, \"ms\": %.6f}\n", sums, vector);
        CHECK(cudaFree(to));
        CHECK(cudaFree(from));
    }
}

#elif defined(RAYTRACE_CONST)
#include "raytrace-const.cu"

// Spheres in a row, far enough apart that each is hit by some rays: the time hardly
// depends on their positions.
int main(int, char **arguments) {
    int side = atoi(arguments[1]), count = atoi(arguments[2]);
    std::vector<Sphere> spheres(count);
    std::vector<AlignedSphere> aligned(count);
    for (int i = 0; i < count; i++) {
        float at = side * (i * 0.61803f - floorf(i * 0.61803f) - 0.5f);
        float across = side * (i * 0.75488f - floorf(i * 0.75488f) - 0.5f);
        spheres[i] = Sphere{1, 0.5f, 0.25f, side * 0.07f, at, across, at};
        aligned[i] = AlignedSphere{spheres[i]};
    }
    Sphere *global = zeros<Sphere>(count);
    size_t bytes = count * sizeof(Sphere);
    CHECK(cudaMemcpy(global, spheres.data(), bytes, cudaMemcpyHostToDevice));
    uchar4 *image = zeros<uchar4>(size_t(side) * side);
    dim3 block(16, 16), grid(blocks(side, 16), blocks(side, 16));
    const char *line = "{\"variant\": \"%s\", \"ms\": %.6f}\n";
    printf(line, "global", median_ms([&] {
               raytrace_global<<<grid, block>>>(global, count, image, side, side);
           }));
    CHECK(cudaMemcpyToSymbol(constant_spheres, spheres.data(), bytes));
    printf(line, "constant", median_ms([&] {
               raytrace_constant<<<grid, block>>>(count, image, side, side);
           }));
    CHECK(cudaMemcpyToSymbol(constant_spheres, aligned.data(), count * sizeof(AlignedSphere)));
    printf(line, "unrolled", median_ms([&] {
               raytrace_unrolled<<<grid, block>>>(count, image, side, side);
           }));
}

#elif defined(STENCIL_READONLY)
#include "stencil-readonly.cu"

int main(int, char **arguments) {
    int size = atoi(arguments[1]);
    // As in the chapter, points and results start after a halo.
    float *in = zeros<float>(size + 2 * RADIUS) + RADIUS;
    float *out = zeros<float>(size + 2 * RADIUS) + RADIUS;
    float *dcoef = zeros<float>(RADIUS + 1);
    for (int block : {32, 128, 256, 512, 1024}) {
        int grid = blocks(size, block);
        size_t shared = (block + 2 * RADIUS) * sizeof(float);
        const char *line = "{\"variant\": \"%s\", \"block\": %d, \"ms\": %.6f}\n";
        printf(line, "constant", block, median_ms([&] {
                   stencil_constant<<<grid, block, shared>>>(in, out, size);
               }));
        printf(line, "__ldg", block, median_ms([&] {
                   stencil_ldg<<<grid, block, shared>>>(in, out, size, dcoef);
               }));
        printf(line, "const __restrict__", block, median_ms([&] {
                   stencil_restrict<<<grid, block, shared>>>(in, out, size, dcoef);
               }));
    }
}
#endif
