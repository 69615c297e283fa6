// Graphs: nodes and dependencies, clones, child graphs and their execution.

#include "answers.h"
#include "graph-kernels.h"

static void construction(void) {
    CUDA_KERNEL_NODE_PARAMS node, invalid;
    CUgraph graph, other, clone;
    CUgraphNode first, second, empty, foreign, added, nodes[8];
    CUgraphExec exec = NULL;
    CUgraphNodeType type;
    size_t count = 8;
    start();
    node = one_thread("empty");
    CALL("create-flags-1", cuGraphCreate(&graph, 1));
    CALL("create-null", cuGraphCreate(NULL, 0));
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphCreate(&other, 0));
    CALL("instantiate-empty", cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL("launch-empty", cuGraphLaunch(exec, NULL));
    CALL("add-kernel", cuGraphAddKernelNode_v2(&first, graph, NULL, 0, &node));
    CALL("add-dependent-kernel", cuGraphAddKernelNode_v2(&second, graph, &first, 1, &node));
    CALL("add-empty-node", cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    CALL("add-without-parameters", cuGraphAddKernelNode_v2(&added, graph, NULL, 0, NULL));
    CALL("add-dependencies-null", cuGraphAddKernelNode_v2(&added, graph, NULL, 1, &node));
    NEED(cuGraphAddEmptyNode(&foreign, other, NULL, 0));
    CALL("add-after-foreign-node", cuGraphAddEmptyNode(&added, graph, &foreign, 1));
    CUgraphNode twice[2] = {first, first};
    CALL("add-after-one-node-twice", cuGraphAddEmptyNode(&added, graph, twice, 2));
    invalid = node;
    invalid.gridDimX = 0;
    CALL("add-grid-0", cuGraphAddKernelNode_v2(&added, graph, NULL, 0, &invalid));
    invalid = node;
    invalid.blockDimX = 2000;
    CALL("add-block-2000", cuGraphAddKernelNode_v2(&added, graph, NULL, 0, &invalid));
    invalid = node;
    invalid.func = NULL;
    CALL("add-function-null", cuGraphAddKernelNode_v2(&added, graph, NULL, 0, &invalid));
    CALL("depend-on-itself", cuGraphAddDependencies(graph, &first, &first, 1));
    CALL("depend-again", cuGraphAddDependencies(graph, &first, &second, 1));
    CALL("remove-unknown-dependency", cuGraphRemoveDependencies(graph, &first, &empty, 1));
    CALL("remove-no-dependency", cuGraphRemoveDependencies(graph, NULL, NULL, 0));
    CALL("count-nodes", cuGraphGetNodes(graph, NULL, &count));
    VALUE("node-count", "%zu", count);
    count = 8;
    memset(nodes, 1, sizeof nodes);
    CALL("get-nodes-with-room", cuGraphGetNodes(graph, nodes, &count));
    VALUE("nodes-with-room", "%zu, next null %d", count, count < 8 && nodes[count] == NULL);
    CALL("count-roots", cuGraphGetRootNodes(graph, NULL, &count));
    VALUE("root-count", "%zu", count);
    CALL("count-edges", cuGraphGetEdges(graph, NULL, NULL, &count));
    VALUE("edge-count", "%zu", count);
    CALL("type", cuGraphNodeGetType(first, &type));
    VALUE("type-value", "%d", type);
    CALL("clone", cuGraphClone(&clone, graph));
    CALL("find-in-clone", cuGraphNodeFindInClone(&added, first, clone));
    CALL("find-in-other-graph", cuGraphNodeFindInClone(&added, first, other));
    CALL("find-foreign-node", cuGraphNodeFindInClone(&added, foreign, clone));
    CALL("add-child", cuGraphAddChildGraphNode(&added, graph, NULL, 0, other));
    CALL("instantiate", cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL("launch", cuGraphLaunch(exec, NULL));
    CALL("destroy-node", cuGraphDestroyNode(first));
    CALL("launch-after-node-destroyed", cuGraphLaunch(exec, NULL));
    CALL("destroy", cuGraphDestroy(graph));
    CALL("launch-after-graph-destroyed", cuGraphLaunch(exec, NULL));
    CALL("synchronize", cuCtxSynchronize());
    CALL("destroy-executable", cuGraphExecDestroy(exec));
}

static void instantiation_flags(void) {
    CUgraphExec exec;
    CUgraph graph;
    start();
    NEED(cuGraphCreate(&graph, 0));
    CALL("flags-0x100", cuGraphInstantiateWithFlags(&exec, graph, 0x100));
}

static void cycle(void) {
    CUDA_KERNEL_NODE_PARAMS node;
    CUgraphNode first, second;
    CUgraphExec exec;
    CUgraph graph;
    start();
    node = one_thread("empty");
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddKernelNode_v2(&first, graph, NULL, 0, &node));
    NEED(cuGraphAddKernelNode_v2(&second, graph, &first, 1, &node));
    CALL("add-dependency", cuGraphAddDependencies(graph, &second, &first, 1));
    CALL("instantiate", cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static void no_handles(void) {
    start();
    CALL("destroy", cuGraphDestroy(NULL));
    CALL("destroy-executable", cuGraphExecDestroy(NULL));
    CALL("launch", cuGraphLaunch(NULL, NULL));
}

// Edges and neighbours of nodes.
static void structure(void) {
    CUgraphNode a, b, c, from[8], to[8], near[8];
    CUgraphEdgeData data[8];
    CUgraph graph;
    size_t count;
    start();
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddEmptyNode(&a, graph, NULL, 0));
    NEED(cuGraphAddEmptyNode(&b, graph, &a, 1));
    NEED(cuGraphAddEmptyNode(&c, graph, NULL, 0));
    CUgraphNode pair_from[2] = {a, b}, pair_to[2] = {c, c};
    CALL("add-two-dependencies", cuGraphAddDependencies_v2(graph, pair_from, pair_to, NULL, 2));
    count = 8;
    memset(from, 0, sizeof from);
    CALL("edges", cuGraphGetEdges_v2(graph, from, to, data, &count));
    VALUE("edge-count", "%zu", count);
    VALUE("first-edge-from-first-node", "%d", from[0] == a);
    count = 1;
    CALL("one-edge", cuGraphGetEdges_v2(graph, from, to, data, &count));
    VALUE("one-edge-count", "%zu", count);
    CALL("edges-count-null", cuGraphGetEdges_v2(graph, from, to, data, NULL));
    count = 8;
    CALL("dependencies", cuGraphNodeGetDependencies_v2(c, near, data, &count));
    VALUE("dependency-count", "%zu", count);
    count = 8;
    CALL("dependencies-version-1", cuGraphNodeGetDependencies(c, near, &count));
    CALL("dependents", cuGraphNodeGetDependentNodes_v2(a, NULL, NULL, &count));
    VALUE("dependent-count", "%zu", count);
    CALL("dependents-version-1", cuGraphNodeGetDependentNodes(a, NULL, &count));
    CALL("dependents-count-null", cuGraphNodeGetDependentNodes_v2(a, NULL, NULL, NULL));
    CALL("remove-dependency", cuGraphRemoveDependencies_v2(graph, &b, &c, NULL, 1));
    CALL("remove-dependency-again", cuGraphRemoveDependencies_v2(graph, &b, &c, NULL, 1));
    count = 1;
    CALL("one-node", cuGraphGetNodes(graph, near, &count));
    VALUE("one-node-count", "%zu", count);
    CALL("nodes-count-null", cuGraphGetNodes(graph, near, NULL));
    CALL("roots-count-null", cuGraphGetRootNodes(graph, near, NULL));
    count = 8;
    CALL("roots", cuGraphGetRootNodes(graph, near, &count));
    VALUE("root-is-first-node", "%zu %d", count, near[0] == a);
    CALL("destroy-middle", cuGraphDestroyNode(b));
    CALL("count-edges-after", cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    VALUE("edge-count-after", "%zu", count);
    memset(data, 0, sizeof data);
    data[0].type = 9;
    CALL("edge-type-9", cuGraphAddDependencies_v2(graph, &a, &c, data, 1));
    data[0].type = 0;
    data[0].from_port = 9;
    CALL("edge-port-9", cuGraphAddDependencies_v2(graph, &a, &c, data, 1));
    CALL("clone-null", cuGraphClone(NULL, graph));
    CALL("type-output-null", cuGraphNodeGetType(a, NULL));
    CALL("type-of-null", cuGraphNodeGetType(NULL, &(CUgraphNodeType){0}));
    CALL("destroy-null-node", cuGraphDestroyNode(NULL));
}

static void executables(void) {
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters;
    CUDA_KERNEL_NODE_PARAMS node;
    CUgraphNode fill, empty;
    CUgraphExec exec = NULL, other = NULL;
    CUgraph graph, empty_graph;
    CUstream stream;
    cuuint64_t flags = 77;
    unsigned enabled = 77;
    char path[] = "/tmp/driver-answers-XXXXXX", text[8] = "";
    start();
    filled = allocate(16);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    fill_value = 1;
    node = fill_node();
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddKernelNode_v2(&fill, graph, NULL, 0, &node));
    NEED(cuGraphAddEmptyNode(&empty, graph, &fill, 1));
    memset(&parameters, 0, sizeof parameters);
    parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    CALL("instantiate-with-parameters", cuGraphInstantiateWithParams(&exec, graph, &parameters));
    VALUE("instantiate-result", "%d, node %d", parameters.result_out, parameters.hErrNode_out != NULL);
    CALL("flags", cuGraphExecGetFlags(exec, &flags));
    VALUE("flags-value", "%llu", (unsigned long long)flags);
    CALL("flags-null", cuGraphExecGetFlags(exec, NULL));
    parameters.flags = 0x100;
    CALL("instantiate-flags-0x100", cuGraphInstantiateWithParams(&other, graph, &parameters));
    VALUE("instantiate-flags-0x100-result", "%d", parameters.result_out);
    parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    parameters.hUploadStream = stream;
    CALL("instantiate-and-upload", cuGraphInstantiateWithParams(&other, graph, &parameters));
    CALL("upload", cuGraphUpload(exec, stream));
    CALL("launch", cuGraphLaunch(exec, stream));
    VALUE("launched-value", "%u", word_at(filled));
    CALL("enabled", cuGraphNodeGetEnabled(exec, fill, &enabled));
    VALUE("enabled-value", "%u", enabled);
    NEED(cuMemsetD8_v2(filled, 0, 16));
    CALL("disable", cuGraphNodeSetEnabled(exec, fill, 0));
    CALL("launch-disabled", cuGraphLaunch(exec, stream));
    VALUE("disabled-value", "%u", word_at(filled));
    CALL("enabled-after", cuGraphNodeGetEnabled(exec, fill, &enabled));
    VALUE("enabled-after-value", "%u", enabled);
    CALL("enable-2", cuGraphNodeSetEnabled(exec, fill, 2));
    CALL("disable-empty-node", cuGraphNodeSetEnabled(exec, empty, 0));
    CALL("enabled-null", cuGraphNodeGetEnabled(exec, fill, NULL));
    CALL("upload-null", cuGraphUpload(NULL, stream));
    CALL("instantiate-null-output", cuGraphInstantiateWithFlags(NULL, graph, 0));
    CALL("instantiate-null-graph", cuGraphInstantiateWithFlags(&other, NULL, 0));
    close(mkstemp(path));
    CALL("print", cuGraphDebugDotPrint(graph, path, 0));
    FILE *file = fopen(path, "r");
    if (file) {
        fread(text, 1, 7, file);
        fclose(file);
    }
    VALUE("print-starts-with", "%s", text);
    CALL("print-verbose", cuGraphDebugDotPrint(graph, path, 1));
    CALL("print-flags-2^30", cuGraphDebugDotPrint(graph, path, 1u << 30));
    unlink(path);
    CALL("print-missing-folder", cuGraphDebugDotPrint(graph, "/missing/graph.dot", 0));
    CALL("print-path-null", cuGraphDebugDotPrint(graph, NULL, 0));
    NEED(cuGraphCreate(&empty_graph, 0));
    CALL("clone-empty", cuGraphClone(&empty_graph, empty_graph));
}

static int destroyed;

static void count_destruction(void *data) {
    (void)data;
    destroyed++;
}

static void user_objects(void) {
    const unsigned no_sync = 1;
    CUuserObject object = NULL, other = NULL;
    CUgraph graph;
    start();
    NEED(cuGraphCreate(&graph, 0));
    CALL("create", cuUserObjectCreate(&object, NULL, count_destruction, 2, no_sync));
    CALL("create-flags-0", cuUserObjectCreate(&other, NULL, count_destruction, 1, 0));
    CALL("create-no-references", cuUserObjectCreate(&other, NULL, count_destruction, 0, no_sync));
    CALL("create-without-destructor", cuUserObjectCreate(&other, NULL, NULL, 1, no_sync));
    CALL("create-output-null", cuUserObjectCreate(NULL, NULL, count_destruction, 1, no_sync));
    CALL("retain", cuUserObjectRetain(object, 1));
    CALL("retain-0", cuUserObjectRetain(object, 0));
    CALL("retain-by-graph", cuGraphRetainUserObject(graph, object, 1, 0));
    CALL("move-to-graph", cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CALL("retain-by-graph-0", cuGraphRetainUserObject(graph, object, 0, 0));
    CALL("retain-by-graph-flags-2", cuGraphRetainUserObject(graph, object, 1, 2));
    CALL("release", cuUserObjectRelease(object, 2));
    CALL("release-0", cuUserObjectRelease(object, 0));
    VALUE("destroyed-before", "%d", destroyed);
    CALL("release-by-graph", cuGraphReleaseUserObject(graph, object, 1));
    CALL("destroy-graph", cuGraphDestroy(graph));
    for (int i = 0; i < 2000 && !destroyed; i++) {
        usleep(1000);
    }
    VALUE("destroyed-after", "%d", destroyed);
    CALL("retain-null", cuUserObjectRetain(NULL, 1));
    CALL("release-null", cuUserObjectRelease(NULL, 1));
}

// A child node without a graph.
static void child_null(void) {
    CUgraph graph;
    CUgraphNode node;
    start();
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    CALL("add", cuGraphAddChildGraphNode(&node, graph, NULL, 0, NULL));
}

static void destroy_again(void) {
    CUgraph graph;
    start();
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphDestroy(graph));
    CALL("destroy", cuGraphDestroy(graph));
}

int main(void) {
    RUN(construction);
    RUN(instantiation_flags);
    RUN(cycle);
    RUN(no_handles);
    RUN(structure);
    RUN(executables);
    RUN(user_objects);
    RUN(child_null);
    RUN(destroy_again);
}
