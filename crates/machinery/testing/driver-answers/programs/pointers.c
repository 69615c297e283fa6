// Attributes of pointers to device, managed, pinned, registered and pageable memory.

#include "answers.h"

static void attributes_of(const char *name, CUdeviceptr address) {
    static const struct {
        const char *name;
        int id;
        char form; // 'c': equals the context, 'o': an offset, 'h': not zero, 'd': a number
    } all[] = {
        {"context", 1, 'c'},      {"memory-type", 2, 'd'}, {"device-pointer", 3, 'o'}, {"host-pointer", 4, 'o'},
        {"buffer-id", 7, 'h'},    {"managed", 8, 'd'},     {"ordinal", 9, 'd'},        {"legacy-ipc", 10, 'd'},
        {"range-start", 11, 'o'}, {"range-size", 12, 'd'}, {"mapped", 13, 'd'},        {"handle-types", 14, 'd'},
        {"rdma", 15, 'd'},        {"access", 16, 'd'},     {"pool", 17, 'h'},
    };
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        unsigned long long value = 0;
        const char *key = label("%s-%s", name, all[i].name);
        if (CALL(key, cuPointerGetAttribute(&value, all[i].id, address)) != CUDA_SUCCESS) {
            continue;
        }
        key = label("%s-value", key);
        switch (all[i].form) {
        case 'c':
            VALUE(key, "%d", (CUcontext)value == context);
            break;
        case 'o':
            VALUE(key, "%lld", value ? (long long)(value - address) : -1);
            break;
        case 'h':
            VALUE(key, "%d", value != 0);
            break;
        default:
            VALUE(key, "%d", (int)value);
        }
    }
}

static void attributes(void) {
    static char pageable[4096] __attribute__((aligned(4096))), registered[4096] __attribute__((aligned(4096)));
    CUdeviceptr managed;
    void *pinned;
    start();
    NEED(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
    NEED(cuMemHostAlloc(&pinned, 1000, CU_MEMHOSTALLOC_DEVICEMAP));
    attributes_of("device", allocate(1000) + 100);
    attributes_of("managed-memory", managed + 100);
    attributes_of("pinned", (CUdeviceptr)pinned + 100);
    attributes_of("pageable", (CUdeviceptr)pageable);
    NEED(cuMemHostRegister_v2(registered, sizeof registered, 0));
    attributes_of("registered", (CUdeviceptr)registered + 100);
}

static void several(void) {
    static char pageable[64];
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    int type = 77, managed = 77, value = 1;
    void *outputs[] = {&type, &managed};
    CUdeviceptr memory;
    start();
    memory = allocate(1000);
    CALL("attribute-99", cuPointerGetAttribute(&value, 99, memory));
    CALL("attribute-0", cuPointerGetAttribute(&value, 0, memory));
    CALL("output-null", cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    CALL("pointer-null", cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
    CALL("two-of-pageable", cuPointerGetAttributes(2, wanted, outputs, (CUdeviceptr)pageable));
    VALUE("two-of-pageable-values", "%d %d", type, managed);
    CALL("two-of-device", cuPointerGetAttributes(2, wanted, outputs, memory));
    VALUE("two-of-device-values", "%d %d", type, managed);
    CALL("none", cuPointerGetAttributes(0, wanted, outputs, memory));
    value = 1;
    CALL("set-synchronous", cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    value = 0;
    CALL("get-synchronous", cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    VALUE("synchronous-value", "%d", value);
    CALL("set-memory-type", cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    CALL("set-of-pageable", cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)pageable));
}

int main(void) {
    RUN(attributes);
    RUN(several);
}
