// Limits of a context, cache configurations and stream priorities.

#include "answers.h"
#include "kernels.h"

static size_t limit_of(CUlimit limit) {
    size_t value = 0;
    NEED(cuCtxGetLimit(&value, limit));
    return value;
}

static void limits(void) {
    static const struct {
        const char *name;
        CUlimit limit;
    } all[] = {
        {"stack", CU_LIMIT_STACK_SIZE},
        {"printf", CU_LIMIT_PRINTF_FIFO_SIZE},
        {"heap", CU_LIMIT_MALLOC_HEAP_SIZE},
        {"synchronization-depth", CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH},
        {"pending-launches", CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT},
        {"l2-fetch", CU_LIMIT_MAX_L2_FETCH_GRANULARITY},
        {"persisting-l2", CU_LIMIT_PERSISTING_L2_CACHE_SIZE},
    };
    size_t value;
    start();
    for (int i = 0; i < 7; i++) {
        value = 0;
        CALL(label("get-%s", all[i].name), cuCtxGetLimit(&value, all[i].limit));
        VALUE(label("%s-initially", all[i].name), "%zu", value);
    }
    CALL("set-stack-2048", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    VALUE("stack-after-2048", "%zu", limit_of(CU_LIMIT_STACK_SIZE));
    CALL("set-stack-1001", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1001));
    VALUE("stack-after-1001", "%zu", limit_of(CU_LIMIT_STACK_SIZE));
    CALL("set-stack-1-TiB", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)1 << 40));
    CALL("set-stack-1-GiB", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (size_t)1 << 30));
    CALL("set-printf-4-MiB", cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4 << 20));
    VALUE("printf-after-4-MiB", "%zu", limit_of(CU_LIMIT_PRINTF_FIFO_SIZE));
    CALL("set-heap-16-MiB", cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    VALUE("heap-after-16-MiB", "%zu", limit_of(CU_LIMIT_MALLOC_HEAP_SIZE));
    CALL("set-l2-fetch-999", cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 999));
    CALL("get-99", cuCtxGetLimit(&value, 99));
    CALL("set-99", cuCtxSetLimit(99, 1));
    CALL("get-null", cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
}

static void configurations(void) {
    CUfunc_cache cache = -1;
    CUsharedconfig banks = -1;
    int least = 9, greatest = 9;
    CUfunction kernel;
    start();
    CALL("get-cache", cuCtxGetCacheConfig(&cache));
    VALUE("cache-initially", "%d", cache);
    CALL("set-cache-l1", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    NEED(cuCtxGetCacheConfig(&cache));
    VALUE("cache-after", "%d", cache);
    CALL("set-cache-77", cuCtxSetCacheConfig(77));
    CALL("get-cache-null", cuCtxGetCacheConfig(NULL));
    CALL("get-banks", cuCtxGetSharedMemConfig(&banks));
    VALUE("banks-initially", "%d", banks);
    CALL("set-banks-8-bytes", cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    NEED(cuCtxGetSharedMemConfig(&banks));
    VALUE("banks-after", "%d", banks);
    CALL("set-banks-77", cuCtxSetSharedMemConfig(77));
    CALL("priorities", cuCtxGetStreamPriorityRange(&least, &greatest));
    VALUE("priority-range", "%d to %d", least, greatest);
    CALL("priorities-null", cuCtxGetStreamPriorityRange(NULL, NULL));
    kernel = function("empty");
    CALL("kernel-cache-77", cuFuncSetCacheConfig(kernel, 77));
    CALL("kernel-cache-shared", cuFuncSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_SHARED));
    CALL("kernel-banks-4-bytes", cuFuncSetSharedMemConfig(kernel, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
    CALL("kernel-banks-77", cuFuncSetSharedMemConfig(kernel, 77));
}

int main(void) {
    RUN(limits);
    RUN(configurations);
}
