// Graphs built explicitly and captured from streams, launched many times, and compared with the host's results.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("%s:%d: %s\n", #call, __LINE__, cudaGetErrorString(error));                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const int N = 1000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

__device__ int factor;

__global__ void scale(int *at, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) at[i] = at[i] * factor + by;
}

__global__ void add(int *to, const int *from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) to[i] += from[i];
}

static void CUDART_CB counted(void *number) { ++*(int *)number; }

static int wrong;

static void expect(const int *found, const char *what, int (*value)(int, int), int launch) {
    for (int i = 0; i < N; i++) {
        if (found[i] != value(i, launch)) {
            printf("%s, launch %d: %d is %d, not %d\n", what, launch, i, found[i], value(i, launch));
            wrong++;
            return;
        }
    }
}

static int *device, *other, *pinned;
static int host[N];

// A graph with a node of each common type, updated between launches.
static void by_hand() {
    static int calls = 0;
    cudaGraph_t graph, copy;
    cudaGraphExec_t exec;
    cudaGraphNode_t upload, variable, fill, kernel, sum, download, call;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&upload, graph, 0, 0, device, pinned, N * sizeof(int),
                                   cudaMemcpyHostToDevice));
    int two = 2;
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&variable, graph, 0, 0, factor, &two, sizeof two, 0,
                                         cudaMemcpyHostToDevice));
    cudaMemsetParams memset = {};
    memset.dst = other, memset.value = 5, memset.elementSize = 4, memset.width = N;
    memset.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, 0, 0, &memset));
    int by = 1;
    void *arguments[] = {&device, &by};
    cudaKernelNodeParams params = {};
    params.func = (void *)scale, params.gridDim = dim3(BLOCKS), params.blockDim = dim3(THREADS);
    params.kernelParams = arguments;
    cudaGraphNode_t before[] = {upload, variable};
    CHECK(cudaGraphAddKernelNode(&kernel, graph, before, 2, &params));
    void *both[] = {&device, &other};
    cudaKernelNodeParams adding = params;
    adding.func = (void *)add, adding.kernelParams = both;
    CHECK(cudaGraphAddKernelNode(&sum, graph, &kernel, 1, &adding));
    CHECK(cudaGraphAddDependencies(graph, &fill, &sum, 1));
    cudaMemcpy3DParms back = {};
    back.srcPtr = make_cudaPitchedPtr(device, N * sizeof(int), N, 1);
    back.dstPtr = make_cudaPitchedPtr(host, N * sizeof(int), N, 1);
    back.extent = make_cudaExtent(N * sizeof(int), 1, 1);
    back.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphAddMemcpyNode(&download, graph, &sum, 1, &back));
    cudaHostNodeParams counting = {counted, &calls};
    CHECK(cudaGraphAddHostNode(&call, graph, &download, 1, &counting));

    cudaKernelNodeParams shown;
    CHECK(cudaGraphKernelNodeGetParams(kernel, &shown));
    cudaMemcpy3DParms copied;
    CHECK(cudaGraphMemcpyNodeGetParams(download, &copied));
    if (shown.func != (void *)scale || *(int *)shown.kernelParams[1] != 1 ||
        copied.dstPtr.ptr != host || copied.kind != cudaMemcpyDeviceToHost ||
        copied.extent.width != N * sizeof(int)) {
        printf("parameters that nobody gave\n"), wrong++;
    }
    CHECK(cudaGraphClone(&copy, graph));
    CHECK(cudaGraphInstantiate(&exec, copy, NULL, NULL, 0));
    CHECK(cudaGraphDestroy(copy));
    for (int launch = 0; launch < 50; launch++) {
        for (int i = 0; i < N; i++) pinned[i] = i + launch;
        CHECK(cudaGraphLaunch(exec, 0));
        CHECK(cudaStreamSynchronize(0));
        expect(host, "by hand", [](int i, int launch) { return (i + launch) * 2 + 1 + 5; }, launch);
    }
    if (calls != 50) printf("%d calls\n", calls), wrong++;

    // Updates the executable graph from the same graph with a different number.
    by = 100;
    CHECK(cudaGraphKernelNodeSetParams(kernel, &params));
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, graph, &info));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    expect(host, "updated", [](int i, int) { return (i + 49) * 2 + 100 + 5; }, 50);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// Two streams captured into one graph.
static void captured() {
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    int three = 3;
    CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, first));
    CHECK(cudaStreamWaitEvent(second, fork, 0));
    CHECK(cudaMemcpyAsync(device, pinned, N * sizeof(int), cudaMemcpyHostToDevice, first));
    scale<<<BLOCKS, THREADS, 0, first>>>(device, 7);
    CHECK(cudaMemsetAsync(other, 0, N * sizeof(int), second));
    scale<<<BLOCKS, THREADS, 0, second>>>(other, 11);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(join, second));
    CHECK(cudaStreamWaitEvent(first, join, 0));
    add<<<BLOCKS, THREADS, 0, first>>>(device, other);
    CHECK(cudaMemcpyAsync(host, device, N * sizeof(int), cudaMemcpyDeviceToHost, first));
    CHECK(cudaStreamEndCapture(first, &graph));
    size_t nodes = 0, edges = 0;
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(cudaGraphGetEdges(graph, NULL, NULL, &edges));
    printf("captured %zu nodes and %zu edges\n", nodes, edges);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 50; launch++) {
        for (int i = 0; i < N; i++) pinned[i] = i - launch;
        CHECK(cudaGraphLaunch(exec, second));
        CHECK(cudaStreamSynchronize(second));
        expect(host, "captured", [](int i, int launch) { return (i - launch) * 3 + 7 + 11; },
               launch);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    // A call that a capture does not allow invalidates it.
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    cudaError_t refused = cudaStreamSynchronize(first);
    cudaError_t ended = cudaStreamEndCapture(first, &graph);
    printf("%s, %s\n", cudaGetErrorName(refused), cudaGetErrorName(ended));
    cudaGetLastError();
}

int main() {
    CHECK(cudaMalloc(&device, N * sizeof(int)));
    CHECK(cudaMalloc(&other, N * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, N * sizeof(int)));
    by_hand();
    captured();
    CHECK(cudaFree(device));
    CHECK(cudaFree(other));
    CHECK(cudaFreeHost(pinned));
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
