// Kernels that are slow to simulate, each of a kind that public programs have but the chapters lack. Prints
// the CPU time of each one's launches, all threads together; `scripts/corners` shows it next to the counters.
//
//     scripts/corners

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <cuda_runtime.h>

typedef unsigned int word;

__device__ word mixed(word x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

// Computes a histogram in device memory: neighbours in a warp often share a bin.
__global__ void histogram_global(const word *values, word *counts, int n)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        atomicAdd(&counts[values[i] & 255], 1u);
}

// Computes a histogram with private counts per block in shared memory.
__global__ void histogram_shared(const word *values, word *counts, int n)
{
    __shared__ word own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        atomicAdd(&own[values[i] & 255], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&counts[i], own[i]);
}

// Appends to a list: each thread reserves a slot with an atomic whose result it needs.
__global__ void places(const word *values, word *list, word *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (values[i] & 1))
        list[atomicAdd(count, 1u)] = values[i];
}

// Computes a maximum with compare-and-swap.
__global__ void swaps(const word *values, word *largest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    word *to = &largest[values[i] & 1023], old = *to;
    while (old < values[i])
    {
        word seen = atomicCAS(to, old, values[i]);
        if (seen == old)
            break;
        old = seen;
    }
}

// Keeps a tile of results that the compiler places in local memory, because its indices are not compile-time constants.
__global__ void tile_in_local(const float *a, const float *b, float *c, int n)
{
    float sum[8];
    for (int k = 0; k < 8; k++)
        sum[k] = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma nounroll
    for (int k = 0; k < n; k++)
    {
        float x = a[(i + k * 64) & 65535];
#pragma nounroll
        for (int j = 0; j < 8; j++)
            sum[j] += x * b[k * 8 + j];
    }
    float all = 0;
#pragma nounroll
    for (int j = 0; j < 8; j++)
        all += sum[j];
    c[i] = all;
}

// Sorts a short local array.
__global__ void sort_in_local(const word *values, word *out)
{
    word own[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma nounroll
    for (int k = 0; k < 16; k++)
        own[k] = values[(i * 16 + k) & 65535];
#pragma nounroll
    for (int k = 1; k < 16; k++)
    {
        word x = own[k];
        int at = k;
        while (at > 0 && own[at - 1] > x)
        {
            own[at] = own[at - 1];
            at--;
        }
        own[at] = x;
    }
    out[i] = own[0] + own[15];
}

// Blocks of one warp.
__global__ void one_warp(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n)
        c[i] = a[i] * 2 + b[i];
}

// Runs blocks of one warp with a longer loop.
__global__ void one_warp_loop(const float *a, float *c)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float x = a[i];
    for (int k = 0; k < 64; k++)
        x = x * 0.5f + a[(i + k) & 65535];
    c[i] = x;
}

// Reads at unpredictable addresses.
__global__ void random_reads(const word *values, word *out, int reads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    word at = mixed(i), sum = 0;
#pragma nounroll
    for (int k = 0; k < reads; k++)
    {
        word x = values[at & 65535];
        sum += x;
        at = at * 1664525u + 1013904223u;
        at ^= at >> 15;
    }
    out[i] = sum;
}

// Writes at unpredictable addresses.
__global__ void random_writes(word *out, int writes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    word at = mixed(i);
#pragma nounroll
    for (int k = 0; k < writes; k++)
    {
        out[at & 65535] = k;
        at = at * 1664525u + 1013904223u;
        at ^= at >> 15;
    }
}

// Chases pointers: each read waits for the one before.
__global__ void chase(const word *next, word *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    word at = mixed(i) & 65535;
#pragma nounroll
    for (int k = 0; k < steps; k++)
        at = next[at] & 65535;
    out[i] = at;
}

// Runs a different number of iterations in every thread.
__global__ void uneven(const word *values, word *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    word x = values[i & 65535], rounds = 0;
#pragma nounroll
    while (x > 1 && rounds < 200)
    {
        x = (x & 1) ? (x >> 1) ^ 0xb400u : x >> 1;
        rounds++;
        if ((x & 15) == 7)
            break;
    }
    out[i] = rounds;
}

// Diverges at every step.
__global__ void parting(const word *values, word *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    word x = values[i & 65535], sum = 0;
#pragma nounroll
    for (int k = 0; k < steps; k++)
    {
        if (x & 1)
            sum += out[(i ^ k) & 65535] & 1;
        else
            sum ^= values[(i + k) & 65535];
        x = x >> 1 | x << 31;
    }
    out[i] = sum;
}

// Runs blocks of 33 threads: every second warp has one lane.
__global__ void partial_warps(const float *a, float *c, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0;
#pragma nounroll
    for (int k = 0; k < steps; k++)
        x += a[(i + k) & 65535] * 0.25f;
    c[i] = x;
}

// Runs blocks of one thread.
__global__ void one_thread(const float *a, float *c, int steps)
{
    float x = 0;
#pragma nounroll
    for (int k = 0; k < steps; k++)
        x += a[(blockIdx.x + k) & 65535] * 0.25f;
    c[blockIdx.x] = x;
}

// Reduces each block's values in a tree, with one barrier per step.
__global__ void tree(const word *values, word *out)
{
    __shared__ word part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = values[i & 65535];
    __syncthreads();
#pragma nounroll
    for (int half = 128; half > 0; half >>= 1)
    {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

// Sums one row of a matrix per thread: the lanes of a warp read lines far apart.
__global__ void rows_apart(const float *a, float *c, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0;
#pragma nounroll
    for (int k = 0; k < columns; k++)
        x += a[(i * columns + k) & 65535];
    c[i] = x;
}

// Transposes through shared memory with bank conflicts.
__global__ void transpose(const float *a, float *c)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        tile[k][threadIdx.x] = a[(y + k) * 1024 + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        c[(y + k) * 1024 + x] = tile[threadIdx.x][k];
}

// Processes one byte per thread.
__global__ void bytes(const unsigned char *a, unsigned char *c, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
#pragma nounroll
    for (int k = 0; k < steps; k++)
        sum += a[(i * 3 + k) & 0x3ffff];
    c[i & 0x3ffff] = sum >> 3;
}

// Sums the lanes with shuffles, repeatedly.
__global__ void shuffles(const word *values, word *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    word x = values[i & 65535];
#pragma nounroll
    for (int k = 0; k < steps; k++)
        for (int step = 16; step > 0; step >>= 1)
            x += __shfl_xor_sync(0xffffffff, x, step);
    out[i] = x;
}

static double seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// Name of the only kernel to time; null for all of them.
static const char *selected_kernel;

// Times `launch` after one warm-up launch.
template <class Launch>
static void time_it(const char *name, int count, Launch launch)
{
    if (selected_kernel && strcmp(name, selected_kernel) != 0)
        return;
    launch();
    cudaDeviceSynchronize();
    double start = seconds();
    for (int i = 0; i < count; i++)
        launch();
    cudaDeviceSynchronize();
    printf("%s %d %.6f\n", name, count + 1, (seconds() - start) / count);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 3;
    selected_kernel = argc > 2 ? argv[2] : nullptr;
    const int n = 1 << 20;
    word *values, *out, *counts, *host = (word *)malloc(n * sizeof(word));
    if (cudaMalloc(&values, n * sizeof(word)) || cudaMalloc(&out, n * sizeof(word)) || cudaMalloc(&counts, 4096))
    {
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    word x = 1;
    for (int i = 0; i < n; i++)
        host[i] = (x = x * 1664525u + 1013904223u) >> 8;
    cudaMemcpy(values, host, n * sizeof(word), cudaMemcpyHostToDevice);
    float *a, *b, *c = (float *)out;
    cudaMalloc(&a, n * sizeof(float));
    for (int i = 0; i < n; i++)
        ((float *)host)[i] = (i & 255) / 256.0f + 0.5f;
    cudaMemcpy(a, host, n * sizeof(float), cudaMemcpyHostToDevice);
    b = a + 65536;
    time_it("histogram_global", count, [&] { histogram_global<<<264, 256>>>(values, counts, n); });
    time_it("histogram_shared", count, [&] { histogram_shared<<<264, 256>>>(values, counts, n); });
    auto clear = [&] { cudaMemset(counts, 0, 4096); };
    time_it("places", count, [&] { clear(), places<<<1024, 256>>>(values, out, counts, n / 4); });
    time_it("swaps", count, [&] { clear(), swaps<<<1024, 256>>>(values, counts, n / 4); });
    time_it("tile_in_local", count, [&] { tile_in_local<<<256, 256>>>(a, b, c, 32); });
    time_it("sort_in_local", count, [&] { sort_in_local<<<128, 256>>>(values, out); });
    time_it("one_warp", count, [&] { one_warp<<<n / 32, 32>>>(a, a, c, n); });
    time_it("one_warp_loop", count, [&] { one_warp_loop<<<2048, 32>>>(a, c); });
    time_it("random_reads", count, [&] { random_reads<<<512, 256>>>(values, out, 32); });
    time_it("random_writes", count, [&] { random_writes<<<512, 256>>>(out, 32); });
    time_it("chase", count, [&] { chase<<<512, 256>>>(values, out, 32); });
    time_it("uneven", count, [&] { uneven<<<1024, 256>>>(values, out); });
    time_it("parting", count, [&] { parting<<<256, 256>>>(values, out, 32); });
    time_it("partial_warps", count, [&] { partial_warps<<<4096, 33>>>(a, c, 32); });
    time_it("one_thread", count, [&] { one_thread<<<8192, 1>>>(a, c, 32); });
    time_it("tree", count, [&] { tree<<<2048, 256>>>(values, out); });
    time_it("rows_apart", count, [&] { rows_apart<<<512, 256>>>(a, c, 33); });
    time_it("transpose", count, [&] { transpose<<<dim3(32, 32), dim3(32, 8)>>>(a, c); });
    time_it("bytes", count, [&] { bytes<<<512, 256>>>((unsigned char *)values, (unsigned char *)out, 32); });
    time_it("shuffles", count, [&] { shuffles<<<512, 256>>>(values, out, 16); });
    return cudaDeviceSynchronize() != cudaSuccess;
}
