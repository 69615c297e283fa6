// The linker of modules.

#include "answers.h"
#include "kernels.h"

// A kernel that stores the result of a function of another module.
static char CALLER[] = PTX_HEADER ".extern .func (.param .b32 result) twice(.param .b32 argument);\n"
                                  ".visible .entry caller(.param .u64 output)\n"
                                  "{\n"
                                  "    .reg .b32 %r<3>;\n"
                                  "    .reg .b64 %output;\n"
                                  "    ld.param.u64 %output, [output];\n"
                                  "    mov.u32 %r1, 21;\n"
                                  "    {\n"
                                  "        .param .b32 argument;\n"
                                  "        .param .b32 result;\n"
                                  "        st.param.b32 [argument], %r1;\n"
                                  "        call (result), twice, (argument);\n"
                                  "        ld.param.b32 %r2, [result];\n"
                                  "    }\n"
                                  "    st.global.u32 [%output], %r2;\n"
                                  "    ret;\n"
                                  "}\n";
static char CALLEE[] = PTX_HEADER ".visible .func (.param .b32 result) twice(.param .b32 argument)\n"
                                  "{\n"
                                  "    .reg .b32 %r<3>;\n"
                                  "    ld.param.b32 %r1, [argument];\n"
                                  "    add.s32 %r2, %r1, %r1;\n"
                                  "    st.param.b32 [result], %r2;\n"
                                  "    ret;\n"
                                  "}\n";
static char INVALID[] = PTX_HEADER ".visible .entry e() { bogus; }\n";

static CUlinkState linker;
static void *image;
static size_t image_size;

static CUresult add(char *text, const char *name) {
    return cuLinkAddData_v2(linker, CU_JIT_INPUT_PTX, text, strlen(text) + 1, name, 0, NULL, NULL);
}

static void begin(void) {
    NEED(cuLinkCreate_v2(0, NULL, NULL, &linker));
}

static void two_modules(void) {
    CUdeviceptr result;
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&result};
    start();
    CALL("create", cuLinkCreate_v2(0, NULL, NULL, &linker));
    CALL("add-caller", add(CALLER, "caller"));
    CALL("add-callee", add(CALLEE, "callee"));
    CALL("complete", cuLinkComplete(linker, &image, &image_size));
    VALUE("image", "%d", image != NULL && image_size > 0);
    CALL("load", cuModuleLoadData(&module, image));
    NEED(cuModuleGetFunction(&kernel, module, "caller"));
    result = allocate(4);
    CALL("launch", launch_one(kernel, NULL, arguments));
    VALUE("result", "%u", word_at(result));
    CALL("destroy", cuLinkDestroy(linker));
    CALL("launch-after-destroy", launch_one(kernel, NULL, arguments));
    CALL("synchronize", cuCtxSynchronize());
}

static void errors(void) {
    char error_log[1000] = "", info_log[1000] = "", text[] = "no cubin at all, only text";
    CUjit_option options[] = {
        CU_JIT_ERROR_LOG_BUFFER,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    };
    void *values[] = {error_log, (void *)sizeof error_log, info_log, (void *)sizeof info_log};
    start();
    NEED(cuLinkCreate_v2(4, options, values, &linker));
    CALL("add-invalid", add(INVALID, "invalid.ptx"));
    VALUE("invalid-log-names-input", "%d", strstr(error_log, "invalid.ptx") != NULL);
    VALUE("invalid-log-written", "%d", error_log[0] != 0);
    CALL("destroy", cuLinkDestroy(linker));

    error_log[0] = 0;
    values[0] = error_log;
    values[1] = (void *)sizeof error_log;
    NEED(cuLinkCreate_v2(2, options, values, &linker));
    CALL("add-caller-only", add(CALLER, "caller"));
    CALL("complete-undefined", cuLinkComplete(linker, &image, &image_size));
    VALUE("undefined-log-names-function", "%d", strstr(error_log, "twice") != NULL);
    cuLinkDestroy(linker);

    begin();
    CALL("add-first-definition", add(CALLEE, "one"));
    CALL("add-second-definition", add(CALLEE, "two"));
    CALL("complete-two-definitions", cuLinkComplete(linker, &image, &image_size));
    cuLinkDestroy(linker);

    begin();
    CALL("complete-nothing", cuLinkComplete(linker, &image, &image_size));
    cuLinkDestroy(linker);

    begin();
    CALL("type-99", cuLinkAddData_v2(linker, 99, CALLER, sizeof CALLER, "caller", 0, NULL, NULL));
    CALL("data-null", cuLinkAddData_v2(linker, CU_JIT_INPUT_PTX, NULL, 10, "caller", 0, NULL, NULL));
    CALL("size-0", cuLinkAddData_v2(linker, CU_JIT_INPUT_PTX, CALLER, 0, "caller", 0, NULL, NULL));
    CALL("name-null", cuLinkAddData_v2(linker, CU_JIT_INPUT_PTX, CALLEE, sizeof CALLEE, NULL, 0, NULL, NULL));
    CALL("file-missing", cuLinkAddFile_v2(linker, CU_JIT_INPUT_PTX, "/missing.ptx", 0, NULL, NULL));
    CALL("text-as-cubin", cuLinkAddData_v2(linker, CU_JIT_INPUT_CUBIN, text, sizeof text, "text", 0, NULL, NULL));
    CALL("create-null", cuLinkCreate_v2(0, NULL, NULL, NULL));
}

static void without_terminator(void) {
    start();
    begin();
    CALL("add", cuLinkAddData_v2(linker, CU_JIT_INPUT_PTX, CALLEE, strlen(CALLEE), "callee", 0, NULL, NULL));
}

static void after_completion(void) {
    start();
    begin();
    NEED(add(CALLER, "caller"));
    NEED(add(CALLEE, "callee"));
    NEED(cuLinkComplete(linker, &image, &image_size));
    CALL("complete", cuLinkComplete(linker, &image, &image_size));
    CALL("add", add(CALLEE, "again"));
}

// GCC declares a function before its definition, in the same module.
static void declaration_before_definition(void) {
    static char kernel_text[] =
        PTX_HEADER ".extern .func store_value(.param .u64 output);\n"
                   ".visible .entry caller(.param .u64 output)\n"
                   "{\n"
                   "    .reg .b64 %output;\n"
                   "    ld.param.u64 %output, [output];\n"
                   "    { .param .b64 argument; st.param.b64 [argument], %output; call.uni store_value, (argument); }\n"
                   "    ret;\n"
                   "}\n";
    static char function_text[] = PTX_HEADER ".visible .func store_value(.param .u64 output);\n"
                                             ".visible .func store_value(.param .u64 output)\n"
                                             "{\n"
                                             "    .reg .b64 %output;\n"
                                             "    .reg .b32 %value;\n"
                                             "    ld.param.u64 %output, [output];\n"
                                             "    mov.u32 %value, 8;\n"
                                             "    st.global.u32 [%output], %value;\n"
                                             "    ret;\n"
                                             "}\n";
    CUdeviceptr result;
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&result};
    start();
    begin();
    NEED(add(kernel_text, "kernel"));
    NEED(add(function_text, "function"));
    CALL("complete", cuLinkComplete(linker, &image, &image_size));
    CALL("load", cuModuleLoadData(&module, image));
    NEED(cuModuleGetFunction(&kernel, module, "caller"));
    result = allocate(4);
    NEED(launch_one(kernel, NULL, arguments));
    VALUE("result", "%u", word_at(result));
}

int main(void) {
    RUN(two_modules);
    RUN(errors);
    RUN(without_terminator);
    RUN(after_completion);
    RUN(declaration_before_definition);
}
