// Attributes of kernels.

#include "answers.h"
#include "kernels.h"

static int attribute_of(CUfunction kernel, CUfunction_attribute attribute) {
    int value = -7;
    NEED(cuFuncGetAttribute(&value, attribute, kernel));
    return value;
}

static void attributes(void) {
    const CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    const CUfunction_attribute carveout = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    CUfunction fill, with_static, again;
    CUmodule module;
    int value, registers, opt_in;
    start();
    fill = function("fill");
    with_static = function("static_shared");
    VALUE("max-threads", "%d", attribute_of(fill, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    VALUE("max-threads-maxntid-64", "%d",
          attribute_of(function("at_most_64"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    VALUE("max-threads-reqntid-32", "%d",
          attribute_of(function("exactly_32"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    VALUE("static-shared", "%d", attribute_of(with_static, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    VALUE("constant", "%d", attribute_of(fill, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    VALUE("local", "%d", attribute_of(fill, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    registers = attribute_of(fill, CU_FUNC_ATTRIBUTE_NUM_REGS);
    VALUE("registers-between-1-and-255", "%d", registers >= 1 && registers <= 255);
    VALUE("ptx-version", "%d", attribute_of(fill, CU_FUNC_ATTRIBUTE_PTX_VERSION));
    VALUE("binary-version", "%d", attribute_of(fill, CU_FUNC_ATTRIBUTE_BINARY_VERSION));
    VALUE("cache-mode", "%d", attribute_of(fill, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA));
    VALUE("max-dynamic-shared", "%d", attribute_of(fill, dynamic));
    VALUE("max-dynamic-shared-with-static", "%d", attribute_of(with_static, dynamic));
    VALUE("carveout", "%d", attribute_of(fill, carveout));
    for (int attribute = 10; attribute < 16; attribute++) {
        value = -7;
        CALL(label("attribute-%d", attribute), cuFuncGetAttribute(&value, attribute, fill));
        VALUE(label("attribute-%d-value", attribute), "%d", value);
    }
    CALL("attribute-99", cuFuncGetAttribute(&value, 99, fill));
    CALL("attribute-negative", cuFuncGetAttribute(&value, -1, fill));
    CALL("output-null", cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, fill));
    CALL("set-dynamic-48-KiB", cuFuncSetAttribute(fill, dynamic, 48 << 10));
    CALL("set-dynamic-96-KiB", cuFuncSetAttribute(fill, dynamic, 96 << 10));
    CALL("set-dynamic-1-MiB", cuFuncSetAttribute(fill, dynamic, 1 << 20));
    opt_in = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    CALL("set-dynamic-opt-in-with-static", cuFuncSetAttribute(with_static, dynamic, opt_in));
    CALL("set-dynamic-opt-in-less-static", cuFuncSetAttribute(with_static, dynamic, opt_in - 1024));
    CALL("set-dynamic-negative", cuFuncSetAttribute(fill, dynamic, -1));
    CALL("set-carveout-101", cuFuncSetAttribute(fill, carveout, 101));
    CALL("set-carveout-default", cuFuncSetAttribute(fill, carveout, -1));
    CALL("set-carveout-negative", cuFuncSetAttribute(fill, carveout, -2));
    CALL("set-registers", cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_NUM_REGS, 10));
    CALL("set-attribute-99", cuFuncSetAttribute(fill, 99, 10));
    CALL("module", cuFuncGetModule(&module, fill));
    VALUE("module-same", "%d", module == kernels);
    NEED(cuModuleGetFunction(&again, kernels, "fill"));
    VALUE("function-same", "%d", again == fill);
}

// Attributes of clusters, which an attribute of the launch or of the function sets.
static void clusters(void) {
    CUfunction kernel;
    start();
    kernel = function("empty");
    CALL("set-cluster-must-be-set", cuFuncSetAttribute(kernel, 10, 1));
    for (int size = -1; size <= 2; size++) {
        CALL(label("set-cluster-width-%d", size), cuFuncSetAttribute(kernel, 11, size));
    }
    CALL("set-cluster-height-2", cuFuncSetAttribute(kernel, 12, 2));
    CALL("set-cluster-depth-2", cuFuncSetAttribute(kernel, 13, 2));
    CALL("set-nonportable-cluster-1", cuFuncSetAttribute(kernel, 14, 1));
    CALL("set-nonportable-cluster-2", cuFuncSetAttribute(kernel, 14, 2));
    CALL("set-scheduling-policy-1", cuFuncSetAttribute(kernel, 15, 1));
    CALL("set-scheduling-policy-9", cuFuncSetAttribute(kernel, 15, 9));
    for (int attribute = 10; attribute < 16; attribute++) {
        VALUE(label("attribute-%d-after", attribute), "%d", attribute_of(kernel, attribute));
    }
}

static void no_function(void) {
    int value;
    start();
    CALL("get", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL));
    CALL("set", cuFuncSetAttribute(NULL, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
    CALL("set-cache", cuFuncSetCacheConfig(NULL, 0));
}

int main(void) {
    RUN(attributes);
    RUN(clusters);
    RUN(no_function);
}
