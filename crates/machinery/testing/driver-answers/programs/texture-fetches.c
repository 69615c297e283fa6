// Texture and surface references: their settings at first, and kernels that use them.

#include "answers.h"

static const char KERNELS[] = ".version 6.4\n.target sm_52\n.address_size 64\n"
                              ".global .texref plane;\n"
                              ".global .texref line;\n"
                              ".global .surfref canvas;\n"
                              ".visible .entry sample(.param .u64 result, .param .f32 x, .param .f32 y)\n"
                              "{\n"
                              "    .reg .b64 %d<2>;\n"
                              "    .reg .f32 %f<7>;\n"
                              "    ld.param.u64 %d1, [result];\n"
                              "    ld.param.f32 %f1, [x];\n"
                              "    ld.param.f32 %f2, [y];\n"
                              "    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [plane, {%f1, %f2}];\n"
                              "    st.global.f32 [%d1], %f3;\n"
                              "    ret;\n"
                              "}\n"
                              ".visible .entry fetch(.param .u64 result, .param .u32 index)\n"
                              "{\n"
                              "    .reg .b64 %d<2>;\n"
                              "    .reg .b32 %r<6>;\n"
                              "    ld.param.u64 %d1, [result];\n"
                              "    ld.param.u32 %r1, [index];\n"
                              "    tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}];\n"
                              "    st.global.u32 [%d1], %r2;\n"
                              "    ret;\n"
                              "}\n"
                              ".visible .entry draw(.param .u32 value)\n"
                              "{\n"
                              "    .reg .b32 %r<4>;\n"
                              "    ld.param.u32 %r1, [value];\n"
                              "    mov.u32 %r2, 4;\n"
                              "    mov.u32 %r3, 1;\n"
                              "    sust.b.2d.b32.trap [canvas, {%r2, %r3}], {%r1};\n"
                              "    ret;\n"
                              "}\n"
                              ".visible .entry measure(.param .u64 result)\n"
                              "{\n"
                              "    .reg .b64 %d<2>;\n"
                              "    .reg .b32 %r<2>;\n"
                              "    ld.param.u64 %d1, [result];\n"
                              "    txq.width.b32 %r1, [plane];\n"
                              "    st.global.u32 [%d1], %r1;\n"
                              "    ret;\n"
                              "}\n";

static CUmodule module;
static CUtexref plane, line;
static CUdeviceptr result;

static void prepare(void) {
    start();
    result = allocate(4);
    NEED(cuModuleLoadData(&module, KERNELS));
    NEED(cuModuleGetTexRef(&plane, module, "plane"));
    NEED(cuModuleGetTexRef(&line, module, "line"));
}

static CUarray new_array(int scale) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {4, 2, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array;
    CUDA_MEMCPY2D copy;
    float texels[8];
    for (int i = 0; i < 8; i++) {
        texels[i] = scale * i;
    }
    NEED(cuArray3DCreate_v2(&array, &shape));
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.srcPitch = copy.WidthInBytes = 16;
    copy.Height = 2;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    NEED(cuMemcpy2D_v2(&copy));
    return array;
}

static void launch(const char *name, void **arguments) {
    CUfunction function;
    NEED(cuModuleGetFunction(&function, module, name));
    NEED(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
}

static void sample(const char *name, float x, float y) {
    void *arguments[] = {&result, &x, &y};
    unsigned word;
    float value;
    launch("sample", arguments);
    word = word_at(result);
    memcpy(&value, &word, sizeof value);
    VALUE(name, "%.6f", value);
}

static void fetch(const char *name, unsigned index) {
    void *arguments[] = {&result, &index};
    launch("fetch", arguments);
    VALUE(name, "%u", word_at(result));
}

static void first_settings(void) {
    CUaddress_mode mode = 77;
    CUfilter_mode filter = 77;
    CUarray_format format = 77;
    CUarray array = NULL;
    CUmipmappedArray mipmap = NULL;
    CUtexref again = NULL;
    CUdeviceptr address = 0;
    size_t bytes = 0;
    unsigned flags = 77;
    int channels = 77, anisotropy = 77;
    float bias = 77, low = 77, high = 77, border[4] = {7, 7, 7, 7};
    prepare();
    CALL("get-again", cuModuleGetTexRef(&again, module, "plane"));
    VALUE("again-same", "%d", again == plane);
    CALL("as-variable", cuModuleGetGlobal_v2(&address, &bytes, module, "plane"));
    CALL("address-mode", cuTexRefGetAddressMode(&mode, plane, 0));
    VALUE("address-mode-value", "%d", mode);
    CALL("address-mode-of-dimension-3", cuTexRefGetAddressMode(&mode, plane, 3));
    CALL("filter", cuTexRefGetFilterMode(&filter, plane));
    VALUE("filter-value", "%d", filter);
    CALL("flags", cuTexRefGetFlags(&flags, plane));
    VALUE("flags-value", "%u", flags);
    CALL("format", cuTexRefGetFormat(&format, &channels, plane));
    VALUE("format-value", "%d %d", format, channels);
    CALL("array", cuTexRefGetArray(&array, plane));
    CALL("mipmapped-array", cuTexRefGetMipmappedArray(&mipmap, plane));
    CALL("anisotropy", cuTexRefGetMaxAnisotropy(&anisotropy, plane));
    VALUE("anisotropy-value", "%d", anisotropy);
    CALL("mipmap-filter", cuTexRefGetMipmapFilterMode(&filter, plane));
    VALUE("mipmap-filter-value", "%d", filter);
    CALL("mipmap-bias", cuTexRefGetMipmapLevelBias(&bias, plane));
    VALUE("mipmap-bias-value", "%g", bias);
    CALL("mipmap-clamp", cuTexRefGetMipmapLevelClamp(&low, &high, plane));
    VALUE("mipmap-clamp-value", "%g %g", low, high);
    CALL("border", cuTexRefGetBorderColor(border, plane));
    VALUE("border-value", "%g %g %g %g", border[0], border[1], border[2], border[3]);
}

static void arrays(void) {
    void *arguments[] = {&result};
    float x = 2.5f, y = 0.5f;
    void *sample_arguments[] = {&result, &x, &y};
    unsigned word;
    float value;
    prepare();
    CALL("set-array", cuTexRefSetArray(plane, new_array(1), CU_TRSA_OVERRIDE_FORMAT));
    sample("point", 1.5f, 1.5f);
    sample("outside", 9, 9);
    CALL("set-filter", cuTexRefSetFilterMode(plane, CU_TR_FILTER_MODE_LINEAR));
    sample("linear", 2, 1);
    CALL("set-flags", cuTexRefSetFlags(plane, CU_TRSF_NORMALIZED_COORDINATES));
    sample("normalized", 0.5f, 0.75f);
    sample("normalized-outside", 1.125f, 0.25f);
    CALL("set-address-mode", cuTexRefSetAddressMode(plane, 0, CU_TR_ADDRESS_MODE_MIRROR));
    sample("mirrored", 1.125f, 0.25f);
    launch("measure", arguments);
    VALUE("width", "%u", word_at(result));
    CALL("set-flags-0", cuTexRefSetFlags(plane, 0));
    // A launch keeps the binding it was submitted with.
    launch("sample", sample_arguments);
    CALL("set-other-array", cuTexRefSetArray(plane, new_array(10), CU_TRSA_OVERRIDE_FORMAT));
    word = word_at(result);
    memcpy(&value, &word, sizeof value);
    VALUE("of-earlier-launch", "%.6f", value);
    sample("of-later-launch", 2.5f, 0.5f);
    CALL("set-array-null", cuTexRefSetArray(plane, NULL, CU_TRSA_OVERRIDE_FORMAT));
    sample("after-array-null", 2.5f, 0.5f);
    CALL("set-mipmapped-array-null", cuTexRefSetMipmappedArray(plane, NULL, CU_TRSA_OVERRIDE_FORMAT));
    CALL("set-array-flags-8", cuTexRefSetArray(plane, new_array(1), 8));
}

static void linear_memory(void) {
    unsigned words[1024];
    size_t offset = 77;
    CUdeviceptr memory, address = 0;
    prepare();
    memory = allocate(4096);
    for (int i = 0; i < 1024; i++) {
        words[i] = i * 3;
    }
    NEED(cuMemcpyHtoD_v2(memory, words, sizeof words));
    CALL("set-format", cuTexRefSetFormat(line, CU_AD_FORMAT_UNSIGNED_INT32, 1));
    CALL("set-flags", cuTexRefSetFlags(line, CU_TRSF_READ_AS_INTEGER));
    CALL("set-address", cuTexRefSetAddress_v2(&offset, line, memory, 4096));
    fetch("first", 0);
    fetch("last", 1023);
    fetch("outside", 1024);
    CALL("set-address-between", cuTexRefSetAddress_v2(&offset, line, memory + 520, 400));
    VALUE("offset-between", "%zu", offset);
    CALL("get-address-between", cuTexRefGetAddress_v2(&address, line));
    VALUE("address-between", "%d", (int)(address - memory));
    fetch("between-first", 0);
    fetch("between-last", 101);
    fetch("between-outside", 102);
    CALL("set-address-between-without-offset", cuTexRefSetAddress_v2(NULL, line, memory + 520, 400));
    CALL("set-address-bytes-0", cuTexRefSetAddress_v2(&offset, line, memory, 0));
    CALL("set-address-too-long", cuTexRefSetAddress_v2(&offset, line, memory, (size_t)1 << 40));
    CALL("set-address-null", cuTexRefSetAddress_v2(&offset, line, 0, 0));
    CALL("get-address-after-null", cuTexRefGetAddress_v2(&address, line));
    CALL("set-address-of-host", cuTexRefSetAddress_v2(&offset, line, (CUdeviceptr)(uintptr_t)words & ~511ull, 400));
}

static void surfaces(void) {
    CUsurfref canvas;
    CUarray array, found = NULL;
    CUDA_MEMCPY2D copy;
    unsigned value = 1234, row[4] = {0};
    void *arguments[] = {&value};
    prepare();
    array = new_array(1);
    NEED(cuModuleGetSurfRef(&canvas, module, "canvas"));
    CALL("get-array-unbound", cuSurfRefGetArray(&found, canvas));
    CALL("set-array-null", cuSurfRefSetArray(canvas, NULL, 0));
    NEED(cuSurfRefSetArray(canvas, array, 0));
    launch("draw", arguments);
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = row;
    copy.WidthInBytes = 16;
    copy.Height = 1;
    CALL("copy", cuMemcpy2D_v2(&copy));
    VALUE("stored", "%u", row[1]);
}

static void unbound(void) {
    float zero = 0;
    void *arguments[] = {&result, &zero, &zero};
    prepare();
    launch("sample", arguments);
    CALL("synchronize", cuCtxSynchronize());
}

int main(void) {
    RUN(first_settings);
    RUN(arrays);
    RUN(linear_memory);
    RUN(surfaces);
    RUN(unbound);
}
