// Results of this GPU's tensor cores for random matrices: for each form of `mma` and each kind of numbers a hash
// of the bits of all results. crates/machinery/simulator/cuda-sim/tests/exec/products-h200.txt and, for 8-bit elements,
// products-of-bytes-h200.txt are the output of an H200, and the simulator's sums are compared with them.
//
//   nvcc -O3 -arch=native scripts/products.cu -o products && ./products
//
// With -arch=sm_90a instead of native, on a GPU of compute capability 9.0, it also prints
// the results of `wgmma`, which must equal those of `mma`.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t error = (call);                                                         \
        if (error != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));  \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

constexpr int ROWS = 16, COLUMNS = 8, PRODUCTS = 512;

struct Format {
    int exponent_bits, fraction_bits;
};
constexpr Format TF32{8, 10}, FP16{5, 10}, BF16{8, 7}, FP32{8, 23}, E4M3{4, 3}, E5M2{5, 2};

// ---- Inputs ------------------------------------------------------------------------------------

// Exponent ranges of the elements that are multiplied, and of those that are added. The
// first pair is for formats with 8 bits of exponent, the second for those with fewer.
struct Kind {
    const char *name;
    int multiplied[2][2], added[2][2];
    // Includes infinities, NaNs and zeros.
    bool special;
    // Every other product is the negated one before it, with occasional small differences.
    bool cancels;
    // The addends are zeros of both signs.
    bool alone;
};
const Kind KINDS[] = {
    {"alike", {{-2, 0}, {-2, 0}}, {{-2, 0}, {-2, 0}}},
    {"spread", {{-6, 6}, {-6, 6}}, {{-6, 6}, {-6, 6}}},
    {"added-far", {{-2, 2}, {-2, 2}}, {{-30, 29}, {-14, 12}}},
    {"far", {{-20, 20}, {-14, 2}}, {{-20, 20}, {-14, 2}}},
    {"cancelling", {{-20, 20}, {-14, 2}}, {{-40, -20}, {-24, -14}}, false, true},
    {"small", {{-66, -55}, {-15, -5}}, {{-130, -100}, {-15, -9}}},
    {"subnormal", {{-76, -60}, {-15, -10}}, {{-130, -120}, {-15, -15}}},
    {"smallest", {{-78, -60}, {-15, -10}}, {{0, 0}, {0, 0}}, false, false, true},
    {"large", {{61, 64}, {5, 8}}, {{124, 127}, {12, 15}}},
    {"special", {{-2, 2}, {-2, 2}}, {{-2, 2}, {-2, 2}}, true},
    {"any", {{-127, 128}, {-15, 16}}, {{-127, 128}, {-15, 16}}, true},
};

uint32_t random_bits(uint64_t n) {
    n = (n + 1) * 0x9e3779b97f4a7c15;
    n = (n ^ n >> 32) * 0xd6e8feb86659fd93;
    return uint32_t(n ^ n >> 32);
}

// Returns element number `n`, counted over all matrices.
uint32_t element(const Kind &kind, Format format, bool added, uint64_t n) {
    const int *exponents = (added ? kind.added : kind.multiplied)[format.exponent_bits <= 5];
    uint32_t one = random_bits(2 * n), two = random_bits(2 * n + 1);
    int bias = (1 << (format.exponent_bits - 1)) - 1, special = 2 * bias + 1;
    int field = bias + exponents[0] + int((one >> 1) % uint32_t(exponents[1] - exponents[0] + 1));
    uint32_t fraction = two & ((1u << format.fraction_bits) - 1);
    field = std::min(std::max(field, 0), kind.special ? special : special - 1);
    uint32_t which = kind.special ? two >> 24 : 256;
    if (which < 3) field = special;
    if (which == 3) field = 0;
    if ((which >= 1 && which <= 3) || (added && kind.alone)) fraction = 0;
    if (added && kind.alone) field = 0;
    uint32_t sign = one & 1;
    return ((sign << format.exponent_bits | uint32_t(field)) << format.fraction_bits) | fraction;
}

// ---- Matrix multiplications ---------------------------------------------------------------------

enum Form { TF32_4, TF32_8, FP16_8, FP16_16, FP16_8_INTO_16, FP16_16_INTO_16, BF16_8, BF16_16 };
struct Description {
    const char *name;
    int deep;
    Format multiplied, added;
};
const Description FORMS[] = {
    {"m16n8k4.tf32.f32", 4, TF32, FP32},  {"m16n8k8.tf32.f32", 8, TF32, FP32},
    {"m16n8k8.f16.f32", 8, FP16, FP32},   {"m16n8k16.f16.f32", 16, FP16, FP32},
    {"m16n8k8.f16.f16", 8, FP16, FP16},   {"m16n8k16.f16.f16", 16, FP16, FP16},
    {"m16n8k8.bf16.f32", 8, BF16, FP32},  {"m16n8k16.bf16.f32", 16, BF16, FP32},
};

#define RESULTS "{%0, %1, %2, %3}"
#define INTO_32(FORM, A, B, C, ...)                                                         \
    asm volatile("mma.sync.aligned." FORM " " RESULTS ", " A ", " B ", " C ";"              \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                           \
                 : __VA_ARGS__, "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define INTO_16(FORM, A, B, C, ...)                                                         \
    asm volatile("mma.sync.aligned." FORM " {%0, %1}, " A ", " B ", " C ";"                 \
                 : "=r"(d[0]), "=r"(d[1])                                                   \
                 : __VA_ARGS__, "r"(c[0] | c[1] << 16), "r"(c[2] | c[3] << 16))
#define LITTLE "r"(a[0]), "r"(a[1]), "r"(b[0])
#define MUCH "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])

// Computes one matrix multiplication per block. Matrices are row-major, one element per word.
template <int FORM, int DEEP>
__global__ void multiply(const uint32_t *left, const uint32_t *right, const uint32_t *added,
                         uint32_t *result) {
    left += blockIdx.x * ROWS * DEEP;
    right += blockIdx.x * DEEP * COLUMNS;
    added += blockIdx.x * ROWS * COLUMNS;
    result += blockIdx.x * ROWS * COLUMNS;
    unsigned group = threadIdx.x / 4, thread = threadIdx.x % 4;
    auto A = [&](unsigned row, unsigned k) { return left[row * DEEP + k]; };
    auto B = [&](unsigned k) { return right[k * COLUMNS + group]; };
    unsigned a[4], b[2], c[4], d[4];
    constexpr bool wide = FORM <= TF32_8;
    constexpr unsigned across = wide ? 4 : 8;
    for (unsigned part = 0; part < DEEP / across; part++) {
        unsigned k = part * across + (wide ? thread : thread * 2);
        for (unsigned lower = 0; lower < 2; lower++) {
            unsigned row = group + 8 * lower;
            a[2 * part + lower] = wide ? A(row, k) : A(row, k) | A(row, k + 1) << 16;
        }
        b[part] = wide ? B(k) : B(k) | B(k + 1) << 16;
    }
    auto place = [&](unsigned i) { return (group + i / 2 * 8) * COLUMNS + thread * 2 + i % 2; };
    for (unsigned i = 0; i < 4; i++) c[i] = added[place(i)];
    if constexpr (FORM == TF32_4)
        INTO_32("m16n8k4.row.col.f32.tf32.tf32.f32", "{%4, %5}", "{%6}", "{%7, %8, %9, %10}", LITTLE);
    if constexpr (FORM == TF32_8)
        INTO_32("m16n8k8.row.col.f32.tf32.tf32.f32", "{%4, %5, %6, %7}", "{%8, %9}", "{%10, %11, %12, %13}", MUCH);
    if constexpr (FORM == FP16_8)
        INTO_32("m16n8k8.row.col.f32.f16.f16.f32", "{%4, %5}", "{%6}", "{%7, %8, %9, %10}", LITTLE);
    if constexpr (FORM == FP16_16)
        INTO_32("m16n8k16.row.col.f32.f16.f16.f32", "{%4, %5, %6, %7}", "{%8, %9}", "{%10, %11, %12, %13}", MUCH);
    if constexpr (FORM == BF16_8)
        INTO_32("m16n8k8.row.col.f32.bf16.bf16.f32", "{%4, %5}", "{%6}", "{%7, %8, %9, %10}", LITTLE);
    if constexpr (FORM == BF16_16)
        INTO_32("m16n8k16.row.col.f32.bf16.bf16.f32", "{%4, %5, %6, %7}", "{%8, %9}", "{%10, %11, %12, %13}", MUCH);
    if constexpr (FORM == FP16_8_INTO_16)
        INTO_16("m16n8k8.row.col.f16.f16.f16.f16", "{%2, %3}", "{%4}", "{%5, %6}", LITTLE);
    if constexpr (FORM == FP16_16_INTO_16)
        INTO_16("m16n8k16.row.col.f16.f16.f16.f16", "{%2, %3, %4, %5}", "{%6, %7}", "{%8, %9}", MUCH);
    if constexpr (FORM == FP16_8_INTO_16 || FORM == FP16_16_INTO_16) {
        d[3] = d[1] >> 16, d[2] = d[1] & 0xffff;
        d[1] = d[0] >> 16, d[0] = d[0] & 0xffff;
    }
    for (unsigned i = 0; i < 4; i++) result[place(i)] = d[i];
}

uint32_t *on_gpu(const std::vector<uint32_t> &words) {
    uint32_t *there;
    CHECK(cudaMalloc(&there, words.size() * 4));
    CHECK(cudaMemcpy(there, words.data(), words.size() * 4, cudaMemcpyHostToDevice));
    return there;
}

// Prints a hash of all results: FNV-1a, one word at a time.
void print(const char *form, const char *kind, const std::vector<uint32_t> &result) {
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t word : result) hash = (hash ^ word) * 0x100000001b3;
    printf("%s %s = %016llx\n", form, kind, (unsigned long long)hash);
}

// Computes the same with `wgmma`: the four warps share one left matrix, and take turns in writing the result.
template <int FORM>
__global__ void multiply_in_warpgroup(const uint32_t *left, const uint32_t *right, const uint32_t *added,
                                      uint32_t *result) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int DEEP = FORM == TF32_8 ? 8 : 16;
    left += blockIdx.x * ROWS * DEEP;
    right += blockIdx.x * DEEP * COLUMNS;
    added += blockIdx.x * ROWS * COLUMNS;
    result += blockIdx.x * ROWS * COLUMNS;
    unsigned group = threadIdx.x % 32 / 4, thread = threadIdx.x % 4;
    // Stores the first 16 bytes of each column, and then the other 16 of each.
    __shared__ alignas(128) unsigned tile[2 * 8 * 4];
    auto A = [&](unsigned row, unsigned k) { return left[row * DEEP + k]; };
    auto B = [&](unsigned k) { return right[k * COLUMNS + group]; };
    constexpr bool wide = FORM == TF32_8;
    unsigned a[4], d[4];
    for (unsigned part = 0; part < 2; part++) {
        unsigned k = wide ? part * 4 + thread : part * 8 + thread * 2;
        for (unsigned lower = 0; lower < 2; lower++) {
            unsigned row = group + 8 * lower;
            a[2 * part + lower] = wide ? A(row, k) : A(row, k) | A(row, k + 1) << 16;
        }
        tile[part * 32 + threadIdx.x % 32] = wide ? B(k) : B(k) | B(k + 1) << 16;
    }
    auto place = [&](unsigned i) { return (group + i / 2 * 8) * COLUMNS + thread * 2 + i % 2; };
    for (unsigned i = 0; i < 4; i++) d[i] = added[place(i)];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint64_t second = __cvta_generic_to_shared(tile) >> 4 | 128 >> 4 << 16;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#define IN_WARPGROUP(FORM, TRANSPOSED)                                                      \
    asm volatile("wgmma.mma_async.sync.aligned." FORM " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1" TRANSPOSED ";" \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                           \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(second))
    if constexpr (FORM == TF32_8) IN_WARPGROUP("m64n8k8.f32.tf32.tf32", "");
    if constexpr (FORM == FP16_16) IN_WARPGROUP("m64n8k16.f32.f16.f16", ", 0");
    if constexpr (FORM == BF16_16) IN_WARPGROUP("m64n8k16.f32.bf16.bf16", ", 0");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (threadIdx.x / 32 == blockIdx.x % 4)
        for (unsigned i = 0; i < 4; i++) result[place(i)] = d[i];
#endif
}

// Returns true if this program was compiled for a GPU with `wgmma`: otherwise the kernel is empty.
bool has_warpgroups() {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, multiply_in_warpgroup<TF32_8>));
    return attributes.sharedSizeBytes > 0;
}

template <int FORM>
void compare() {
    const Description &form = FORMS[FORM];
    constexpr int DEEP = FORM == TF32_4 ? 4
        : FORM == FP16_16 || FORM == FP16_16_INTO_16 || FORM == BF16_16 ? 16 : 8;
    for (const Kind &kind : KINDS) {
        uint64_t n = 0;
        std::vector<uint32_t> left, right, added;
        for (int product = 0; product < PRODUCTS; product++) {
            auto matrix = [&](std::vector<uint32_t> &into, int count, Format format, bool added) {
                for (int i = 0; i < count; i++) into.push_back(element(kind, format, added, n++));
            };
            matrix(left, ROWS * DEEP, form.multiplied, false);
            matrix(right, DEEP * COLUMNS, form.multiplied, false);
            matrix(added, ROWS * COLUMNS, form.added, true);
        }
        if (kind.cancels) {
            int sign = form.multiplied.exponent_bits + form.multiplied.fraction_bits;
            for (size_t i = 1; i < left.size(); i += 2) left[i] = left[i - 1] ^ 1u << sign;
            for (size_t i = 0; i < right.size(); i++)
                if (i / COLUMNS % 2) right[i] = right[i - COLUMNS] ^ (random_bits(i) % 4 == 0);
        }
        // The lowest 13 of a tf32's 32 bits are ignored.
        if (DEEP == form.deep && FORM <= TF32_8)
            for (auto *words : {&left, &right})
                for (size_t i = 0; i < words->size(); i++)
                    (*words)[i] = (*words)[i] << 13 | (random_bits(i) & 0x1fff);
        std::vector<uint32_t> result(added.size());
        uint32_t *a = on_gpu(left), *b = on_gpu(right), *c = on_gpu(added), *d = on_gpu(result);
        auto run = [&](const char *name, auto kernel, int threads) {
            kernel<<<PRODUCTS, threads>>>(a, b, c, d);
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(result.data(), d, result.size() * 4, cudaMemcpyDeviceToHost));
            print(name, kind.name, result);
        };
        run(form.name, multiply<FORM, DEEP>, 32);
        if constexpr (FORM == TF32_8 || FORM == FP16_16 || FORM == BF16_16)
            if (has_warpgroups())
                run(("wgmma for " + std::string(form.name)).c_str(), multiply_in_warpgroup<FORM>, 128);
        for (uint32_t *there : {a, b, c, d}) CHECK(cudaFree(there));
    }
}

// ---- 8-bit elements ----------------------------------------------------------------------------

// Name of a form with 8-bit elements, its rows and columns, and its types.
struct Form8 {
    const char *name;
    int rows, deep;
    // Unused for integers.
    Format left, right;
    bool floats;
};
#define FORM_8(NAME, SHAPE, ROWS, DEEP, D, A, B, SAT, LEFT, RIGHT, FLOATS, ASM)                  \
    struct NAME {                                                                                \
        static constexpr Form8 form{SHAPE SAT "." #A "." #B "." #D, ROWS, DEEP, LEFT, RIGHT, FLOATS}; \
        static __device__ void run(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *d) { \
            ASM("mma.sync.aligned." SHAPE ".row.col" SAT "." #D "." #A "." #B "." #D);           \
        }                                                                                        \
    };
#define LARGE(FORM)                                                                              \
    asm volatile(FORM " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"     \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                \
                 : MUCH, "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define MIDDLE(FORM)                                                                             \
    asm volatile(FORM " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"                    \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                \
                 : LITTLE, "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define SMALL(FORM)                                                                              \
    asm volatile(FORM " {%0, %1}, {%2}, {%3}, {%4, %5};"                                         \
                 : "=r"(d[0]), "=r"(d[1])                                                        \
                 : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]))

constexpr Format NONE{0, 0};
#define WHOLE_AS(A, B)                                                                           \
    FORM_8(Small_##A##_##B, "m8n8k16", 8, 16, s32, A, B, "", NONE, NONE, false, SMALL)           \
    FORM_8(SmallSat_##A##_##B, "m8n8k16", 8, 16, s32, A, B, ".satfinite", NONE, NONE, false, SMALL) \
    FORM_8(Middle_##A##_##B, "m16n8k16", 16, 16, s32, A, B, "", NONE, NONE, false, MIDDLE)       \
    FORM_8(MiddleSat_##A##_##B, "m16n8k16", 16, 16, s32, A, B, ".satfinite", NONE, NONE, false, MIDDLE) \
    FORM_8(Large_##A##_##B, "m16n8k32", 16, 32, s32, A, B, "", NONE, NONE, false, LARGE)         \
    FORM_8(LargeSat_##A##_##B, "m16n8k32", 16, 32, s32, A, B, ".satfinite", NONE, NONE, false, LARGE)
WHOLE_AS(s8, s8)
WHOLE_AS(s8, u8)
WHOLE_AS(u8, s8)
WHOLE_AS(u8, u8)
#define FLOATS_AS(A, B, LEFT, RIGHT)                                                             \
    FORM_8(Floats_##A##_##B, "m16n8k32", 16, 32, f32, A, B, "", LEFT, RIGHT, true, LARGE)
FLOATS_AS(e4m3, e4m3, E4M3, E4M3)
FLOATS_AS(e4m3, e5m2, E4M3, E5M2)
FLOATS_AS(e5m2, e4m3, E5M2, E4M3)
FLOATS_AS(e5m2, e5m2, E5M2, E5M2)
FORM_8(ShortFloats_e4m3_e5m2, "m16n8k16", 16, 16, f32, e4m3, e5m2, "", E4M3, E5M2, true, MIDDLE)

// Computes one matrix multiplication per block, as above, with one 8-bit element per word.
template <typename F>
__global__ void multiply_8(const uint32_t *left, const uint32_t *right, const uint32_t *added,
                           uint32_t *result) {
    constexpr int ROWS = F::form.rows, DEEP = F::form.deep;
    left += blockIdx.x * ROWS * DEEP;
    right += blockIdx.x * DEEP * COLUMNS;
    added += blockIdx.x * ROWS * COLUMNS;
    result += blockIdx.x * ROWS * COLUMNS;
    unsigned group = threadIdx.x / 4, thread = threadIdx.x % 4;
    unsigned a[4] = {}, b[2] = {}, c[4], d[4];
    for (unsigned part = 0; part < DEEP / 16; part++)
        for (unsigned n = 0; n < 4; n++) {
            unsigned k = part * 16 + thread * 4 + n;
            for (unsigned lower = 0; lower < ROWS / 8; lower++)
                a[part * 2 + lower] |= left[(group + 8 * lower) * DEEP + k] << 8 * n;
            b[part] |= right[k * COLUMNS + group] << 8 * n;
        }
    auto place = [&](unsigned i) { return (group + i / 2 * 8) * COLUMNS + thread * 2 + i % 2; };
    for (unsigned i = 0; i < ROWS / 4; i++) c[i] = added[place(i)];
    F::run(a, b, c, d);
    for (unsigned i = 0; i < ROWS / 4; i++) result[place(i)] = d[i];
}

template <typename F>
void products_8(const char *name, const std::vector<uint32_t> &left, const std::vector<uint32_t> &right,
                const std::vector<uint32_t> &added) {
    std::vector<uint32_t> result(added.size());
    uint32_t *a = on_gpu(left), *b = on_gpu(right), *c = on_gpu(added), *d = on_gpu(result);
    multiply_8<F><<<PRODUCTS, 32>>>(a, b, c, d);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(result.data(), d, result.size() * 4, cudaMemcpyDeviceToHost));
    for (uint32_t *there : {a, b, c, d}) CHECK(cudaFree(there));
    print(F::form.name, name, result);
}

template <typename F>
void compare_8() {
    constexpr Form8 form = F::form;
    uint64_t n = 0;
    auto matrix = [&](int count, auto of) {
        std::vector<uint32_t> words;
        for (int i = 0; i < PRODUCTS * count; i++) words.push_back(of(n++));
        return words;
    };
    if constexpr (form.floats) {
        for (const Kind &kind : KINDS) {
            n = 0;
            auto floats = [&](Format format, bool added) {
                return [&kind, format, added](uint64_t n) { return element(kind, format, added, n); };
            };
            auto left = matrix(form.rows * form.deep, floats(form.left, false));
            auto right = matrix(form.deep * COLUMNS, floats(form.right, false));
            auto added = matrix(form.rows * COLUMNS, floats(FP32, true));
            if (kind.cancels) {
                for (size_t i = 1; i < left.size(); i += 2) left[i] = left[i - 1] ^ 0x80;
                for (size_t i = 0; i < right.size(); i++)
                    if (i / COLUMNS % 2) right[i] = right[i - COLUMNS] ^ (random_bits(i) % 4 == 0);
            }
            products_8<F>(kind.name, left, right, added);
        }
    } else {
        // Addends: arbitrary ones, and ones with which many sums overflow.
        for (bool limit : {false, true}) {
            n = 0;
            auto byte = [](uint64_t n) { return random_bits(n) >> 24; };
            auto left = matrix(form.rows * form.deep, byte), right = matrix(form.deep * COLUMNS, byte);
            auto added = matrix(form.rows * COLUMNS, [limit](uint64_t n) {
                uint32_t word = random_bits(n);
                return limit ? 0x7fffffff ^ (word >> 31) * 0xffffffff ^ (word & 0xffff) : word;
            });
            products_8<F>(limit ? "limit" : "any", left, right, added);
        }
    }
}

template <typename... Forms>
void compare_all() {
    (compare_8<Forms>(), ...);
}

int main() {
    compare<TF32_4>();
    compare<TF32_8>();
    compare<FP16_8>();
    compare<FP16_16>();
    compare<FP16_8_INTO_16>();
    compare<FP16_16_INTO_16>();
    compare<BF16_8>();
    compare<BF16_16>();
    compare_all<Floats_e4m3_e4m3, Floats_e4m3_e5m2, Floats_e5m2_e4m3, Floats_e5m2_e5m2,
                ShortFloats_e4m3_e5m2>();
#define ALL_WHOLE(A, B)                                                                          \
    compare_all<Small_##A##_##B, SmallSat_##A##_##B, Middle_##A##_##B, MiddleSat_##A##_##B,      \
                Large_##A##_##B, LargeSat_##A##_##B>();
    ALL_WHOLE(s8, s8)
    ALL_WHOLE(s8, u8)
    ALL_WHOLE(u8, s8)
    ALL_WHOLE(u8, u8)
}
