// Kernels that launch kernels.
#include <cstdio>

__device__ int launched[6];

// Each grid launches two of the next level.
__global__ void level(int depth) {
    atomicAdd(&launched[depth], 1);
    if (depth < 5) level<<<1, 1>>>(depth + 1), level<<<1, 1>>>(depth + 1);
}

// The arguments of the launches select the instance.
template <class T> __global__ void fill(T *out, int n, T value) {
    int i = threadIdx.x;
    if (i < n) out[i] = value;
}

template <class T, int LEAF = 4> __global__ void split(T *out, int n) {
    if (n <= LEAF) {
        fill<<<1, LEAF>>>(out, n, T(n));
        return;
    }
    split<<<1, 1>>>(out, n / 2);
    split<T, LEAF><<<1, 1>>>(out + n / 2, n - n / 2);
}

namespace overloads {
__global__ void set(int *p) { *p = 1; }
__global__ void set(float *p) { *p = 2; }
} // namespace overloads

__global__ void both(int *i, float *f) {
    overloads::set<<<1, 1>>>(i);
    overloads::set<<<1, 1>>>(f);
}

struct Job {
    char kind;
    double weight;
    int *out;
};

__global__ void work(char kind, Job job, short n, double scale) {
    *job.out = kind + job.kind + n + (int)(scale * job.weight);
}

__global__ void submit(int *out) {
    Job job = {1, 2.5, out};
    work<<<dim3(1, 1), 1, 0, cudaStreamFireAndForget>>>(10, job, 100, 400);
}

// Children read what the block has written before the launch, and their order is that of the launches.
__global__ void append(int *p, int digit) { *p = *p * 10 + digit; }

__global__ void order(int *p) {
    *p = 0;
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(p, 4);
    append<<<1, 1>>>(p, 1);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, 0);
    cudaStreamWaitEvent(stream, event, 0);
    append<<<1, 1, 0, stream>>>(p, 2);
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(p, 5);
    append<<<1, 1, 0, stream>>>(p, 3);
    cudaMemcpyAsync(p + 1, p, sizeof *p, cudaMemcpyDeviceToDevice, stream);
    cudaMemsetAsync(p + 2, 1, sizeof *p, stream);
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
}

__global__ void reverse(int *data) {
    __shared__ int copy[64];
    copy[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = copy[63 - threadIdx.x];
}

__global__ void count_down(int *data) {
    data += 64 * blockIdx.x;
    data[threadIdx.x] = 64 * blockIdx.x + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) reverse<<<1, 64>>>(data);
}

// Tail launches are not nested.
__global__ void again(int *p, int n) {
    ++*p;
    if (n > 1) again<<<1, 1, 0, cudaStreamTailLaunch>>>(p, n - 1);
}

__global__ void deep(int *p, int n) {
    *p = n;
    deep<<<1, 1>>>(p, n + 1);
    if (cudaGetLastError() == cudaErrorLaunchPendingCountExceeded) printf("depth %d\n", n);
}

__global__ void invalid(int *p) {
    append<<<1, 2048>>>(p, 0);
    printf("%s", cudaGetErrorName(cudaPeekAtLastError()));
    cudaGetLastError();
    append<<<1, 1, 300 << 10>>>(p, 0);
    cudaEvent_t event;
    printf(" %d", cudaGetLastError());
    printf(" %d", cudaEventCreateWithFlags(&event, 0));
    printf(" %d\n", cudaGetLastError());
}

// Launches of threads that do not end before others launch need launch slots, those of one thread in a row do not.
__global__ void many(int *p, int n) {
    for (int i = 0; i < n; i++) append<<<1, 1>>>(p, 0);
}

// More blocks than launch slots, of which an H200 holds 528 at once. What they launch can run when they end.
__global__ void chain(int *p, int n) {
    if (threadIdx.x) return;
    atomicAdd(p, 1);
    if (n > 1) chain<<<1, 32>>>(p, n - 1);
}

template <class T> static void print(T *from, int n, const char *format) {
    T values[128];
    cudaMemcpy(values, from, n * sizeof(T), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) printf(format, values[i]);
    printf("\n");
}

int main() {
    void *counters;
    cudaGetSymbolAddress(&counters, launched);
    level<<<1, 1>>>(0);
    print((int *)counters, 6, "%d ");
    float *f;
    cudaMalloc(&f, 25 * sizeof *f);
    split<<<1, 1>>>(f, 25);
    print(f, 25, "%g ");
    int *p;
    cudaMalloc(&p, 128 * sizeof *p);
    both<<<1, 1>>>(p, f);
    print(p, 1, "%d");
    print(f, 1, "%g");
    submit<<<1, 1>>>(p);
    print(p, 1, "%d");
    order<<<1, 1>>>(p);
    print(p, 3, "%x ");
    count_down<<<2, 64>>>(p);
    print(p + 62, 3, "%d ");
    cudaMemset(p, 0, sizeof *p);
    again<<<1, 1>>>(p, 500);
    print(p, 1, "%d");
    deep<<<1, 1>>>(p, 0);
    print(p, 1, "%d");
    cudaMemset(p, 0, sizeof *p);
    chain<<<2048, 512>>>(p, 3);
    print(p, 1, "%d");
    invalid<<<1, 1>>>(p);
    many<<<1, 1>>>(p, 3000);
    many<<<3, 1000>>>(p, 1);
    int status = cudaDeviceSynchronize();
    cudaFree(p);
    cudaFree(f);
    return status;
}
