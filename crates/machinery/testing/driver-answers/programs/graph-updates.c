// Updates of executable graphs, and nodes that set memory.

#include "answers.h"
#include "graph-kernels.h"

static void update_from(const char *name, CUgraphExec exec, CUgraph graph) {
    CUgraphExecUpdateResultInfo info;
    memset(&info, 0, sizeof info);
    CALL(name, cuGraphExecUpdate_v2(exec, graph, &info));
    VALUE(label("%s-result", name), "%d, node %d, from %d", info.result, info.errorNode != NULL,
          info.errorFromNode != NULL);
}

static CUgraph new_graph(void) {
    CUgraph graph;
    NEED(cuGraphCreate(&graph, 0));
    return graph;
}

static void updates(void) {
    CUDA_KERNEL_NODE_PARAMS node;
    CUgraphNode original, replacement, added;
    CUgraphExec exec;
    CUgraph graph, other;
    start();
    filled = allocate(16);
    fill_value = 1;
    node = fill_node();
    graph = new_graph();
    NEED(cuGraphAddKernelNode_v2(&original, graph, NULL, 0, &node));
    NEED(cuGraphInstantiateWithFlags(&exec, graph, 0));
    fill_value = 9;
    NEED(cuGraphLaunch(exec, NULL));
    VALUE("arguments-are-copied", "%u", word_at(filled + 12));

    fill_value = 2;
    other = new_graph();
    NEED(cuGraphAddKernelNode_v2(&replacement, other, NULL, 0, &node));
    update_from("other-arguments", exec, other);
    NEED(cuGraphLaunch(exec, NULL));
    VALUE("value-after-update", "%u", word_at(filled + 12));

    fill_value = 3;
    CALL("set-parameters", cuGraphExecKernelNodeSetParams_v2(exec, original, &node));
    NEED(cuGraphLaunch(exec, NULL));
    VALUE("value-after-set-parameters", "%u", word_at(filled + 12));
    node.gridDimX = 2;
    CALL("set-grid-2", cuGraphExecKernelNodeSetParams_v2(exec, original, &node));
    node.gridDimX = 0;
    CALL("set-grid-0", cuGraphExecKernelNodeSetParams_v2(exec, original, &node));
    node = one_thread("empty");
    CALL("set-other-function", cuGraphExecKernelNodeSetParams_v2(exec, original, &node));
    CALL("set-of-foreign-node", cuGraphExecKernelNodeSetParams_v2(exec, replacement, &node));

    other = new_graph();
    node = fill_node();
    NEED(cuGraphAddKernelNode_v2(&replacement, other, NULL, 0, &node));
    NEED(cuGraphAddEmptyNode(&added, other, &replacement, 1));
    update_from("more-nodes", exec, other);
    other = new_graph();
    NEED(cuGraphAddEmptyNode(&added, other, NULL, 0));
    update_from("other-type", exec, other);
    update_from("no-nodes", exec, new_graph());
    other = new_graph();
    node = one_thread("empty_too");
    NEED(cuGraphAddKernelNode_v2(&replacement, other, NULL, 0, &node));
    update_from("other-function", exec, other);
    CALL("result-null", cuGraphExecUpdate_v2(exec, graph, NULL));
    CALL("set-null", cuGraphExecKernelNodeSetParams_v2(exec, original, NULL));
}

static void memset_nodes(void) {
    CUDA_MEMSET_NODE_PARAMS fill, invalid;
    CUgraphNode node, added;
    CUgraphExec exec;
    CUgraph graph, other;
    CUdeviceptr memory;
    start();
    memory = allocate(64);
    graph = new_graph();
    memset(&fill, 0, sizeof fill);
    fill.dst = memory;
    fill.value = 7;
    fill.elementSize = 4;
    fill.width = 16;
    fill.height = 1;
    CALL("add", cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    invalid = fill;
    invalid.elementSize = 3;
    CALL("element-3", cuGraphAddMemsetNode(&added, graph, NULL, 0, &invalid, context));
    invalid = fill;
    invalid.width = 0;
    CALL("width-0", cuGraphAddMemsetNode(&added, graph, NULL, 0, &invalid, context));
    invalid = fill;
    invalid.dst = memory + 1;
    CALL("misaligned", cuGraphAddMemsetNode(&added, graph, NULL, 0, &invalid, context));
    other = new_graph();
    CALL("context-null", cuGraphAddMemsetNode(&added, other, NULL, 0, &fill, NULL));
    CALL("instantiate", cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL("launch", cuGraphLaunch(exec, NULL));
    VALUE("value", "%u", word_at(memory + 12));
    fill.value = 8;
    CALL("set-value", cuGraphExecMemsetNodeSetParams(exec, node, &fill, context));
    NEED(cuGraphLaunch(exec, NULL));
    VALUE("value-after", "%u", word_at(memory + 12));
    fill.height = 2;
    fill.pitch = 32;
    fill.width = 8;
    CALL("set-two-rows", cuGraphExecMemsetNodeSetParams(exec, node, &fill, context));
}

int main(void) {
    RUN(updates);
    RUN(memset_nodes);
}
