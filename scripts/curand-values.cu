// Prints numbers of cuRAND's host API for many generators, seeds, offsets, orderings and distributions. On a GPU with
// NVIDIA's library:
//
//     nvcc -O2 -o curand-values scripts/curand-values.cu -lcurand && ./curand-values > curand-gpu.txt
//
// A line is a case: its name, `index:bits` for some elements, and a hash of the bits of all elements.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <curand.h>
#include <initializer_list>
#include <string>
#include <vector>

struct Type {
    curandRngType_t type;
    const char *name;
    bool is_quasi, is_64_bit;
};

static const Type types[] = {
    {CURAND_RNG_PSEUDO_XORWOW, "xorwow", false, false},
    {CURAND_RNG_PSEUDO_MRG32K3A, "mrg32k3a", false, false},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, "philox", false, false},
    {CURAND_RNG_PSEUDO_MTGP32, "mtgp32", false, false},
    {CURAND_RNG_PSEUDO_MT19937, "mt19937", false, false},
    {CURAND_RNG_QUASI_SOBOL32, "sobol32", true, false},
    {CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, "scrambled_sobol32", true, false},
    {CURAND_RNG_QUASI_SOBOL64, "sobol64", true, true},
    {CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, "scrambled_sobol64", true, true},
};

enum Function { bits, uniform, uniform_double, normal, normal_double, log_normal, log_normal_double, poisson };
static const char *const function_names[] = {
    "bits", "uniform", "uniform_double", "normal", "normal_double", "log_normal", "log_normal_double", "poisson",
};

static int element_bytes(Function function, bool is_64_bit) {
    switch (function) {
    case bits: return is_64_bit ? 8 : 4;
    case uniform_double:
    case normal_double:
    case log_normal_double: return 8;
    default: return 4;
    }
}

static curandStatus_t generate(curandGenerator_t generator, bool is_64_bit, Function function, void *to, size_t n,
                               double mean) {
    switch (function) {
    case bits:
        return is_64_bit ? curandGenerateLongLong(generator, (unsigned long long *)to, n)
                         : curandGenerate(generator, (unsigned int *)to, n);
    case uniform: return curandGenerateUniform(generator, (float *)to, n);
    case uniform_double: return curandGenerateUniformDouble(generator, (double *)to, n);
    case normal: return curandGenerateNormal(generator, (float *)to, n, (float)mean, 2.0f);
    case normal_double: return curandGenerateNormalDouble(generator, (double *)to, n, mean, 2.0);
    case log_normal: return curandGenerateLogNormal(generator, (float *)to, n, (float)mean, 0.5f);
    case log_normal_double: return curandGenerateLogNormalDouble(generator, (double *)to, n, mean, 0.5);
    case poisson: return curandGeneratePoisson(generator, (unsigned int *)to, n, mean);
    }
    return CURAND_STATUS_TYPE_ERROR;
}

// A case. Values of -1 leave a setting at its default.
struct Case {
    int type;
    Function function;
    size_t n;
    double mean = 0;
    long long seed = -1, offset = -1;
    int ordering = -1, dimensions = -1;
    bool on_host = false;
    // Number of elements of an earlier call of the same function, or of `curandGenerate`.
    size_t earlier = 0, earlier_bits = 0;
};

// The elements that are printed: runs at the start and near multiples of 4096, and the end.
static bool is_printed(size_t index, size_t n) {
    if (index < 24 || index + 4 >= n) return true;
    for (size_t edge : {64, 128, 256, 512, 624, 1024, 2048, 4096, 8192, 12288, 16384, 20000, 65536, 81920, 131072, 262144, 524288})
        if (index + 3 >= edge && index < edge + 5) return true;
    return false;
}

static void print(const Case &c) {
    const Type &type = types[c.type];
    std::string name = std::string(type.name) + " " + function_names[c.function] + " n=" + std::to_string(c.n);
    if (c.function >= normal) name += " mean=" + std::to_string(c.mean);
    if (c.seed != -1) name += " seed=" + std::to_string(c.seed);
    if (c.offset != -1) name += " offset=" + std::to_string(c.offset);
    if (c.ordering != -1) name += " ordering=" + std::to_string(c.ordering);
    if (c.dimensions != -1) name += " dimensions=" + std::to_string(c.dimensions);
    if (c.earlier) name += " earlier=" + std::to_string(c.earlier);
    if (c.earlier_bits) name += " earlier_bits=" + std::to_string(c.earlier_bits);
    if (c.on_host) name += " on_host";
    printf("%s |", name.c_str());

    curandGenerator_t generator = nullptr;
    curandStatus_t status = c.on_host ? curandCreateGeneratorHost(&generator, type.type)
                                      : curandCreateGenerator(&generator, type.type);
    const auto set = [&](curandStatus_t result) {
        if (status == CURAND_STATUS_SUCCESS) status = result;
    };
    if (c.seed != -1) set(curandSetPseudoRandomGeneratorSeed(generator, c.seed));
    if (c.offset != -1) set(curandSetGeneratorOffset(generator, c.offset));
    if (c.ordering != -1) set(curandSetGeneratorOrdering(generator, (curandOrdering_t)c.ordering));
    if (c.dimensions != -1) set(curandSetQuasiRandomGeneratorDimensions(generator, c.dimensions));

    const size_t size = element_bytes(c.function, type.is_64_bit);
    const size_t count = c.n + c.earlier + c.earlier_bits;
    std::vector<unsigned char> values(count * 8, 0xee);
    void *to = values.data();
    if (!c.on_host) {
        cudaMalloc(&to, values.size());
        cudaMemset(to, 0xee, values.size());
    }
    if (c.earlier_bits) set(generate(generator, type.is_64_bit, bits, to, c.earlier_bits, 0));
    if (c.earlier) set(generate(generator, type.is_64_bit, c.function, to, c.earlier, c.mean));
    set(generate(generator, type.is_64_bit, c.function, to, c.n, c.mean));
    if (!c.on_host) {
        cudaMemcpy(values.data(), to, values.size(), cudaMemcpyDeviceToHost);
        cudaFree(to);
    }
    if (generator) curandDestroyGenerator(generator);
    if (status != CURAND_STATUS_SUCCESS) {
        printf(" status %d\n", (int)status);
        return;
    }
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t index = 0; index < c.n; index++) {
        uint64_t element = 0;
        memcpy(&element, values.data() + index * size, size);
        hash = (hash ^ element) * 0x100000001b3;
        if (is_printed(index, c.n)) printf(" %zu:%llx", index, (unsigned long long)element);
    }
    printf(" | %016llx\n", (unsigned long long)hash);
    fflush(stdout);
}

int main() {
    int version = 0;
    curandGetVersion(&version);
    printf("# cuRAND %d\n", version);
    const Function all[] = {bits, uniform, uniform_double, normal, normal_double, log_normal, log_normal_double, poisson};
    for (int type = 0; type < 9; type++) {
        const bool is_quasi = types[type].is_quasi;
        for (Function function : all) {
            const double mean = function == poisson ? 10 : 1;
            Case basic{type, function, 20010, mean};
            print(basic);
            Case host = basic;
            host.on_host = true;
            print(host);
            if (is_quasi) {
                for (int dimensions : {3, 10}) {
                    Case c = basic;
                    c.dimensions = dimensions;
                    print(c);
                    c.offset = 5;
                    print(c);
                }
            } else {
                for (long long seed : {0LL, 1LL, 1234LL, 0x123456789abcdefLL}) {
                    Case c = basic;
                    c.seed = seed;
                    print(c);
                }
                for (int ordering : {100, 101, 102, 103, 104}) {
                    Case c = basic;
                    c.n = 600000;
                    c.seed = 1234;
                    c.ordering = ordering;
                    print(c);
                    c.offset = 3;
                    c.n = 20010;
                    print(c);
                }
            }
            for (long long offset : {1LL, 2LL, 3LL, 4LL, 5LL, 4095LL, 4096LL, 4097LL, 100000LL, 1LL << 33}) {
                Case c = basic;
                if (!is_quasi) c.seed = 1234;
                c.offset = offset;
                print(c);
            }
            for (size_t n : {1, 2, 3, 5, 4096, 4097, 8191, 8194, 12289}) {
                Case c = basic;
                c.n = n;
                print(c);
            }
            for (size_t earlier : {1, 2, 3, 6, 4096, 5000}) {
                Case c = basic;
                c.n = 10000;
                c.earlier = earlier;
                print(c);
                c.earlier = 0;
                c.earlier_bits = earlier;
                print(c);
            }
        }
        for (double mean : {0.5, 1.5, 63.0, 64.0, 100.0, 1000.0, 3999.0, 4001.0, 100000.0})
            print({type, poisson, 20010, mean});
    }
}
