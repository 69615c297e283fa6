// Advice, prefetches and range attributes of managed memory.

#include "answers.h"

static CUmemLocation location(int type, int id) {
    CUmemLocation result;
    memset(&result, 0, sizeof result);
    result.type = type;
    result.id = id;
    return result;
}

static void advice(void) {
    CUdeviceptr managed, linear;
    start();
    NEED(cuMemAllocManaged(&managed, 1 << 16, CU_MEM_ATTACH_GLOBAL));
    linear = allocate(1 << 16);
    for (int advice = 0; advice <= 7; advice++) {
        CALL(label("advice-%d", advice), cuMemAdvise_v2(managed, 1 << 16, advice, location(1, 0)));
    }
    CALL("advise-linear-memory", cuMemAdvise_v2(linear, 1 << 16, CU_MEM_ADVISE_SET_READ_MOSTLY, location(1, 0)));
    CALL("advise-no-bytes", cuMemAdvise_v2(managed, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, location(1, 0)));
    CALL("advise-too-many-bytes", cuMemAdvise_v2(managed, 1 << 30, CU_MEM_ADVISE_SET_READ_MOSTLY, location(1, 0)));
    CALL("advise-null", cuMemAdvise_v2(0, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, location(1, 0)));
    CALL("prefer-device-99", cuMemAdvise_v2(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(1, 99)));
    CALL("prefer-host", cuMemAdvise_v2(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(2, 0)));
    CALL("prefer-location-0", cuMemAdvise_v2(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(0, 0)));
    CALL("prefer-location-9", cuMemAdvise_v2(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(9, 0)));
    CALL("prefetch", cuMemPrefetchAsync_v2(managed, 1 << 16, location(1, 0), 0, NULL));
    CALL("prefetch-to-host", cuMemPrefetchAsync_v2(managed, 1 << 16, location(2, 0), 0, NULL));
    CALL("prefetch-flags-1", cuMemPrefetchAsync_v2(managed, 1 << 16, location(1, 0), 1, NULL));
    CALL("prefetch-to-device-99", cuMemPrefetchAsync_v2(managed, 1 << 16, location(1, 99), 0, NULL));
    CALL("prefetch-to-location-0", cuMemPrefetchAsync_v2(managed, 1 << 16, location(0, 0), 0, NULL));
    CALL("prefetch-linear-memory", cuMemPrefetchAsync_v2(linear, 1 << 16, location(1, 0), 0, NULL));
    CALL("prefetch-no-bytes", cuMemPrefetchAsync_v2(managed, 0, location(1, 0), 0, NULL));
    CALL("prefetch-too-many-bytes", cuMemPrefetchAsync_v2(managed, 1 << 30, location(1, 0), 0, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

static void ranges(void) {
    CUmem_range_attribute wanted[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    int values[2] = {77, 77}, value = 77, accessed[4] = {77, 77, 77, 77};
    void *outputs[] = {&values[0], &values[1]};
    size_t sizes[] = {4, 4};
    CUdeviceptr managed, linear;
    start();
    NEED(cuMemAllocManaged(&managed, 1 << 16, CU_MEM_ATTACH_GLOBAL));
    linear = allocate(1 << 16);
    for (int attribute = 0; attribute <= 9; attribute++) {
        value = 77;
        if (CALL(label("attribute-%d", attribute), cuMemRangeGetAttribute(&value, 4, attribute, managed, 1 << 16)) ==
            CUDA_SUCCESS) {
            VALUE(label("attribute-%d-value", attribute), "%d", value);
        }
    }
    NEED(cuMemAdvise_v2(managed, 1 << 16, CU_MEM_ADVISE_SET_READ_MOSTLY, location(1, 0)));
    NEED(cuMemAdvise_v2(managed, 1 << 16, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(1, 0)));
    NEED(cuMemAdvise_v2(managed, 1 << 16, CU_MEM_ADVISE_SET_ACCESSED_BY, location(1, 0)));
    CALL("two", cuMemRangeGetAttributes(outputs, sizes, wanted, 2, managed, 1 << 16));
    VALUE("two-values", "%d %d", values[0], values[1]);
    CALL("accessed-by",
         cuMemRangeGetAttribute(accessed, sizeof accessed, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, managed, 1 << 16));
    VALUE("accessed-by-values", "%d %d", accessed[0], accessed[1]);
    NEED(cuMemAdvise_v2(managed, 1 << 15, CU_MEM_ADVISE_UNSET_READ_MOSTLY, location(1, 0)));
    CALL("of-mixed-range", cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 1 << 16));
    VALUE("of-mixed-range-value", "%d", value);
    CALL("size-8", cuMemRangeGetAttribute(accessed, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 1 << 16));
    CALL("size-2", cuMemRangeGetAttribute(&value, 2, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 1 << 16));
    CALL("size-6-of-list", cuMemRangeGetAttribute(accessed, 6, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, managed, 4096));
    CALL("of-linear-memory", cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, linear, 4096));
    CALL("of-no-bytes", cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 0));
    CALL("of-null", cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 4096));
    CALL("output-null", cuMemRangeGetAttribute(NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 4096));
    CALL("no-attributes", cuMemRangeGetAttributes(outputs, sizes, wanted, 0, managed, 1 << 16));
}

int main(void) {
    RUN(advice);
    RUN(ranges);
}
