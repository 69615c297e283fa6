// Occupancy: resident blocks, suggested block sizes, available shared memory and clusters.

#include "answers.h"
#include "kernels.h"

static size_t sixteen_bytes_per_thread(int block) {
    return block * 16;
}

static void resident_blocks(void) {
    static const int sizes[] = {1, 32, 33, 64, 128, 256, 512, 1024};
    CUfunction fill, with_static, bounded;
    int blocks = -7;
    start();
    fill = function("fill");
    with_static = function("static_shared");
    bounded = function("at_most_64");
    for (int i = 0; i < 8; i++) {
        CALL(label("block-%d", sizes[i]), cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, sizes[i], 0));
        VALUE(label("block-%d-value", sizes[i]), "%d", blocks);
        NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_static, sizes[i], 0));
        VALUE(label("block-%d-static-shared", sizes[i]), "%d", blocks);
    }
    for (int kibibytes = 1; kibibytes <= 48; kibibytes += 7) {
        NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, kibibytes << 10));
        VALUE(label("block-64-shared-%d-KiB", kibibytes), "%d", blocks);
    }
    CALL("block-0", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 0, 0));
    CALL("block-negative", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, -1, 0));
    blocks = -7;
    CALL("block-1025", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 1025, 0));
    VALUE("block-1025-value", "%d", blocks);
    blocks = -7;
    CALL("maxntid-64-block-128", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
    VALUE("maxntid-64-block-128-value", "%d", blocks);
    blocks = -7;
    CALL("shared-49-KiB", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, 49 << 10));
    VALUE("shared-49-KiB-value", "%d", blocks);
    blocks = -7;
    CALL("shared-1-GiB", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, 1 << 30));
    VALUE("shared-1-GiB-value", "%d", blocks);
    CALL("output-null", cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, fill, 64, 0));
    CALL("flags-0x80", cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, fill, 64, 0, 0x80));
    CALL("flags-1", cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, fill, 64, 0, 1));
    VALUE("flags-1-value", "%d", blocks);
}

static void block_sizes(void) {
    static const struct {
        const char *name, *function;
        CUoccupancyB2DSize shared;
        size_t bytes;
        int limit;
    } all[] = {
        {"unlimited", "fill", NULL, 0, 0},
        {"at-most-100", "fill", NULL, 0, 100},
        {"shared-per-thread", "fill", sixteen_bytes_per_thread, 0, 0},
        {"maxntid-64", "at_most_64", NULL, 0, 0},
        {"shared-20-KiB", "fill", NULL, 20 << 10, 0},
    };
    int grid = -7, size = -7;
    start();
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        CUfunction kernel = function(all[i].function);
        CALL(all[i].name,
             cuOccupancyMaxPotentialBlockSize(&grid, &size, kernel, all[i].shared, all[i].bytes, all[i].limit));
        VALUE(label("%s-values", all[i].name), "grid %d, block %d", grid, size);
    }
    CALL("flags-0x80", cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &size, function("fill"), NULL, 0, 0, 0x80));
}

static void available_shared_memory(void) {
    CUfunction fill;
    size_t bytes;
    start();
    fill = function("fill");
    for (int blocks = 1; blocks <= 32; blocks *= 2) {
        bytes = 7;
        CALL(label("%d-blocks", blocks), cuOccupancyAvailableDynamicSMemPerBlock(&bytes, fill, blocks, 64));
        VALUE(label("%d-blocks-value", blocks), "%zu", bytes);
    }
    CALL("0-blocks", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, fill, 0, 64));
    CALL("99-blocks", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, fill, 99, 64));
}

static void clusters(void) {
    CUlaunchAttribute attribute;
    CUlaunchConfig config;
    CUfunction kernel;
    int result = -7;
    start();
    kernel = function("empty");
    memset(&config, 0, sizeof config);
    memset(&attribute, 0, sizeof attribute);
    config.gridDimX = 64;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 128;
    CALL("largest-cluster", cuOccupancyMaxPotentialClusterSize(&result, kernel, &config));
    VALUE("largest-cluster-value", "%d", result);
    config.blockDimX = 1024;
    CALL("largest-cluster-of-1024-threads", cuOccupancyMaxPotentialClusterSize(&result, kernel, &config));
    VALUE("largest-cluster-of-1024-threads-value", "%d", result);
    config.blockDimX = 128;
    CALL("active-without-cluster", cuOccupancyMaxActiveClusters(&result, kernel, &config));
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (int size = 1; size <= 16; size *= 2) {
        attribute.value.clusterDim.x = size;
        result = -7;
        if (CALL(label("active-of-%d", size), cuOccupancyMaxActiveClusters(&result, kernel, &config)) == CUDA_SUCCESS) {
            VARYING(label("active-of-%d-value", size), "%d", result);
        }
    }
    attribute.value.clusterDim.x = 3;
    CALL("active-of-3-in-64", cuOccupancyMaxActiveClusters(&result, kernel, &config));
    attribute.value.clusterDim.x = 0;
    CALL("active-of-0", cuOccupancyMaxActiveClusters(&result, kernel, &config));
    attribute.value.clusterDim.x = 2;
    CALL("active-output-null", cuOccupancyMaxActiveClusters(NULL, kernel, &config));
    CALL("active-function-null", cuOccupancyMaxActiveClusters(&result, NULL, &config));
    config.blockDimX = 1025;
    CALL("active-block-1025", cuOccupancyMaxActiveClusters(&result, kernel, &config));
    CALL("largest-cluster-block-1025", cuOccupancyMaxPotentialClusterSize(&result, kernel, &config));
    config.blockDimX = 128;
    config.sharedMemBytes = 1 << 20;
    CALL("largest-cluster-shared-1-MiB", cuOccupancyMaxPotentialClusterSize(&result, kernel, &config));
    config.sharedMemBytes = 0;
    NEED(cuFuncSetAttribute(kernel, 14, 1));
    config.numAttrs = 0;
    CALL("largest-cluster-not-portable", cuOccupancyMaxPotentialClusterSize(&result, kernel, &config));
    VALUE("largest-cluster-not-portable-value", "%d", result);
}

int main(void) {
    RUN(resident_blocks);
    RUN(block_sizes);
    RUN(available_shared_memory);
    RUN(clusters);
}
