// Numbers of cuRAND's host interface, on the device in stream order, and on the host.

#include <cmath>
#include <cstdio>
#include <curand.h>
#include <vector>

static int failures;
static void expect(const char *what, bool holds) {
    if (!holds) printf("%s: wrong\n", what), failures++;
}
#define CHECK(call) expect(#call, (call) == CURAND_STATUS_SUCCESS)

__global__ void doubled(float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

// Checks the mean and the deviation of `n` numbers.
template <typename T> static void expect_moments(const char *what, const std::vector<T> &x, double mean, double deviation) {
    double sum = 0, squares = 0;
    for (T value : x) sum += value;
    const double actual = sum / x.size();
    for (T value : x) squares += (value - actual) * (value - actual);
    const double root = std::sqrt(squares / x.size());
    const bool holds = std::fabs(actual - mean) < 0.03 * deviation && std::fabs(root / deviation - 1) < 0.03;
    if (!holds) printf("mean %g, deviation %g\n", actual, root);
    expect(what, holds);
}

int main() {
    const int n = 40000;
    float *device;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&device, n * sizeof(float));
    std::vector<float> host(n), numbers(n);
    for (curandRngType_t type : {CURAND_RNG_PSEUDO_DEFAULT, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_PHILOX4_32_10,
                                 CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SOBOL64}) {
        curandGenerator_t generator, on_host;
        CHECK(curandCreateGenerator(&generator, type));
        CHECK(curandCreateGeneratorHost(&on_host, type));
        if (type < CURAND_RNG_QUASI_DEFAULT) {
            CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234));
            CHECK(curandSetPseudoRandomGeneratorSeed(on_host, 1234));
            // Only these need pairs.
            if (type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_MRG32K3A)
                expect("odd", curandGenerateNormal(on_host, host.data(), 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
        } else {
            CHECK(curandSetQuasiRandomGeneratorDimensions(generator, 2));
            CHECK(curandSetQuasiRandomGeneratorDimensions(on_host, 2));
            expect("odd", curandGenerateUniform(on_host, host.data(), 3) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
            expect("seed", curandSetPseudoRandomGeneratorSeed(on_host, 1) == CURAND_STATUS_TYPE_ERROR);
        }
        CHECK(curandSetStream(generator, stream));
        // The kernel in the same stream doubles the numbers of the first call.
        for (int round = 1; round <= 2; round++) {
            CHECK(curandGenerateUniform(generator, device, n));
            if (round == 1) doubled<<<(n + 255) / 256, 256, 0, stream>>>(device, n);
            cudaMemcpyAsync(numbers.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
            cudaStreamSynchronize(stream);
            CHECK(curandGenerateUniform(on_host, host.data(), n));
            bool is_equal = true;
            for (int i = 0; i < n; i++) is_equal &= numbers[i] == host[i] * (round == 1 ? 2 : 1);
            expect("numbers of host and device", is_equal);
        }
        expect_moments("uniform", host, 0.5, std::sqrt(1.0 / 12));
        CHECK(curandGenerateNormal(on_host, host.data(), n, 3, 2));
        expect_moments("normal", host, 3, 2);
        CHECK(curandGenerateLogNormal(on_host, host.data(), n, 0, 0.5f));
        expect_moments("log-normal", host, std::exp(0.125), std::sqrt((std::exp(0.25) - 1) * std::exp(0.25)));
        std::vector<double> doubles(n);
        CHECK(curandGenerateNormalDouble(on_host, doubles.data(), n, -1, 0.5));
        expect_moments("normal doubles", doubles, -1, 0.5);
        std::vector<unsigned int> counts(n);
        for (double mean : {0.5, 30.0, 500.0, 100000.0}) {
            CHECK(curandGeneratePoisson(on_host, counts.data(), n, mean));
            expect_moments("Poisson", counts, mean, std::sqrt(mean));
        }
        CHECK(curandDestroyGenerator(generator));
        CHECK(curandDestroyGenerator(on_host));
        expect("destroyed", curandGenerateUniform(on_host, host.data(), n) == CURAND_STATUS_NOT_INITIALIZED);
    }
    curandGenerator_t generator;
    expect("no generator", curandCreateGenerator(&generator, CURAND_RNG_TEST) == CURAND_STATUS_TYPE_ERROR);
    curandDirectionVectors32_t *vectors;
    CHECK(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
    expect("vectors", vectors[0][0] == 0x80000000 && vectors[0][31] == 1 && vectors[1][1] == 0xc0000000);
    printf("%d failures\n", failures);
    cudaFree(device);
    cudaStreamDestroy(stream);
    return failures;
}
