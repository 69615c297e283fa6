// Nodes of each type: their parameters, attributes and updates.

#include "answers.h"
#include "graph-kernels.h"

static CUgraph graph;
static CUgraphNode node, added;
static CUgraphExec exec;

static void begin(void) {
    start();
    NEED(cuGraphCreate(&graph, 0));
}

static void print_type(void) {
    CUgraphNodeType type = 99;
    CALL("type", cuGraphNodeGetType(node, &type));
    VALUE("type-value", "%d", type);
}

static void launch(void) {
    CALL("instantiate", cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL("launch", cuGraphLaunch(exec, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

static void kernel_nodes(void) {
    CUDA_KERNEL_NODE_PARAMS parameters, found;
    CUlaunchAttributeValue value;
    CUgraphNode other;
    begin();
    filled = allocate(16);
    fill_value = 4;
    parameters = fill_node();
    NEED(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &parameters));
    NEED(cuGraphAddKernelNode_v2(&other, graph, NULL, 0, &parameters));
    print_type();
    CALL("get", cuGraphKernelNodeGetParams_v2(node, &found));
    VALUE("get-values", "%u %u %d", found.gridDimX, found.blockDimX, found.func == parameters.func);
    fill_value = 5;
    CALL("set", cuGraphKernelNodeSetParams_v2(node, &parameters));
    NEED(cuGraphDestroyNode(other));
    launch();
    VALUE("value", "%u", word_at(filled));
    parameters.blockDimX = 0;
    CALL("set-block-0", cuGraphKernelNodeSetParams_v2(node, &parameters));
    NEED(cuGraphAddEmptyNode(&added, graph, NULL, 0));
    CALL("get-of-empty-node", cuGraphKernelNodeGetParams_v2(added, &found));
    for (int id = 0; id <= 14; id++) {
        memset(&value, 0, sizeof value);
        CALL(label("get-attribute-%d", id), cuGraphKernelNodeGetAttribute(node, id, &value));
    }
    memset(&value, 0, sizeof value);
    value.cooperative = 1;
    CALL("set-cooperative", cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    value.cooperative = 0;
    CALL("get-cooperative", cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    VALUE("cooperative", "%d", value.cooperative);
    parameters.blockDimX = 32;
    NEED(cuGraphAddKernelNode_v2(&other, graph, NULL, 0, &parameters));
    CALL("copy-attributes", cuGraphKernelNodeCopyAttributes(other, node));
    value.cooperative = 0;
    CALL("get-copied-cooperative", cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    VALUE("copied-cooperative", "%d", value.cooperative);
    value.priority = -1;
    CALL("set-priority", cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CALL("set-attribute-99", cuGraphKernelNodeSetAttribute(node, 99, &value));
    CALL("get-attribute-99", cuGraphKernelNodeGetAttribute(node, 99, &value));
    CALL("get-attribute-of-empty-node", cuGraphKernelNodeGetAttribute(added, 2, &value));
    CALL("copy-attributes-of-empty-node", cuGraphKernelNodeCopyAttributes(node, added));
}

static void memcpy_nodes(void) {
    CUDA_MEMCPY3D copy, found;
    CUdeviceptr from, to;
    begin();
    from = allocate(64);
    to = allocate(64);
    NEED(cuMemsetD32_v2(from, 31, 16));
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.srcPitch = copy.dstPitch = 64;
    copy.WidthInBytes = 32;
    copy.Height = copy.Depth = 1;
    CALL("add", cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    print_type();
    CALL("get", cuGraphMemcpyNodeGetParams(node, &found));
    VALUE("get-values", "%d %zu", found.srcDevice == from, found.WidthInBytes);
    launch();
    VALUE("values", "%u %u", word_at(to + 28), word_at(to + 32));
    copy.WidthInBytes = 64;
    CALL("set", cuGraphMemcpyNodeSetParams(node, &copy));
    CALL("set-executable", cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context));
    CALL("launch-after-set", cuGraphLaunch(exec, NULL));
    VALUE("value-after-set", "%u", word_at(to + 60));
    copy.srcMemoryType = 9;
    CALL("add-type-9", cuGraphAddMemcpyNode(&added, graph, NULL, 0, &copy, context));
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcPitch = 4;
    CALL("add-pitch-below-width", cuGraphAddMemcpyNode(&added, graph, NULL, 0, &copy, context));
    copy.srcPitch = 64;
    copy.WidthInBytes = 0;
    CALL("add-width-0", cuGraphAddMemcpyNode(&added, graph, NULL, 0, &copy, context));
    copy.WidthInBytes = 64;
    copy.srcDevice = 0;
    CALL("add-from-null", cuGraphAddMemcpyNode(&added, graph, NULL, 0, &copy, context));
    copy.srcDevice = from;
    CALL("add-context-null", cuGraphAddMemcpyNode(&added, graph, NULL, 0, &copy, NULL));
    CALL("add-null", cuGraphAddMemcpyNode(&added, graph, NULL, 0, NULL, context));
    CALL("get-output-null", cuGraphMemcpyNodeGetParams(node, NULL));
}

static void memset_nodes(void) {
    CUDA_MEMSET_NODE_PARAMS fill, found;
    CUdeviceptr memory;
    begin();
    memory = allocate(64);
    memset(&fill, 0, sizeof fill);
    fill.dst = memory;
    fill.value = 0x0b0c;
    fill.elementSize = 2;
    fill.width = 4;
    fill.height = 2;
    fill.pitch = 16;
    NEED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    print_type();
    CALL("get", cuGraphMemsetNodeGetParams(node, &found));
    VALUE("get-values", "%u %zu %zu", found.elementSize, found.width, found.height);
    launch();
    VALUE("values", "%x %x %x", word_at(memory + 4), word_at(memory + 8), word_at(memory + 20));
    fill.value = 0x10000;
    CALL("set-value-of-17-bits", cuGraphMemsetNodeSetParams(node, &fill));
    fill.value = 3;
    CALL("set", cuGraphMemsetNodeSetParams(node, &fill));
    fill.pitch = 4;
    CALL("set-pitch-below-width", cuGraphMemsetNodeSetParams(node, &fill));
    fill.pitch = 16;
    fill.dst = 0;
    CALL("set-null-memory", cuGraphMemsetNodeSetParams(node, &fill));
    CALL("get-output-null", cuGraphMemsetNodeGetParams(node, NULL));
}

static int called;

static void add_to_called(void *data) {
    called += (int)(intptr_t)data;
}

static void host_nodes(void) {
    CUDA_HOST_NODE_PARAMS parameters = {add_to_called, (void *)1}, found;
    begin();
    CALL("add", cuGraphAddHostNode(&node, graph, NULL, 0, &parameters));
    print_type();
    CALL("get", cuGraphHostNodeGetParams(node, &found));
    VALUE("get-values", "%d %d", found.fn == add_to_called, (int)(intptr_t)found.userData);
    launch();
    VALUE("called", "%d", called);
    parameters.userData = (void *)10;
    CALL("set", cuGraphHostNodeSetParams(node, &parameters));
    CALL("set-executable", cuGraphExecHostNodeSetParams(exec, node, &parameters));
    CALL("launch-after-set", cuGraphLaunch(exec, NULL));
    NEED(cuCtxSynchronize());
    VALUE("called-after-set", "%d", called);
    parameters.fn = NULL;
    CALL("add-function-null", cuGraphAddHostNode(&added, graph, NULL, 0, &parameters));
    CALL("add-null", cuGraphAddHostNode(&added, graph, NULL, 0, NULL));
}

static void child_nodes(void) {
    CUDA_HOST_NODE_PARAMS parameters = {add_to_called, (void *)1};
    CUgraph child, found, other;
    begin();
    NEED(cuGraphCreate(&child, 0));
    NEED(cuGraphAddHostNode(&added, child, NULL, 0, &parameters));
    CALL("add", cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    print_type();
    CALL("get", cuGraphChildGraphNodeGetGraph(node, &found));
    VALUE("get-is-a-copy", "%d", found != child);
    launch();
    VALUE("called", "%d", called);
    NEED(cuGraphCreate(&other, 0));
    CALL("set-executable-other-topology", cuGraphExecChildGraphNodeSetParams(exec, node, other));
    parameters.userData = (void *)10;
    NEED(cuGraphAddHostNode(&added, other, NULL, 0, &parameters));
    CALL("set-executable", cuGraphExecChildGraphNodeSetParams(exec, node, other));
    CALL("launch-after-set", cuGraphLaunch(exec, NULL));
    NEED(cuCtxSynchronize());
    VALUE("called-after-set", "%d", called);
    CALL("get-output-null", cuGraphChildGraphNodeGetGraph(node, NULL));
}

static void event_nodes(void) {
    CUgraphNode wait;
    CUevent event, other, found = NULL;
    begin();
    event = new_event(0);
    other = new_event(0);
    CALL("add-record", cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    print_type();
    CALL("add-wait", cuGraphAddEventWaitNode(&wait, graph, &node, 1, event));
    CALL("get-record", cuGraphEventRecordNodeGetEvent(node, &found));
    VALUE("get-record-same", "%d", found == event);
    CALL("set-record", cuGraphEventRecordNodeSetEvent(node, other));
    CALL("get-wait", cuGraphEventWaitNodeGetEvent(wait, &found));
    VALUE("get-wait-same", "%d", found == event);
    CALL("set-wait", cuGraphEventWaitNodeSetEvent(wait, other));
    launch();
    CALL("query-recorded", cuEventQuery(other));
    CALL("set-executable-record", cuGraphExecEventRecordNodeSetEvent(exec, node, event));
    CALL("set-executable-wait", cuGraphExecEventWaitNodeSetEvent(exec, wait, event));
    CALL("launch-after-set", cuGraphLaunch(exec, NULL));
    CALL("add-record-null", cuGraphAddEventRecordNode(&added, graph, NULL, 0, NULL));
    CALL("add-wait-null", cuGraphAddEventWaitNode(&added, graph, NULL, 0, NULL));
    CALL("get-record-of-wait-node", cuGraphEventRecordNodeGetEvent(wait, &found));
    CALL("set-record-null", cuGraphEventRecordNodeSetEvent(node, NULL));
}

static void memory_nodes(void) {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters, found;
    CUgraphNode release;
    CUdeviceptr address = 0;
    cuuint64_t value = 77;
    begin();
    memset(&parameters, 0, sizeof parameters);
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    parameters.bytesize = 1000;
    CALL("add-allocation", cuGraphAddMemAllocNode(&node, graph, NULL, 0, &parameters));
    VALUE("allocation-address", "%d", parameters.dptr != 0);
    print_type();
    CALL("get-allocation", cuGraphMemAllocNodeGetParams(node, &found));
    VALUE("get-allocation-values", "%zu %d", found.bytesize, found.dptr == parameters.dptr);
    CALL("add-free", cuGraphAddMemFreeNode(&release, graph, &node, 1, parameters.dptr));
    CALL("get-free", cuGraphMemFreeNodeGetParams(release, &address));
    VALUE("get-free-same", "%d", address == parameters.dptr);
    CALL("add-free-again", cuGraphAddMemFreeNode(&added, graph, &node, 1, parameters.dptr));
    CALL("add-free-null", cuGraphAddMemFreeNode(&added, graph, NULL, 0, 0));
    launch();
    CALL("instantiate-again", cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL("clone", cuGraphClone(&(CUgraph){0}, graph));
    CALL("destroy-allocation-node", cuGraphDestroyNode(node));
    for (int attribute = 0; attribute < 4; attribute++) {
        CALL(label("get-memory-attribute-%d", attribute), cuDeviceGetGraphMemAttribute(0, attribute, &value));
        VARYING(label("memory-attribute-%d-value", attribute), "%llu", (unsigned long long)value);
    }
    value = 0;
    CALL("set-used-high", cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
    value = 1;
    CALL("set-used-high-1", cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
    CALL("set-used-current", cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    CALL("get-memory-attribute-9", cuDeviceGetGraphMemAttribute(0, 9, &value));
    CALL("get-memory-attribute-of-device-99", cuDeviceGetGraphMemAttribute(99, 0, &value));
    CALL("trim", cuDeviceGraphMemTrim(0));
    CALL("trim-device-99", cuDeviceGraphMemTrim(99));
    NEED(cuGraphCreate(&graph, 0));
    parameters.bytesize = 0;
    CALL("add-allocation-of-0-bytes", cuGraphAddMemAllocNode(&added, graph, NULL, 0, &parameters));
    parameters.bytesize = 1000;
    parameters.poolProps.location.id = 99;
    CALL("add-allocation-of-device-99", cuGraphAddMemAllocNode(&added, graph, NULL, 0, &parameters));
    parameters.poolProps.location.id = 0;
    parameters.poolProps.allocType = 0;
    CALL("add-allocation-type-0", cuGraphAddMemAllocNode(&added, graph, NULL, 0, &parameters));
}

static void conditional_nodes(void) {
    CUgraphConditionalHandle handle = 0, other = 0;
    CUDA_HOST_NODE_PARAMS host = {add_to_called, (void *)1};
    CUgraphNodeParams parameters;
    CUgraph body;
    begin();
    CALL("create-handle", cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CALL("create-handle-flags-2", cuGraphConditionalHandleCreate(&other, graph, context, 1, 2));
    CALL("create-handle-context-null", cuGraphConditionalHandleCreate(&other, graph, NULL, 0, 0));
    memset(&parameters, 0, sizeof parameters);
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.handle = handle;
    parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
    parameters.conditional.size = 1;
    parameters.conditional.ctx = context;
    CALL("add-if", cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &parameters));
    print_type();
    body = parameters.conditional.phGraph_out ? parameters.conditional.phGraph_out[0] : NULL;
    VALUE("body", "%d", body != NULL);
    CALL("add-handle-again", cuGraphAddNode_v2(&added, graph, NULL, NULL, 0, &parameters));
    parameters.conditional.type = 9;
    CALL("add-type-9", cuGraphAddNode_v2(&added, graph, NULL, NULL, 0, &parameters));
    parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
    parameters.conditional.size = 0;
    CALL("add-size-0", cuGraphAddNode_v2(&added, graph, NULL, NULL, 0, &parameters));
    parameters.conditional.size = 3;
    CALL("add-if-size-3", cuGraphAddNode_v2(&added, graph, NULL, NULL, 0, &parameters));
    if (body) {
        NEED(cuGraphAddEmptyNode(&added, body, NULL, 0));
        CALL("add-host-node-to-body", cuGraphAddHostNode(&added, body, NULL, 0, &host));
    }
    CALL("instantiate", cuGraphInstantiateWithFlags(&exec, graph, 0));
}

// Nodes of structures that name their type.
static void generic_nodes(void) {
    CUgraphNodeParams parameters;
    CUDA_KERNEL_NODE_PARAMS kernel;
    begin();
    filled = allocate(16);
    fill_value = 6;
    kernel = fill_node();
    memset(&parameters, 0, sizeof parameters);
    parameters.type = CU_GRAPH_NODE_TYPE_KERNEL;
    memcpy(&parameters.kernel, &kernel, sizeof kernel);
    CALL("add-kernel", cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &parameters));
    launch();
    VALUE("kernel-value", "%u", word_at(filled));
    fill_value = 7;
    CALL("set-kernel", cuGraphNodeSetParams(node, &parameters));
    CALL("set-executable-kernel", cuGraphExecNodeSetParams(exec, node, &parameters));
    CALL("launch-after-set", cuGraphLaunch(exec, NULL));
    VALUE("value-after-set", "%u", word_at(filled));
    memset(&parameters, 0, sizeof parameters);
    parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
    CALL("add-empty", cuGraphAddNode_v2(&added, graph, &node, NULL, 1, &parameters));
    CALL("add-empty-version-1", cuGraphAddNode(&added, graph, &node, 1, &parameters));
    CALL("set-other-type", cuGraphNodeSetParams(node, &parameters));
    parameters.type = 99;
    CALL("add-type-99", cuGraphAddNode_v2(&added, graph, NULL, NULL, 0, &parameters));
    parameters.type = CU_GRAPH_NODE_TYPE_HOST;
    CALL("add-host-function-null", cuGraphAddNode_v2(&added, graph, NULL, NULL, 0, &parameters));
    CALL("add-null", cuGraphAddNode_v2(&added, graph, NULL, NULL, 0, NULL));
    memset(&parameters, 0, sizeof parameters);
    parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
    parameters.reserved0[0] = 1;
    CALL("add-reserved-field-set", cuGraphAddNode_v2(&added, graph, NULL, NULL, 0, &parameters));
}

static void memory_operation_nodes(void) {
    CUDA_BATCH_MEM_OP_NODE_PARAMS parameters, found;
    CUstreamBatchMemOpParams operation;
    CUdeviceptr memory;
    begin();
    memory = allocate(64);
    memset(&operation, 0, sizeof operation);
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = memory;
    operation.writeValue.value = 17;
    memset(&parameters, 0, sizeof parameters);
    parameters.ctx = context;
    parameters.count = 1;
    parameters.paramArray = &operation;
    if (CALL("add", cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &parameters)) == CUDA_SUCCESS) {
        print_type();
        CALL("get", cuGraphBatchMemOpNodeGetParams(node, &found));
        launch();
        VALUE("value", "%u", word_at(memory));
        operation.writeValue.value = 18;
        CALL("set-executable", cuGraphExecBatchMemOpNodeSetParams(exec, node, &parameters));
        CALL("launch-after-set", cuGraphLaunch(exec, NULL));
        VALUE("value-after-set", "%u", word_at(memory));
        CALL("set", cuGraphBatchMemOpNodeSetParams(node, &parameters));
    }
    parameters.count = 0;
    CALL("add-none", cuGraphAddBatchMemOpNode(&added, graph, NULL, 0, &parameters));
    parameters.count = 1;
    parameters.flags = 1;
    CALL("add-flags-1", cuGraphAddBatchMemOpNode(&added, graph, NULL, 0, &parameters));
}

int main(void) {
    RUN(kernel_nodes);
    RUN(memcpy_nodes);
    RUN(memset_nodes);
    RUN(host_nodes);
    RUN(child_nodes);
    RUN(event_nodes);
    RUN(memory_nodes);
    RUN(generic_nodes);
    RUN(conditional_nodes);
    RUN(memory_operation_nodes);
}
