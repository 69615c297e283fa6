// Streams: their properties, callbacks, attributes and destruction.

#include "answers.h"

static char order[16];
static int ordered;
static CUresult inside[3];

static void note(void *letter) {
    order[ordered++ % 15] = (char)(intptr_t)letter;
}

static void note_callback(CUstream stream, CUresult status, void *letter) {
    (void)stream;
    order[ordered++ % 15] = status == CUDA_SUCCESS ? (char)(intptr_t)letter : '!';
}

// Functions of the driver are not permitted in a host function.
static void call_driver(void *data) {
    CUdeviceptr address;
    (void)data;
    inside[0] = cuMemAlloc_v2(&address, 4);
    inside[1] = cuStreamQuery(NULL);
    inside[2] = cuCtxSynchronize();
}

static void properties(void) {
    CUstream stream = NULL, other = NULL;
    CUcontext owner;
    unsigned flags = 77;
    int priority = 77;
    start();
    CALL("query-null-stream", cuStreamQuery(NULL));
    CALL("query-legacy-stream", cuStreamQuery(CU_STREAM_LEGACY));
    CALL("query-per-thread-stream", cuStreamQuery(CU_STREAM_PER_THREAD));
    CALL("create-flags-0x80", cuStreamCreate(&stream, 0x80));
    CALL("create-null", cuStreamCreate(NULL, 0));
    CALL("create", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL("flags", cuStreamGetFlags(stream, &flags));
    VALUE("flags-value", "%u", flags);
    CALL("flags-of-null-stream", cuStreamGetFlags(NULL, &flags));
    VALUE("flags-of-null-stream-value", "%u", flags);
    CALL("flags-null", cuStreamGetFlags(stream, NULL));
    CALL("priority-of-null-stream", cuStreamGetPriority(NULL, &priority));
    VALUE("priority-of-null-stream-value", "%d", priority);
    CALL("create-priority-minus-100", cuStreamCreateWithPriority(&other, 0, -100));
    NEED(cuStreamGetPriority(other, &priority));
    VALUE("priority-minus-100-value", "%d", priority);
    CALL("create-priority-100", cuStreamCreateWithPriority(&other, 0, 100));
    NEED(cuStreamGetPriority(other, &priority));
    VALUE("priority-100-value", "%d", priority);
    CALL("context", cuStreamGetCtx(stream, &owner));
    VALUE("context-same", "%d", owner == context);
    CALL("context-of-null-stream", cuStreamGetCtx(NULL, &owner));
    VALUE("context-of-null-stream-same", "%d", owner == context);
    CALL("destroy-legacy-stream", cuStreamDestroy_v2(CU_STREAM_LEGACY));
    CALL("destroy-per-thread-stream", cuStreamDestroy_v2(CU_STREAM_PER_THREAD));
    CALL("destroy", cuStreamDestroy_v2(stream));
}

static void host_functions(void) {
    CUstream stream, blocking, other;
    start();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    other = new_stream(CU_STREAM_NON_BLOCKING);
    blocking = new_stream(CU_STREAM_DEFAULT);
    block(stream);
    CALL("query-busy", cuStreamQuery(stream));
    CALL("query-null-stream-beside-non-blocking", cuStreamQuery(NULL));
    CALL("query-other-beside-busy", cuStreamQuery(other));
    gate_open = 1;
    CALL("synchronize-context", cuCtxSynchronize());
    block(blocking);
    CALL("query-null-stream-beside-blocking", cuStreamQuery(NULL));
    gate_open = 1;
    NEED(cuCtxSynchronize());
    NEED(cuLaunchHostFunc(stream, note, (void *)'a'));
    NEED(cuStreamAddCallback(stream, note_callback, (void *)'b', 0));
    NEED(cuLaunchHostFunc(stream, note, (void *)'c'));
    NEED(cuStreamSynchronize(stream));
    VALUE("order", "%.3s", order);
    CALL("callback-flags-1", cuStreamAddCallback(stream, note_callback, NULL, 1));
    CALL("callback-null", cuStreamAddCallback(stream, NULL, NULL, 0));
    CALL("host-function-null", cuLaunchHostFunc(stream, NULL, NULL));
    NEED(cuLaunchHostFunc(stream, call_driver, NULL));
    NEED(cuStreamSynchronize(stream));
    CALL("allocate-in-host-function", inside[0]);
    CALL("query-in-host-function", inside[1]);
    CALL("synchronize-in-host-function", inside[2]);
}

// The order of host functions in several streams.
static void host_function_order(void) {
    CUstream one, two;
    CUevent event;
    start();
    one = new_stream(CU_STREAM_NON_BLOCKING);
    two = new_stream(CU_STREAM_NON_BLOCKING);
    event = new_event(0);
    block(one);
    NEED(cuLaunchHostFunc(one, note, (void *)'a'));
    NEED(cuEventRecord(event, one));
    CALL("wait-for-event", cuStreamWaitEvent(two, event, 0));
    CALL("launch-in-second-stream", cuLaunchHostFunc(two, note, (void *)'b'));
    CALL("query-second-stream", cuStreamQuery(two));
    gate_open = 1;
    CALL("synchronize-second-stream", cuStreamSynchronize(two));
    VALUE("order-by-event", "%s", order);
    ordered = 0;
    CALL("launch-in-null-stream", cuLaunchHostFunc(NULL, note, (void *)'c'));
    CALL("launch-in-legacy-stream", cuLaunchHostFunc(CU_STREAM_LEGACY, note, (void *)'d'));
    CALL("synchronize-null-stream", cuStreamSynchronize(NULL));
    VALUE("order-in-null-stream", "%.2s", order);
    CALL("launch-in-per-thread-stream", cuLaunchHostFunc(CU_STREAM_PER_THREAD, note, (void *)'e'));
    CALL("synchronize-per-thread-stream", cuStreamSynchronize(CU_STREAM_PER_THREAD));
    VALUE("last-letter", "%c", order[2]);
}

static void destroy_busy(void) {
    CUstream stream;
    start();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    block(stream);
    CALL("destroy", cuStreamDestroy_v2(stream));
    gate_open = 1;
    CALL("synchronize-context", cuCtxSynchronize());
}

static void destroy_null(void) {
    start();
    CALL("destroy", cuStreamDestroy_v2(NULL));
}

static void identities(void) {
    unsigned long long id = 0, other_id = 0, null_id = 0, legacy_id = 0;
    CUstream stream, other;
    CUdevice found = -7;
    CUcontext owner;
    CUgreenCtx green = (CUgreenCtx)1;
    start();
    stream = new_stream(0);
    other = new_stream(0);
    CALL("id", cuStreamGetId(stream, &id));
    CALL("id-of-other", cuStreamGetId(other, &other_id));
    VALUE("ids-differ", "%d", id != other_id);
    CALL("id-of-null-stream", cuStreamGetId(NULL, &null_id));
    CALL("id-of-legacy-stream", cuStreamGetId(CU_STREAM_LEGACY, &legacy_id));
    VALUE("legacy-id-is-null-id", "%d", legacy_id == null_id);
    CALL("id-null", cuStreamGetId(stream, NULL));
    CALL("device", cuStreamGetDevice(stream, &found));
    VALUE("device-value", "%d", found);
    CALL("device-of-null-stream", cuStreamGetDevice(NULL, &found));
    CALL("device-null", cuStreamGetDevice(stream, NULL));
    CALL("contexts", cuStreamGetCtx_v2(stream, &owner, &green));
    VALUE("contexts-values", "%d %d", owner == context, green == NULL);
    CALL("context-null", cuStreamGetCtx(stream, NULL));
    CALL("context-of-per-thread-stream", cuStreamGetCtx(CU_STREAM_PER_THREAD, &owner));
    CALL("priority-null", cuStreamGetPriority(stream, NULL));
    CALL("flags-of-per-thread-stream", cuStreamGetFlags(CU_STREAM_PER_THREAD, &(unsigned){0}));
}

static void attributes(void) {
    CUstreamAttrValue value;
    CUstream stream, other;
    start();
    stream = new_stream(0);
    other = new_stream(0);
    for (int id = 0; id <= 16; id++) {
        memset(&value, 0, sizeof value);
        if (CALL(label("get-%d", id), cuStreamGetAttribute(stream, id, &value)) == CUDA_SUCCESS) {
            VALUE(label("get-%d-value", id), "%d", value.priority);
        }
    }
    for (int id = 0; id <= 16; id++) {
        memset(&value, 0, sizeof value);
        CALL(label("set-%d-zero", id), cuStreamSetAttribute(stream, id, &value));
    }
    for (int policy = 1; policy <= 5; policy++) {
        value.priority = policy;
        CALL(label("set-synchronization-policy-%d", policy), cuStreamSetAttribute(stream, 3, &value));
    }
    value.priority = 2;
    NEED(cuStreamSetAttribute(stream, 3, &value));
    CALL("copy", cuStreamCopyAttributes(other, stream));
    value.priority = 77;
    CALL("get-copied-policy", cuStreamGetAttribute(other, 3, &value));
    VALUE("copied-policy", "%d", value.priority);
    CALL("copy-to-itself", cuStreamCopyAttributes(stream, stream));
    CALL("copy-to-null-stream", cuStreamCopyAttributes(NULL, stream));
    CALL("get-99", cuStreamGetAttribute(stream, 99, &value));
    CALL("set-99", cuStreamSetAttribute(stream, 99, &value));
    CALL("get-of-null-stream", cuStreamGetAttribute(NULL, 3, &value));
    value.priority = -1;
    CALL("set-priority", cuStreamSetAttribute(stream, 8, &value));
    CALL("get-priority", cuStreamGetAttribute(stream, 8, &value));
    VALUE("priority-value", "%d", value.priority);
}

int main(void) {
    RUN(properties);
    RUN(host_functions);
    RUN(host_function_order);
    RUN(identities);
    RUN(attributes);
    RUN(destroy_busy);
    RUN(destroy_null);
}
