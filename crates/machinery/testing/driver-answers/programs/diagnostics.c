// The profiler, core dumps, and flushes of remote writes.

#include "answers.h"

static void profiler(void) {
    start();
    CALL("start", cuProfilerStart());
    CALL("start-again", cuProfilerStart());
    CALL("stop", cuProfilerStop());
    CALL("stop-again", cuProfilerStop());
}

static void profiler_without_context(void) {
    NEED(cuInit(0));
    CALL("start", cuProfilerStart());
    CALL("stop", cuProfilerStop());
}

static void core_dumps(void) {
    unsigned char enabled = 77;
    char path[1024] = "";
    size_t size;
    int flags = 77;
    start();
    size = sizeof enabled;
    CALL("get-on-exception", cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, &size));
    VALUE("on-exception", "%d, size %zu", enabled, size);
    size = sizeof enabled;
    CALL("get-global-on-exception", cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, &size));
    VALUE("global-on-exception", "%d", enabled);
    size = sizeof enabled;
    CALL("get-trigger-host", cuCoredumpGetAttribute(CU_COREDUMP_TRIGGER_HOST, &enabled, &size));
    VALUE("trigger-host", "%d", enabled);
    size = sizeof enabled;
    CALL("get-lightweight", cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &enabled, &size));
    VALUE("lightweight", "%d", enabled);
    size = sizeof path;
    CALL("get-file", cuCoredumpGetAttribute(CU_COREDUMP_FILE, path, &size));
    size = sizeof flags;
    CALL("get-generation-flags", cuCoredumpGetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    size = sizeof enabled;
    CALL("get-0", cuCoredumpGetAttribute(0, &enabled, &size));
    CALL("get-99", cuCoredumpGetAttribute(99, &enabled, &size));
    enabled = 1;
    size = sizeof enabled;
    CALL("set-lightweight", cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &enabled, &size));
    enabled = 77;
    CALL("get-lightweight-after", cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &enabled, &size));
    VALUE("lightweight-after", "%d", enabled);
    size = 0;
    CALL("get-size-0", cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &enabled, &size));
    size = sizeof enabled;
    CALL("set-99", cuCoredumpSetAttribute(99, &enabled, &size));
}

static void remote_writes(void) {
    start();
    CALL("to-owner", cuFlushGPUDirectRDMAWrites(0, 100));
    CALL("to-all-devices", cuFlushGPUDirectRDMAWrites(0, 200));
    CALL("scope-9", cuFlushGPUDirectRDMAWrites(0, 9));
    CALL("target-9", cuFlushGPUDirectRDMAWrites(9, 100));
}

int main(void) {
    RUN(profiler);
    RUN(profiler_without_context);
    RUN(core_dumps);
    RUN(remote_writes);
}
