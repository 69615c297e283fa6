// Texture and surface objects: their creation, descriptors and sampled values.

#include "answers.h"

static CUdeviceptr memory;
static CUDA_RESOURCE_DESC resource;
static CUDA_TEXTURE_DESC texture;
static CUtexObject object;

// Describes a pitched resource of 16 by 4 elements, and a texture that clamps.
static void describe(int format, int channels) {
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.format = format;
    resource.res.pitch2D.numChannels = channels;
    resource.res.pitch2D.width = 16;
    resource.res.pitch2D.height = 4;
    resource.res.pitch2D.pitchInBytes = 512;
    for (int i = 0; i < 3; i++) {
        texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    }
}

static void describe_array(CUarray array) {
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
}

static CUresult create(void) {
    return cuTexObjectCreate(&object, &resource, &texture, NULL);
}

static void pitched(void) {
    start();
    memory = allocate(4096);
    describe(CU_AD_FORMAT_FLOAT, 1);
    CALL("create", create());
    CALL("destroy", cuTexObjectDestroy(object));
    resource.res.pitch2D.pitchInBytes = 100;
    CALL("pitch-100", create());
    describe(CU_AD_FORMAT_FLOAT, 1);
    resource.res.pitch2D.devPtr = memory + 4;
    CALL("address-misaligned", create());
    describe(CU_AD_FORMAT_FLOAT, 3);
    CALL("channels-3", create());
    describe(99, 1);
    CALL("format-99", create());
    describe(CU_AD_FORMAT_FLOAT, 1);
    resource.res.pitch2D.width = 1 << 20;
    CALL("width-2^20", create());
    describe(CU_AD_FORMAT_FLOAT, 1);
    resource.res.pitch2D.devPtr = 0;
    CALL("address-null", create());
    describe(CU_AD_FORMAT_FLOAT, 1);
    resource.flags = 1;
    CALL("resource-flags-1", create());
    describe(CU_AD_FORMAT_FLOAT, 1);
    texture.flags = 0x1000;
    CALL("texture-flags-0x1000", create());
    describe(CU_AD_FORMAT_FLOAT, 1);
    texture.filterMode = 9;
    CALL("filter-9", create());
    describe(CU_AD_FORMAT_FLOAT, 1);
    texture.addressMode[0] = 9;
    CALL("address-mode-9", create());
    describe(CU_AD_FORMAT_FLOAT, 1);
    texture.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
    CALL("wrap-unnormalized", create());
    // Filters of FFmpeg for scaling and thumbnails create these.
    describe(CU_AD_FORMAT_UNSIGNED_INT8, 1);
    texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    texture.flags = CU_TRSF_READ_AS_INTEGER;
    CALL("8-bit-linear-integer", create());
    texture.flags = 0;
    CALL("8-bit-linear-float", create());
    describe(CU_AD_FORMAT_UNSIGNED_INT32, 1);
    texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CALL("32-bit-linear", create());
}

static void linear(void) {
    start();
    memory = allocate(4096);
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = memory;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 4096;
    CALL("create", create());
    resource.res.linear.sizeInBytes = 0;
    CALL("size-0", create());
    resource.res.linear.sizeInBytes = (size_t)1 << 40;
    CALL("size-1-TiB", create());
    resource.res.linear.sizeInBytes = 4096;
    resource.resType = 9;
    CALL("resource-type-9", create());
}

static void arrays(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {16, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_RESOURCE_VIEW_DESC view;
    CUDA_RESOURCE_DESC found;
    CUDA_TEXTURE_DESC found_texture;
    CUsurfObject surface;
    CUarray array, surface_array;
    start();
    NEED(cuArray3DCreate_v2(&array, &shape));
    describe_array(array);
    CALL("surface-without-flag", cuSurfObjectCreate(&surface, &resource));
    CALL("create", create());
    memset(&view, 0, sizeof view);
    view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
    view.width = 16;
    view.height = 4;
    CALL("view", cuTexObjectCreate(&object, &resource, &texture, &view));
    view.width = 8;
    CALL("view-of-other-width", cuTexObjectCreate(&object, &resource, &texture, &view));
    view.width = 16;
    view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
    CALL("view-of-integers", cuTexObjectCreate(&object, &resource, &texture, &view));
    NEED(create());
    CALL("get-resource", cuTexObjectGetResourceDesc(&found, object));
    VALUE("get-resource-same", "%d", found.resType == resource.resType && found.res.array.hArray == array);
    CALL("get-texture", cuTexObjectGetTextureDesc(&found_texture, object));
    CALL("get-view-without-view", cuTexObjectGetResourceViewDesc(&view, object));
    describe_array(NULL);
    CALL("array-null", create());
    shape.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    NEED(cuArray3DCreate_v2(&surface_array, &shape));
    describe_array(surface_array);
    CALL("surface", cuSurfObjectCreate(&surface, &resource));
    CALL("get-surface-resource", cuSurfObjectGetResourceDesc(&found, surface));
    VALUE("get-surface-resource-same", "%d", found.res.array.hArray == surface_array);
    CALL("get-surface-resource-null", cuSurfObjectGetResourceDesc(NULL, surface));
    CALL("destroy-surface", cuSurfObjectDestroy(surface));
    memory = allocate(4096);
    describe(CU_AD_FORMAT_FLOAT, 1);
    CALL("surface-of-pitched-memory", cuSurfObjectCreate(&surface, &resource));
}

static void mipmaps(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUmipmappedArray mipmap;
    CUsurfObject surface;
    start();
    NEED(cuMipmappedArrayCreate(&mipmap, &shape, 4));
    describe_array(NULL);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = mipmap;
    texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
    texture.maxMipmapLevelClamp = 3;
    CALL("create", create());
    texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    CALL("linear-between-levels", create());
    texture.mipmapFilterMode = 9;
    CALL("filter-9", create());
    texture.mipmapFilterMode = 0;
    texture.maxAnisotropy = 16;
    CALL("anisotropy-16", create());
    texture.maxAnisotropy = 99;
    CALL("anisotropy-99", create());
    texture.maxAnisotropy = 0;
    texture.flags = 0;
    CALL("unnormalized", create());
    CALL("surface", cuSurfObjectCreate(&surface, &resource));
    resource.res.mipmap.hMipmappedArray = NULL;
    CALL("mipmap-null", create());
}

// Kernels that store the first component of a texel.
static const char FETCH[] =
    ".version 6.4\n.target sm_52\n.address_size 64\n"
    ".visible .entry fetch_integer(.param .u64 texture, .param .u64 result, .param .f32 x, .param .f32 y)\n"
    "{\n"
    "    .reg .b64 %d<3>;\n"
    "    .reg .f32 %f<3>;\n"
    "    .reg .b32 %r<5>;\n"
    "    ld.param.u64 %d1, [texture];\n"
    "    ld.param.u64 %d2, [result];\n"
    "    ld.param.f32 %f1, [x];\n"
    "    ld.param.f32 %f2, [y];\n"
    "    tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2}];\n"
    "    st.global.u32 [%d2], %r1;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry fetch_float(.param .u64 texture, .param .u64 result, .param .f32 x, .param .f32 y)\n"
    "{\n"
    "    .reg .b64 %d<3>;\n"
    "    .reg .f32 %f<7>;\n"
    "    ld.param.u64 %d1, [texture];\n"
    "    ld.param.u64 %d2, [result];\n"
    "    ld.param.f32 %f1, [x];\n"
    "    ld.param.f32 %f2, [y];\n"
    "    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];\n"
    "    st.global.f32 [%d2], %f3;\n"
    "    ret;\n"
    "}\n";

static void samples(void) {
    static float points[][2] = {
        {0.5f, 0.5f}, {1.0f, 0.5f},  {1.25f, 0.5f}, {1.75f, 1.25f},
        {0.0f, 0.0f}, {16.0f, 4.0f}, {-3.0f, 2.0f}, {2.5f, 2.0f},
    };
    unsigned char texels[2048];
    CUfunction fetch[2];
    CUdeviceptr result;
    CUmodule module;
    start();
    memory = allocate(4096);
    result = allocate(4);
    NEED(cuModuleLoadData(&module, FETCH));
    NEED(cuModuleGetFunction(&fetch[0], module, "fetch_float"));
    NEED(cuModuleGetFunction(&fetch[1], module, "fetch_integer"));
    for (int i = 0; i < 2048; i++) {
        texels[i] = i % 512 * 10 + i / 512 * 3;
    }
    NEED(cuMemcpyHtoD_v2(memory, texels, sizeof texels));
    for (int mode = 0; mode < 4; mode++) {
        int linear_filter = mode & 1, integer = mode >> 1;
        const char *name = label("%s-%s", linear_filter ? "linear" : "point", integer ? "integer" : "float");
        describe(CU_AD_FORMAT_UNSIGNED_INT8, 1);
        texture.filterMode = linear_filter ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        texture.flags = integer ? CU_TRSF_READ_AS_INTEGER : 0;
        if (CALL(name, create()) != CUDA_SUCCESS) {
            continue;
        }
        for (int i = 0; i < 8; i++) {
            void *arguments[] = {&object, &result, &points[i][0], &points[i][1]};
            unsigned word;
            float real;
            NEED(cuLaunchKernel(fetch[integer], 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
            word = word_at(result);
            memcpy(&real, &word, sizeof real);
            const char *key = label("%s-%s-at-%g,%g", linear_filter ? "linear" : "point", integer ? "integer" : "float",
                                    points[i][0], points[i][1]);
            if (integer) {
                VALUE(key, "%u", word);
            } else {
                VALUE(key, "%.6f", real);
            }
        }
    }
}

static const char FETCH_COLOUR[] = ".version 6.4\n.target sm_52\n.address_size 64\n"
                                   ".visible .entry fetch(.param .u64 texture, .param .u64 result, .param .f32 x)\n"
                                   "{\n"
                                   "    .reg .b64 %d<3>;\n"
                                   "    .reg .f32 %f<7>;\n"
                                   "    ld.param.u64 %d1, [texture];\n"
                                   "    ld.param.u64 %d2, [result];\n"
                                   "    ld.param.f32 %f1, [x];\n"
                                   "    mov.f32 %f2, 0f3f000000;\n"
                                   "    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];\n"
                                   "    st.global.v4.f32 [%d2], {%f3, %f4, %f5, %f6};\n"
                                   "    ret;\n"
                                   "}\n";

// Fetches the colours of the described texture at some positions.
static void colours(const char *name, CUfunction fetch, CUdeviceptr result) {
    static const float positions[] = {0.5f, 1.5f, 2.25f, 3.875f, 12.5f, 15.5f, 15.75f};
    if (CALL(label("create-%s", name), create()) != CUDA_SUCCESS) {
        return;
    }
    for (unsigned i = 0; i < sizeof positions / sizeof *positions; i++) {
        float x = positions[i], colour[4];
        void *arguments[] = {&object, &result, &x};
        NEED(cuLaunchKernel(fetch, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
        NEED(cuMemcpyDtoH_v2(colour, result, sizeof colour));
        VALUE(label("%s-at-%g", name, x), "%.9g %.9g %.9g %.9g", colour[0], colour[1], colour[2], colour[3]);
    }
}

// Textures of 16 texels whose values are encoded in sRGB.
static void srgb(void) {
    static const int formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT8,
                                  CU_AD_FORMAT_HALF};
    static const char *const names[] = {"8-bit", "16-bit", "signed", "half"};
    unsigned char bytes[512];
    CUdeviceptr result;
    CUmodule module;
    CUfunction fetch;
    start();
    memory = allocate(4096);
    result = allocate(16);
    NEED(cuModuleLoadData(&module, FETCH_COLOUR));
    NEED(cuModuleGetFunction(&fetch, module, "fetch"));
    for (int i = 0; i < 512; i++) {
        bytes[i] = i * 53 % 121;
    }
    NEED(cuMemcpyHtoD_v2(memory, bytes, sizeof bytes));
    for (int linear = 0; linear <= 1; linear++) {
        for (int i = 0; i < 4; i++) {
            describe(formats[i], 4);
            texture.flags = CU_TRSF_SRGB;
            texture.filterMode = linear;
            colours(label("%s-filter-%d", names[i], linear), fetch, result);
        }
    }
    describe(CU_AD_FORMAT_UNSIGNED_INT8, 2);
    texture.flags = CU_TRSF_SRGB;
    colours("two-channels", fetch, result);
    describe(CU_AD_FORMAT_UNSIGNED_INT8, 4);
    texture.flags = CU_TRSF_SRGB;
    texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    texture.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
    for (int i = 0; i < 4; i++) {
        texture.borderColor[i] = 0.5f;
    }
    colours("border", fetch, result);
    describe(CU_AD_FORMAT_UNSIGNED_INT8, 4);
    texture.flags = CU_TRSF_SRGB | CU_TRSF_READ_AS_INTEGER;
    CALL("create-integers", create());
    describe(CU_AD_FORMAT_FLOAT, 4);
    texture.flags = CU_TRSF_SRGB;
    CALL("create-floats", create());
}

int main(void) {
    RUN(pitched);
    RUN(linear);
    RUN(arrays);
    RUN(mipmaps);
    RUN(samples);
    RUN(srgb);
}
