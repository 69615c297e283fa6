// Results of cuBLAS, cuBLASLt and cuFFT for fixed inputs, to compare libraries. Each line has the name of a call, the type
// of its results and their bits. scripts/library-values compiles it with nvcc on a GPU, and runs it with cuda-run.

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cufft.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static void check(int status, int line) {
    if (status != 0) {
        fprintf(stderr, "library-values.cu:%d: status %d\n", line, status);
        exit(1);
    }
}
#define CHECK(call) check((int)(call), __LINE__)

// Numbers from -1 to 1 that are the same everywhere.
static double number() {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 11) / (double)(1ll << 52) - 1.0;
}

template <typename T> struct Type;
template <> struct Type<float> {
    using Real = float;
    static constexpr const char *name = "f32";
    static float make(double re, double) { return (float)re; }
};
template <> struct Type<double> {
    using Real = double;
    static constexpr const char *name = "f64";
    static double make(double re, double) { return re; }
};
template <> struct Type<cuComplex> {
    using Real = float;
    static constexpr const char *name = "f32";
    static cuComplex make(double re, double im) { return make_cuComplex((float)re, (float)im); }
};
template <> struct Type<cuDoubleComplex> {
    using Real = double;
    static constexpr const char *name = "f64";
    static cuDoubleComplex make(double re, double im) { return make_cuDoubleComplex(re, im); }
};
template <> struct Type<int> {
    static constexpr const char *name = "i32";
};
template <> struct Type<__half> {
    static constexpr const char *name = "f16";
    static __half make(double re, double) { return __float2half((float)re); }
};
template <> struct Type<__nv_bfloat16> {
    static constexpr const char *name = "bf16";
    static __nv_bfloat16 make(double re, double) { return __float2bfloat16((float)re); }
};

template <typename T> T value() {
    double re = number(), im = number();
    return Type<T>::make(re, im);
}

// Prints a line of results.
template <typename T> void show(const std::string &name, const T *elements, size_t count) {
    printf("%s %s", name.c_str(), Type<T>::name);
    const size_t word = strcmp(Type<T>::name, "f64") == 0   ? 8
                        : strcmp(Type<T>::name, "f16") == 0 || strcmp(Type<T>::name, "bf16") == 0 ? 2
                                                                                                : 4;
    const char *bytes = (const char *)elements;
    for (size_t at = 0; at < count * sizeof(T); at += word) {
        uint64_t bits = 0;
        memcpy(&bits, bytes + at, word);
        printf(" %llx", (unsigned long long)bits);
    }
    printf("\n");
}

// Device memory with numbers.
template <typename T> struct Array {
    std::vector<T> host;
    T *device;
    explicit Array(size_t count) : host(count) {
        for (T &element : host) element = value<T>();
        CHECK(cudaMalloc(&device, count * sizeof(T)));
        upload();
    }
    ~Array() { cudaFree(device); }
    Array(const Array &) = delete;
    void upload() {
        CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    operator T *() { return device; }
    void print(const std::string &name) {
        CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        show(name, host.data(), host.size());
    }
};

static cublasHandle_t handle;
static const cublasOperation_t OPS[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
static const cublasFillMode_t FILLS[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
static const cublasDiagType_t DIAGONALS[] = {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT};
static const cublasSideMode_t SIDES[] = {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT};

// A name with the arguments that vary.
static std::string join(const char *function, const char *prefix, std::vector<int> arguments) {
    std::string name = std::string(prefix) + function;
    for (int argument : arguments) name += "/" + std::to_string(argument);
    return name;
}

// The functions of a type: PREFIX is its letter; SY, SP and SB are the names for symmetric or Hermitian matrices.
#define BLAS(T, PREFIX, RESULT, DOT, SY, SP, SB, GER, AMAX)                                         \
    template <> struct Blas<T> {                                                                    \
        static constexpr const char *prefix = #PREFIX;                                              \
        static constexpr auto amax = cublasI##AMAX##amax;                                           \
        static constexpr auto amin = cublasI##AMAX##amin;                                           \
        static constexpr auto asum = cublas##RESULT##asum;                                          \
        static constexpr auto nrm2 = cublas##RESULT##nrm2;                                          \
        static constexpr auto axpy = cublas##PREFIX##axpy;                                          \
        static constexpr auto scal = cublas##PREFIX##scal;                                          \
        static constexpr auto copy = cublas##PREFIX##copy;                                          \
        static constexpr auto swap = cublas##PREFIX##swap;                                          \
        static constexpr auto dot = cublas##PREFIX##DOT;                                            \
        static constexpr auto rot = cublas##PREFIX##rot;                                            \
        static constexpr auto rotg = cublas##PREFIX##rotg;                                          \
        static constexpr auto gemv = cublas##PREFIX##gemv;                                          \
        static constexpr auto gbmv = cublas##PREFIX##gbmv;                                          \
        static constexpr auto symv = cublas##PREFIX##SY##mv;                                        \
        static constexpr auto sbmv = cublas##PREFIX##SB##mv;                                        \
        static constexpr auto spmv = cublas##PREFIX##SP##mv;                                        \
        static constexpr auto ger = cublas##PREFIX##GER;                                            \
        static constexpr auto trmv = cublas##PREFIX##trmv;                                          \
        static constexpr auto trsv = cublas##PREFIX##trsv;                                          \
        static constexpr auto tbmv = cublas##PREFIX##tbmv;                                          \
        static constexpr auto tbsv = cublas##PREFIX##tbsv;                                          \
        static constexpr auto tpmv = cublas##PREFIX##tpmv;                                          \
        static constexpr auto tpsv = cublas##PREFIX##tpsv;                                          \
        static constexpr auto gemm = cublas##PREFIX##gemm;                                          \
        static constexpr auto symm = cublas##PREFIX##SY##mm;                                        \
        static constexpr auto syrk = cublas##PREFIX##syrk;                                          \
        static constexpr auto syr2k = cublas##PREFIX##syr2k;                                        \
        static constexpr auto syrkx = cublas##PREFIX##syrkx;                                        \
        static constexpr auto trmm = cublas##PREFIX##trmm;                                          \
        static constexpr auto trsm = cublas##PREFIX##trsm;                                          \
        static constexpr auto geam = cublas##PREFIX##geam;                                          \
        static constexpr auto dgmm = cublas##PREFIX##dgmm;                                          \
        static constexpr auto batched = cublas##PREFIX##gemmBatched;                                \
        static constexpr auto strided = cublas##PREFIX##gemmStridedBatched;                         \
        static constexpr auto getrf = cublas##PREFIX##getrfBatched;                                 \
        static constexpr auto getri = cublas##PREFIX##getriBatched;                                 \
        static constexpr auto getrs = cublas##PREFIX##getrsBatched;                                 \
        static constexpr auto matinv = cublas##PREFIX##matinvBatched;                               \
    };
template <typename T> struct Blas;
BLAS(float, S, S, dot, sy, sp, sb, ger, s)
BLAS(double, D, D, dot, sy, sp, sb, ger, d)
BLAS(cuComplex, C, Sc, dotc, he, hp, hb, gerc, c)
BLAS(cuDoubleComplex, Z, Dz, dotc, he, hp, hb, geru, z)

// Sizes that are no multiple of a tile, leading dimensions larger than the rows.
enum { M = 13, N = 9, K = 7, LD = 17 };

template <typename T> void level1() {
    using B = Blas<T>;
    using R = typename Type<T>::Real;
    const char *p = B::prefix;
    T alpha = value<T>(), dot;
    R result;
    int index;
    Array<T> x(200), y(200);
    CHECK(B::amax(handle, 60, x, 3, &index));
    show(join("amax", p, {}), &index, 1);
    CHECK(B::amin(handle, 60, x, 3, &index));
    show(join("amin", p, {}), &index, 1);
    CHECK(B::asum(handle, 60, x, 3, &result));
    show(join("asum", p, {}), &result, 1);
    CHECK(B::nrm2(handle, 60, x, 3, &result));
    show(join("nrm2", p, {}), &result, 1);
    CHECK(B::dot(handle, 60, x, 3, y, -2, &dot));
    show(join("dot", p, {}), &dot, 1);
    CHECK(B::axpy(handle, 60, &alpha, x, -3, y, 2));
    y.print(join("axpy", p, {}));
    CHECK(B::scal(handle, 60, &alpha, x, 3));
    x.print(join("scal", p, {}));
    CHECK(B::copy(handle, 60, x, 1, y, -3));
    y.print(join("copy", p, {}));
    CHECK(B::swap(handle, 60, x, 2, y, 3));
    x.print(join("swap", p, {}));
    R cosine = (R)0.8;
    T sine = value<T>();
    CHECK(B::rot(handle, 60, x, 2, y, -3, &cosine, &sine));
    x.print(join("rot", p, {0}));
    y.print(join("rot", p, {1}));
    T a = value<T>(), b = value<T>();
    CHECK(B::rotg(handle, &a, &b, &cosine, &sine));
    show(join("rotg", p, {0}), &a, 1);
    show(join("rotg", p, {1}), &cosine, 1);
    show(join("rotg", p, {2}), &sine, 1);
}

template <typename T> void level2() {
    using B = Blas<T>;
    const char *p = B::prefix;
    T alpha = value<T>(), beta = value<T>();
    Array<T> a(LD * LD), x(2 * LD);
    // Triangles that are far from singular.
    for (int i = 0; i < LD; ++i) a.host[i + i * LD] = Type<T>::make(3.0 + i, 0.5);
    a.upload();
    for (cublasOperation_t op : OPS) {
        Array<T> y(2 * LD), z(2 * LD);
        CHECK(B::gemv(handle, op, M, N, &alpha, a, LD, x, 2, &beta, y, -1));
        y.print(join("gemv", p, {op}));
        CHECK(B::gbmv(handle, op, M, N, 2, 3, &alpha, a, LD, x, -2, &beta, z, 1));
        z.print(join("gbmv", p, {op}));
    }
    for (cublasFillMode_t fill : FILLS) {
        Array<T> y(2 * LD), z(2 * LD), w(2 * LD);
        CHECK(B::symv(handle, fill, M, &alpha, a, LD, x, 2, &beta, y, 1));
        y.print(join("symv", p, {fill}));
        CHECK(B::sbmv(handle, fill, M, 3, &alpha, a, LD, x, 1, &beta, z, 2));
        z.print(join("sbmv", p, {fill}));
        CHECK(B::spmv(handle, fill, M, &alpha, a, x, -1, &beta, w, -2));
        w.print(join("spmv", p, {fill}));
        for (cublasOperation_t op : OPS)
            for (cublasDiagType_t diagonal : DIAGONALS) {
                const std::vector<int> arguments{fill, op, diagonal};
                Array<T> u(2 * LD), v(2 * LD), t(2 * LD), s(2 * LD), packed(LD * LD);
                for (int i = 0, at = 0; i < M; at += fill ? i + 2 : M - i, ++i)
                    packed.host[at] = Type<T>::make(4.0 + i, 0.25);
                packed.upload();
                CHECK(B::trmv(handle, fill, op, diagonal, M, a, LD, u, 2));
                u.print(join("trmv", p, arguments));
                CHECK(B::trsv(handle, fill, op, CUBLAS_DIAG_NON_UNIT, M, a, LD, v, -1));
                v.print(join("trsv", p, arguments));
                CHECK(B::tbmv(handle, fill, op, diagonal, M, 3, a, LD, t, 1));
                t.print(join("tbmv", p, arguments));
                CHECK(B::tpmv(handle, fill, op, diagonal, M, packed, s, 1));
                s.print(join("tpmv", p, arguments));
                CHECK(B::tpsv(handle, fill, op, CUBLAS_DIAG_NON_UNIT, M, packed, s, 1));
                s.print(join("tpsv", p, arguments));
            }
    }
    CHECK(B::ger(handle, M, N, &alpha, x, 1, x, 2, a, LD));
    a.print(join("ger", p, {}));
}

template <typename T> void level3() {
    using B = Blas<T>;
    const char *p = B::prefix;
    T alpha = value<T>(), beta = value<T>();
    Array<T> a(LD * LD), b(LD * LD);
    for (int i = 0; i < LD; ++i) a.host[i + i * LD] = Type<T>::make(5.0 + i, 0.5);
    a.upload();
    for (cublasOperation_t op : OPS)
        for (cublasOperation_t other : OPS) {
            Array<T> c(LD * LD), d(LD * LD);
            CHECK(B::gemm(handle, op, other, M, N, K, &alpha, a, LD, b, LD, &beta, c, LD));
            c.print(join("gemm", p, {op, other}));
            CHECK(B::geam(handle, op, other, M, N, &alpha, a, LD, &beta, b, LD, d, LD));
            d.print(join("geam", p, {op, other}));
        }
    for (cublasSideMode_t side : SIDES) {
        Array<T> d(LD * LD);
        CHECK(B::dgmm(handle, side, M, N, a, LD, b, 2, d, LD));
        d.print(join("dgmm", p, {side}));
        for (cublasFillMode_t fill : FILLS) {
            Array<T> c(LD * LD);
            CHECK(B::symm(handle, side, fill, M, N, &alpha, a, LD, b, LD, &beta, c, LD));
            c.print(join("symm", p, {side, fill}));
            for (cublasOperation_t op : OPS)
                for (cublasDiagType_t diagonal : DIAGONALS) {
                    const std::vector<int> arguments{side, fill, op, diagonal};
                    Array<T> x(LD * LD), y(LD * LD);
                    CHECK(B::trmm(handle, side, fill, op, diagonal, M, N, &alpha, a, LD, b, LD, x, LD));
                    x.print(join("trmm", p, arguments));
                    CHECK(B::trsm(handle, side, fill, op, CUBLAS_DIAG_NON_UNIT, M, N, &alpha, a, LD, y, LD));
                    y.print(join("trsm", p, arguments));
                }
        }
    }
    for (cublasFillMode_t fill : FILLS)
        for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            Array<T> c(LD * LD), d(LD * LD), e(LD * LD);
            CHECK(B::syrk(handle, fill, op, M, K, &alpha, a, LD, &beta, c, LD));
            c.print(join("syrk", p, {fill, op}));
            CHECK(B::syr2k(handle, fill, op, M, K, &alpha, a, LD, b, LD, &beta, d, LD));
            d.print(join("syr2k", p, {fill, op}));
            CHECK(B::syrkx(handle, fill, op, M, K, &alpha, a, LD, b, LD, &beta, e, LD));
            e.print(join("syrkx", p, {fill, op}));
        }
}

template <typename T> void batches() {
    using B = Blas<T>;
    const char *p = B::prefix;
    enum { COUNT = 3, SIZE = LD * LD };
    T alpha = value<T>(), beta = value<T>();
    Array<T> a(COUNT * SIZE), b(COUNT * SIZE), c(COUNT * SIZE), inverse(COUNT * SIZE);
    std::vector<T *> starts;
    for (Array<T> *array : {&a, &b, &c, &inverse})
        for (int i = 0; i < COUNT; ++i) starts.push_back(array->device + i * SIZE);
    T **pointers;
    CHECK(cudaMalloc(&pointers, starts.size() * sizeof(T *)));
    CHECK(cudaMemcpy(pointers, starts.data(), starts.size() * sizeof(T *), cudaMemcpyHostToDevice));
    T **as = pointers, **bs = as + COUNT, **cs = bs + COUNT, **inverses = cs + COUNT;
    CHECK(B::batched(handle, CUBLAS_OP_N, CUBLAS_OP_T, M, N, K, &alpha, as, LD, bs, LD, &beta, cs, LD, COUNT));
    c.print(join("gemmBatched", p, {}));
    CHECK(B::strided(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &alpha, a, LD, SIZE, b, LD, 0, &beta, c, LD, SIZE,
                     COUNT));
    c.print(join("gemmStridedBatched", p, {}));
    int *pivots, *info, host_info;
    CHECK(cudaMalloc(&pivots, COUNT * M * sizeof(int)));
    CHECK(cudaMalloc(&info, COUNT * sizeof(int)));
    CHECK(B::matinv(handle, M, as, LD, inverses, LD, info, COUNT));
    inverse.print(join("matinvBatched", p, {}));
    CHECK(B::getrf(handle, M, as, LD, pivots, info, COUNT));
    a.print(join("getrfBatched", p, {}));
    std::vector<int> rows(COUNT * M);
    CHECK(cudaMemcpy(rows.data(), pivots, rows.size() * sizeof(int), cudaMemcpyDeviceToHost));
    show(join("getrfBatched.pivots", p, {}), rows.data(), rows.size());
    CHECK(B::getri(handle, M, as, LD, pivots, inverses, LD, info, COUNT));
    inverse.print(join("getriBatched", p, {}));
    for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        CHECK(B::getrs(handle, op, M, N, as, LD, pivots, bs, LD, &host_info, COUNT));
        b.print(join("getrsBatched", p, {op}));
    }
    cudaFree(pointers), cudaFree(pivots), cudaFree(info);
}

// Updates of matrices whose functions differ between real and complex types.
static void updates() {
    double alpha = number();
    cuDoubleComplex scale = value<cuDoubleComplex>();
    for (cublasFillMode_t fill : FILLS) {
        Array<double> a(LD * LD), x(2 * LD), y(2 * LD);
        CHECK(cublasDsyr(handle, fill, M, &alpha, x, 2, a, LD));
        CHECK(cublasDsyr2(handle, fill, M, &alpha, x, 1, y, -2, a, LD));
        a.print(join("syr", "D", {fill}));
        CHECK(cublasDspr(handle, fill, M, &alpha, x, 2, a));
        CHECK(cublasDspr2(handle, fill, M, &alpha, x, 1, y, -2, a));
        a.print(join("spr", "D", {fill}));
        Array<cuDoubleComplex> b(LD * LD), c(LD * LD), u(2 * LD), v(2 * LD);
        CHECK(cublasZher(handle, fill, M, &alpha, u, 2, b, LD));
        CHECK(cublasZher2(handle, fill, M, &scale, u, 1, v, -2, b, LD));
        b.print(join("her", "Z", {fill}));
        CHECK(cublasZhpr(handle, fill, M, &alpha, u, 2, b));
        CHECK(cublasZhpr2(handle, fill, M, &scale, u, 1, v, -2, b));
        b.print(join("hpr", "Z", {fill}));
        for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_C}) {
            CHECK(cublasZherk(handle, fill, op, M, K, &alpha, b, LD, &alpha, c, LD));
            c.print(join("herk", "Z", {fill, op}));
            CHECK(cublasZher2k(handle, fill, op, M, K, &scale, b, LD, b, LD, &alpha, c, LD));
            c.print(join("her2k", "Z", {fill, op}));
        }
    }
    Array<double> x(100), y(100);
    for (double flag : {-1.0, 0.0, 1.0, -2.0}) {
        const double parameters[5] = {flag, 0.5, -0.25, 0.75, 1.5};
        CHECK(cublasDrotm(handle, 30, x, 2, y, -3, parameters));
        x.print(join("rotm", "D", {(int)flag}));
    }
    for (double d1 : {0.5, 1e-12, 1e12, -1.0}) {
        double d[2] = {d1, 0.75}, first = 2.0, second = -1.5, parameters[5] = {};
        CHECK(cublasDrotmg(handle, &d[0], &d[1], &first, &second, parameters));
        show(join("rotmg", "D", {d1 < 0 ? 0 : d1 < 1e-3 ? 1 : d1 < 1 ? 2 : 3}), parameters, 5);
        show(join("rotmg.d", "D", {d1 < 0 ? 0 : d1 < 1e-3 ? 1 : d1 < 1 ? 2 : 3}), d, 2);
    }
}

template <typename A, typename C, typename S>
void extended(const char *name, cudaDataType type, cudaDataType result, cublasComputeType_t compute) {
    Array<A> a(LD * LD), b(LD * LD);
    Array<C> c(LD * LD);
    S alpha = Type<S>::make(0.5, 0), beta = Type<S>::make(-0.25, 0);
    for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        CHECK(cublasGemmEx(handle, op, CUBLAS_OP_T, 16, 8, 8, &alpha, a, type, 16, b, type, 16, &beta, c, result, 16,
                           compute, CUBLAS_GEMM_DEFAULT));
        c.print(join("GemmEx", name, {op}));
    }
}

static void light() {
    enum { ROWS = 32, COLUMNS = 16, INNER = 24 };
    cublasLtHandle_t lt;
    CHECK(cublasLtCreate(&lt));
    for (cublasLtEpilogue_t epilogue :
         {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS,
          CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_BGRADB}) {
        Array<__half> a(INNER * ROWS), b(INNER * COLUMNS), d(ROWS * COLUMNS), bias(ROWS), auxiliary(ROWS * COLUMNS);
        cublasLtMatmulDesc_t description;
        cublasLtMatrixLayout_t layouts[3];
        CHECK(cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        const cublasOperation_t transposed = CUBLAS_OP_T;
        const int64_t leading = ROWS;
        const void *pointers[] = {bias.device, auxiliary.device};
        CHECK(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
        CHECK(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
        CHECK(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &pointers[0], 8));
        if (epilogue & 128) {
            CHECK(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &pointers[1], 8));
            CHECK(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &leading, 8));
        }
        CHECK(cublasLtMatrixLayoutCreate(&layouts[0], CUDA_R_16F, INNER, ROWS, INNER));
        CHECK(cublasLtMatrixLayoutCreate(&layouts[1], CUDA_R_16F, INNER, COLUMNS, INNER));
        CHECK(cublasLtMatrixLayoutCreate(&layouts[2], CUDA_R_16F, ROWS, COLUMNS, ROWS));
        const float alpha = 0.5f, beta = 0;
        const int status = cublasLtMatmul(lt, description, &alpha, a, layouts[0], b, layouts[1], &beta, d, layouts[2], d,
                                          layouts[2], nullptr, nullptr, 0, 0);
        if (status == 0) {
            d.print(join("cublasLtMatmul", "", {epilogue}));
            bias.print(join("cublasLtMatmul.bias", "", {epilogue}));
            auxiliary.print(join("cublasLtMatmul.auxiliary", "", {epilogue}));
        } else {
            fprintf(stderr, "epilogue %d: status %d\n", (int)epilogue, status);
        }
        for (cublasLtMatrixLayout_t layout : layouts) CHECK(cublasLtMatrixLayoutDestroy(layout));
        CHECK(cublasLtMatmulDescDestroy(description));
    }
    CHECK(cublasLtDestroy(lt));
}

static cufftResult run(cufftHandle plan, cufftComplex *from, cufftComplex *to, int direction) {
    return cufftExecC2C(plan, from, to, direction);
}
static cufftResult run(cufftHandle plan, cufftDoubleComplex *from, cufftDoubleComplex *to, int direction) {
    return cufftExecZ2Z(plan, from, to, direction);
}
static cufftResult run(cufftHandle plan, float *from, cufftComplex *to) { return cufftExecR2C(plan, from, to); }
static cufftResult run(cufftHandle plan, double *from, cufftDoubleComplex *to) { return cufftExecD2Z(plan, from, to); }
static cufftResult run(cufftHandle plan, cufftComplex *from, float *to) { return cufftExecC2R(plan, from, to); }
static cufftResult run(cufftHandle plan, cufftDoubleComplex *from, double *to) { return cufftExecZ2D(plan, from, to); }

template <typename R, typename C> void transforms(const char *prefix, cufftType complex, cufftType forward, cufftType back) {
    cufftHandle plan;
    const std::vector<std::vector<int>> sizes{{1}, {8}, {15}, {97}, {256}, {1000}, {6, 10}, {16, 9}, {4, 6, 5}};
    for (const std::vector<int> &size : sizes) {
        int n[3], count = 1;
        for (size_t i = 0; i < size.size(); ++i) n[i] = size[i], count *= size[i];
        const int last = size.back(), half = count / last * (last / 2 + 1), rank = (int)size.size();
        Array<C> x(2 * count), y(2 * count), spectrum(2 * half), in_place(2 * half);
        Array<R> real(2 * count), result(2 * count);
        CHECK(cufftPlanMany(&plan, rank, n, nullptr, 1, 0, nullptr, 1, 0, complex, 2));
        CHECK(run(plan, x, y, CUFFT_FORWARD));
        y.print(join("fft", prefix, size));
        CHECK(run(plan, x, x, CUFFT_INVERSE));
        x.print(join("inverse", prefix, size));
        CHECK(cufftDestroy(plan));
        CHECK(cufftPlanMany(&plan, rank, n, nullptr, 1, 0, nullptr, 1, 0, forward, 2));
        CHECK(run(plan, real.device, spectrum.device));
        spectrum.print(join("forward", prefix, size));
        CHECK(run(plan, (R *)in_place.device, in_place.device));
        in_place.print(join("forward.in-place", prefix, size));
        CHECK(cufftDestroy(plan));
        CHECK(cufftPlanMany(&plan, rank, n, nullptr, 1, 0, nullptr, 1, 0, back, 2));
        CHECK(run(plan, spectrum.device, result.device));
        result.print(join("back", prefix, size));
        CHECK(cufftDestroy(plan));
    }
    // Columns of a matrix: elements at a distance, transforms next to each other.
    int n[] = {12}, embed[] = {12};
    Array<C> x(12 * 5), y(12 * 5);
    CHECK(cufftPlanMany(&plan, 1, n, embed, 5, 1, embed, 5, 1, complex, 5));
    CHECK(run(plan, x, y, CUFFT_FORWARD));
    y.print(join("columns", prefix, {}));
    CHECK(cufftDestroy(plan));
}

int main() {
    CHECK(cublasCreate(&handle));
    CHECK(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    level1<float>(), level1<double>(), level1<cuComplex>(), level1<cuDoubleComplex>();
    level2<float>(), level2<double>(), level2<cuComplex>(), level2<cuDoubleComplex>();
    level3<float>(), level3<double>(), level3<cuComplex>(), level3<cuDoubleComplex>();
    batches<float>(), batches<double>(), batches<cuComplex>(), batches<cuDoubleComplex>();
    updates();
    CHECK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    extended<__half, __half, float>("half-", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F);
    extended<__half, float, float>("half-float-", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
    extended<__half, __half, __half>("half-half-", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F);
    extended<__nv_bfloat16, __nv_bfloat16, float>("bfloat-", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
    light();
    transforms<float, cufftComplex>("c", CUFFT_C2C, CUFFT_R2C, CUFFT_C2R);
    transforms<double, cufftDoubleComplex>("z", CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D);
    CHECK(cublasDestroy(handle));
}
