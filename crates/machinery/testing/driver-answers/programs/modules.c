// Modules: images, files, functions and variables.

#include "answers.h"
#include "kernels.h"

#define ENTRY(body) ".visible .entry e() { " body " ret; }"

static CUresult load(const void *image) {
    CUmodule module;
    return cuModuleLoadData(&module, image);
}

static void images(void) {
    static const struct {
        const char *name, *image;
    } all[] = {
        {"empty", ""},
        {"text", "no PTX at all"},
        {"truncated-elf", "\177ELF and nothing else                                                              "},
        {"no-target", ".version 6.4\n" ENTRY("")},
        {"header-only", PTX_HEADER},
        {"comment-first", "// comment\n" PTX_HEADER ENTRY("")},
        {"unknown-instruction", PTX_HEADER ENTRY("rett;")},
        {"undeclared-register", PTX_HEADER ENTRY("mov.u32 %r1, 0;")},
        {"type-mismatch", PTX_HEADER ENTRY(".reg .f32 %f; mov.u64 %f, 0;")},
        {"version-99", ".version 99.0\n.target sm_52\n.address_size 64\n" ENTRY("")},
        {"target-999", ".version 6.4\n.target sm_999\n.address_size 64\n" ENTRY("")},
        {"target-10", ".version 6.4\n.target sm_10\n.address_size 64\n" ENTRY("")},
        {"target-newer-than-version", ".version 6.0\n.target sm_80\n.address_size 64\n" ENTRY("")},
        {"address-size-32", ".version 6.4\n.target sm_52\n.address_size 32\n" ENTRY("")},
        {"undefined-function", PTX_HEADER ".extern .func missing();\n" ENTRY("call missing;")},
        {"undefined-variable", PTX_HEADER ".extern .global .u32 missing;\n" ENTRY(
                                   ".reg .u32 %r; ld.global.u32 %r, [missing]; st.global.u32 [missing], %r;")},
    };
    CUmodule module;
    start();
    CALL("image-null", load(NULL));
    CALL("module-null", cuModuleLoadData(NULL, KERNELS));
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        CALL(all[i].name, load(all[i].image));
    }
    CALL("missing-file", cuModuleLoad(&module, "/missing.ptx"));
    CALL("file-null", cuModuleLoad(&module, NULL));
    CALL("fat-binary-of-ptx", cuModuleLoadFatBinary(&module, KERNELS));
}

static void symbols(void) {
    CUmodule module;
    CUfunction found;
    CUdeviceptr address;
    size_t size;
    unsigned count = 0;
    start();
    NEED(cuModuleLoadData(&module, KERNELS));
    CALL("function-unknown", cuModuleGetFunction(&found, module, "unknown"));
    CALL("function-name-null", cuModuleGetFunction(&found, module, NULL));
    CALL("function-name-empty", cuModuleGetFunction(&found, module, ""));
    CALL("function-named-as-variable", cuModuleGetFunction(&found, module, "counter"));
    CALL("variable", cuModuleGetGlobal_v2(&address, &size, module, "counter"));
    VALUE("variable-size", "%zu", size);
    VALUE("variable-value", "%u", word_at(address));
    CALL("constant", cuModuleGetGlobal_v2(&address, &size, module, "table"));
    VALUE("constant-size", "%zu", size);
    CALL("memset-constant", cuMemsetD8_v2(address, 1, 64));
    CALL("variable-unknown", cuModuleGetGlobal_v2(&address, &size, module, "unknown"));
    CALL("variable-named-as-function", cuModuleGetGlobal_v2(&address, &size, module, "empty"));
    CALL("variable-without-size", cuModuleGetGlobal_v2(&address, NULL, module, "counter"));
    CALL("variable-without-address", cuModuleGetGlobal_v2(NULL, &size, module, "counter"));
    CALL("variable-without-outputs", cuModuleGetGlobal_v2(NULL, NULL, module, "counter"));
    CALL("function-count", cuModuleGetFunctionCount(&count, module));
    VALUE("function-count-value", "%u", count);
    CALL("free-variable", cuMemFree_v2(address));
    CALL("unload", cuModuleUnload(module));
    CALL("unload-null", cuModuleUnload(NULL));
}

static void unload_again(void) {
    CUmodule module;
    start();
    NEED(cuModuleLoadData(&module, KERNELS));
    NEED(cuModuleUnload(module));
    CALL("unload", cuModuleUnload(module));
}

static void launch_after_unload(void) {
    CUfunction kernel;
    start();
    kernel = function("empty");
    NEED(cuModuleUnload(kernels));
    CALL("launch", launch_one(kernel, NULL, NULL));
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file) {
        VALUE("setup", "file not written");
        _exit(3);
    }
    fputs(text, file);
    fclose(file);
}

static void files(void) {
    char folder[] = "/tmp/driver-answers-XXXXXX", path[64];
    CUmodule module;
    start();
    if (!mkdtemp(folder)) {
        VALUE("setup", "folder not created");
        _exit(3);
    }
    snprintf(path, sizeof path, "%s/module.ptx", folder);
    write_file(path, KERNELS);
    CALL("ptx", cuModuleLoad(&module, path));
    write_file(path, "no PTX at all");
    CALL("text", cuModuleLoad(&module, path));
    write_file(path, "");
    CALL("empty", cuModuleLoad(&module, path));
    unlink(path);
    CALL("folder", cuModuleLoad(&module, folder));
    rmdir(folder);
}

// Functions of a module, and how they were loaded.
static void enumeration(void) {
    CUmodule module, found;
    CUfunction all[16] = {0}, kernel;
    CUmoduleLoadingMode mode = 0;
    CUfunctionLoadingState state = 7;
    const char *name = NULL;
    size_t offset = 77, size = 77;
    unsigned count = 0;
    int named = 0;
    start();
    NEED(cuModuleLoadData(&module, KERNELS));
    NEED(cuModuleGetFunctionCount(&count, module));
    CALL("enumerate-all", cuModuleEnumerateFunctions(all, count, module));
    for (unsigned i = 0; i < count && i < 16; i++) {
        named += cuFuncGetName(&name, all[i]) == CUDA_SUCCESS && name && strlen(name) > 0;
    }
    VALUE("enumerated-names", "%d", named);
    memset(all, 0, sizeof all);
    CALL("enumerate-3", cuModuleEnumerateFunctions(all, 3, module));
    VALUE("enumerated-3", "%d", (all[0] != NULL) + (all[1] != NULL) + (all[2] != NULL) + (all[3] != NULL));
    CALL("enumerate-more", cuModuleEnumerateFunctions(all, 16, module));
    CALL("enumerate-0", cuModuleEnumerateFunctions(all, 0, module));
    CALL("enumerate-null", cuModuleEnumerateFunctions(NULL, 3, module));
    CALL("count-null", cuModuleGetFunctionCount(NULL, module));
    CALL("loading-mode", cuModuleGetLoadingMode(&mode));
    VALUE("loading-mode-value", "%d", mode);
    NEED(cuModuleGetFunction(&kernel, module, "fill"));
    CALL("name", cuFuncGetName(&name, kernel));
    VALUE("name-value", "%s", name ? name : "(none)");
    CALL("name-output-null", cuFuncGetName(NULL, kernel));
    CALL("name-of-null", cuFuncGetName(&name, NULL));
    CALL("module", cuFuncGetModule(&found, kernel));
    VALUE("module-same", "%d", found == module);
    CALL("module-output-null", cuFuncGetModule(NULL, kernel));
    CALL("module-of-null", cuFuncGetModule(&found, NULL));
    for (int i = 0; i < 4; i++) {
        CUresult status = CALL(label("parameter-%d", i), cuFuncGetParamInfo(kernel, i, &offset, &size));
        if (status == CUDA_SUCCESS) {
            VALUE(label("parameter-%d-values", i), "offset %zu, size %zu", offset, size);
        }
    }
    CALL("parameter-without-size", cuFuncGetParamInfo(kernel, 1, &offset, NULL));
    CALL("parameter-without-offset", cuFuncGetParamInfo(kernel, 1, NULL, &size));
    CALL("parameter-of-null", cuFuncGetParamInfo(NULL, 0, &offset, &size));
    CALL("load", cuFuncLoad(kernel));
    CALL("is-loaded", cuFuncIsLoaded(&state, kernel));
    VALUE("is-loaded-value", "%d", state);
    CALL("load-null", cuFuncLoad(NULL));
    CALL("is-loaded-output-null", cuFuncIsLoaded(NULL, kernel));
    CALL("is-loaded-of-null", cuFuncIsLoaded(&state, NULL));
}

int main(void) {
    RUN(images);
    RUN(symbols);
    RUN(files);
    RUN(enumeration);
    RUN(unload_again);
    RUN(launch_after_unload);
}
