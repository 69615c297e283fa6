// Virtual memory management: physical allocations, address ranges, mappings and access.

#include "answers.h"

static CUmemAllocationProp properties(void) {
    CUmemAllocationProp result;
    memset(&result, 0, sizeof result);
    result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    result.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return result;
}

static CUmemAccessDesc read_write(void) {
    CUmemAccessDesc result;
    memset(&result, 0, sizeof result);
    result.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    result.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return result;
}

static size_t page;

static void begin(void) {
    CUmemAllocationProp wanted;
    start();
    wanted = properties();
    NEED(cuMemGetAllocationGranularity(&page, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static void granularity(void) {
    CUmemAllocationProp wanted;
    size_t size = 77;
    start();
    wanted = properties();
    CALL("minimum", cuMemGetAllocationGranularity(&size, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    VALUE("minimum-value", "%zu", size);
    CALL("recommended", cuMemGetAllocationGranularity(&size, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    VALUE("recommended-value", "%zu", size);
    CALL("option-9", cuMemGetAllocationGranularity(&size, &wanted, 9));
    CALL("output-null", cuMemGetAllocationGranularity(NULL, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL("properties-null", cuMemGetAllocationGranularity(&size, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    wanted.type = 0;
    CALL("type-0", cuMemGetAllocationGranularity(&size, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    wanted = properties();
    wanted.location.id = 99;
    CALL("device-99", cuMemGetAllocationGranularity(&size, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    wanted = properties();
    wanted.location.type = 0;
    CALL("location-0", cuMemGetAllocationGranularity(&size, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static void creation(void) {
    CUmemGenericAllocationHandle handle = 0, other = 0;
    CUmemAllocationProp wanted, found;
    int descriptor = -1;
    begin();
    wanted = properties();
    CALL("create", cuMemCreate(&handle, page, &wanted, 0));
    memset(&found, 0, sizeof found);
    CALL("properties", cuMemGetAllocationPropertiesFromHandle(&found, handle));
    VALUE("properties-values", "%d %d %d", found.type, found.location.type, found.location.id);
    CALL("size-0", cuMemCreate(&other, 0, &wanted, 0));
    CALL("size-1", cuMemCreate(&other, 1, &wanted, 0));
    CALL("size-not-a-multiple", cuMemCreate(&other, page + 4096, &wanted, 0));
    CALL("size-1-PiB", cuMemCreate(&other, (size_t)1 << 50, &wanted, 0));
    CALL("flags-1", cuMemCreate(&other, page, &wanted, 1));
    CALL("output-null", cuMemCreate(NULL, page, &wanted, 0));
    CALL("properties-null", cuMemCreate(&other, page, NULL, 0));
    wanted.type = 9;
    CALL("type-9", cuMemCreate(&other, page, &wanted, 0));
    wanted = properties();
    wanted.location.id = 99;
    CALL("device-99", cuMemCreate(&other, page, &wanted, 0));
    wanted = properties();
    wanted.requestedHandleTypes = 0x80;
    CALL("handle-type-0x80", cuMemCreate(&other, page, &wanted, 0));
    CALL("export-not-exportable", cuMemExportToShareableHandle(&descriptor, handle, 1, 0));
    CALL("export-handle-type-0", cuMemExportToShareableHandle(&descriptor, handle, 0, 0));
    CALL("properties-of-handle-0", cuMemGetAllocationPropertiesFromHandle(&found, 0));
    CALL("release", cuMemRelease(handle));
    CALL("release-0", cuMemRelease(0));
}

static void reservation(void) {
    CUdeviceptr address = 0, other = 0;
    begin();
    CALL("reserve", cuMemAddressReserve(&address, 2 * page, 0, 0, 0));
    VALUE("reserved-aligned", "%d", address % page == 0);
    CALL("reserve-none", cuMemAddressReserve(&other, 0, 0, 0, 0));
    CALL("reserve-not-a-multiple", cuMemAddressReserve(&other, page + 1, 0, 0, 0));
    CALL("reserve-alignment-3", cuMemAddressReserve(&other, page, 3, 0, 0));
    CALL("reserve-aligned-to-1-GiB", cuMemAddressReserve(&other, page, (size_t)1 << 30, 0, 0));
    VALUE("reserved-aligned-to-1-GiB", "%d", other % (1 << 30) == 0);
    CALL("reserve-flags-1", cuMemAddressReserve(&other, page, 0, 0, 1));
    CALL("reserve-output-null", cuMemAddressReserve(NULL, page, 0, 0, 0));
    CALL("reserve-64-TiB", cuMemAddressReserve(&other, (size_t)64 << 40, 0, 0, 0));
    CALL("free-half", cuMemAddressFree(address, page));
    CALL("free-inside", cuMemAddressFree(address + page, page));
    CALL("free-null", cuMemAddressFree(0, page));
    CALL("free", cuMemAddressFree(address, 2 * page));
    CALL("free-again", cuMemAddressFree(address, 2 * page));
}

static void mapping(void) {
    CUmemGenericAllocationHandle handle, retained = 0, large;
    CUmemAllocationProp wanted;
    CUmemAccessDesc access;
    CUmemLocation location;
    CUdeviceptr address, base;
    unsigned long long flags = 77;
    size_t size;
    begin();
    wanted = properties();
    access = read_write();
    location = access.location;
    NEED(cuMemCreate(&handle, page, &wanted, 0));
    NEED(cuMemCreate(&large, 2 * page, &wanted, 0));
    NEED(cuMemAddressReserve(&address, 4 * page, 0, 0, 0));
    CALL("map", cuMemMap(address, page, 0, handle, 0));
    CALL("get-access-before-set", cuMemGetAccess(&flags, &location, address));
    VALUE("access-before-set", "%llu", flags);
    CALL("memset-before-set", cuMemsetD8_v2(address, 1, 64));
    CALL("set-access", cuMemSetAccess(address, page, &access, 1));
    CALL("get-access", cuMemGetAccess(&flags, &location, address));
    VALUE("access", "%llu", flags);
    CALL("memset", cuMemsetD32_v2(address, 51, 16));
    VALUE("value", "%u", word_at(address));
    CALL("map-again", cuMemMap(address, page, 0, handle, 0));
    CALL("map-twice", cuMemMap(address + page, page, 0, handle, 0));
    CALL("set-access-of-second-mapping", cuMemSetAccess(address + page, page, &access, 1));
    VALUE("value-of-second-mapping", "%u", word_at(address + page));
    CALL("map-outside", cuMemMap(address + 4 * page, page, 0, handle, 0));
    CALL("map-misaligned", cuMemMap(address + 2 * page + 4096, page, 0, handle, 0));
    CALL("map-too-large", cuMemMap(address + 2 * page, 2 * page, 0, handle, 0));
    CALL("map-none", cuMemMap(address + 2 * page, 0, 0, handle, 0));
    CALL("map-flags-1", cuMemMap(address + 2 * page, page, 0, handle, 1));
    CALL("map-handle-0", cuMemMap(address + 2 * page, page, 0, 0, 0));
    CALL("map-with-offset", cuMemMap(address + 2 * page, page, page, large, 0));
    CALL("range", cuMemGetAddressRange_v2(&base, &size, address + 8));
    VALUE("range-values", "offset %lld, pages %zu", (long long)(base - address), size / page);
    CALL("retain", cuMemRetainAllocationHandle(&retained, (void *)(address + 8)));
    VALUE("retained-same", "%d", retained == handle);
    CALL("retain-unmapped", cuMemRetainAllocationHandle(&retained, (void *)(address + 3 * page)));
    CALL("retain-linear-memory", cuMemRetainAllocationHandle(&retained, (void *)allocate(64)));
    CALL("set-access-of-unmapped", cuMemSetAccess(address + 3 * page, page, &access, 1));
    CALL("set-access-of-half-a-page", cuMemSetAccess(address, page / 2, &access, 1));
    access.location.id = 99;
    CALL("set-access-of-device-99", cuMemSetAccess(address, page, &access, 1));
    access = read_write();
    access.flags = 9;
    CALL("set-access-9", cuMemSetAccess(address, page, &access, 1));
    CALL("set-access-no-descriptions", cuMemSetAccess(address, page, &access, 0));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    CALL("set-access-read", cuMemSetAccess(address, page, &access, 1));
    CALL("get-access-read", cuMemGetAccess(&flags, &location, address));
    VALUE("access-read", "%llu", flags);
    CALL("free-mapped-range", cuMemAddressFree(address, 4 * page));
    CALL("free-as-allocation", cuMemFree_v2(address));
    CALL("unmap-half-a-page", cuMemUnmap(address, page / 2));
    CALL("unmap", cuMemUnmap(address, page));
    CALL("unmap-again", cuMemUnmap(address, page));
    CALL("get-access-of-unmapped", cuMemGetAccess(&flags, &location, address));
    CALL("memset-unmapped", cuMemsetD8_v2(address, 1, 64));
    CALL("release-while-mapped", cuMemRelease(handle));
    VALUE("value-after-release", "%u", word_at(address + page));
    CALL("unmap-two-mappings", cuMemUnmap(address + page, 2 * page));
    CALL("free-range", cuMemAddressFree(address, 4 * page));
}

int main(void) {
    RUN(granularity);
    RUN(creation);
    RUN(reservation);
    RUN(mapping);
}
