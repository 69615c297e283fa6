// Allocations: linear, pitched and managed memory, and address ranges.

#include "answers.h"

static void linear(void) {
    CUdeviceptr address = 1, base;
    size_t size;
    start();
    CALL("no-bytes", cuMemAlloc_v2(&address, 0));
    CALL("null", cuMemAlloc_v2(NULL, 4));
    CALL("1-PiB", cuMemAlloc_v2(&address, (size_t)1 << 50));
    CALL("largest-size", cuMemAlloc_v2(&address, (size_t)-1));
    CALL("1-byte", cuMemAlloc_v2(&address, 1));
    VALUE("1-byte-aligned", "%d", address % 256 == 0);
    CALL("range-of-1-byte", cuMemGetAddressRange_v2(&base, &size, address));
    VALUE("range-of-1-byte-values", "offset %lld, size %zu", (long long)(base - address), size);
    CALL("free", cuMemFree_v2(address));
    CALL("free-null", cuMemFree_v2(0));
    address = allocate(1000);
    CALL("free-inside", cuMemFree_v2(address + 256));
    CALL("free-unknown", cuMemFree_v2(0x1234));
    CALL("range-at-last-byte", cuMemGetAddressRange_v2(&base, &size, address + 999));
    VALUE("range-at-last-byte-values", "offset %lld, size %zu", (long long)(base - address), size);
    CALL("range-at-end", cuMemGetAddressRange_v2(&base, &size, address + 1000));
    CALL("range-of-unknown", cuMemGetAddressRange_v2(&base, &size, 0x1234));
    CALL("range-without-base", cuMemGetAddressRange_v2(NULL, &size, address));
    CALL("range-without-outputs", cuMemGetAddressRange_v2(NULL, NULL, address));
    NEED(cuMemFree_v2(address));
    CALL("free-again", cuMemFree_v2(address));
    CALL("info-without-outputs", cuMemGetInfo_v2(NULL, NULL));
}

static void pitched(void) {
    static const struct {
        const char *name;
        size_t width, height;
        unsigned element;
    } shapes[] = {
        {"element-3", 100, 10, 3},   {"element-4", 100, 10, 4},
        {"element-32", 100, 10, 32}, {"element-0", 100, 10, 0},
        {"width-513", 513, 2, 4},    {"width-0", 0, 10, 4},
        {"height-0", 100, 0, 4},     {"height-2^60", 100, (size_t)1 << 60, 4},
    };
    CUdeviceptr address;
    size_t pitch;
    start();
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        CUresult status = CALL(
            shapes[i].name, cuMemAllocPitch_v2(&address, &pitch, shapes[i].width, shapes[i].height, shapes[i].element));
        if (status == CUDA_SUCCESS) {
            VALUE(label("%s-pitch", shapes[i].name), "%zu", pitch);
        }
    }
    CALL("null-pitch", cuMemAllocPitch_v2(&address, NULL, 100, 10, 4));
}

static void managed(void) {
    CUdeviceptr address, linear_memory;
    int copied = 0;
    start();
    CALL("flags-0", cuMemAllocManaged(&address, 64, 0));
    CALL("flags-3", cuMemAllocManaged(&address, 64, 3));
    CALL("attach-single", cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_SINGLE));
    CALL("no-bytes", cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL));
    CALL("attach-global", cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL));
    *(volatile int *)address = 7;
    VALUE("read-by-host", "%d", *(volatile int *)address);
    CALL("copy", cuMemcpyDtoH_v2(&copied, address, 4));
    VALUE("copied", "%d", copied);
    linear_memory = allocate(64);
    CALL("attach-linear-memory", cuStreamAttachMemAsync(NULL, linear_memory, 0, CU_MEM_ATTACH_GLOBAL));
    CALL("attach-to-host", cuStreamAttachMemAsync(NULL, address, 0, CU_MEM_ATTACH_HOST));
    CALL("attach-to-null-stream", cuStreamAttachMemAsync(NULL, address, 0, CU_MEM_ATTACH_SINGLE));
    CALL("attach-half", cuStreamAttachMemAsync(NULL, address, 32, CU_MEM_ATTACH_GLOBAL));
    CALL("free", cuMemFree_v2(address));
}

static void out_of_memory(void) {
    CUdeviceptr address;
    size_t free_before, free_after, total;
    start();
    NEED(cuMemGetInfo_v2(&free_before, &total));
    CALL("more-than-free", cuMemAlloc_v2(&address, free_before + ((size_t)1 << 30)));
    CALL("after-failure", cuMemAlloc_v2(&address, 1 << 20));
    NEED(cuMemGetInfo_v2(&free_after, &total));
    VALUE("free-memory-decreases", "%d", free_after <= free_before);
    CALL("free", cuMemFree_v2(address));
}

int main(void) {
    RUN(linear);
    RUN(pitched);
    RUN(managed);
    RUN(out_of_memory);
}
