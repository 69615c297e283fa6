// Options of the just-in-time compiler: logs, targets and optimization.

#include "answers.h"
#include "kernels.h"

// The sixth line holds an unknown instruction.
static const char INVALID[] = PTX_HEADER ".visible .entry e()\n{\n    bogus.u32 %r1;\n    ret;\n}\n";

static char errors[2048], infos[2048];
static CUjit_option options[] = {
    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    CU_JIT_LOG_VERBOSE,
};
static void *values[5];

// Loads a module with the first options, where the log of errors has room for `size` bytes.
static CUresult load(const char *image, int count, size_t size) {
    CUmodule module;
    memset(errors, 'x', sizeof errors);
    memset(infos, 'x', sizeof infos);
    errors[sizeof errors - 1] = infos[sizeof infos - 1] = 0;
    values[0] = errors;
    values[1] = (void *)size;
    values[2] = infos;
    values[3] = (void *)sizeof infos;
    values[4] = (void *)1;
    return cuModuleLoadDataEx(&module, image, count, options, values);
}

static void logs(void) {
    start();
    CALL("invalid", load(INVALID, 5, sizeof errors));
    errors[sizeof errors - 1] = 0;
    VALUE("invalid-error-log-written", "%d", errors[0] != 'x' && strlen(errors) > 0 && strlen(errors) < 2000);
    VALUE("invalid-error-size-below-room", "%d", (size_t)values[1] < sizeof errors);
    VALUE("invalid-error-log-names-line", "%d", strstr(errors, "line 6") || strstr(errors, ":6"));
    VALUE("invalid-error-log-names-instruction", "%d", strstr(errors, "bogus") != NULL);
    CALL("valid", load(KERNELS, 5, sizeof errors));
    VALUE("valid-error-log-empty", "%d", errors[0] == 0);
    VALUE("valid-error-size", "%zu", (size_t)values[1]);
    VALUE("valid-info-log-written", "%d", infos[0] != 'x' && infos[0] != 0);
    CALL("error-log-of-16-bytes", load(INVALID, 2, 16));
    VALUE("error-log-of-16-bytes-terminated", "%d", errors[15] == 0 && errors[16] == 'x');
    VALUE("error-log-of-16-bytes-size", "%zu", (size_t)values[1]);
    CALL("error-log-of-0-bytes", load(INVALID, 2, 0));
    VALUE("error-log-of-0-bytes-unchanged", "%d", errors[0] == 'x');
}

static CUresult load_with(CUjit_option option, size_t value) {
    CUmodule module;
    void *pointer = (void *)value;
    return cuModuleLoadDataEx(&module, KERNELS, 1, &option, &pointer);
}

static void single_options(void) {
    static const struct {
        const char *name;
        int option;
        size_t value;
    } all[] = {
        {"unknown-999", 999, 0},
        {"registers-32", CU_JIT_MAX_REGISTERS, 32},
        {"optimization-0", CU_JIT_OPTIMIZATION_LEVEL, 0},
        {"optimization-9", CU_JIT_OPTIMIZATION_LEVEL, 9},
        {"target-of-context", CU_JIT_TARGET_FROM_CUCONTEXT, 0},
        {"target-90", CU_JIT_TARGET, 90},
        {"target-20", CU_JIT_TARGET, 20},
        {"target-1234", CU_JIT_TARGET, 1234},
        {"fallback-0", CU_JIT_FALLBACK_STRATEGY, 0},
        {"fallback-9", CU_JIT_FALLBACK_STRATEGY, 9},
        {"debug-information", CU_JIT_GENERATE_DEBUG_INFO, 1},
        {"line-information", CU_JIT_GENERATE_LINE_INFO, 1},
        {"cache-mode-2", CU_JIT_CACHE_MODE, 2},
        {"fast-compilation", CU_JIT_FAST_COMPILE, 1},
        {"flush-to-zero", CU_JIT_FTZ, 1},
    };
    CUmodule module;
    CUjit_option option = CU_JIT_WALL_TIME;
    void *value = NULL;
    float milliseconds = -1;
    start();
    CALL("none", cuModuleLoadDataEx(&module, KERNELS, 0, NULL, NULL));
    CALL("one-null", cuModuleLoadDataEx(&module, KERNELS, 1, NULL, NULL));
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        CALL(all[i].name, load_with(all[i].option, all[i].value));
    }
    CALL("wall-time", cuModuleLoadDataEx(&module, KERNELS, 1, &option, &value));
    memcpy(&milliseconds, &value, sizeof milliseconds);
    VALUE("wall-time-positive", "%d", milliseconds > 0);
    option = CU_JIT_THREADS_PER_BLOCK;
    value = (void *)256;
    CALL("threads-per-block", cuModuleLoadDataEx(&module, KERNELS, 1, &option, &value));
    VALUE("threads-per-block-value", "%zu", (size_t)value);
}

// A log's size without its buffer, and the converse.
static void incomplete_logs(void) {
    start();
    CALL("size-without-buffer", load_with(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 100));
    CALL("buffer-without-size", load_with(CU_JIT_ERROR_LOG_BUFFER, (size_t)errors));
}

int main(void) {
    RUN(logs);
    RUN(single_options);
    RUN(incomplete_logs);
}
