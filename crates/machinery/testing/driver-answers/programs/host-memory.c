// Pinned and registered host memory.

#include "answers.h"

static void pinned(void) {
    static char pageable[64];
    void *memory = NULL, *other = NULL;
    CUdeviceptr address = 0;
    unsigned flags = 77;
    start();
    CALL("allocate-none", cuMemHostAlloc(&memory, 0, 0));
    VALUE("allocate-none-null", "%d", memory == NULL);
    CALL("allocate-null", cuMemHostAlloc(NULL, 64, 0));
    CALL("allocate-flags-0x80", cuMemHostAlloc(&other, 64, 0x80));
    CALL("allocate-all-flags", cuMemHostAlloc(&memory, 64, 7));
    CALL("flags", cuMemHostGetFlags(&flags, memory));
    VALUE("flags-value", "%u", flags);
    CALL("device-pointer", cuMemHostGetDevicePointer_v2(&address, memory, 0));
    VALUE("device-pointer-same", "%d", address == (CUdeviceptr)memory);
    CALL("device-pointer-inside", cuMemHostGetDevicePointer_v2(&address, (char *)memory + 8, 0));
    VALUE("device-pointer-inside-offset", "%lld", (long long)(address - (CUdeviceptr)memory));
    CALL("device-pointer-flags-1", cuMemHostGetDevicePointer_v2(&address, memory, 1));
    CALL("device-pointer-of-pageable", cuMemHostGetDevicePointer_v2(&address, pageable, 0));
    CALL("flags-of-pageable", cuMemHostGetFlags(&flags, pageable));
    CALL("free-inside", cuMemFreeHost((char *)memory + 8));
    CALL("free-pageable", cuMemFreeHost(pageable));
    CALL("free-null", cuMemFreeHost(NULL));
    CALL("free-as-device-memory", cuMemFree_v2((CUdeviceptr)memory));
    CALL("free", cuMemFreeHost(memory));
    CALL("free-again", cuMemFreeHost(memory));
    address = allocate(64);
    CALL("free-device-memory", cuMemFreeHost((void *)address));
}

static void registered(void) {
    unsigned flags = 77;
    void *memory = NULL;
    char *pages;
    start();
    if (posix_memalign((void **)&pages, 4096, 16384)) {
        _exit(3);
    }
    CALL("none", cuMemHostRegister_v2(pages, 0, 0));
    CALL("null", cuMemHostRegister_v2(NULL, 64, 0));
    CALL("flags-0x80", cuMemHostRegister_v2(pages, 4096, 0x80));
    CALL("two-pages", cuMemHostRegister_v2(pages, 8192, 0));
    CALL("same-pages", cuMemHostRegister_v2(pages, 8192, 0));
    CALL("overlapping-pages", cuMemHostRegister_v2(pages + 4096, 8192, 0));
    CALL("bytes-inside", cuMemHostRegister_v2(pages + 100, 100, 0));
    CALL("next-page", cuMemHostRegister_v2(pages + 8192, 4096, 0));
    CALL("flags-of-registered", cuMemHostGetFlags(&flags, pages));
    CALL("unregister-inside", cuMemHostUnregister(pages + 100));
    CALL("free-registered", cuMemFreeHost(pages));
    CALL("unregister", cuMemHostUnregister(pages));
    CALL("unregister-again", cuMemHostUnregister(pages));
    CALL("unregister-null", cuMemHostUnregister(NULL));
    CALL("part-of-a-page", cuMemHostRegister_v2(pages + 100, 200, 0));
    CALL("other-part-of-a-page", cuMemHostRegister_v2(pages + 1000, 200, 0));
    NEED(cuMemHostAlloc(&memory, 4096, 0));
    CALL("pinned", cuMemHostRegister_v2(memory, 4096, 0));
    CALL("unregister-pinned", cuMemHostUnregister(memory));
}

int main(void) {
    RUN(pinned);
    RUN(registered);
}
