// Contexts: their stack, flags, threads and destruction, and primary contexts.

#include "answers.h"

static CUcontext first, second;

// Names a context without its address.
static const char *which(CUcontext one) {
    return !one ? "none" : one == first ? "first" : one == second ? "second" : "other";
}

static const char *current(void) {
    CUcontext one = NULL;
    NEED(cuCtxGetCurrent(&one));
    return which(one);
}

static void two_contexts(void) {
    NEED(cuInit(0));
    NEED(cuCtxCreate_v2(&first, 0, 0));
    NEED(cuCtxCreate_v2(&second, 0, 0));
}

static void stack(void) {
    CUcontext popped;
    NEED(cuInit(0));
    CALL("create-first", cuCtxCreate_v2(&first, 0, 0));
    CALL("create-second", cuCtxCreate_v2(&second, CU_CTX_SCHED_BLOCKING_SYNC, 0));
    VALUE("current", "%s", current());
    CALL("push-first", cuCtxPushCurrent_v2(first));
    CALL("push-first-again", cuCtxPushCurrent_v2(first));
    for (int i = 1; i <= 3; i++) {
        CALL(label("pop-%d", i), cuCtxPopCurrent_v2(&popped));
        VALUE(label("popped-%d", i), "%s", which(popped));
    }
    CALL("pop-null", cuCtxPopCurrent_v2(NULL));
    VALUE("current-after-pops", "%s", current());
    CALL("pop-empty", cuCtxPopCurrent_v2(&popped));
    CALL("push-null", cuCtxPushCurrent_v2(NULL));
    CALL("set-second", cuCtxSetCurrent(second));
    CALL("set-first-replaces", cuCtxSetCurrent(first));
    CALL("pop-replaced", cuCtxPopCurrent_v2(&popped));
    VALUE("popped-replaced", "%s", which(popped));
    CALL("pop-empty-again", cuCtxPopCurrent_v2(&popped));
    NEED(cuCtxPushCurrent_v2(first));
    NEED(cuCtxPushCurrent_v2(second));
    CALL("set-null-pops", cuCtxSetCurrent(NULL));
    VALUE("current-after-set-null", "%s", current());
}

static void destruction(void) {
    CUdeviceptr address, other;
    CUcontext one;
    NEED(cuInit(0));
    NEED(cuCtxCreate_v2(&first, 0, 0));
    NEED(cuMemAlloc_v2(&address, 64));
    NEED(cuCtxCreate_v2(&second, 0, 0));
    CALL("destroy-below-top", cuCtxDestroy_v2(first));
    VALUE("current", "%s", current());
    CALL("memory-of-destroyed", cuMemsetD8_v2(address, 0, 64));
    CALL("destroy-top", cuCtxDestroy_v2(second));
    CALL("get-current", cuCtxGetCurrent(&one));
    VALUE("current-after", "%s", which(one));
    CALL("synchronize", cuCtxSynchronize());
    CALL("allocate", cuMemAlloc_v2(&other, 64));
    CALL("destroy-null", cuCtxDestroy_v2(NULL));
}

// NVIDIA's driver returns one of two errors, from run to run.
static void destroy_again(void) {
    NEED(cuInit(0));
    NEED(cuCtxCreate_v2(&first, 0, 0));
    NEED(cuCtxDestroy_v2(first));
    VARYING("destroy", "%s", status_name(cuCtxDestroy_v2(first)));
}

static void arguments(void) {
    CUcontext created;
    unsigned value = 77;
    NEED(cuInit(0));
    CALL("flags-ffff", cuCtxCreate_v2(&created, 0xffff, 0));
    CALL("schedule-3", cuCtxCreate_v2(&created, 3, 0));
    CALL("device-99", cuCtxCreate_v2(&created, 0, 99));
    CALL("create-null", cuCtxCreate_v2(NULL, 0, 0));
    NEED(cuCtxCreate_v2(&created, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST, 0));
    CALL("flags", cuCtxGetFlags(&value));
    VALUE("flags-value", "0x%x", value);
    CALL("flags-null", cuCtxGetFlags(NULL));
    CALL("version", cuCtxGetApiVersion(created, &value));
    VALUE("version-value", "%u", value);
    CALL("version-of-null", cuCtxGetApiVersion(NULL, &value));
    CALL("get-device-null", cuCtxGetDevice(NULL));
    CALL("get-current-null", cuCtxGetCurrent(NULL));
}

static void *use_in_thread(void *shared) {
    CUcontext one = (CUcontext)1;
    CUdeviceptr address;
    CALL("get-in-thread", cuCtxGetCurrent(&one));
    VALUE("none-in-thread", "%d", one == NULL);
    CALL("allocate-before-set", cuMemAlloc_v2(&address, 4));
    CALL("set-in-thread", cuCtxSetCurrent(shared));
    CALL("allocate-after-set", cuMemAlloc_v2(&address, 4));
    return NULL;
}

static void threads(void) {
    CUcontext one;
    pthread_t thread;
    start();
    pthread_create(&thread, NULL, use_in_thread, context);
    pthread_join(thread, NULL);
    CALL("get-after-thread", cuCtxGetCurrent(&one));
    VALUE("unchanged", "%d", one == context);
}

static void primary(void) {
    CUcontext retained, again;
    CUdeviceptr address;
    unsigned flags = 77;
    int active = -1;
    NEED(cuInit(0));
    CALL("state", cuDevicePrimaryCtxGetState(0, &flags, &active));
    VALUE("state-values", "flags %u, active %d", flags, active);
    CALL("set-flags", cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_YIELD));
    CALL("set-flags-ffff", cuDevicePrimaryCtxSetFlags_v2(0, 0xffff));
    CALL("release-unretained", cuDevicePrimaryCtxRelease_v2(0));
    CALL("retain", cuDevicePrimaryCtxRetain(&retained, 0));
    CALL("retain-twice", cuDevicePrimaryCtxRetain(&again, 0));
    VALUE("retained-same", "%d", retained == again);
    CALL("state-retained", cuDevicePrimaryCtxGetState(0, &flags, &active));
    VALUE("state-retained-values", "flags %u, active %d", flags, active);
    CALL("set-flags-while-active", cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_SPIN));
    CALL("allocate-before-set-current", cuMemAlloc_v2(&address, 4));
    NEED(cuCtxSetCurrent(retained));
    CALL("allocate", cuMemAlloc_v2(&address, 4));
    CALL("release", cuDevicePrimaryCtxRelease_v2(0));
    CALL("allocate-after-release", cuMemAlloc_v2(&address, 4));
    CALL("release-last", cuDevicePrimaryCtxRelease_v2(0));
    CALL("state-released", cuDevicePrimaryCtxGetState(0, &flags, &active));
    VALUE("state-released-active", "%d", active);
    CALL("allocate-after-last-release", cuMemAlloc_v2(&address, 4));
    CALL("release-too-often", cuDevicePrimaryCtxRelease_v2(0));
    CALL("retain-again", cuDevicePrimaryCtxRetain(&again, 0));
    VALUE("retained-again-same", "%d", retained == again);
    CALL("allocate-retained-again", cuMemAlloc_v2(&address, 4));
    CALL("retain-device-99", cuDevicePrimaryCtxRetain(&again, 99));
    CALL("retain-null", cuDevicePrimaryCtxRetain(NULL, 0));
    CALL("state-null", cuDevicePrimaryCtxGetState(0, NULL, NULL));
}

static void destroy_primary(void) {
    CUdeviceptr address;
    NEED(cuInit(0));
    NEED(cuDevicePrimaryCtxRetain(&first, 0));
    NEED(cuCtxSetCurrent(first));
    CALL("destroy", cuCtxDestroy_v2(first));
    CALL("allocate", cuMemAlloc_v2(&address, 4));
}

static void reset_primary(void) {
    CUdeviceptr address, other;
    unsigned flags;
    int active = -1;
    NEED(cuInit(0));
    NEED(cuDevicePrimaryCtxRetain(&first, 0));
    NEED(cuCtxSetCurrent(first));
    NEED(cuMemAlloc_v2(&address, 64));
    CALL("reset", cuDevicePrimaryCtxReset_v2(0));
    CALL("state", cuDevicePrimaryCtxGetState(0, &flags, &active));
    VALUE("active", "%d", active);
    CALL("memory-of-before", cuMemsetD8_v2(address, 1, 64));
    CALL("allocate", cuMemAlloc_v2(&other, 4));
    CALL("retain", cuDevicePrimaryCtxRetain(&first, 0));
    NEED(cuCtxSetCurrent(first));
    CALL("allocate-after-retain", cuMemAlloc_v2(&other, 4));
}

// Functions of contexts that CUDA 11 and 12 introduced.
static void recent(void) {
    unsigned long long id = 0, other_id = 0;
    unsigned flags = 77;
    CUexecAffinityParam affinity;
    two_contexts();
    CALL("id", cuCtxGetId(first, &id));
    CALL("id-of-second", cuCtxGetId(second, &other_id));
    VALUE("ids-differ", "%d", id != other_id);
    CALL("id-of-current", cuCtxGetId(NULL, &id));
    VALUE("id-of-current-is-second", "%d", id == other_id);
    CALL("id-null", cuCtxGetId(first, NULL));
    CALL("set-flags-yield", cuCtxSetFlags(CU_CTX_SCHED_YIELD));
    CALL("get-flags", cuCtxGetFlags(&flags));
    VALUE("flags-after", "0x%x", flags);
    CALL("set-flags-ffff", cuCtxSetFlags(0xffff));
    CALL("set-flags-schedule-3", cuCtxSetFlags(3));
    CALL("version-null", cuCtxGetApiVersion(first, NULL));
    CALL("reset-persisting-l2", cuCtxResetPersistingL2Cache());
    CALL("affinity", cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    CALL("affinity-9", cuCtxGetExecAffinity(&affinity, 9));
    CALL("affinity-null", cuCtxGetExecAffinity(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    CALL("create-with-parameters", cuCtxCreate_v4(&first, NULL, 0, 0));
    CALL("create-with-no-affinities", cuCtxCreate_v3(&first, NULL, 0, 0, 0));
    CALL("create-with-parameters-flags-ffff", cuCtxCreate_v4(&first, NULL, 0xffff, 0));
    CALL("create-with-parameters-device-99", cuCtxCreate_v4(&first, NULL, 0, 99));
}

static void events_of_contexts(void) {
    CUevent event, timed;
    CUcontext other;
    start();
    event = new_event(CU_EVENT_DISABLE_TIMING);
    timed = new_event(0);
    CALL("record", cuCtxRecordEvent(context, event));
    CALL("record-timed", cuCtxRecordEvent(context, timed));
    CALL("wait", cuCtxWaitEvent(context, event));
    CALL("query", cuEventQuery(event));
    CALL("record-null-event", cuCtxRecordEvent(context, NULL));
    CALL("wait-null-event", cuCtxWaitEvent(context, NULL));
    NEED(cuCtxCreate_v2(&other, 0, 0));
    CALL("record-event-of-other-context", cuCtxRecordEvent(other, event));
    CALL("wait-for-event-of-other-context", cuCtxWaitEvent(other, event));
    CALL("synchronize", cuCtxSynchronize());
}

int main(void) {
    RUN(stack);
    RUN(destruction);
    RUN(arguments);
    RUN(threads);
    RUN(destroy_again);
    RUN(primary);
    RUN(destroy_primary);
    RUN(reset_primary);
    RUN(recent);
    RUN(events_of_contexts);
}
