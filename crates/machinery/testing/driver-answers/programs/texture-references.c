// Texture and surface references of modules, which CUDA 12 deprecates.

#include "answers.h"

static const char REFERENCES[] = ".version 6.4\n.target sm_52\n.address_size 64\n"
                                 ".global .texref image;\n"
                                 ".global .surfref canvas;\n"
                                 ".visible .entry empty() { ret; }\n";

static void references(void) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {16, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_ARRAY_DESCRIPTOR flat = {16, 4, CU_AD_FORMAT_FLOAT, 1};
    CUtexref reference = NULL;
    CUsurfref surface = NULL;
    CUarray array, found = NULL;
    CUdeviceptr memory, address = 0;
    CUaddress_mode mode = 77;
    CUfilter_mode filter = 77;
    CUarray_format format = 77;
    CUmodule module;
    size_t offset = 77;
    unsigned flags = 77;
    int channels = 77, anisotropy = 77;
    float bias = 77, low = 77, high = 77, border[4] = {1, 2, 3, 4};
    start();
    memory = allocate(4096);
    NEED(cuArray3DCreate_v2(&array, &shape));
    NEED(cuModuleLoadData(&module, REFERENCES));
    CALL("unknown-texture", cuModuleGetTexRef(&reference, module, "unknown"));
    CALL("unknown-surface", cuModuleGetSurfRef(&surface, module, "unknown"));
    CALL("surface-as-texture", cuModuleGetTexRef(&reference, module, "canvas"));
    if (CALL("texture", cuModuleGetTexRef(&reference, module, "image")) != CUDA_SUCCESS) {
        CALL("create", cuTexRefCreate(&reference));
    }
    if (!reference) {
        return;
    }
    CALL("get-address-unbound", cuTexRefGetAddress_v2(&address, reference));
    CALL("set-address-mode", cuTexRefSetAddressMode(reference, 0, CU_TR_ADDRESS_MODE_CLAMP));
    CALL("get-address-mode", cuTexRefGetAddressMode(&mode, reference, 0));
    VALUE("address-mode", "%d", mode);
    CALL("set-address-mode-9", cuTexRefSetAddressMode(reference, 0, 9));
    CALL("set-address-mode-of-dimension-3", cuTexRefSetAddressMode(reference, 3, CU_TR_ADDRESS_MODE_CLAMP));
    CALL("set-filter", cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
    CALL("get-filter", cuTexRefGetFilterMode(&filter, reference));
    VALUE("filter", "%d", filter);
    CALL("set-filter-9", cuTexRefSetFilterMode(reference, 9));
    CALL("set-flags", cuTexRefSetFlags(reference, CU_TRSF_NORMALIZED_COORDINATES));
    CALL("get-flags", cuTexRefGetFlags(&flags, reference));
    VALUE("flags", "%u", flags);
    CALL("set-flags-0x1000", cuTexRefSetFlags(reference, 0x1000));
    CALL("set-format", cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 1));
    CALL("get-format", cuTexRefGetFormat(&format, &channels, reference));
    VALUE("format", "%d %d", format, channels);
    CALL("set-format-3-channels", cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 3));
    CALL("set-format-99", cuTexRefSetFormat(reference, 99, 1));
    CALL("set-address", cuTexRefSetAddress_v2(&offset, reference, memory, 1024));
    VALUE("address-offset", "%zu", offset);
    CALL("get-address", cuTexRefGetAddress_v2(&address, reference));
    VALUE("address-same", "%d", address == memory);
    CALL("set-address-2d", cuTexRefSetAddress2D_v3(reference, &flat, memory, 512));
    CALL("set-address-2d-pitch-100", cuTexRefSetAddress2D_v3(reference, &flat, memory, 100));
    CALL("set-array", cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT));
    CALL("get-array", cuTexRefGetArray(&found, reference));
    VALUE("array-same", "%d", found == array);
    CALL("set-array-without-flag", cuTexRefSetArray(reference, array, 0));
    CALL("set-anisotropy", cuTexRefSetMaxAnisotropy(reference, 4));
    CALL("get-anisotropy", cuTexRefGetMaxAnisotropy(&anisotropy, reference));
    VALUE("anisotropy", "%d", anisotropy);
    CALL("set-mipmap-bias", cuTexRefSetMipmapLevelBias(reference, 0.5f));
    CALL("get-mipmap-bias", cuTexRefGetMipmapLevelBias(&bias, reference));
    VALUE("mipmap-bias", "%g", bias);
    CALL("set-mipmap-clamp", cuTexRefSetMipmapLevelClamp(reference, 1, 2));
    CALL("get-mipmap-clamp", cuTexRefGetMipmapLevelClamp(&low, &high, reference));
    VALUE("mipmap-clamp", "%g %g", low, high);
    CALL("set-mipmap-filter", cuTexRefSetMipmapFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
    CALL("set-border", cuTexRefSetBorderColor(reference, border));
    border[0] = 0;
    CALL("get-border", cuTexRefGetBorderColor(border, reference));
    VALUE("border", "%g", border[0]);
    if (CALL("surface", cuModuleGetSurfRef(&surface, module, "canvas")) == CUDA_SUCCESS) {
        CALL("set-surface-array", cuSurfRefSetArray(surface, array, 0));
        found = NULL;
        CALL("get-surface-array", cuSurfRefGetArray(&found, surface));
        VALUE("surface-array-same", "%d", found == array);
        CALL("set-surface-array-flags-1", cuSurfRefSetArray(surface, array, 1));
    }
}

static void created(void) {
    CUtexref reference = NULL;
    start();
    CALL("create", cuTexRefCreate(&reference));
    if (reference) {
        CALL("set-filter", cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
        CALL("destroy", cuTexRefDestroy(reference));
    }
}

int main(void) {
    RUN(references);
    RUN(created);
}
