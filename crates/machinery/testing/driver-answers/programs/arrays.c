// Arrays and mipmapped arrays: their creation, descriptors, requirements and planes.

#include "answers.h"

static CUresult create_2d(size_t width, size_t height, int format, int channels) {
    CUDA_ARRAY_DESCRIPTOR shape = {width, height, format, channels};
    CUarray array;
    return cuArrayCreate_v2(&array, &shape);
}

static CUresult create_3d(size_t width, size_t height, size_t depth, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
    CUarray array;
    return cuArray3DCreate_v2(&array, &shape);
}

static void creation(void) {
    const unsigned layered = CUDA_ARRAY3D_LAYERED, cubemap = CUDA_ARRAY3D_CUBEMAP;
    start();
    CALL("width-0", create_2d(0, 4, CU_AD_FORMAT_FLOAT, 1));
    CALL("height-0", create_2d(16, 0, CU_AD_FORMAT_FLOAT, 1));
    CALL("channels-0", create_2d(16, 4, CU_AD_FORMAT_FLOAT, 0));
    CALL("channels-3", create_2d(16, 4, CU_AD_FORMAT_FLOAT, 3));
    CALL("channels-5", create_2d(16, 4, CU_AD_FORMAT_FLOAT, 5));
    CALL("format-99", create_2d(16, 4, 99, 1));
    CALL("width-2^20", create_2d(1 << 20, 4, CU_AD_FORMAT_FLOAT, 1));
    CALL("height-2^20", create_2d(16, 1 << 20, CU_AD_FORMAT_FLOAT, 1));
    CALL("half-4-channels", create_2d(16, 4, CU_AD_FORMAT_HALF, 4));
    CALL("null", cuArrayCreate_v2(NULL, NULL));
    CALL("3d", create_3d(16, 8, 4, 0));
    CALL("3d-height-0", create_3d(16, 0, 4, 0));
    CALL("3d-depth-2^20", create_3d(16, 8, 1 << 20, 0));
    CALL("layered-1d", create_3d(16, 0, 4, layered));
    CALL("layered-2d", create_3d(16, 8, 4, layered));
    CALL("layered-depth-0", create_3d(16, 8, 0, layered));
    CALL("layered-depth-3000", create_3d(16, 8, 3000, layered));
    CALL("cubemap", create_3d(16, 16, 6, cubemap));
    CALL("cubemap-not-square", create_3d(16, 8, 6, cubemap));
    CALL("cubemap-5-faces", create_3d(16, 16, 5, cubemap));
    CALL("cubemap-layered-12-faces", create_3d(16, 16, 12, cubemap | layered));
    CALL("cubemap-layered-13-faces", create_3d(16, 16, 13, cubemap | layered));
    CALL("surface", create_3d(16, 8, 0, CUDA_ARRAY3D_SURFACE_LDST));
    CALL("gather-3d", create_3d(16, 8, 4, CUDA_ARRAY3D_TEXTURE_GATHER));
    CALL("gather-2d", create_3d(16, 8, 0, CUDA_ARRAY3D_TEXTURE_GATHER));
    CALL("flags-0x8000", create_3d(16, 8, 0, 0x8000));
}

static void descriptors(void) {
    CUDA_ARRAY_DESCRIPTOR row = {16, 0, CU_AD_FORMAT_HALF, 2}, found;
    CUDA_ARRAY3D_DESCRIPTOR layers = {16, 8, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, found_3d;
    CUarray one, two;
    start();
    NEED(cuArrayCreate_v2(&one, &row));
    NEED(cuArray3DCreate_v2(&two, &layers));
    CALL("of-row", cuArrayGetDescriptor_v2(&found, one));
    VALUE("of-row-values", "%zu by %zu, format %d, channels %u", found.Width, found.Height, found.Format,
          found.NumChannels);
    CALL("3d-of-row", cuArray3DGetDescriptor_v2(&found_3d, one));
    VALUE("3d-of-row-values", "%zu by %zu by %zu, flags %u", found_3d.Width, found_3d.Height, found_3d.Depth,
          found_3d.Flags);
    CALL("3d-of-layers", cuArray3DGetDescriptor_v2(&found_3d, two));
    VALUE("3d-of-layers-values", "%zu by %zu by %zu, flags %u", found_3d.Width, found_3d.Height, found_3d.Depth,
          found_3d.Flags);
    CALL("2d-of-layers", cuArrayGetDescriptor_v2(&found, two));
    CALL("output-null", cuArrayGetDescriptor_v2(NULL, one));
    CALL("array-null", cuArrayGetDescriptor_v2(&found, NULL));
    CALL("destroy", cuArrayDestroy(one));
    CALL("destroy-null", cuArrayDestroy(NULL));
}

static void mipmaps(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0}, found = {0};
    CUmipmappedArray mipmap = NULL, other = NULL;
    CUarray level = NULL;
    start();
    CALL("create-5-levels", cuMipmappedArrayCreate(&mipmap, &shape, 5));
    for (int i = 0; i < 5; i += 2) {
        CALL(label("level-%d", i), cuMipmappedArrayGetLevel(&level, mipmap, i));
        CALL(label("level-%d-descriptor", i), cuArray3DGetDescriptor_v2(&found, level));
        VALUE(label("level-%d-shape", i), "%zu by %zu by %zu, flags %u", found.Width, found.Height, found.Depth,
              found.Flags);
    }
    CALL("level-5", cuMipmappedArrayGetLevel(&level, mipmap, 5));
    CALL("level-null", cuMipmappedArrayGetLevel(NULL, mipmap, 0));
    CALL("create-0-levels", cuMipmappedArrayCreate(&other, &shape, 0));
    CALL("create-9-levels", cuMipmappedArrayCreate(&other, &shape, 9));
    CALL("level-4-of-9", cuMipmappedArrayGetLevel(&level, other, 4));
    CALL("level-5-of-9", cuMipmappedArrayGetLevel(&level, other, 5));
    CALL("create-null", cuMipmappedArrayCreate(NULL, &shape, 1));
    shape.NumChannels = 3;
    CALL("create-3-channels", cuMipmappedArrayCreate(&other, &shape, 1));
    shape.NumChannels = 1;
    shape.Width = 1 << 20;
    CALL("create-width-2^20", cuMipmappedArrayCreate(&other, &shape, 1));
    shape.Width = 0;
    CALL("create-width-0", cuMipmappedArrayCreate(&other, &shape, 1));
    shape.Width = 16;
    shape.Format = 99;
    CALL("create-format-99", cuMipmappedArrayCreate(&other, &shape, 1));
    CALL("destroy", cuMipmappedArrayDestroy(mipmap));
    CALL("destroy-null", cuMipmappedArrayDestroy(NULL));
}

static void destroy_level(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUmipmappedArray mipmap;
    CUarray level = NULL;
    start();
    NEED(cuMipmappedArrayCreate(&mipmap, &shape, 3));
    NEED(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    CALL("destroy", cuArrayDestroy(level));
}

static void requirements(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CUDA_ARRAY_MEMORY_REQUIREMENTS memory;
    CUmipmappedArray mipmap;
    CUarray array = NULL, plane = NULL;
    start();
    NEED(cuArray3DCreate_v2(&array, &shape));
    NEED(cuMipmappedArrayCreate(&mipmap, &shape, 3));
    memset(&memory, 0, sizeof memory);
    CALL("sparse-properties-of-array", cuArrayGetSparseProperties(&sparse, array));
    CALL("sparse-properties-of-mipmap", cuMipmappedArrayGetSparseProperties(&sparse, mipmap));
    CALL("memory-of-array", cuArrayGetMemoryRequirements(&memory, array, device));
    CALL("memory-of-mipmap", cuMipmappedArrayGetMemoryRequirements(&memory, mipmap, device));
    CALL("memory-device-99", cuArrayGetMemoryRequirements(&memory, array, 99));
    CALL("plane-0-of-one-plane", cuArrayGetPlane(&plane, array, 0));
    CALL("plane-1-of-one-plane", cuArrayGetPlane(&plane, array, 1));
    shape.Flags = 0x80;
    CALL("create-deferred-mapping", cuArray3DCreate_v2(&array, &shape));
    CALL("memory-of-deferred-mapping", cuArrayGetMemoryRequirements(&memory, array, device));
    VARYING("memory-of-deferred-mapping-values", "%zu, alignment %zu", memory.size, memory.alignment);
    shape.Flags = 0x40;
    CALL("create-sparse", cuArray3DCreate_v2(&array, &shape));
    memset(&sparse, 0, sizeof sparse);
    CALL("sparse-properties-of-sparse", cuArrayGetSparseProperties(&sparse, array));
    VALUE("sparse-properties-values", "tile %u by %u by %u, first level of tail %u", sparse.tileExtent.width,
          sparse.tileExtent.height, sparse.tileExtent.depth, sparse.miptailFirstLevel);
    CALL("memory-of-sparse", cuArrayGetMemoryRequirements(&memory, array, device));
}

static void planes(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {64, 64, 0, CU_AD_FORMAT_NV12, 3, 0}, found = {0};
    CUarray array = NULL, plane = NULL;
    start();
    CALL("create-nv12", cuArray3DCreate_v2(&array, &shape));
    for (int i = 0; i < 2; i++) {
        CALL(label("plane-%d", i), cuArrayGetPlane(&plane, array, i));
        CALL(label("plane-%d-descriptor", i), cuArray3DGetDescriptor_v2(&found, plane));
        VALUE(label("plane-%d-shape", i), "%zu by %zu, format %d, channels %u", found.Width, found.Height, found.Format,
              found.NumChannels);
    }
    CALL("plane-2", cuArrayGetPlane(&plane, array, 2));
    CALL("plane-null", cuArrayGetPlane(NULL, array, 0));
}

int main(void) {
    RUN(creation);
    RUN(descriptors);
    RUN(mipmaps);
    RUN(requirements);
    RUN(planes);
    RUN(destroy_level);
}
