// Initialization, error names, devices, and calls without a context.

#include "answers.h"
#include "kernels.h"

static void before_initialization(void) {
    int count = 0, version = 0;
    CUdevice found;
    CUdeviceptr address;
    CUcontext created;
    const char *name;
    CALL("device-count", cuDeviceGetCount(&count));
    CALL("device", cuDeviceGet(&found, 0));
    CALL("allocate", cuMemAlloc_v2(&address, 4));
    CALL("create-context", cuCtxCreate_v2(&created, 0, 0));
    CALL("current-context", cuCtxGetCurrent(&created));
    CALL("driver-version", cuDriverGetVersion(&version));
    CALL("driver-version-null", cuDriverGetVersion(NULL));
    CALL("error-name", cuGetErrorName(CUDA_ERROR_NOT_READY, &name));
    CALL("initialize-flags-1", cuInit(1));
    CALL("initialize", cuInit(0));
    CALL("initialize-again", cuInit(0));
}

static void queries(void) {
    CUdevice found;
    char name[8] = "xxxxxxx";
    int value, known = 0, last = 0;
    size_t bytes;
    NEED(cuInit(0));
    CALL("device-99", cuDeviceGet(&found, 99));
    CALL("device-negative", cuDeviceGet(&found, -1));
    CALL("device-null", cuDeviceGet(NULL, 0));
    CALL("count-null", cuDeviceGetCount(NULL));
    CALL("name-of-4-bytes", cuDeviceGetName(name, 4, 0));
    VALUE("name-ends-at-4-bytes", "%d", name[3] == 0 && name[4] == 'x');
    CALL("name-null", cuDeviceGetName(NULL, 4, 0));
    CALL("name-of-device-99", cuDeviceGetName(name, 4, 99));
    CALL("attribute-0", cuDeviceGetAttribute(&value, 0, 0));
    CALL("attribute-9999", cuDeviceGetAttribute(&value, 9999, 0));
    CALL("attribute-null", cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    CALL("attribute-of-device-99", cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
    CALL("memory-of-device-99", cuDeviceTotalMem_v2(&bytes, 99));
    CALL("memory-null", cuDeviceTotalMem_v2(NULL, 0));
    for (int attribute = 1; attribute < 200; attribute++) {
        if (cuDeviceGetAttribute(&value, attribute, 0) == CUDA_SUCCESS) {
            known++;
            last = attribute;
        }
    }
    VARYING("known-attributes", "%d, the last is %d", known, last);
}

static void identifiers(void) {
    char id[32], short_id[32];
    CUdevice found = -7;
    CUuuid uuid, second;
    NEED(cuInit(0));
    CALL("bus-id", cuDeviceGetPCIBusId(id, sizeof id, 0));
    VALUE("bus-id-length", "%zu", strlen(id));
    CALL("bus-id-of-3-bytes", cuDeviceGetPCIBusId(short_id, 3, 0));
    CALL("by-bus-id", cuDeviceGetByPCIBusId(&found, id));
    VALUE("by-bus-id-device", "%d", found);
    CALL("by-text", cuDeviceGetByPCIBusId(&found, "no bus"));
    CALL("by-unknown-bus-id", cuDeviceGetByPCIBusId(&found, "ffff:ff:1f.0"));
    CALL("by-null", cuDeviceGetByPCIBusId(&found, NULL));
    CALL("uuid", cuDeviceGetUuid_v2(&uuid, 0));
    CALL("uuid-null", cuDeviceGetUuid_v2(NULL, 0));
    CALL("uuid-version-1", cuDeviceGetUuid(&second, 0));
    VALUE("uuid-version-1-same", "%d", !memcmp(&uuid, &second, sizeof uuid));
}

static void errors(void) {
    static const short codes[] = {
        0,   1,   2,   3,   4,   5,   6,   7,   8,   34,  100, 101, 102, 200, 201, 202, 205, 206, 207, 208, 209, 210,
        211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223, 224, 300, 301, 302, 303, 304, 400, 401, 500,
        600, 700, 701, 702, 703, 704, 705, 708, 709, 710, 711, 712, 713, 714, 715, 716, 717, 718, 719, 720, 800, 801,
        802, 803, 804, 805, 806, 807, 808, 809, 900, 901, 902, 903, 904, 905, 906, 907, 908, 909, 910, 911, 912, 999,
    };
    const char *text = "unchanged";
    NEED(cuInit(0));
    CALL("name-of-99999", cuGetErrorName(99999, &text));
    VALUE("name-of-99999-null", "%d", text == NULL);
    text = "unchanged";
    CALL("description-of-99999", cuGetErrorString(99999, &text));
    VALUE("description-of-99999-null", "%d", text == NULL);
    for (unsigned i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        const char *name = NULL, *description = NULL;
        cuGetErrorName(codes[i], &name);
        cuGetErrorString(codes[i], &description);
        VALUE(label("error-%d", codes[i]), "%s: %s", name ? name : "(none)", description ? description : "(none)");
    }
}

static void no_context(void) {
    CUcontext current = (CUcontext)1;
    CUdeviceptr address;
    CUdevice current_device;
    CUstream stream;
    CUevent event;
    CUmodule module;
    size_t size, total;
    unsigned flags;
    void *host;
    NEED(cuInit(0));
    CALL("current", cuCtxGetCurrent(&current));
    VALUE("current-null", "%d", current == NULL);
    CALL("allocate", cuMemAlloc_v2(&address, 4));
    CALL("synchronize", cuCtxSynchronize());
    CALL("device", cuCtxGetDevice(&current_device));
    CALL("create-stream", cuStreamCreate(&stream, 0));
    CALL("create-event", cuEventCreate(&event, 0));
    CALL("load-module", cuModuleLoadData(&module, KERNELS));
    CALL("limit", cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE));
    CALL("flags", cuCtxGetFlags(&flags));
    CALL("pop", cuCtxPopCurrent_v2(&current));
    CALL("free-null", cuMemFree_v2(0));
    CALL("memory-info", cuMemGetInfo_v2(&size, &total));
    CALL("memset", cuMemsetD8_v2(0x1000, 0, 1));
    CALL("allocate-host", cuMemAllocHost_v2(&host, 4));
    CALL("synchronize-null-stream", cuStreamSynchronize(NULL));
    CALL("set-current-null", cuCtxSetCurrent(NULL));
}

int main(void) {
    RUN(before_initialization);
    RUN(queries);
    RUN(identifiers);
    RUN(errors);
    RUN(no_context);
}
