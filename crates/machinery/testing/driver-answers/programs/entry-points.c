// Functions of the driver that programs look up by name.

#include "answers.h"

static void look_up(const char *name, const char *symbol, int version, unsigned long long flags) {
    CUdriverProcAddressQueryResult result = 77;
    void *found = (void *)1;
    CALL(name, cuGetProcAddress_v2(symbol, &found, version, flags, &result));
    VALUE(label("%s-result", name), "found %d, result %d", found != NULL && found != (void *)1, result);
}

static void names(void) {
    static const struct {
        const char *symbol;
        int version;
    } all[] = {
        {"cuInit", 2000},
        {"cuInit", 1000},
        {"cuMemAlloc", 2000},
        {"cuMemAlloc", 3020},
        {"cuMemAlloc", 12000},
        {"cuMemAlloc_v2", 12000},
        {"cuCtxCreate", 11030},
        {"cuCtxCreate", 13000},
        {"cuGraphInstantiate", 10000},
        {"cuGraphInstantiate", 12000},
        {"cuStreamBeginCapture", 10000},
        {"cuStreamBeginCapture", 10010},
        {"cuGetProcAddress", 11030},
        {"cuGetProcAddress", 12000},
        {"cuLibraryLoadData", 11080},
        {"cuLibraryLoadData", 12000},
        {"cuLaunchKernel", 4000},
        {"cuLaunchKernel", 3020},
        {"cuTensorMapEncodeTiled", 11080},
        {"cuTensorMapEncodeTiled", 12000},
        {"cuUnknown", 12000},
        {"", 12000},
        {"cudaMalloc", 12000},
        {"cuGraphGetEdges", 12030},
        {"cuMemcpyBatchAsync", 12080},
        {"cuMemcpyBatchAsync", 13000},
    };
    NEED(cuInit(0));
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        look_up(label("%s-of-%d", all[i].symbol[0] ? all[i].symbol : "empty-name", all[i].version), all[i].symbol,
                all[i].version, 0);
    }
}

static void arguments(void) {
    CUdriverProcAddressQueryResult result = 77;
    CUresult (*initialize)(unsigned) = NULL;
    void *plain = NULL, *per_thread = NULL, *legacy = NULL, *found = NULL;
    NEED(cuInit(0));
    look_up("future-version", "cuInit", 99000, 0);
    look_up("version-0", "cuInit", 0, 0);
    look_up("version-negative", "cuInit", -1, 0);
    look_up("flags-3", "cuInit", 12000, 3);
    look_up("flags-4", "cuInit", 12000, 4);
    CALL("without-result", cuGetProcAddress_v2("cuInit", &found, 12000, 0, NULL));
    CALL("unknown-without-result", cuGetProcAddress_v2("cuUnknown", &found, 12000, 0, NULL));
    CALL("plain", cuGetProcAddress_v2("cuStreamQuery", &plain, 12000, 0, &result));
    CALL("legacy", cuGetProcAddress_v2("cuStreamQuery", &legacy, 12000, 1, &result));
    CALL("per-thread", cuGetProcAddress_v2("cuStreamQuery", &per_thread, 12000, 2, &result));
    VALUE("variants-differ", "%d %d", plain == legacy, plain == per_thread);
    CALL("initialize", cuGetProcAddress_v2("cuInit", (void **)&initialize, 12000, 0, &result));
    if (initialize) {
        CALL("call-initialize", initialize(0));
        CALL("call-initialize-flags-1", initialize(1));
    }
}

static void before_initialization(void) {
    look_up("known", "cuMemAlloc", 12000, 0);
    look_up("unknown", "cuUnknown", 12000, 0);
}

static void export_tables(void) {
    static const CUuuid unknown = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    const void *table = (void *)1;
    NEED(cuInit(0));
    CALL("unknown", cuGetExportTable(&table, &unknown));
    VALUE("unknown-null", "%d", table == NULL);
}

int main(void) {
    RUN(before_initialization);
    RUN(names);
    RUN(arguments);
    RUN(export_tables);
}
