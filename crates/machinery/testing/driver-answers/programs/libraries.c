// Libraries, which are independent of contexts, and their kernels.

#include "answers.h"
#include "kernels.h"

static const char MANAGED[] = PTX_HEADER ".visible .global .attribute(.managed) .align 4 .u32 shared_counter = 8;\n"
                                         ".visible .entry empty() { ret; }\n";

static CUlibrary library;

static CUresult load(const void *image) {
    return cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0);
}

static void loading(void) {
    CUjit_option option = 999;
    CUlibraryOption library_option = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *value = (void *)1;
    unsigned count = 77;
    CUkernel all[16] = {0}, kernel = NULL;
    CUmodule module = NULL;
    CUlibrary found = NULL;
    start();
    CALL("load", load(KERNELS));
    CALL("count", cuLibraryGetKernelCount(&count, library));
    VALUE("count-value", "%u", count);
    CALL("enumerate", cuLibraryEnumerateKernels(all, 3, library));
    VALUE("enumerated", "%d", (all[2] != NULL) + (all[3] != NULL));
    CALL("enumerate-null", cuLibraryEnumerateKernels(NULL, 3, library));
    CALL("enumerate-0", cuLibraryEnumerateKernels(all, 0, library));
    CALL("count-null", cuLibraryGetKernelCount(NULL, library));
    CALL("kernel", cuLibraryGetKernel(&kernel, library, "fill"));
    CALL("kernel-unknown", cuLibraryGetKernel(&(CUkernel){0}, library, "unknown"));
    CALL("kernel-name-null", cuLibraryGetKernel(&(CUkernel){0}, library, NULL));
    CALL("kernel-output-null", cuLibraryGetKernel(NULL, library, "fill"));
    CALL("library-of-kernel", cuKernelGetLibrary(&found, kernel));
    VALUE("library-of-kernel-same", "%d", found == library);
    CALL("module", cuLibraryGetModule(&module, library));
    VALUE("module-found", "%d", module != NULL);
    CALL("unload", cuLibraryUnload(library));
    CALL("load-null", load(NULL));
    CALL("load-text", load("no PTX at all"));
    CALL("load-empty", load(""));
    CALL("load-invalid", load(PTX_HEADER ".visible .entry e() { bogus; }"));
    CALL("load-output-null", cuLibraryLoadData(NULL, KERNELS, NULL, NULL, 0, NULL, NULL, 0));
    CALL("load-unknown-option", cuLibraryLoadData(&library, KERNELS, &option, &value, 1, NULL, NULL, 0));
    CALL("load-option-null", cuLibraryLoadData(&library, KERNELS, NULL, NULL, 1, NULL, NULL, 0));
    CALL("load-preserved", cuLibraryLoadData(&library, KERNELS, NULL, NULL, 0, &library_option, &value, 1));
    library_option = 9;
    CALL("load-unknown-library-option",
         cuLibraryLoadData(&library, KERNELS, NULL, NULL, 0, &library_option, &value, 1));
    CALL("load-missing-file", cuLibraryLoadFromFile(&library, "/missing.ptx", NULL, NULL, 0, NULL, NULL, 0));
    CALL("unload-null", cuLibraryUnload(NULL));
}

static void variables(void) {
    CUdeviceptr address = 0;
    size_t size = 77;
    start();
    NEED(load(KERNELS));
    CALL("global", cuLibraryGetGlobal(&address, &size, library, "counter"));
    VALUE("global-values", "size %zu, value %u", size, word_at(address));
    CALL("global-unknown", cuLibraryGetGlobal(&address, &size, library, "unknown"));
    CALL("global-without-size", cuLibraryGetGlobal(&address, NULL, library, "counter"));
    CALL("global-without-address", cuLibraryGetGlobal(NULL, &size, library, "counter"));
    CALL("global-as-managed", cuLibraryGetManaged(&address, &size, library, "counter"));
    CALL("unified-function", cuLibraryGetUnifiedFunction(&(void *){0}, library, "fill"));
    NEED(load(MANAGED));
    if (CALL("managed", cuLibraryGetManaged(&address, &size, library, "shared_counter")) == CUDA_SUCCESS) {
        VALUE("managed-values", "size %zu, value %u", size, *(volatile unsigned *)address);
    }
    CALL("managed-as-global", cuLibraryGetGlobal(&address, &size, library, "shared_counter"));
}

static void kernels_of_libraries(void) {
    const char *name = NULL;
    CUfunction found = NULL;
    CUkernel kernel;
    CUdeviceptr memory;
    size_t offset = 77, size = 77;
    unsigned value = 19, count = 4;
    void *arguments[] = {&memory, &value, &count};
    int attribute = 77;
    start();
    memory = allocate(16);
    NEED(load(KERNELS));
    NEED(cuLibraryGetKernel(&kernel, library, "fill"));
    CALL("launch", cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    VALUE("launch-value", "%u", word_at(memory));
    CALL("function", cuKernelGetFunction(&found, kernel));
    value = 20;
    CALL("launch-function", cuLaunchKernel(found, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    VALUE("launch-function-value", "%u", word_at(memory));
    CALL("function-output-null", cuKernelGetFunction(NULL, kernel));
    CALL("function-of-null", cuKernelGetFunction(&found, NULL));
    CALL("name", cuKernelGetName(&name, kernel));
    VALUE("name-value", "%s", name ? name : "(none)");
    CALL("name-output-null", cuKernelGetName(NULL, kernel));
    CALL("name-of-null", cuKernelGetName(&name, NULL));
    for (int i = 1; i <= 3; i++) {
        CALL(label("parameter-%d", i), cuKernelGetParamInfo(kernel, i, &offset, &size));
        VALUE(label("parameter-%d-values", i), "offset %zu, size %zu", offset, size);
    }
    CALL("attribute", cuKernelGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
    VALUE("attribute-value", "%d", attribute);
    CALL("attribute-of-device-99", cuKernelGetAttribute(&attribute, 0, kernel, 99));
    CALL("attribute-99", cuKernelGetAttribute(&attribute, 99, kernel, 0));
    CALL("attribute-output-null", cuKernelGetAttribute(NULL, 0, kernel, 0));
    CALL("set-dynamic-64-KiB", cuKernelSetAttribute(8, 64 << 10, kernel, 0));
    CALL("get-dynamic", cuKernelGetAttribute(&attribute, 8, kernel, 0));
    VALUE("dynamic-value", "%d", attribute);
    CALL("set-dynamic-1-MiB", cuKernelSetAttribute(8, 1 << 20, kernel, 0));
    CALL("set-registers", cuKernelSetAttribute(4, 10, kernel, 0));
    CALL("set-of-device-99", cuKernelSetAttribute(8, 64 << 10, kernel, 99));
    CALL("set-cache", cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0));
    CALL("set-cache-77", cuKernelSetCacheConfig(kernel, 77, 0));
    CALL("library-of-null", cuKernelGetLibrary(&library, NULL));
}

// A library is loaded without a context; its functions need one.
static void without_context(void) {
    CUkernel kernel;
    CUfunction found;
    unsigned count = 77;
    int attribute;
    NEED(cuInit(0));
    CALL("load", load(KERNELS));
    CALL("count", cuLibraryGetKernelCount(&count, library));
    CALL("kernel", cuLibraryGetKernel(&kernel, library, "fill"));
    CALL("function", cuKernelGetFunction(&found, kernel));
    CALL("module", cuLibraryGetModule(&(CUmodule){0}, library));
    CALL("attribute-of-device-0", cuKernelGetAttribute(&attribute, 0, kernel, 0));
    CALL("global", cuLibraryGetGlobal(&(CUdeviceptr){0}, &(size_t){0}, library, "counter"));
}

int main(void) {
    RUN(loading);
    RUN(variables);
    RUN(kernels_of_libraries);
    RUN(without_context);
}
