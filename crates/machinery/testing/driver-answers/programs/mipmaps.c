// Sampled values of mipmapped arrays: levels of detail, gradients, filters, bias and clamp.

#include "answers.h"

static const char FETCH[] =
    ".version 6.4\n.target sm_52\n.address_size 64\n"
    // Each kernel stores the first component; a and b are the level, or the gradients along x and y.
    ".visible .entry level(.param .u64 texture, .param .u64 result, .param .f32 x, .param .f32 y, .param .f32 a, "
    ".param .f32 b)\n"
    "{\n"
    "    .reg .b64 %d<3>;\n"
    "    .reg .f32 %f<9>;\n"
    "    ld.param.u64 %d1, [texture];\n"
    "    ld.param.u64 %d2, [result];\n"
    "    ld.param.f32 %f1, [x];\n"
    "    ld.param.f32 %f2, [y];\n"
    "    ld.param.f32 %f3, [a];\n"
    "    tex.level.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%d1, {%f1, %f2}], %f3;\n"
    "    st.global.f32 [%d2], %f5;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry gradient(.param .u64 texture, .param .u64 result, .param .f32 x, .param .f32 y, .param .f32 a, "
    ".param .f32 b)\n"
    "{\n"
    "    .reg .b64 %d<3>;\n"
    "    .reg .f32 %f<10>;\n"
    "    ld.param.u64 %d1, [texture];\n"
    "    ld.param.u64 %d2, [result];\n"
    "    ld.param.f32 %f1, [x];\n"
    "    ld.param.f32 %f2, [y];\n"
    "    ld.param.f32 %f3, [a];\n"
    "    ld.param.f32 %f4, [b];\n"
    "    mov.f32 %f9, 0f00000000;\n"
    "    tex.grad.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%d1, {%f1, %f2}], {%f3, %f9}, {%f9, %f4};\n"
    "    st.global.f32 [%d2], %f5;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry base(.param .u64 texture, .param .u64 result, .param .f32 x, .param .f32 y, .param .f32 a, "
    ".param .f32 b)\n"
    "{\n"
    "    .reg .b64 %d<3>;\n"
    "    .reg .f32 %f<9>;\n"
    "    ld.param.u64 %d1, [texture];\n"
    "    ld.param.u64 %d2, [result];\n"
    "    ld.param.f32 %f1, [x];\n"
    "    ld.param.f32 %f2, [y];\n"
    "    tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%d1, {%f1, %f2}];\n"
    "    st.global.f32 [%d2], %f5;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry integer(.param .u64 texture, .param .u64 result, .param .f32 x, .param .f32 y, .param .f32 a, "
    ".param .f32 b)\n"
    "{\n"
    "    .reg .b64 %d<3>;\n"
    "    .reg .f32 %f<9>;\n"
    "    .reg .s32 %r<4>;\n"
    "    ld.param.u64 %d1, [texture];\n"
    "    ld.param.u64 %d2, [result];\n"
    "    ld.param.f32 %f1, [x];\n"
    "    ld.param.f32 %f2, [y];\n"
    "    ld.param.f32 %f3, [a];\n"
    "    cvt.rni.s32.f32 %r1, %f1;\n"
    "    cvt.rni.s32.f32 %r2, %f2;\n"
    "    cvt.rni.s32.f32 %r3, %f3;\n"
    "    tex.level.2d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%d1, {%r1, %r2}], %r3;\n"
    "    st.global.f32 [%d2], %f5;\n"
    "    ret;\n"
    "}\n";

static CUDA_RESOURCE_DESC resource;
static CUDA_TEXTURE_DESC texture;
static CUmodule module;
static CUdeviceptr result;

// Creates a mipmapped array of 16 by 16 texels with 5 levels. A texel is 40 per level, 4 per row and 1 per column.
static void prepare(int format) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {16, 16, 0, format, 1, 0};
    CUmipmappedArray mipmap;
    start();
    result = allocate(4);
    NEED(cuModuleLoadData(&module, FETCH));
    NEED(cuMipmappedArrayCreate(&mipmap, &shape, 5));
    for (int level = 0; level < 5; level++) {
        float floats[256];
        unsigned char bytes[256];
        int size = 16 >> level, width = format == CU_AD_FORMAT_FLOAT ? 4 : 1;
        CUDA_MEMCPY2D copy;
        memset(&copy, 0, sizeof copy);
        for (int i = 0; i < size * size; i++) {
            bytes[i] = level * 40 + i / size * 4 + i % size;
            floats[i] = level * 40 + i / size * 4 + i % size;
        }
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = width == 4 ? (void *)floats : (void *)bytes;
        copy.srcPitch = copy.WidthInBytes = size * width;
        copy.Height = size;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        NEED(cuMipmappedArrayGetLevel(&copy.dstArray, mipmap, level));
        NEED(cuMemcpy2D_v2(&copy));
    }
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = mipmap;
    for (int i = 0; i < 3; i++) {
        texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    }
    texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    texture.maxMipmapLevelClamp = 10;
}

// Prints a fetch from the texture that the descriptors describe.
static void fetch(const char *name, const char *kernel, float x, float y, float a, float b) {
    CUtexObject object;
    CUfunction function;
    void *arguments[] = {&object, &result, &x, &y, &a, &b};
    unsigned word;
    float value;
    NEED(cuModuleGetFunction(&function, module, kernel));
    NEED(cuTexObjectCreate(&object, &resource, &texture, NULL));
    NEED(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    word = word_at(result);
    memcpy(&value, &word, sizeof value);
    VALUE(name, "%.6f", value);
    NEED(cuTexObjectDestroy(object));
}

static void levels_of_detail(void) {
    static const float details[] = {-1,    0,    0.25f, 0.498f, 0.5f,  0.502f, 0.75f, 0.998f, 1,  1.0019f,
                                    1.002f, 1.5f, 2.3f,  2.75f,  3.4f, 3.5f,   3.9f,  4,      4.6f, 20};
    prepare(CU_AD_FORMAT_FLOAT);
    for (int filter = 0; filter < 4; filter++) {
        texture.filterMode = filter & 1 ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        texture.mipmapFilterMode = filter & 2 ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
            const char *names[] = {"point-point", "linear-point", "point-linear", "linear-linear"};
            fetch(label("%s-%g", names[filter], details[i]), "level", 0.3f, 0.7f, details[i], 0);
        }
    }
    texture.flags = 0;
    fetch("unnormalized-0", "level", 5, 9, 0, 0);
    fetch("unnormalized-2", "level", 5, 9, 2, 0);
}

static void bias_and_clamp(void) {
    prepare(CU_AD_FORMAT_FLOAT);
    texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    texture.mipmapLevelBias = 0.75f;
    fetch("bias", "level", 0, 0, 1, 0);
    fetch("bias-of-base", "base", 0, 0, 0, 0);
    fetch("bias-of-integer", "integer", 0, 0, 1, 0);
    texture.mipmapLevelBias = -0.75f;
    fetch("bias-negative", "level", 0, 0, 1, 0);
    texture.mipmapLevelBias = 100;
    fetch("bias-100", "level", 0, 0, 1, 0);
    texture.mipmapLevelBias = 0;
    texture.minMipmapLevelClamp = 1.25f;
    texture.maxMipmapLevelClamp = 2.5f;
    fetch("clamp-low", "level", 0, 0, 0, 0);
    fetch("clamp-between", "level", 0, 0, 2, 0);
    fetch("clamp-high", "level", 0, 0, 4, 0);
    fetch("clamp-of-base", "base", 0, 0, 0, 0);
    fetch("clamp-of-integer", "integer", 0, 0, 4, 0);
    texture.minMipmapLevelClamp = 3;
    texture.maxMipmapLevelClamp = 1;
    fetch("clamp-exchanged", "level", 0, 0, 2, 0);
    texture.mipmapFilterMode = CU_TR_FILTER_MODE_POINT;
    texture.minMipmapLevelClamp = 1.75f;
    texture.maxMipmapLevelClamp = 10;
    fetch("clamp-low-of-point", "level", 0, 0, 0, 0);
    texture.minMipmapLevelClamp = 0;
    fetch("base", "base", 0.3f, 0.7f, 0, 0);
    fetch("integer-0", "integer", 3, 2, 0, 0);
    fetch("integer-2", "integer", 3, 2, 2, 0);
    fetch("integer-outside-of-level", "integer", 5, 2, 2, 0);
    fetch("integer-9", "integer", 0, 0, 9, 0);
    fetch("integer-negative", "integer", 0, 0, -1, 0);
}

static void gradients(void) {
    static const float lengths[][2] = {{0, 0}, {0.5f, 1}, {1, 1}, {2, 1}, {1, 2}, {3, 1}, {5, 4}, {8, 1}, {100, 1}};
    prepare(CU_AD_FORMAT_FLOAT);
    texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    for (int anisotropy = 0; anisotropy <= 16; anisotropy += 16) {
        texture.maxAnisotropy = anisotropy;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            float along_x = lengths[i][0], along_y = lengths[i][1];
            fetch(label("anisotropy-%d-of-%g,%g", anisotropy, along_x, along_y), "gradient", 0.03f, 0.03f,
                  along_x / 16, along_y / 16);
        }
    }
}

static void bytes(void) {
    static const float details[] = {0, 0.25f, 0.33f, 1.5f, 2.71f};
    prepare(CU_AD_FORMAT_UNSIGNED_INT8);
    texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
        fetch(label("linear-linear-%g", details[i]), "level", 0.3f, 0.7f, details[i], 0);
    }
}

int main(void) {
    RUN(levels_of_detail);
    RUN(bias_and_clamp);
    RUN(gradients);
    RUN(bytes);
}
