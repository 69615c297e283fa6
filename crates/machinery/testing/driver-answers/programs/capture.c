// Stream capture: its states, forbidden calls, joined streams, threads, and capture into a graph.

#include "answers.h"
#include "kernels.h"

#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define THREAD_LOCAL CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static CUstreamCaptureStatus status_of(CUstream stream) {
    CUstreamCaptureStatus status = -1;
    NEED(cuStreamIsCapturing(stream, &status));
    return status;
}

static size_t node_count(CUgraph graph) {
    size_t count = 0;
    NEED(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static void states(void) {
    CUstream stream, other;
    CUgraph graph = (CUgraph)1;
    CUfunction kernel;
    CUevent event;
    start();
    kernel = function("empty");
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    other = new_stream(CU_STREAM_NON_BLOCKING);
    event = new_event(0);
    CALL("end-without-begin", cuStreamEndCapture(stream, &graph));
    CALL("begin-null-stream", cuStreamBeginCapture_v2(NULL, GLOBAL));
    CALL("begin-legacy-stream", cuStreamBeginCapture_v2(CU_STREAM_LEGACY, GLOBAL));
    CALL("begin-mode-9", cuStreamBeginCapture_v2(stream, 9));
    CALL("begin", cuStreamBeginCapture_v2(stream, RELAXED));
    CALL("begin-again", cuStreamBeginCapture_v2(stream, RELAXED));
    VALUE("status", "%d", status_of(stream));
    CALL("launch", launch_one(kernel, stream, NULL));
    CALL("record", cuEventRecord(event, stream));
    CALL("wait-in-other-stream", cuStreamWaitEvent(other, event, 0));
    VALUE("status-of-other-stream", "%d", status_of(other));
    CALL("launch-in-other-stream", launch_one(kernel, other, NULL));
    CALL("end-in-other-stream", cuStreamEndCapture(other, &graph));
}

static void captured_event(void) {
    CUstream stream;
    CUgraph graph;
    CUevent event;
    start();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    event = new_event(0);
    NEED(cuStreamBeginCapture_v2(stream, RELAXED));
    NEED(cuEventRecord(event, stream));
    CALL("query", cuEventQuery(event));
    VALUE("status-after-query", "%d", status_of(stream));
    CALL("synchronize", cuEventSynchronize(event));
    CALL("end-capture", cuStreamEndCapture(stream, &graph));
}

// Captures a launch in a stream and one in a second stream after it.
static void fork_capture(CUstream *stream, CUstream *other, CUfunction kernel) {
    CUevent event = new_event(0);
    *stream = new_stream(CU_STREAM_NON_BLOCKING);
    *other = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamBeginCapture_v2(*stream, RELAXED));
    NEED(launch_one(kernel, *stream, NULL));
    NEED(cuEventRecord(event, *stream));
    NEED(cuStreamWaitEvent(*other, event, 0));
    NEED(launch_one(kernel, *other, NULL));
}

static void joined(void) {
    CUstream stream, other;
    CUfunction kernel;
    CUgraph graph = NULL;
    CUevent event;
    start();
    kernel = function("empty");
    event = new_event(0);
    fork_capture(&stream, &other, kernel);
    NEED(cuEventRecord(event, other));
    NEED(cuStreamWaitEvent(stream, event, 0));
    NEED(launch_one(kernel, stream, NULL));
    CALL("end-capture", cuStreamEndCapture(stream, &graph));
    VALUE("nodes", "%zu", node_count(graph));
}

static void unjoined(void) {
    CUstream stream, other;
    CUgraph graph = (CUgraph)1;
    start();
    fork_capture(&stream, &other, function("empty"));
    CALL("end-capture", cuStreamEndCapture(stream, &graph));
    VALUE("graph-null", "%d", graph == NULL);
    VALUE("status-of-other-stream", "%d", status_of(other));
}

enum {
    SYNCHRONIZE_STREAM,
    QUERY_STREAM,
    ALLOCATE,
    COPY,
    SYNCHRONIZE_CONTEXT,
    COPY_PAGEABLE,
    MEMSET,
    LAUNCH_IN_NULL_STREAM,
    CREATE_EVENT,
    FREE,
    LOAD_MODULE,
    ACTIONS
};

static const char *const action_names[ACTIONS] = {
    "synchronize-stream",
    "query-stream",
    "allocate",
    "copy",
    "synchronize-context",
    "copy-pageable-asynchronously",
    "memset-in-null-stream",
    "launch-in-null-stream",
    "create-event",
    "free",
    "load-module",
};

// Performs an action while a stream captures, and ends the capture.
static void act(int action, CUstreamCaptureMode mode) {
    static char host[64];
    CUfunction kernel = function("empty");
    CUstream stream = new_stream(action == LAUNCH_IN_NULL_STREAM ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = allocate(64), other;
    CUresult result = CUDA_SUCCESS;
    CUgraph graph = NULL;
    CUmodule module;
    CUevent event;
    const char *name = action_names[action];
    NEED(cuStreamBeginCapture_v2(stream, mode));
    switch (action) {
    case SYNCHRONIZE_STREAM:
        result = cuStreamSynchronize(stream);
        break;
    case QUERY_STREAM:
        result = cuStreamQuery(stream);
        break;
    case ALLOCATE:
        result = cuMemAlloc_v2(&other, 64);
        break;
    case COPY:
        result = cuMemcpyHtoD_v2(memory, host, 64);
        break;
    case SYNCHRONIZE_CONTEXT:
        result = cuCtxSynchronize();
        break;
    case COPY_PAGEABLE:
        result = cuMemcpyHtoDAsync_v2(memory, host, 64, stream);
        break;
    case MEMSET:
        result = cuMemsetD8_v2(memory, 0, 64);
        break;
    case LAUNCH_IN_NULL_STREAM:
        result = launch_one(kernel, NULL, NULL);
        break;
    case CREATE_EVENT:
        result = cuEventCreate(&event, 0);
        break;
    case FREE:
        result = cuMemFree_v2(memory);
        break;
    case LOAD_MODULE:
        result = cuModuleLoadData(&module, KERNELS);
        break;
    }
    CALL(name, result);
    VALUE(label("%s-status", name), "%d", status_of(stream));
    CALL(label("%s-end", name), cuStreamEndCapture(stream, &graph));
    cuStreamDestroy_v2(stream);
}

static void global_mode(void) {
    start();
    for (int action = 0; action < ACTIONS; action++) {
        act(action, GLOBAL);
    }
}

static void relaxed_mode(void) {
    static const int actions[] = {
        SYNCHRONIZE_STREAM, ALLOCATE, COPY, SYNCHRONIZE_CONTEXT, LAUNCH_IN_NULL_STREAM, FREE, LOAD_MODULE,
    };
    start();
    for (int i = 0; i < 7; i++) {
        act(actions[i], RELAXED);
    }
}

static void thread_local_mode(void) {
    start();
    for (int action = 0; action < ACTIONS; action++) {
        act(action, THREAD_LOCAL);
    }
}

static void *end_in_thread(void *stream) {
    CUgraph graph;
    NEED(cuCtxSetCurrent(context));
    CALL("end-in-other-thread", cuStreamEndCapture(stream, &graph));
    return NULL;
}

static void threads(void) {
    CUstream stream;
    pthread_t thread;
    CUgraph graph;
    start();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamBeginCapture_v2(stream, THREAD_LOCAL));
    pthread_create(&thread, NULL, end_in_thread, stream);
    pthread_join(thread, NULL);
    CALL("end-in-first-thread", cuStreamEndCapture(stream, &graph));
}

// Information about a capture, and changes of its dependencies.
static void information(void) {
    const CUgraphNode *dependencies = NULL;
    const CUgraphEdgeData *edges = NULL;
    CUstreamCaptureStatus status = -1;
    cuuint64_t id = 0, other_id = 0;
    CUgraph graph = NULL, ended = NULL;
    CUgraphNode node = NULL, added;
    size_t count = 77;
    CUstream stream;
    start();
    function("empty");
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    CALL("before", cuStreamGetCaptureInfo_v3(stream, &status, &id, &graph, &dependencies, &edges, &count));
    VALUE("before-status", "%d", status);
    NEED(cuStreamBeginCapture_v2(stream, RELAXED));
    CALL("begun", cuStreamGetCaptureInfo_v3(stream, &status, &id, &graph, &dependencies, &edges, &count));
    VALUE("begun-values", "status %d, graph %d, dependencies %zu", status, graph != NULL, count);
    NEED(launch_one(function("empty"), stream, NULL));
    CALL("launched", cuStreamGetCaptureInfo_v2(stream, &status, &other_id, &graph, &dependencies, &count));
    VALUE("launched-values", "status %d, dependencies %zu, same capture %d", status, count, id == other_id);
    if (count == 1 && dependencies) {
        node = dependencies[0];
    }
    CALL("only-status", cuStreamGetCaptureInfo_v3(stream, &status, NULL, NULL, NULL, NULL, NULL));
    CALL("status-null", cuStreamGetCaptureInfo_v3(stream, NULL, NULL, NULL, NULL, NULL, NULL));
    CALL("add-node-to-captured-graph", cuGraphAddEmptyNode(&added, graph, NULL, 0));
    CALL("add-dependency", cuStreamUpdateCaptureDependencies_v2(stream, &added, NULL, 1, 0));
    CALL("get-two", cuStreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &dependencies, &edges, &count));
    VALUE("dependencies-after-add", "%zu", count);
    CALL("set-dependency", cuStreamUpdateCaptureDependencies_v2(stream, &node, NULL, 1, 1));
    CALL("get-one", cuStreamGetCaptureInfo_v3(stream, &status, NULL, NULL, &dependencies, &edges, &count));
    VALUE("dependencies-after-set", "%zu", count);
    CALL("set-none", cuStreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 0, 1));
    CALL("set-flags-2", cuStreamUpdateCaptureDependencies_v2(stream, &node, NULL, 1, 2));
    CALL("set-version-1", cuStreamUpdateCaptureDependencies(stream, &node, 1, 1));
    CALL("end-capture", cuStreamEndCapture(stream, &ended));
    VALUE("ended-graph-same", "%d", ended == graph);
    VALUE("ended-nodes", "%zu", node_count(ended));
    CALL("update-after-end", cuStreamUpdateCaptureDependencies_v2(stream, &node, NULL, 1, 1));
    CALL("is-capturing-null-output", cuStreamIsCapturing(stream, NULL));
    CALL("is-capturing-null-stream", cuStreamIsCapturing(NULL, &status));
    CALL("end-output-null", cuStreamEndCapture(stream, NULL));
}

static void capture_to_graph(void) {
    CUgraph graph, ended = NULL, other;
    CUgraphNode root, foreign;
    CUstream stream;
    CUfunction kernel;
    size_t edges = 0;
    start();
    kernel = function("empty");
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphAddEmptyNode(&root, graph, NULL, 0));
    CALL("begin", cuStreamBeginCaptureToGraph(stream, graph, &root, NULL, 1, RELAXED));
    NEED(launch_one(kernel, stream, NULL));
    CALL("end-capture", cuStreamEndCapture(stream, &ended));
    VALUE("graph-same", "%d", ended == graph);
    VALUE("nodes", "%zu", node_count(graph));
    CALL("edges", cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
    VALUE("edge-count", "%zu", edges);
    CALL("begin-mode-9", cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, 9));
    CALL("begin-null-stream", cuStreamBeginCaptureToGraph(NULL, graph, NULL, NULL, 0, RELAXED));
    CALL("begin-null-graph", cuStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, RELAXED));
    NEED(cuGraphCreate(&other, 0));
    NEED(cuGraphAddEmptyNode(&foreign, other, NULL, 0));
    CALL("begin-after-foreign-node", cuStreamBeginCaptureToGraph(stream, graph, &foreign, NULL, 1, RELAXED));
}

static void exchanged_modes(void) {
    CUstreamCaptureMode mode = RELAXED;
    CUdeviceptr address;
    CUstream stream;
    CUgraph graph;
    start();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    CALL("exchange", cuThreadExchangeStreamCaptureMode(&mode));
    VALUE("exchanged", "%d", mode);
    NEED(cuStreamBeginCapture_v2(stream, GLOBAL));
    CALL("allocate-in-relaxed-thread", cuMemAlloc_v2(&address, 64));
    VALUE("status", "%d", status_of(stream));
    CALL("end-capture", cuStreamEndCapture(stream, &graph));
    mode = 9;
    CALL("exchange-9", cuThreadExchangeStreamCaptureMode(&mode));
}

int main(void) {
    RUN(states);
    RUN(captured_event);
    RUN(joined);
    RUN(unjoined);
    RUN(global_mode);
    RUN(relaxed_mode);
    RUN(thread_local_mode);
    RUN(threads);
    RUN(information);
    RUN(capture_to_graph);
    RUN(exchanged_modes);
}
