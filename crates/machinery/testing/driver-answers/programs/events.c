// Events: recording, elapsed times, waits, and events of other contexts.

#include "answers.h"
#include "kernels.h"

static void recording(void) {
    CUevent begin, end, untimed, created;
    CUstream stream;
    float milliseconds = -1;
    start();
    begin = new_event(0);
    end = new_event(0);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    CALL("elapsed-unrecorded", cuEventElapsedTime_v2(&milliseconds, begin, end));
    CALL("query-unrecorded", cuEventQuery(begin));
    CALL("synchronize-unrecorded", cuEventSynchronize(begin));
    CALL("wait-unrecorded", cuStreamWaitEvent(stream, begin, 0));
    CALL("record", cuEventRecord(begin, stream));
    CALL("elapsed-end-unrecorded", cuEventElapsedTime_v2(&milliseconds, begin, end));
    block(stream);
    NEED(cuEventRecord(end, stream));
    CALL("query-pending", cuEventQuery(end));
    CALL("elapsed-pending", cuEventElapsedTime_v2(&milliseconds, begin, end));
    CALL("query-stream-pending", cuStreamQuery(stream));
    usleep(300000);
    gate_open = 1;
    CALL("synchronize", cuEventSynchronize(end));
    CALL("elapsed", cuEventElapsedTime_v2(&milliseconds, begin, end));
    VALUE("elapsed-at-least-15-ms", "%d", milliseconds > 15);
    CALL("elapsed-reversed", cuEventElapsedTime_v2(&milliseconds, end, begin));
    VALUE("elapsed-reversed-negative", "%d", milliseconds < 0);
    CALL("elapsed-same", cuEventElapsedTime_v2(&milliseconds, begin, begin));
    VALUE("elapsed-same-value", "%g", milliseconds);
    CALL("elapsed-null", cuEventElapsedTime_v2(NULL, begin, end));
    untimed = new_event(CU_EVENT_DISABLE_TIMING);
    NEED(cuEventRecord(untimed, stream));
    NEED(cuEventSynchronize(untimed));
    CALL("elapsed-untimed", cuEventElapsedTime_v2(&milliseconds, begin, untimed));
    CALL("create-interprocess-timed", cuEventCreate(&created, CU_EVENT_INTERPROCESS));
    CALL("create-interprocess", cuEventCreate(&created, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    CALL("create-flags-0x80", cuEventCreate(&created, 0x80));
    CALL("create-null", cuEventCreate(NULL, 0));
    CALL("wait-flags-0x80", cuStreamWaitEvent(stream, begin, 0x80));
    CALL("record-in-legacy-stream", cuEventRecord(begin, CU_STREAM_LEGACY));
    CALL("record-in-per-thread-stream", cuEventRecord(begin, CU_STREAM_PER_THREAD));
    CALL("record-with-flags-0", cuEventRecordWithFlags(begin, stream, 0));
    CALL("record-external-outside-capture", cuEventRecordWithFlags(begin, stream, 1));
    CALL("record-with-flags-2", cuEventRecordWithFlags(begin, stream, 2));
    CALL("wait-external-outside-capture", cuStreamWaitEvent(stream, begin, CU_EVENT_WAIT_EXTERNAL));
    cuStreamSynchronize(stream);
    CALL("elapsed-version-1", cuEventElapsedTime(&milliseconds, begin, end));
    CALL("destroy", cuEventDestroy_v2(begin));
}

static void no_event(void) {
    float milliseconds;
    start();
    CALL("destroy", cuEventDestroy_v2(NULL));
    CALL("query", cuEventQuery(NULL));
    CALL("record", cuEventRecord(NULL, NULL));
    CALL("wait", cuStreamWaitEvent(NULL, NULL, 0));
    CALL("elapsed", cuEventElapsedTime_v2(&milliseconds, NULL, NULL));
}

static void other_contexts(void) {
    CUevent event, other_event;
    CUstream stream, other_stream;
    CUcontext other;
    float milliseconds;
    start();
    event = new_event(0);
    stream = new_stream(0);
    NEED(cuCtxCreate_v2(&other, 0, 0));
    other_event = new_event(0);
    other_stream = new_stream(0);
    CALL("record-in-stream-of-other-context", cuEventRecord(event, other_stream));
    CALL("record-other-in-stream", cuEventRecord(other_event, stream));
    CALL("record-while-other-is-current", cuEventRecord(event, stream));
    CALL("wait-in-stream-of-other-context", cuStreamWaitEvent(other_stream, event, 0));
    CALL("synchronize-while-other-is-current", cuStreamSynchronize(stream));
    NEED(cuEventRecord(other_event, other_stream));
    CALL("elapsed-between-contexts", cuEventElapsedTime_v2(&milliseconds, event, other_event));
    CALL("record-in-null-stream-of-other-context", cuEventRecord(event, NULL));
}

static void destroy_pending(void) {
    CUevent event;
    CUstream stream;
    start();
    event = new_event(0);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    block(stream);
    NEED(cuEventRecord(event, stream));
    CALL("destroy", cuEventDestroy_v2(event));
    gate_open = 1;
    CALL("synchronize", cuStreamSynchronize(stream));
}

// Work that does not wait for a busy stream.
static void beside_a_busy_stream(void) {
    CUstream busy, other;
    CUdeviceptr memory;
    CUfunction kernel;
    int copied;
    start();
    busy = new_stream(CU_STREAM_NON_BLOCKING);
    other = new_stream(CU_STREAM_NON_BLOCKING);
    kernel = function("empty");
    block(busy);
    NEED(launch_one(kernel, other, NULL));
    CALL("synchronize-other-stream", cuStreamSynchronize(other));
    CALL("allocate", cuMemAlloc_v2(&memory, 64));
    CALL("memset-in-null-stream", cuMemsetD8_v2(memory, 0, 64));
    CALL("copy-to-host", cuMemcpyDtoH_v2(&copied, memory, 4));
    gate_open = 1;
    CALL("synchronize", cuStreamSynchronize(busy));
}

int main(void) {
    RUN(recording);
    RUN(destroy_pending);
    RUN(beside_a_busy_stream);
    RUN(other_contexts);
    RUN(no_event);
}
