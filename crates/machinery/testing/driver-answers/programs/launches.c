// Launches: dimensions, arguments, cooperative launches and launch attributes.

#include "answers.h"
#include "kernels.h"

static void dimensions(void) {
    static const struct {
        const char *name;
        unsigned grid[3], block[3];
    } all[] = {
        {"valid", {1, 1, 1}, {32, 1, 1}},
        {"grid-x-0", {0, 1, 1}, {32, 1, 1}},
        {"grid-z-0", {1, 1, 0}, {32, 1, 1}},
        {"block-x-0", {1, 1, 1}, {0, 1, 1}},
        {"block-1024", {1, 1, 1}, {1024, 1, 1}},
        {"block-1025", {1, 1, 1}, {1025, 1, 1}},
        {"block-32-by-33", {1, 1, 1}, {32, 33, 1}},
        {"block-z-64", {1, 1, 1}, {1, 1, 64}},
        {"block-z-65", {1, 1, 1}, {1, 1, 65}},
        {"grid-y-65535", {1, 65535, 1}, {1, 1, 1}},
        {"grid-y-65536", {1, 65536, 1}, {1, 1, 1}},
        {"grid-z-65536", {1, 1, 65536}, {1, 1, 1}},
        {"grid-x-2^31", {1u << 31, 1, 1}, {1, 1, 1}},
    };
    static const struct {
        const char *name, *function;
        unsigned block[2];
    } bounded[] = {
        {"maxntid-64-by-64", "at_most_64", {64, 1}},       {"maxntid-64-by-65", "at_most_64", {65, 1}},
        {"maxntid-64-by-8-times-8", "at_most_64", {8, 8}}, {"reqntid-32-by-32", "exactly_32", {32, 1}},
        {"reqntid-32-by-16", "exactly_32", {16, 1}},
    };
    CUfunction kernel;
    start();
    kernel = function("empty");
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        const unsigned *grid = all[i].grid, *size = all[i].block;
        CALL(all[i].name,
             cuLaunchKernel(kernel, grid[0], grid[1], grid[2], size[0], size[1], size[2], 0, NULL, NULL, NULL));
    }
    CALL("shared-48-KiB", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 48 << 10, NULL, NULL, NULL));
    CALL("shared-48-KiB-plus-1", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, (48 << 10) + 1, NULL, NULL, NULL));
    NEED(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
    CALL("shared-64-KiB-permitted", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 64 << 10, NULL, NULL, NULL));
    CALL("shared-64-KiB-permitted-plus-1", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, (64 << 10) + 1, NULL, NULL, NULL));
    for (unsigned i = 0; i < sizeof bounded / sizeof bounded[0]; i++) {
        const unsigned *size = bounded[i].block;
        kernel = function(bounded[i].function);
        CALL(bounded[i].name, cuLaunchKernel(kernel, 1, 1, 1, size[0], size[1], 1, 0, NULL, NULL, NULL));
    }
    CALL("synchronize", cuCtxSynchronize());
}

static CUresult launch_with(CUfunction kernel, void **parameters, void **extra) {
    return cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, extra);
}

static void arguments(void) {
    struct {
        CUdeviceptr memory;
        unsigned value, count;
    } packed = {0, 6, 4};
    unsigned value = 5, count = 4;
    size_t size = sizeof packed;
    char larger[64] = {0};
    CUfunction kernel;
    CUdeviceptr memory;
    start();
    kernel = function("fill");
    packed.memory = memory = allocate(16);
    void *parameters[] = {&memory, &value, &count};
    void *extra[] = {
        CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END,
    };
    void *without_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_END};
    void *unknown[] = {(void *)77, &packed, CU_LAUNCH_PARAM_END};
    CALL("parameters", launch_with(kernel, parameters, NULL));
    VALUE("parameters-value", "%u", word_at(memory + 12));
    CALL("buffer", launch_with(kernel, NULL, extra));
    VALUE("buffer-value", "%u", word_at(memory + 12));
    CALL("parameters-and-buffer", launch_with(kernel, parameters, extra));
    size = 8;
    CALL("buffer-too-small", launch_with(kernel, NULL, extra));
    size = sizeof larger;
    memcpy(larger, &packed, sizeof packed);
    extra[1] = larger;
    CALL("buffer-too-large", launch_with(kernel, NULL, extra));
    CALL("buffer-without-size", launch_with(kernel, NULL, without_size));
    CALL("extra-option-77", launch_with(kernel, NULL, unknown));
    CALL("synchronize", cuCtxSynchronize());
}

static void no_arguments(void) {
    start();
    CALL("kernel-of-3-parameters", launch_with(function("fill"), NULL, NULL));
}

static void no_function(void) {
    start();
    CALL("launch", launch_one(NULL, NULL, NULL));
}

static void cooperative(void) {
    CUfunction kernel;
    int blocks, processors;
    start();
    kernel = function("empty");
    processors = device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0));
    blocks *= processors;
    CALL("all-blocks-resident", cuLaunchCooperativeKernel(kernel, blocks, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    CALL("one-block-more", cuLaunchCooperativeKernel(kernel, blocks + 1, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    CALL("grid-0", cuLaunchCooperativeKernel(kernel, 0, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    CALL("block-1025", cuLaunchCooperativeKernel(kernel, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL));
    CALL("shared-49-KiB", cuLaunchCooperativeKernel(kernel, 1, 1, 1, 32, 1, 1, 49 << 10, NULL, NULL));
    CALL("per-thread-stream", cuLaunchCooperativeKernel(kernel, 1, 1, 1, 32, 1, 1, 0, CU_STREAM_PER_THREAD, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

static void other_context(void) {
    CUfunction kernel;
    CUcontext other;
    CUstream stream;
    start();
    kernel = function("empty");
    NEED(cuCtxCreate_v2(&other, 0, 0));
    stream = new_stream(0);
    CALL("function-of-other-context-in-null-stream", launch_one(kernel, NULL, NULL));
    CALL("function-of-other-context-in-stream", launch_one(kernel, stream, NULL));
}

static CUlaunchConfig configuration(unsigned blocks, unsigned threads) {
    CUlaunchConfig config;
    memset(&config, 0, sizeof config);
    config.gridDimX = blocks;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = threads;
    return config;
}

// Launches a kernel of 8 blocks with one attribute.
static CUresult launch_attribute(CUfunction kernel, int id, CUlaunchAttributeValue value) {
    CUlaunchConfig config = configuration(8, 32);
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = id;
    attribute.value = value;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cuLaunchKernelEx(&config, kernel, NULL, NULL);
}

static void configurations(void) {
    CUlaunchConfig config;
    CUfunction kernel;
    CUdeviceptr memory;
    unsigned value = 15, count = 4;
    void *parameters[] = {&memory, &value, &count};
    start();
    memory = allocate(16);
    config = configuration(1, 32);
    CALL("parameters", cuLaunchKernelEx(&config, function("fill"), parameters, NULL));
    VALUE("parameters-value", "%u", word_at(memory + 12));
    kernel = function("empty");
    config.gridDimX = 0;
    CALL("grid-0", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    config = configuration(1, 1025);
    CALL("block-1025", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    config = configuration(1, 32);
    config.sharedMemBytes = 49 << 10;
    CALL("shared-49-KiB", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    config.sharedMemBytes = 0;
    CALL("function-null", cuLaunchKernelEx(&config, NULL, NULL, NULL));
    CALL("configuration-null", cuLaunchKernelEx(NULL, kernel, NULL, NULL));
    config.numAttrs = 1;
    CALL("attributes-null", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

static void launch_attributes(void) {
    CUlaunchAttributeValue value;
    CUfunction kernel;
    start();
    kernel = function("empty");
    memset(&value, 0, sizeof value);
    for (int id = 0; id <= 18; id++) {
        if (id == 7 || id == 12 || id == 13) {
            continue;
        }
        CALL(label("attribute-%d-zero", id), launch_attribute(kernel, id, value));
    }
    CALL("attribute-99", launch_attribute(kernel, 99, value));
    CALL("attribute-negative", launch_attribute(kernel, -1, value));
    value.cooperative = 1;
    CALL("cooperative", launch_attribute(kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value));
    value.cooperative = 7;
    CALL("cooperative-7", launch_attribute(kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value));
    value.priority = -1;
    CALL("priority-negative", launch_attribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, value));
    value.priority = 1000;
    CALL("priority-1000", launch_attribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, value));
    value.programmaticStreamSerializationAllowed = 1;
    CALL("programmatic-serialization", launch_attribute(kernel, 6, value));
    for (int policy = 1; policy <= 4; policy++) {
        memset(&value, 0, sizeof value);
        value.priority = policy;
        CALL(label("synchronization-policy-%d", policy), launch_attribute(kernel, 3, value));
        CALL(label("cluster-scheduling-policy-%d", policy), launch_attribute(kernel, 5, value));
    }
    for (int carveout = -2; carveout <= 101; carveout += carveout < 0 || carveout >= 100 ? 1 : 50) {
        memset(&value, 0, sizeof value);
        value.priority = carveout;
        CALL(label("carveout-%d", carveout), launch_attribute(kernel, 14, value));
    }
    memset(&value, 0, sizeof value);
    value.priority = 1;
    CALL("memory-domain-1", launch_attribute(kernel, 10, value));
    value.priority = 9;
    CALL("memory-domain-9", launch_attribute(kernel, 10, value));
    CALL("synchronize", cuCtxSynchronize());
}

static void clusters(void) {
    static const struct {
        const char *name;
        unsigned x, y, z;
    } all[] = {
        {"1", 1, 1, 1},        {"2", 2, 1, 1},   {"3-of-8-blocks", 3, 1, 1},
        {"4", 4, 1, 1},        {"8", 8, 1, 1},   {"16-of-8-blocks", 16, 1, 1},
        {"0", 0, 0, 0},        {"x-0", 0, 1, 1}, {"y-2-of-1", 1, 2, 1},
        {"z-2-of-1", 1, 1, 2},
    };
    CUlaunchAttributeValue value;
    CUfunction kernel;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[2];
    start();
    kernel = function("empty");
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        memset(&value, 0, sizeof value);
        value.clusterDim.x = all[i].x;
        value.clusterDim.y = all[i].y;
        value.clusterDim.z = all[i].z;
        CALL(label("size-%s", all[i].name), launch_attribute(kernel, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value));
    }
    config = configuration(16, 32);
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = 16;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    config.attrs = attributes;
    config.numAttrs = 1;
    CALL("size-16-not-portable", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    NEED(cuFuncSetAttribute(kernel, 14, 1));
    CALL("size-16-permitted", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    config.gridDimX = 32;
    attributes[0].value.clusterDim.x = 32;
    CALL("size-32-permitted", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    attributes[0].value.clusterDim.x = 2;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[1].value.cooperative = 1;
    config.numAttrs = 2;
    CALL("size-2-cooperative", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    attributes[1] = attributes[0];
    CALL("size-2-twice", cuLaunchKernelEx(&config, kernel, NULL, NULL));
    CALL("synchronize", cuCtxSynchronize());
}

int main(void) {
    RUN(dimensions);
    RUN(arguments);
    RUN(cooperative);
    RUN(other_context);
    RUN(configurations);
    RUN(launch_attributes);
    RUN(clusters);
    RUN(no_function);
    RUN(no_arguments);
}
