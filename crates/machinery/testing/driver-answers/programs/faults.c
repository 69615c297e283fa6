// Faults of kernels and the calls after them.

#include "answers.h"
#include "kernels.h"

// Launches a kernel that stores 4 bytes at an address. The module is loaded first, while the context is usable.
static void store_at(CUdeviceptr address) {
    void *arguments[] = {&address};
    CUfunction kernel = function("store");
    CALL("launch", launch_one(kernel, NULL, arguments));
}

static void null_address(void) {
    CUfunction found;
    CUdeviceptr address;
    CUcontext other;
    start();
    store_at(0);
    CALL("synchronize", cuCtxSynchronize());
    CALL("get-function", cuModuleGetFunction(&found, kernels, "empty"));
    CALL("allocate", cuMemAlloc_v2(&address, 4));
    CALL("free-null", cuMemFree_v2(0));
    CALL("unload", cuModuleUnload(kernels));
    CALL("destroy", cuCtxDestroy_v2(context));
    CALL("create-other", cuCtxCreate_v2(&other, 0, 0));
    CALL("allocate-in-other", cuMemAlloc_v2(&address, 4));
    CALL("synchronize-other", cuCtxSynchronize());
}

static void misaligned_address(void) {
    CUdeviceptr address;
    start();
    store_at(allocate(64) + 2);
    CALL("synchronize", cuCtxSynchronize());
    CALL("allocate", cuMemAlloc_v2(&address, 4));
    CALL("query-stream", cuStreamQuery(NULL));
}

static void trap(void) {
    CUdeviceptr address;
    start();
    CALL("launch", launch_one(function("trapping"), NULL, NULL));
    CALL("synchronize", cuCtxSynchronize());
    CALL("allocate", cuMemAlloc_v2(&address, 4));
}

static void host_address(void) {
    static int variable;
    start();
    store_at((CUdeviceptr)&variable);
    CALL("synchronize", cuCtxSynchronize());
}

static void freed_memory(void) {
    CUdeviceptr address;
    start();
    address = allocate(4 << 20);
    NEED(cuMemFree_v2(address));
    store_at(address);
    CALL("synchronize", cuCtxSynchronize());
}

static void two_contexts(void) {
    CUdeviceptr address;
    CUcontext other;
    start();
    NEED(cuCtxCreate_v2(&other, 0, 0));
    NEED(cuCtxSetCurrent(context));
    store_at(0);
    CALL("synchronize", cuCtxSynchronize());
    NEED(cuCtxSetCurrent(other));
    CALL("synchronize-other", cuCtxSynchronize());
    CALL("allocate-in-other", cuMemAlloc_v2(&address, 4));
}

// Addresses outside an allocation but within the granularity of allocations, which the hardware does not detect.
static void store_of_4_bytes_to_2(void) {
    start();
    store_at(allocate(2));
    CALL("synchronize", cuCtxSynchronize());
}

static void store_past_100_bytes(void) {
    start();
    store_at(allocate(100) + 100);
    CALL("synchronize", cuCtxSynchronize());
}

static void use_dynamic_shared(unsigned size) {
    CUdeviceptr result;
    void *arguments[] = {&result};
    start();
    result = allocate(64);
    CALL("launch", cuLaunchKernel(function("dynamic_shared"), 1, 1, 1, 1, 1, 1, size, NULL, arguments, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

static void no_dynamic_shared_memory(void) {
    use_dynamic_shared(0);
}

static void dynamic_shared_memory_of_2_bytes(void) {
    use_dynamic_shared(2);
}

// Calls after a fault that wait for no kernel.
static void calls_after_a_fault(void) {
    CUevent event, other_event;
    CUstream stream, other_stream;
    CUdevice found;
    CUmodule module;
    CUgraph graph;
    CUcontext one;
    unsigned flags;
    size_t size;
    int version;
    start();
    event = new_event(0);
    stream = new_stream(0);
    store_at(0);
    CALL("synchronize", cuCtxSynchronize());
    CALL("synchronize-again", cuCtxSynchronize());
    CALL("synchronize-stream", cuStreamSynchronize(stream));
    CALL("query-other-stream", cuStreamQuery(stream));
    CALL("record-event", cuEventRecord(event, stream));
    CALL("query-event", cuEventQuery(event));
    CALL("create-event", cuEventCreate(&other_event, 0));
    CALL("create-stream", cuStreamCreate(&other_stream, 0));
    CALL("load-module", cuModuleLoadData(&module, KERNELS));
    CALL("create-graph", cuGraphCreate(&graph, 0));
    CALL("context-flags", cuCtxGetFlags(&flags));
    CALL("context-device", cuCtxGetDevice(&found));
    CALL("context-limit", cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE));
    CALL("current-context", cuCtxGetCurrent(&one));
    CALL("driver-version", cuDriverGetVersion(&version));
    CALL("device-count", cuDeviceGetCount(&version));
    CALL("destroy-event", cuEventDestroy_v2(event));
    CALL("destroy-stream", cuStreamDestroy_v2(stream));
}

int main(void) {
    RUN(null_address);
    RUN(misaligned_address);
    RUN(trap);
    RUN(host_address);
    RUN(freed_memory);
    RUN(two_contexts);
    RUN(store_of_4_bytes_to_2);
    RUN(store_past_100_bytes);
    RUN(no_dynamic_shared_memory);
    RUN(dynamic_shared_memory_of_2_bytes);
    RUN(calls_after_a_fault);
}
