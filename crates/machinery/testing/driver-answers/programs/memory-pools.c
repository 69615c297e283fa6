// Memory pools and stream-ordered allocations.

#include "answers.h"

static CUmemPoolProps properties(void) {
    CUmemPoolProps result;
    memset(&result, 0, sizeof result);
    result.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    result.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return result;
}

static void stream_ordered(void) {
    CUdeviceptr address = 0, other = 0, base;
    CUmemoryPool pool = NULL;
    CUstream stream;
    size_t size;
    start();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    CALL("allocate", cuMemAllocAsync(&address, 1000, stream));
    CALL("memset", cuMemsetD32Async(address, 41, 4, stream));
    CALL("synchronize", cuStreamSynchronize(stream));
    VALUE("value", "%u", word_at(address + 12));
    VALUE("aligned", "%d", address % 256 == 0);
    CALL("range", cuMemGetAddressRange_v2(&base, &size, address + 8));
    VALUE("range-values", "offset %lld, size %zu", (long long)(base - address), size);
    CALL("pool-of-pointer", cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
    VALUE("pool-of-pointer-found", "%d", pool != NULL);
    CALL("free", cuMemFreeAsync(address, stream));
    CALL("allocate-none", cuMemAllocAsync(&other, 0, stream));
    CALL("allocate-output-null", cuMemAllocAsync(NULL, 64, stream));
    CALL("allocate-1-PiB", cuMemAllocAsync(&other, (size_t)1 << 50, stream));
    CALL("free-null", cuMemFreeAsync(0, stream));
    CALL("free-unknown", cuMemFreeAsync(0x1234, stream));
    NEED(cuMemAllocAsync(&address, 64, stream));
    CALL("free-inside", cuMemFreeAsync(address + 16, stream));
    CALL("free-synchronously", cuMemFree_v2(address));
    CALL("free-linear-memory-asynchronously", cuMemFreeAsync(allocate(64), stream));
    CALL("allocate-in-null-stream", cuMemAllocAsync(&address, 64, NULL));
    CALL("free-in-other-stream", cuMemFreeAsync(address, stream));
    CALL("synchronize-context", cuCtxSynchronize());
    CALL("free-again", cuMemFreeAsync(address, stream));
}

static void pools(void) {
    CUmemPoolProps wanted;
    CUmemoryPool pool = NULL, other = NULL, current = NULL, initial = NULL;
    CUdeviceptr address = 0;
    CUstream stream;
    start();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    wanted = properties();
    CALL("default", cuDeviceGetDefaultMemPool(&initial, 0));
    CALL("current", cuDeviceGetMemPool(&current, 0));
    VALUE("current-is-default", "%d", current == initial);
    CALL("create", cuMemPoolCreate(&pool, &wanted));
    CALL("allocate-from-pool", cuMemAllocFromPoolAsync(&address, 4096, pool, stream));
    CALL("memset", cuMemsetD8Async(address, 3, 4096, stream));
    CALL("free", cuMemFreeAsync(address, stream));
    CALL("synchronize", cuStreamSynchronize(stream));
    CALL("allocate-none-from-pool", cuMemAllocFromPoolAsync(&address, 0, pool, stream));
    CALL("allocate-from-pool-output-null", cuMemAllocFromPoolAsync(NULL, 64, pool, stream));
    CALL("allocate-from-null-pool", cuMemAllocFromPoolAsync(&address, 64, NULL, stream));
    CALL("set-current", cuDeviceSetMemPool(0, pool));
    CALL("current-after-set", cuDeviceGetMemPool(&current, 0));
    VALUE("current-after-set-is-created", "%d", current == pool);
    CALL("default-after-set", cuDeviceGetDefaultMemPool(&current, 0));
    VALUE("default-after-set-unchanged", "%d", current == initial);
    CALL("set-current-null", cuDeviceSetMemPool(0, NULL));
    CALL("set-current-of-device-99", cuDeviceSetMemPool(99, pool));
    CALL("default-of-device-99", cuDeviceGetDefaultMemPool(&current, 99));
    CALL("default-output-null", cuDeviceGetDefaultMemPool(NULL, 0));
    CALL("current-output-null", cuDeviceGetMemPool(NULL, 0));
    CALL("trim", cuMemPoolTrimTo(pool, 0));
    CALL("trim-to-1-MiB", cuMemPoolTrimTo(pool, 1 << 20));
    CALL("trim-null", cuMemPoolTrimTo(NULL, 0));
    CALL("destroy", cuMemPoolDestroy(pool));
    CALL("current-after-destroy", cuDeviceGetMemPool(&current, 0));
    VALUE("current-after-destroy-is-default", "%d", current == initial);
    CALL("destroy-default", cuMemPoolDestroy(initial));
    CALL("destroy-null", cuMemPoolDestroy(NULL));
    CALL("create-output-null", cuMemPoolCreate(NULL, &wanted));
    CALL("create-properties-null", cuMemPoolCreate(&other, NULL));
    wanted.allocType = 0;
    CALL("create-type-0", cuMemPoolCreate(&other, &wanted));
    wanted = properties();
    wanted.location.id = 99;
    CALL("create-of-device-99", cuMemPoolCreate(&other, &wanted));
    wanted = properties();
    wanted.location.type = 0;
    CALL("create-location-0", cuMemPoolCreate(&other, &wanted));
    wanted = properties();
    wanted.handleTypes = 0x80;
    CALL("create-handle-type-0x80", cuMemPoolCreate(&other, &wanted));
    wanted = properties();
    wanted.maxSize = 1 << 20;
    CALL("create-at-most-1-MiB", cuMemPoolCreate(&other, &wanted));
}

static void attributes(void) {
    CUmemPoolProps wanted;
    CUmemoryPool pool;
    cuuint64_t value;
    CUdeviceptr address;
    CUstream stream;
    start();
    wanted = properties();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemPoolCreate(&pool, &wanted));
    for (int attribute = 0; attribute <= 9; attribute++) {
        value = 0;
        if (CALL(label("get-%d", attribute), cuMemPoolGetAttribute(pool, attribute, &value)) == CUDA_SUCCESS) {
            VALUE(label("get-%d-value", attribute), "%llu", (unsigned long long)value);
        }
    }
    for (int attribute = 0; attribute <= 9; attribute++) {
        value = attribute == 4 ? 1 << 20 : 0;
        CALL(label("set-%d", attribute), cuMemPoolSetAttribute(pool, attribute, &value));
    }
    value = 0;
    CALL("get-threshold-after", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    VALUE("threshold-after", "%llu", (unsigned long long)value);
    NEED(cuMemAllocFromPoolAsync(&address, 1000, pool, stream));
    NEED(cuStreamSynchronize(stream));
    value = 0;
    CALL("get-used", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    VALUE("used", "%llu", (unsigned long long)value);
    CALL("get-reserved", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    VALUE("reserved", "%llu", (unsigned long long)value);
    NEED(cuMemFreeAsync(address, stream));
    NEED(cuStreamSynchronize(stream));
    CALL("get-used-after-free", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    VALUE("used-after-free", "%llu", (unsigned long long)value);
    CALL("get-used-high", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
    VALUE("used-high", "%llu", (unsigned long long)value);
    value = 1;
    CALL("set-used-high-1", cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
    CALL("get-output-null", cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
    CALL("get-of-null", cuMemPoolGetAttribute(NULL, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
}

static void access_and_sharing(void) {
    CUmemPoolProps wanted;
    CUmemAccessDesc access;
    CUmemAccess_flags flags = 77;
    CUmemLocation location;
    CUmemoryPool pool;
    CUmemPoolPtrExportData data;
    CUdeviceptr address;
    CUstream stream;
    int descriptor = -1;
    start();
    wanted = properties();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemPoolCreate(&pool, &wanted));
    NEED(cuMemAllocFromPoolAsync(&address, 1000, pool, stream));
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    location = access.location;
    CALL("get-access", cuMemPoolGetAccess(&flags, pool, &location));
    VALUE("access", "%d", flags);
    CALL("set-access", cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CALL("set-access-none-of-own-device", cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    CALL("set-access-read", cuMemPoolSetAccess(pool, &access, 1));
    access.flags = 9;
    CALL("set-access-9", cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access.location.id = 99;
    CALL("set-access-of-device-99", cuMemPoolSetAccess(pool, &access, 1));
    CALL("set-access-no-descriptions", cuMemPoolSetAccess(pool, &access, 0));
    location.id = 99;
    CALL("get-access-of-device-99", cuMemPoolGetAccess(&flags, pool, &location));
    CALL("export-not-exportable", cuMemPoolExportToShareableHandle(&descriptor, pool, 1, 0));
    CALL("export-handle-type-0", cuMemPoolExportToShareableHandle(&descriptor, pool, 0, 0));
    CALL("export-flags-1", cuMemPoolExportToShareableHandle(&descriptor, pool, 1, 1));
    CALL("export-pointer-not-exportable", cuMemPoolExportPointer(&data, address));
    CALL("export-pointer-of-linear-memory", cuMemPoolExportPointer(&data, allocate(64)));
}

static void destroy_with_allocations(void) {
    CUmemPoolProps wanted;
    CUmemoryPool pool;
    CUdeviceptr address;
    start();
    wanted = properties();
    NEED(cuMemPoolCreate(&pool, &wanted));
    NEED(cuMemAllocFromPoolAsync(&address, 1000, pool, NULL));
    CALL("destroy", cuMemPoolDestroy(pool));
    CALL("memset", cuMemsetD8_v2(address, 1, 1000));
    CALL("free", cuMemFreeAsync(address, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

int main(void) {
    RUN(stream_ordered);
    RUN(pools);
    RUN(attributes);
    RUN(access_and_sharing);
    RUN(destroy_with_allocations);
}
