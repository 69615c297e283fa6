// Properties of devices that functions of their own report.

#include "answers.h"

static void properties(void) {
    CUdevprop found;
    int major = 77, minor = 77, value = 77;
    NEED(cuInit(0));
    memset(&found, 0, sizeof found);
    CALL("all", cuDeviceGetProperties(&found, 0));
    VALUE("threads-per-block", "%d", found.maxThreadsPerBlock);
    VALUE("block-dimensions", "%d %d %d", found.maxThreadsDim[0], found.maxThreadsDim[1], found.maxThreadsDim[2]);
    VALUE("grid-dimensions", "%d %d %d", found.maxGridSize[0], found.maxGridSize[1], found.maxGridSize[2]);
    VALUE("shared-memory", "%d", found.sharedMemPerBlock);
    VALUE("constant-memory", "%d", found.totalConstantMemory);
    VALUE("warp", "%d", found.SIMDWidth);
    VALUE("pitch", "%d", found.memPitch);
    VALUE("registers", "%d", found.regsPerBlock);
    VALUE("texture-alignment", "%d", found.textureAlign);
    VARYING("clock", "%d", found.clockRate);
    CALL("all-null", cuDeviceGetProperties(NULL, 0));
    CALL("all-of-device-99", cuDeviceGetProperties(&found, 99));
    CALL("capability", cuDeviceComputeCapability(&major, &minor, 0));
    VALUE("capability-value", "%d.%d", major, minor);
    CALL("capability-of-device-99", cuDeviceComputeCapability(&major, &minor, 99));
    for (int type = 0; type <= 1; type++) {
        CALL(label("affinity-%d", type), cuDeviceGetExecAffinitySupport(&value, type, 0));
        VALUE(label("affinity-%d-value", type), "%d", value);
    }
    CALL("affinity-of-device-99", cuDeviceGetExecAffinitySupport(&value, 0, 99));
    CALL("affinity-null", cuDeviceGetExecAffinitySupport(NULL, 0, 0));
}

static void peers(void) {
    int value = 77;
    NEED(cuInit(0));
    for (int attribute = 0; attribute <= 5; attribute++) {
        CALL(label("attribute-%d-of-itself", attribute), cuDeviceGetP2PAttribute(&value, attribute, 0, 0));
    }
    CALL("attribute-of-device-99", cuDeviceGetP2PAttribute(&value, 1, 0, 99));
    CALL("attribute-from-device-99", cuDeviceGetP2PAttribute(&value, 1, 99, 0));
    CALL("attribute-null", cuDeviceGetP2PAttribute(NULL, 1, 0, 0));
}

static void textures(void) {
    static const struct {
        const char *name;
        int format;
        unsigned channels;
    } all[] = {
        {"8-bit", CU_AD_FORMAT_UNSIGNED_INT8, 1},
        {"16-bit", CU_AD_FORMAT_HALF, 1},
        {"32-bit", CU_AD_FORMAT_FLOAT, 1},
        {"32-bit-2-channels", CU_AD_FORMAT_FLOAT, 2},
        {"32-bit-4-channels", CU_AD_FORMAT_FLOAT, 4},
        {"32-bit-3-channels", CU_AD_FORMAT_FLOAT, 3},
        {"channels-0", CU_AD_FORMAT_FLOAT, 0},
        {"format-99", 99, 1},
    };
    size_t width;
    start();
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        width = 77;
        CALL(all[i].name, cuDeviceGetTexture1DLinearMaxWidth(&width, all[i].format, all[i].channels, 0));
        VALUE(label("%s-value", all[i].name), "%zu", width);
    }
    CALL("device-99", cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 1, 99));
    CALL("output-null", cuDeviceGetTexture1DLinearMaxWidth(NULL, CU_AD_FORMAT_FLOAT, 1, 0));
}

static void luid(void) {
    char id[8] = "";
    unsigned mask = 77;
    NEED(cuInit(0));
    CALL("get", cuDeviceGetLuid(id, &mask, 0));
    CALL("device-99", cuDeviceGetLuid(id, &mask, 99));
}

int main(void) {
    RUN(properties);
    RUN(peers);
    RUN(textures);
    RUN(luid);
}
