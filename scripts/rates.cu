// Measures one GPU's cost of each operation that the time model counts: the rates and
// latencies that `crates/machinery/simulator/cuda-sim/src/model` has for an NVIDIA H200.
//
//   nvcc -O3 -arch=native scripts/rates.cu -o rates && ./rates
//
// Every figure is the difference of two runs of different lengths, so that their common
// costs (launch, first misses) cancel out. Rates are in cycles of one streaming
// multiprocessor with all of its warps active; latencies are those of a single warp.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t error = (call);                                                         \
        if (error != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));  \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

__constant__ int constants[16384];
static int multiprocessors;
static double hertz;

// Returns the milliseconds of a launch: the median of 15 samples, each the mean of `launches`.
template <class Launch>
double milliseconds(Launch launch, int launches = 1) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    launch();
    std::vector<float> samples;
    for (int i = 0; i < 15; i++) {
        CHECK(cudaEventRecord(start));
        for (int j = 0; j < launches; j++) launch();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        samples.push_back(ms / launches);
    }
    CHECK(cudaGetLastError());
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
}

// Returns an SM's cycles per warp instruction: `launch(n)` executes n of them
// in each of `warps` warps.
template <class Launch>
double cycles(Launch launch, int warps, int few = 2000, int many = 6000) {
    double ms = milliseconds([&] { launch(many); }) - milliseconds([&] { launch(few); });
    return ms * 1e-3 * hertz / (double(many - few) * warps);
}

// ---- Latencies: each load's address is the result of the one before -------------------------

__global__ void chase(const int *next, int steps, int *out) {
    int i = threadIdx.x;
    for (int n = 0; n < steps; n++) i = next[i];
    out[threadIdx.x] = i;
}
// Creates a ring of `lines` lines, `step` ints apart: each of the first 32 ints of a line
// points to the corresponding int of the next.
__global__ void make_ring(int *next, size_t lines, size_t step) {
    size_t line = (size_t)blockIdx.x * blockDim.y + threadIdx.y;
    if (line < lines) next[line * step + threadIdx.x] = (line + 1) % lines * step + threadIdx.x;
}
__global__ void chase_shared(int steps, int *out) {
    __shared__ int next[32];
    next[threadIdx.x] = threadIdx.x;
    __syncwarp();
    int i = threadIdx.x;
    for (int n = 0; n < steps; n++) i = next[i];
    out[threadIdx.x] = i;
}
__global__ void chase_constant(int steps, int *out) {
    int i = 0;
    for (int n = 0; n < steps; n++) i = constants[i];
    out[threadIdx.x] = i;
}
__global__ void chain_fma(float f, int steps, float *out) {
    float x = f;
    for (int n = 0; n < steps; n++) x = fmaf(x, f, f);
    out[threadIdx.x] = x;
}

// ---- Rates: independent accesses, all of them hits -------------------------------------------

// Loads with lanes `stride` words apart; `spread` rows of 32 / spread lanes, 4 KB apart.
template <class T>
__global__ void load(const T *data, int steps, int stride, int rows, int *out) {
    int lanes = 32 / rows, lane = threadIdx.x % 32;
    const T *mine = data + (lane % lanes) * stride + (lane / lanes) * (4096 / sizeof(T));
    int sum = 0;
    for (int n = 0; n < steps; n += 4) {
        int where = sum & 1;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            T value = mine[where + i * 8];
            sum += *(int *)&value;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template <class T>
__global__ void load_shared(int steps, int stride, int *out) {
    __shared__ T data[12288 / sizeof(T)];
    for (int i = threadIdx.x; i < 12288 / sizeof(T); i += blockDim.x) data[i] = T{};
    __syncthreads();
    const T *mine = data + threadIdx.x % 32 * stride;
    int sum = 0;
    for (int n = 0; n < steps; n += 4) {
        int where = sum & 1;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            T value = mine[where + i * 8];
            sum += *(int *)&value;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// Loads `distinct` addresses per warp, `step` words apart, within `words` words.
__global__ void load_constant(int steps, int distinct, int step, int words, int *out) {
    int lane = threadIdx.x % 32 % distinct, sum = 0;
    int i = lane * step;
    for (int n = 0; n < steps; n += 4) {
        int where = sum & 1;
#pragma unroll
        for (int k = 0; k < 4; k++) sum += constants[(i + where + k * 7) & (words - 1)];
        i += 97;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void roots(float f, int steps, float *out) {
    float a = f + threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int n = 0; n < steps; n += 4) {
        a = sqrtf(a); b = sqrtf(b); c = sqrtf(c); d = sqrtf(d);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
__global__ void divisions(float f, int steps, float *out) {
    float a = f + threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    for (int n = 0; n < steps; n += 4) {
        a = f / a; b = f / b; c = f / c; d = f / d;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
__global__ void barriers(int steps) {
    for (int n = 0; n < steps; n++) __syncthreads();
}

// ---- Tensor cores, and copies that feed them ------------------------------------------------------

// Defines an `mma`. All shapes have four 32-bit accumulator registers, those with
// 16-bit accumulators two.
#define MMA(NAME, FORM, A, B)                                                               \
    struct NAME {                                                                           \
        static __device__ void multiply(float (&sum)[4], unsigned a, unsigned b) {          \
            asm volatile("mma.sync.aligned." FORM " {%0, %1, %2, %3}, " A ", " B            \
                         ", {%0, %1, %2, %3};"                                              \
                         : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])           \
                         : "r"(a), "r"(b));                                                 \
        }                                                                                   \
    };
#define TWO "{%4, %4}"
#define FOUR "{%4, %4, %4, %4}"
MMA(Tf32x8, "m16n8k8.row.col.f32.tf32.tf32.f32", FOUR, "{%5, %5}")
MMA(Tf32x4, "m16n8k4.row.col.f32.tf32.tf32.f32", TWO, "{%5}")
MMA(Fp16x16, "m16n8k16.row.col.f32.f16.f16.f32", FOUR, "{%5, %5}")
MMA(Fp16x8, "m16n8k8.row.col.f32.f16.f16.f32", TWO, "{%5}")
MMA(Bf16x16, "m16n8k16.row.col.f32.bf16.bf16.f32", FOUR, "{%5, %5}")
struct Fp16x16Into16 {
    static __device__ void multiply(float (&sum)[4], unsigned a, unsigned b) {
        unsigned one = __float_as_uint(sum[0]), two = __float_as_uint(sum[1]);
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, "
                     "{%2, %2, %2, %2}, {%3, %3}, {%0, %1};"
                     : "+r"(one), "+r"(two) : "r"(a), "r"(b));
        sum[0] = __uint_as_float(one);
        sum[1] = __uint_as_float(two);
    }
};

// Runs `CHAINS` dependent chains per warp: each result is the addend of the next `mma`.
template <class Mma, int CHAINS>
__global__ void products(int steps, float *out) {
    float sums[CHAINS][4] = {};
    unsigned a = threadIdx.x, b = threadIdx.x + 1;
    for (int n = 0; n < steps; n += CHAINS) {
#pragma unroll
        for (int i = 0; i < CHAINS; i++) Mma::multiply(sums[i], a, b);
    }
    float sum = 0;
    for (auto &part : sums)
        for (float one : part) sum += one;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void chase_matrices(int steps, int *out) {
    __shared__ __align__(16) int rows[128];
    for (int i = threadIdx.x; i < 128; i += 32) rows[i] = 0;
    __syncwarp();
    unsigned start = (unsigned)__cvta_generic_to_shared(rows) + threadIdx.x * 16, i = 0;
    unsigned rest[3] = {};
    for (int n = 0; n < steps; n++) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(i), "=r"(rest[0]), "=r"(rest[1]), "=r"(rest[2])
                     : "r"(start + i) : "memory");
    }
    out[threadIdx.x] = i + rest[0] + rest[1] + rest[2];
}
// Copies 16 bytes per lane to shared memory, waits and reads them: by an asynchronous copy, or
// by a load that bypasses the L1 cache and a store. `next` holds the location of the next ones.
template <bool ASYNC>
__global__ void chase_copied(const int4 *next, int steps, int *out) {
    __shared__ int4 copied[32];
    int4 *mine = &copied[threadIdx.x];
    int i = threadIdx.x;
    for (int n = 0; n < steps; n++) {
        if (ASYNC)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.wait_all;"
                         :: "r"((unsigned)__cvta_generic_to_shared(mine)), "l"(&next[i]) : "memory");
        else
            *(volatile int *)mine = __ldcg(&next[i]).x;
        i = *(volatile int *)mine;
    }
    out[threadIdx.x] = i;
}
// Copies `BYTES` per lane, lanes `apart` times that apart, in groups of four copies, one of
// which is in flight while the next are started. Each warp loops over 4 KB: all warps over
// the same, or each over its own.
template <int BYTES>
__global__ void copies(const char *data, int steps, int apart, bool own) {
    __shared__ __align__(16) char copied[2][1024 * BYTES];
    size_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    data += own * warp * 4096 + threadIdx.x % 32 * (BYTES * apart);
    unsigned to[2], at = 0;
    for (int i = 0; i < 2; i++)
        to[i] = (unsigned)__cvta_generic_to_shared(&copied[i][threadIdx.x * BYTES]);
    for (int n = 0; n < steps; n += 4) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const char *from = data + at % 4096;
            if (BYTES == 16)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to[i % 2]), "l"(from) : "memory");
            else
                asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to[i % 2]), "l"(from) : "memory");
            at += 32 * BYTES;
        }
        asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
    }
}
// Creates a ring of rows of 32, 512 bytes each.
__global__ void make_rows(int4 *next, int rows) {
    int row = blockIdx.x;
    next[row * 32 + threadIdx.x].x = (row + 1) % rows * 32 + threadIdx.x;
}

// ---- Memory: every byte once per pass ----------------------------------------------------------

template <class T>
__global__ void stream(const T *data, size_t count, int *out) {
    int sum = 0;
    size_t step = (size_t)gridDim.x * blockDim.x;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < count; i += 4 * step) {
        T a = data[i], b = data[i + step], c = data[i + 2 * step], d = data[i + 3 * step];
        sum += *(int *)&a + *(int *)&b + *(int *)&c + *(int *)&d;
    }
    if (sum == 12345) *out = sum;
}
// Loads four ints, bypassing the L1 cache, and never reuses an earlier load.
__device__ int4 from_l2(const int4 *from) {
    int4 four;
    asm volatile("ld.global.cg.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w) : "l"(from));
    return four;
}
// Reads the same data repeatedly in all blocks, one block per SM.
__global__ void read_together(const int4 *data, size_t count, int times, int *out) {
    int sum = 0;
    for (; times > 0; times--) {
        for (size_t i = threadIdx.x; i < count; i += 4 * blockDim.x) {
            int4 a = from_l2(data + i), b = from_l2(data + i + blockDim.x);
            int4 c = from_l2(data + i + 2 * blockDim.x), d = from_l2(data + i + 3 * blockDim.x);
            sum += a.x + b.y + c.z + d.w;
        }
    }
    if (sum == 12345) *out = sum;
}
__global__ void fill(int4 *data, size_t count) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = make_int4(1, 2, 3, 4);
}
// Copies one float per thread: the bytes in flight depend on the number of threads.
__global__ void copy(const float *in, float *out, size_t count) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i] + 1;
}
__global__ void nothing() {}
extern __shared__ int some[];
__global__ void nothing_shared() { if (blockDim.x == 7) some[0] = 1; }

// ---- Stalls: fences, sleep and calls of the device runtime -----------------------------------

__global__ void fences(int n, int scope, int *out) {
    int *own = out + blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) {
        *(volatile int *)own = i;
        if (scope == 0) __threadfence_block();
        if (scope == 1) __threadfence();
        if (scope == 2) __threadfence_system();
    }
}

__global__ void sleeps(int n, int nanoseconds) {
    for (int i = 0; i < n; i++) __nanosleep(nanoseconds);
}

__global__ void prints(int n, int lanes) {
    for (int i = 0; i < n; i++)
        if (threadIdx.x % 32 < lanes) printf(".");
}

__global__ void allocations(int n, int lanes, int *out) {
    for (int i = 0; i < n; i++) {
        if (threadIdx.x % 32 >= lanes) continue;
        int *memory = (int *)malloc(16);
        if (memory == nullptr) *out = i;
        else *memory = i;
        free(memory);
    }
}

int main() {
    cudaDeviceProp properties;
    int khz;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    multiprocessors = properties.multiProcessorCount;
    hertz = khz * 1e3;
    printf("%s, %d multiprocessors, %.0f MHz\n", properties.name, multiprocessors, hertz / 1e6);

    int *out, *data;
    const size_t bytes = size_t(4) << 30;
    CHECK(cudaMalloc(&out, 256 << 20));
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0, bytes));

    printf("\nlatency, cycles\n");
    printf("  fma                      %7.1f\n", cycles([&](int n) { chain_fma<<<1, 32>>>(0.5f, n, (float *)out); }, 1));
    printf("  shared                   %7.1f\n", cycles([&](int n) { chase_shared<<<1, 32>>>(n, out); }, 1));
    printf("  constant, hit            %7.1f\n", cycles([&](int n) { chase_constant<<<1, 32>>>(n, out); }, 1));
    auto ring = [&](size_t span, size_t bytes_apart) {
        size_t lines = span / bytes_apart;
        make_ring<<<(lines + 31) / 32, dim3(32, 32)>>>(data, lines, bytes_apart / 4);
        CHECK(cudaDeviceSynchronize());
    };
    ring(16 << 10, 128);
    printf("  L1 cache                 %7.1f\n", cycles([&](int n) { chase<<<1, 32>>>(data, n, out); }, 1));
    ring(8 << 20, 128);
    printf("  L2 cache                 %7.1f\n", cycles([&](int n) { chase<<<1, 32>>>(data, n, out); }, 1, 65536, 65536 * 3));
    // Lines of 128 MB in total, more than the L2 cache holds, spread over 4 GB.
    ring(bytes, 4096 + 128);
    printf("  device memory            %7.1f\n", cycles([&](int n) { chase<<<1, 32>>>(data, n, out); }, 1, 250000, 1000000));
    for (int mb : {8, 1024}) {
        int rows = mb * 2048, few = mb == 8 ? 16384 : 100000, many = few * 3;
        make_rows<<<rows, 32>>>((int4 *)data, rows);
        CHECK(cudaDeviceSynchronize());
        const char *where = mb == 8 ? "L2 cache     " : "device memory";
        printf("  copied, %s     %7.1f\n", where, cycles([&](int n) { chase_copied<true><<<1, 32>>>((int4 *)data, n, out); }, 1, few, many));
        printf("  by load, %s    %7.1f\n", where, cycles([&](int n) { chase_copied<false><<<1, 32>>>((int4 *)data, n, out); }, 1, few, many));
    }
    CHECK(cudaMemset(data, 0, bytes));
    printf("  ldmatrix                 %7.1f\n", cycles([&](int n) { chase_matrices<<<1, 32>>>(n, out); }, 1));
    float *sums = (float *)out;
    printf("  mma tf32 k8              %7.1f\n", cycles([&](int n) { products<Tf32x8, 1><<<1, 32>>>(n, sums); }, 1));
    printf("  mma tf32 k4              %7.1f\n", cycles([&](int n) { products<Tf32x4, 1><<<1, 32>>>(n, sums); }, 1));
    printf("  mma fp16 k16             %7.1f\n", cycles([&](int n) { products<Fp16x16, 1><<<1, 32>>>(n, sums); }, 1));
    printf("  mma fp16 k8              %7.1f\n", cycles([&](int n) { products<Fp16x8, 1><<<1, 32>>>(n, sums); }, 1));

    int grid = multiprocessors * 2, block = 1024, warps = 64;
    printf("\nfirst cache, cycles a warp's load (lanes x words apart, rows 4 KB apart)\n");
    for (int rows : {1, 2, 4, 8, 16, 32})
        printf("  4 bytes, %2d rows         %7.2f\n", rows, cycles([&](int n) { load<int><<<grid, block>>>(data, n, 1, rows, out); }, warps));
    for (int stride : {0, 2, 4, 8, 32})
        printf("  4 bytes, %2d apart        %7.2f\n", stride, cycles([&](int n) { load<int><<<grid, block>>>(data, n, stride, 1, out); }, warps));
    printf("  8 bytes                  %7.2f\n", cycles([&](int n) { load<int2><<<grid, block>>>((int2 *)data, n, 1, 1, out); }, warps));
    printf("  16 bytes                 %7.2f\n", cycles([&](int n) { load<int4><<<grid, block>>>((int4 *)data, n, 1, 1, out); }, warps));
    printf("  16 bytes, one address    %7.2f\n", cycles([&](int n) { load<int4><<<grid, block>>>((int4 *)data, n, 0, 1, out); }, warps));

    printf("\nshared memory, cycles a warp's load\n");
    for (int stride : {0, 1, 2, 4, 8, 16, 32})
        printf("  4 bytes, %2d apart        %7.2f\n", stride, cycles([&](int n) { load_shared<int><<<grid, block>>>(n, stride, out); }, warps));
    printf("  8 bytes                  %7.2f\n", cycles([&](int n) { load_shared<int2><<<grid, block>>>(n, 1, out); }, warps));
    printf("  16 bytes                 %7.2f\n", cycles([&](int n) { load_shared<int4><<<grid, block>>>(n, 1, out); }, warps));
    printf("  16 bytes, one address    %7.2f\n", cycles([&](int n) { load_shared<int4><<<grid, block>>>(n, 0, out); }, warps));

    printf("\nasynchronous copies, cycles a warp's\n");
    const char *source = (const char *)data;
    for (int apart : {1, 2, 4, 8, 32})
        printf("  4 bytes, %2d apart        %7.2f\n", apart, cycles([&](int n) { copies<4><<<grid, block>>>(source, n, apart, false); }, warps));
    printf("  16 bytes, 4 KB a warp    %7.2f\n", cycles([&](int n) { copies<16><<<grid, block>>>(source, n, 1, true); }, warps));

    printf("\nconstant memory, cycles a warp's load (distinct addresses, within so many bytes)\n");
    for (int words : {256, 512, 1024, 2048, 4096, 8192, 16384})
        for (int distinct : {1, 2, 4, 8, 32})
            printf("  %2d within %5d           %7.2f\n", distinct, words * 4,
                   cycles([&](int n) { load_constant<<<grid, block>>>(n, distinct, distinct > 1 ? 1357 : 1, words, out); }, warps, 200, 600));

    printf("\narithmetic, cycles a warp\n");
    printf("  square root              %7.2f\n", cycles([&](int n) { roots<<<grid, block>>>(2, n, (float *)out); }, warps));
    printf("  division                 %7.2f\n", cycles([&](int n) { divisions<<<grid, block>>>(2, n, (float *)out); }, warps));
    for (int resident : {4, 8, 16, 32, 64}) {
        auto measure = [&](const char *form, auto launch) {
            printf("  mma %s, %2d warps %7.2f\n", form, resident, cycles(launch, resident));
        };
        int blocks = multiprocessors * (resident > 32 ? 2 : 1), threads = 32 * resident * multiprocessors / blocks;
        measure("tf32 k8     ", [&](int n) { products<Tf32x8, 4><<<blocks, threads>>>(n, sums); });
        measure("tf32 k4     ", [&](int n) { products<Tf32x4, 4><<<blocks, threads>>>(n, sums); });
        measure("fp16 k16    ", [&](int n) { products<Fp16x16, 4><<<blocks, threads>>>(n, sums); });
        measure("fp16 k8     ", [&](int n) { products<Fp16x8, 4><<<blocks, threads>>>(n, sums); });
        measure("fp16 to fp16", [&](int n) { products<Fp16x16Into16, 4><<<blocks, threads>>>(n, sums); });
        measure("bf16 k16    ", [&](int n) { products<Bf16x16, 4><<<blocks, threads>>>(n, sums); });
    }
    for (int threads : {32, 64, 128, 256, 512, 1024})
        printf("  barrier, %4d threads     %7.2f a block alone\n", threads, cycles([&](int n) { barriers<<<multiprocessors, threads>>>(n); }, 1));

    printf("\nmemory, TB/s\n");
    for (size_t mb : {8, 16, 24, 32, 48, 64, 128, 1024, 4096}) {
        size_t count = (mb << 20) / 16;
        double ms = milliseconds([&] { stream<<<multiprocessors * 2, 1024>>>((int4 *)data, count, out); }, mb > 256 ? 2 : 20);
        printf("  read, %4zu MB over again  %7.3f\n", mb, mb * 1048576.0 / ms / 1e9);
    }
    for (int kb : {128, 256, 512, 1024, 2048, 4096, 16384}) {
        size_t count = (size_t(kb) << 10) / 16;
        int blocks = multiprocessors, few = (1 << 20) / kb;
        auto read = [&](int times) { read_together<<<blocks, 1024>>>((int4 *)data, count, times, out); };
        double ms = milliseconds([&] { read(3 * few); }) - milliseconds([&] { read(few); });
        printf("  %5d KB by all blocks     %7.3f\n", kb, 1024.0 * kb * 2 * few * blocks / ms / 1e9);
    }
    {
        size_t count = bytes / 2 / 16;
        double ms = milliseconds([&] { fill<<<count / 1024, 1024>>>((int4 *)data, count); });
        printf("  written, 2048 MB         %7.3f\n", count * 16 / ms / 1e9);
        ms = milliseconds([&] { CHECK(cudaMemcpyAsync((char *)data + bytes / 2, data, bytes / 2, cudaMemcpyDeviceToDevice)); });
        printf("  copied, 2048 MB          %7.3f (read and written)\n", bytes / ms / 1e9);
    }
    printf("\none float a thread copied, 64 M floats: ms, TB/s, cycles a warp spends\n");
    for (int threads : {32, 64, 128, 256, 512, 1024})
        for (int shared : {0, 28 << 10, 56 << 10, 110 << 10}) {
            size_t count = 64 << 20;
            CHECK(cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, 112 << 10));
            int blocks;
            CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copy, threads, shared));
            double ms = milliseconds([&] { copy<<<count / threads, threads, shared>>>((float *)data, (float *)data + count, count); });
            double each = ms * 1e-3 * hertz * multiprocessors * blocks * (threads / 32) / (count / 32.0);
            printf("  block %4d, %2d resident warps  %8.4f  %6.3f  %8.0f\n", threads, blocks * threads / 32, ms, 8.0 * count / ms / 1e9, each);
        }

    printf("\nstalls, cycles a warp waits\n");
    for (int warps : {1, 4})
        for (int blocks : {1, multiprocessors, 4 * multiprocessors}) {
            auto fence = [&](int scope) { return cycles([&](int n) { fences<<<blocks, 32 * warps>>>(n, scope, out); }, 1, 50, 150); };
            double block = fence(0), device = fence(1), system = fence(2);
            printf("  %3d blocks of %d warps: fence of the block %5.0f, the device %5.0f, the system %5.0f\n", blocks, warps, block, device, system);
        }
    for (int nanoseconds : {0, 100, 1000, 10000, 100000})
        printf("  nanosleep %6d          %7.0f\n", nanoseconds, cycles([&](int n) { sleeps<<<1, 32>>>(n, nanoseconds); }, 1, 20, 60));

    // Standard output has the text that the kernels print: read standard error.
    fprintf(stderr, "\ncalls of the device runtime, microseconds a warp's\n");
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 256 << 20));
    for (int lanes : {1, 32})
        for (int blocks : {1, multiprocessors, 6 * multiprocessors}) {
            auto time = [&](auto launch) { return (milliseconds([&] { launch(6); }) - milliseconds([&] { launch(2); })) * 1e3 / 4 / blocks; };
            double print = time([&](int n) { prints<<<blocks, 32>>>(n, lanes); });
            double heap = time([&](int n) { allocations<<<blocks, 32>>>(n, lanes, out); });
            fprintf(stderr, "  %2d lanes, %3d blocks     printf %7.2f, malloc and free %7.2f\n", lanes, blocks, print, heap);
        }

    printf("\nlaunching\n");
    double one = milliseconds([&] { nothing<<<1, 32>>>(); }, 1000);
    printf("  a kernel                 %7.2f us\n", one * 1e3);
    for (int threads : {32, 64, 128, 256, 512, 1024}) {
        double ms = milliseconds([&] { nothing<<<1 << 20, threads>>>(); }) - one;
        double with = milliseconds([&] { nothing_shared<<<1 << 20, threads, 1024>>>(); }) - one;
        printf("  blocks of %4d threads    %7.3f cycles of the GPU a block, %7.3f with shared memory\n", threads,
               ms * 1e-3 * hertz / (1 << 20), with * 1e-3 * hertz / (1 << 20));
    }
}
