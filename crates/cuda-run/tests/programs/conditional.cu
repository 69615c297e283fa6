// Graphs with conditional nodes.
#include <cstdio>

#define CHECK(call)                                                                        \
    if (cudaError_t error = (call)) printf("%d: %s\n", __LINE__, cudaGetErrorName(error));

using Handle = cudaGraphConditionalHandle;

__global__ void count(Handle again, int *n, int limit) { cudaGraphSetConditional(again, ++*n < limit); }
__global__ void choose(Handle handle, const int *n, unsigned int mask) { cudaGraphSetConditional(handle, *n & mask); }
__global__ void say(char what, const int *n) { printf("%c%d\n", what, *n); }

static cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t *after, cudaGraphNodeParams &params) {
    cudaGraphNode_t node;
    CHECK(cudaGraphAddNode(&node, graph, after, after ? 1 : 0, &params));
    return node;
}

static cudaGraphNodeParams conditional(Handle handle, cudaGraphConditionalNodeType type, int size) {
    cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    return params;
}

template <class... Parameters, class... Arguments>
static cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t *after, void (*kernel)(Parameters...),
                           Arguments... arguments) {
    void *pointers[] = {&arguments...};
    cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
    params.kernel.func = (void *)kernel;
    params.kernel.gridDim = params.kernel.blockDim = 1;
    params.kernel.kernelParams = pointers;
    return add(graph, after, params);
}

int main() {
    int *n;
    CHECK(cudaMalloc(&n, sizeof *n));
    CHECK(cudaMemset(n, 0, sizeof *n));
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    Handle again, odd, which;
    CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    CHECK(cudaGraphConditionalHandleCreate(&odd, graph));
    CHECK(cudaGraphConditionalHandleCreate(&which, graph, 9, cudaGraphCondAssignDefault));

    // A loop, whose body is captured, with a condition in it.
    cudaGraphNodeParams loop = conditional(again, cudaGraphCondTypeWhile, 1);
    cudaGraphNode_t loop_node = add(graph, nullptr, loop);
    cudaGraph_t body = loop.conditional.phGraph_out[0];
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    count<<<1, 1, 0, stream>>>(again, n, 5);
    choose<<<1, 1, 0, stream>>>(odd, n, 1);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    size_t nodes = 2;
    cudaGraphNode_t in_body[2];
    CHECK(cudaGraphGetNodes(body, in_body, &nodes));
    cudaGraphNodeParams either = conditional(odd, cudaGraphCondTypeIf, 2);
    add(body, &in_body[1], either);
    add(either.conditional.phGraph_out[0], nullptr, say, 'o', n);
    add(either.conditional.phGraph_out[1], nullptr, say, 'e', n);

    // A choice among three graphs, of which the default value selects none.
    cudaGraphNodeParams cases = conditional(which, cudaGraphCondTypeSwitch, 3);
    cudaGraphNode_t first_switch = add(graph, &loop_node, cases);
    for (int i = 0; i < 3; i++) add(cases.conditional.phGraph_out[i], nullptr, say, char('0' + i), n);
    Handle selected;
    CHECK(cudaGraphConditionalHandleCreate(&selected, graph));
    cudaGraphNode_t chosen = add(graph, &first_switch, choose, selected, n, 3u);
    cudaGraphNodeParams second = conditional(selected, cudaGraphCondTypeSwitch, 3);
    cudaGraphNode_t last = add(graph, &chosen, second);
    for (int i = 0; i < 3; i++) add(second.conditional.phGraph_out[i], nullptr, say, char('a' + i), n);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(last, &type));
    printf("type %d\n", type);

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
    }

    // What conditional nodes do not allow.
    cudaGraph_t other;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&other, 0));
    cudaHostNodeParams host = {[](void *) {}, nullptr};
    cudaGraphNodeParams used = conditional(again, cudaGraphCondTypeIf, 1);
    printf("%s\n", cudaGetErrorName(cudaGraphAddNode(&node, graph, nullptr, 0, &used)));
    printf("%s\n", cudaGetErrorName(cudaGraphAddHostNode(&node, body, nullptr, 0, &host)));
    printf("%s\n", cudaGetErrorName(cudaGraphAddChildGraphNode(&node, other, nullptr, 0, graph)));
    printf("%s\n", cudaGetErrorName(cudaGraphClone(&other, graph)));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    cudaFree(n);
    return 0;
}
