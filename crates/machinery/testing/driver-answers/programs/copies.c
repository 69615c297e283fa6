// Copies between host memory and device memory, within device memory, and between contexts.

#include "answers.h"

// An offset that lies outside the allocations of these programs.
#define FAR ((CUdeviceptr)512 << 20)

static char host[4096];

static void linear(void) {
    CUdeviceptr one, two;
    start();
    one = allocate(100);
    two = allocate(100);
    memset(host, 1, 256);
    CALL("to-device-no-bytes", cuMemcpyHtoD_v2(one, host, 0));
    CALL("to-device-no-bytes-null", cuMemcpyHtoD_v2(0, NULL, 0));
    CALL("to-device", cuMemcpyHtoD_v2(one, host, 100));
    CALL("to-device-far-outside", cuMemcpyHtoD_v2(one + FAR, host, 200));
    CALL("to-null", cuMemcpyHtoD_v2(0, host, 4));
    CALL("from-null", cuMemcpyHtoD_v2(one, NULL, 4));
    CALL("from-unknown", cuMemcpyDtoH_v2(host, 0x1234, 4));
    CALL("within-device", cuMemcpyDtoD_v2(two, one, 100));
    CALL("overlapping", cuMemcpyDtoD_v2(one + 1, one, 50));
    CALL("host-address-as-device", cuMemcpyDtoD_v2(one, (CUdeviceptr)host, 4));
    CALL("unified-to-device", cuMemcpy(one, (CUdeviceptr)host, 100));
    memset(host, 0, 256);
    CALL("unified-to-host", cuMemcpy((CUdeviceptr)host, one, 100));
    VALUE("unified-to-host-value", "%d", host[99]);
    CALL("unified-within-host", cuMemcpy((CUdeviceptr)host, (CUdeviceptr)(host + 128), 100));
    VALUE("unified-within-host-value", "%d", host[99]);
    CALL("device-address-as-source", cuMemcpyHtoD_v2(one, (void *)two, 50));
    CALL("device-address-as-destination", cuMemcpyDtoH_v2((void *)two, one, 50));
    CALL("asynchronous-pageable", cuMemcpyHtoDAsync_v2(one, host, 100, NULL));
    CALL("asynchronous-far-outside", cuMemcpyHtoDAsync_v2(one + FAR, host, 200, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

static void past_end(void) {
    CUdeviceptr address;
    start();
    address = allocate(100);
    CALL("to-device-101-of-100", cuMemcpyHtoD_v2(address, host, 101));
    CALL("to-device-513-of-100", cuMemcpyHtoD_v2(address, host, 513));
    CALL("to-host-from-before", cuMemcpyDtoH_v2(host, address - 1, 4));
    CALL("memset-101-of-100", cuMemsetD8_v2(address, 0, 101));
    CALL("synchronize", cuCtxSynchronize());
}

static void peers(void) {
    CUdeviceptr mine, theirs;
    CUcontext other;
    int can = -1;
    start();
    mine = allocate(64);
    NEED(cuCtxCreate_v2(&other, 0, 0));
    theirs = allocate(64);
    CALL("copy-on-one-device", cuMemcpyPeer(theirs, other, mine, context, 64));
    CALL("copy-to-null-context", cuMemcpyPeer(theirs, NULL, mine, context, 64));
    CALL("can-access-itself", cuDeviceCanAccessPeer(&can, 0, 0));
    VALUE("can-access-itself-value", "%d", can);
    CALL("can-access-device-99", cuDeviceCanAccessPeer(&can, 0, 99));
    CALL("enable-own-context", cuCtxEnablePeerAccess(other, 0));
    CALL("enable-context-of-same-device", cuCtxEnablePeerAccess(context, 0));
    CALL("enable-flags-1", cuCtxEnablePeerAccess(context, 1));
    CALL("disable-not-enabled", cuCtxDisablePeerAccess(context));
    CALL("memset-memory-of-other-context", cuMemsetD8_v2(mine, 3, 64));
    CALL("free-memory-of-other-context", cuMemFree_v2(mine));
}

// Asynchronous copies with their values.
static void asynchronous(void) {
    CUdeviceptr one, two;
    CUstream stream;
    int *pinned;
    start();
    one = allocate(256);
    two = allocate(256);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemAllocHost_v2((void **)&pinned, 256));
    pinned[0] = 11;
    pinned[1] = 0;
    CALL("to-device", cuMemcpyHtoDAsync_v2(one, pinned, 4, stream));
    CALL("within-device", cuMemcpyDtoDAsync_v2(two, one, 4, stream));
    CALL("to-host", cuMemcpyDtoHAsync_v2(pinned + 1, two, 4, stream));
    CALL("synchronize", cuStreamSynchronize(stream));
    VALUE("value", "%d", pinned[1]);
    pinned[0] = 12;
    CALL("unified-to-device", cuMemcpyAsync(one, (CUdeviceptr)pinned, 4, stream));
    CALL("unified-to-host", cuMemcpyAsync((CUdeviceptr)(pinned + 1), one, 4, stream));
    CALL("synchronize-again", cuStreamSynchronize(stream));
    VALUE("unified-value", "%d", pinned[1]);
    CALL("to-device-no-bytes", cuMemcpyHtoDAsync_v2(one, pinned, 0, stream));
    CALL("to-device-no-bytes-null", cuMemcpyHtoDAsync_v2(0, NULL, 0, stream));
    CALL("to-null", cuMemcpyHtoDAsync_v2(0, pinned, 4, stream));
    CALL("to-host-from-null", cuMemcpyDtoHAsync_v2(pinned, 0, 4, stream));
    CALL("to-host-from-unknown", cuMemcpyDtoHAsync_v2(pinned, 0x1234, 4, stream));
    CALL("within-device-from-null", cuMemcpyDtoDAsync_v2(one, 0, 4, stream));
    CALL("within-device-257-of-256", cuMemcpyDtoDAsync_v2(one, two, 257, stream));
    CALL("within-device-no-bytes", cuMemcpyDtoDAsync_v2(one, two, 0, stream));
    CALL("unified-from-null", cuMemcpyAsync(one, 0, 4, stream));
    CALL("unified-no-bytes", cuMemcpyAsync(one, two, 0, stream));
    CALL("per-thread-stream", cuMemcpyDtoDAsync_v2(one, two, 4, CU_STREAM_PER_THREAD));
    CALL("legacy-stream", cuMemcpyDtoDAsync_v2(one, two, 4, CU_STREAM_LEGACY));
    CALL("synchronize-at-end", cuCtxSynchronize());
}

static void peers_asynchronous(void) {
    CUdeviceptr mine, theirs;
    CUcontext other;
    CUstream stream;
    CUDA_MEMCPY3D_PEER copy;
    start();
    mine = allocate(64);
    NEED(cuMemsetD8_v2(mine, 5, 64));
    NEED(cuCtxCreate_v2(&other, 0, 0));
    theirs = allocate(64);
    stream = new_stream(0);
    CALL("copy", cuMemcpyPeerAsync(theirs, other, mine, context, 64, stream));
    VALUE("copy-value", "%u", byte_at(theirs));
    CALL("copy-no-bytes", cuMemcpyPeerAsync(theirs, other, mine, context, 0, stream));
    CALL("copy-from-null", cuMemcpyPeerAsync(theirs, other, 0, context, 64, stream));
    CALL("copy-65-of-64", cuMemcpyPeerAsync(theirs, other, mine, context, 65, stream));
    CALL("copy-from-null-context", cuMemcpyPeerAsync(theirs, other, mine, NULL, 64, stream));
    CALL("copy-with-contexts-exchanged", cuMemcpyPeerAsync(theirs, context, mine, other, 64, stream));
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = mine;
    copy.dstDevice = theirs;
    copy.srcContext = context;
    copy.dstContext = other;
    copy.srcPitch = copy.dstPitch = 16;
    copy.srcHeight = copy.dstHeight = 2;
    copy.WidthInBytes = 8;
    copy.Height = copy.Depth = 2;
    NEED(cuMemsetD8_v2(mine, 6, 64));
    CALL("3d", cuMemcpy3DPeer(&copy));
    VALUE("3d-values", "%u %u %u", byte_at(theirs + 7), byte_at(theirs + 8), byte_at(theirs + 48));
    CALL("3d-asynchronous", cuMemcpy3DPeerAsync(&copy, stream));
    copy.dstPitch = 4;
    CALL("3d-pitch-below-width", cuMemcpy3DPeer(&copy));
    copy.dstPitch = 16;
    copy.srcLOD = 1;
    CALL("3d-level-of-detail-1", cuMemcpy3DPeer(&copy));
    copy.srcLOD = 0;
    copy.Depth = 0;
    CALL("3d-depth-0", cuMemcpy3DPeer(&copy));
    copy.Depth = 2;
    copy.dstMemoryType = 9;
    CALL("3d-type-9", cuMemcpy3DPeer(&copy));
    CALL("synchronize", cuCtxSynchronize());
}

// Batches of copies: cuMemcpyBatchAsync of CUDA 13, which reports no failing copy.
static void batches(void) {
    CUdeviceptr from, to;
    CUstream stream;
    CUdeviceptr destinations[2], sources[2];
    size_t sizes[2] = {4, 4}, starts[2] = {0, 1};
    CUmemcpyAttributes attributes[2];
    start();
    from = allocate(64);
    to = allocate(64);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemsetD32_v2(from, 21, 16));
    NEED(cuCtxSynchronize());
    memset(attributes, 0, sizeof attributes);
    attributes[0].srcAccessOrder = attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    destinations[0] = to;
    destinations[1] = to + 16;
    sources[0] = from;
    sources[1] = from + 4;
    CALL("two-copies", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 1, stream));
    VALUE("two-copies-values", "%u %u %u", word_at(to), word_at(to + 4), word_at(to + 16));
    CALL("two-attributes", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 2, stream));
    CALL("no-copies", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 0, attributes, starts, 1, stream));
    CALL("no-attributes", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 0, stream));
    CALL("more-attributes-than-copies",
         cuMemcpyBatchAsync_v2(destinations, sources, sizes, 1, attributes, starts, 2, stream));
    CALL("null-stream", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 1, NULL));
    starts[0] = 1;
    CALL("first-attribute-not-at-0",
         cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 1, stream));
    starts[0] = 0;
    attributes[0].srcAccessOrder = 0;
    CALL("access-order-0", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 1, stream));
    attributes[0].srcAccessOrder = 9;
    CALL("access-order-9", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 1, stream));
    attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
    CALL("access-order-any", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 1, stream));
    sizes[1] = 0;
    CALL("copy-of-no-bytes", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 1, stream));
    sizes[1] = 4;
    sources[1] = 0;
    CALL("copy-from-null", cuMemcpyBatchAsync_v2(destinations, sources, sizes, 2, attributes, starts, 1, stream));
    CALL("synchronize", cuCtxSynchronize());
}

static void batches_3d(void) {
    CUdeviceptr from, to;
    CUstream stream;
    CUDA_MEMCPY3D_BATCH_OP copy;
    start();
    from = allocate(64);
    to = allocate(64);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemsetD8_v2(from, 9, 64));
    NEED(cuCtxSynchronize());
    memset(&copy, 0, sizeof copy);
    copy.src.type = copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.src.op.ptr.ptr = from;
    copy.dst.op.ptr.ptr = to;
    copy.src.op.ptr.rowLength = copy.dst.op.ptr.rowLength = 16;
    copy.src.op.ptr.layerHeight = copy.dst.op.ptr.layerHeight = 2;
    copy.extent.width = 8;
    copy.extent.height = copy.extent.depth = 2;
    copy.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CALL("copy", cuMemcpy3DBatchAsync_v2(1, &copy, 0, stream));
    VALUE("copy-values", "%u %u %u", byte_at(to + 7), byte_at(to + 8), byte_at(to + 55));
    CALL("no-copies", cuMemcpy3DBatchAsync_v2(0, &copy, 0, stream));
    CALL("flags-1", cuMemcpy3DBatchAsync_v2(1, &copy, 1, stream));
    CALL("null-stream", cuMemcpy3DBatchAsync_v2(1, &copy, 0, NULL));
    copy.src.type = 9;
    CALL("operand-type-9", cuMemcpy3DBatchAsync_v2(1, &copy, 0, stream));
    copy.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.src.op.ptr.rowLength = 4;
    CALL("row-below-width", cuMemcpy3DBatchAsync_v2(1, &copy, 0, stream));
    copy.src.op.ptr.rowLength = 16;
    copy.extent.width = 0;
    CALL("width-0", cuMemcpy3DBatchAsync_v2(1, &copy, 0, stream));
    CALL("synchronize", cuCtxSynchronize());
}

int main(void) {
    RUN(linear);
    RUN(past_end);
    RUN(peers);
    RUN(asynchronous);
    RUN(peers_asynchronous);
    RUN(batches);
    RUN(batches_3d);
}
