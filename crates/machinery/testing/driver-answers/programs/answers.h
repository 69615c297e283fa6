// Cases of the driver API and the answers of the driver, one per line: `PROGRAM GROUP CASE: ANSWER`.
//
// A group of cases runs in its own process, so that a crash or an unusable context affects only the cases that follow
// in the group. Its last line is `PROGRAM GROUP end: complete`, or the signal that ended it. The answer of a call that
// crashes is `signal 11`. An answer that depends on the card or on the run begins with `~`; comparisons skip it.
//
// The programs compile with this project's cuda.h and with NVIDIA's as of CUDA 12.8. The two headers give some names
// to different versions of a function, so these programs name the version.

#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "versions.h"

static const char *answer_program = "";
static const char *answer_group = "";

// Returns the name of a status, or its number if it has none.
static const char *status_name(CUresult status) {
    static char numbers[8][24];
    static int next;
    const char *name = NULL;
    if (cuGetErrorName(status, &name) == CUDA_SUCCESS && name) {
        return name;
    }
    char *number = numbers[next++ % 8];
    snprintf(number, sizeof numbers[0], "CUresult %d", (int)status);
    return number;
}

// Returns a formatted name of a case; the next 15 calls leave it in place.
static const char *label(const char *format, ...) {
    static char labels[16][96];
    static int next;
    char *text = labels[next++ % 16];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof labels[0], format, arguments);
    va_end(arguments);
    return text;
}

// Prints the key of a case. A group uses each name once, so that lines of two records can be paired.
static void answer_key(const char *name) {
    static char used[512][96];
    static int count;
    for (int i = 0; i < count; i++) {
        if (!strcmp(used[i], name)) {
            printf("%s %s duplicate: %s\n", answer_program, answer_group, name);
            fflush(stdout);
            _exit(4);
        }
    }
    if (count < 512) {
        snprintf(used[count++], sizeof used[0], "%s", name);
    }
    printf("%s %s %s: ", answer_program, answer_group, name);
}

// The case whose call runs, and where the group continues if the call crashes.
static const char *answer_pending;
static sigjmp_buf answer_recovery;
static pthread_t answer_thread;

static CUresult answer_status(const char *name, CUresult status) {
    answer_pending = NULL;
    answer_key(name);
    printf("%s\n", status_name(status));
    fflush(stdout);
    return status;
}

static void answer_signal(int signal) {
    if (answer_pending && pthread_equal(pthread_self(), answer_thread)) {
        siglongjmp(answer_recovery, signal);
    }
    _exit(128 + signal);
}

// Prints the answer of a call that crashed.
static CUresult answer_crash(void) {
    const char *name = answer_pending;
    answer_pending = NULL;
    answer_key(name);
    printf("signal %d\n", SIGSEGV);
    fflush(stdout);
    return CUDA_ERROR_UNKNOWN;
}

// A case whose answer is the status of a call.
#define CALL(name, ...)                                                                                                \
    (answer_pending = (name),                                                                                          \
     sigsetjmp(answer_recovery, 1) == 0 ? answer_status(answer_pending, __VA_ARGS__) : answer_crash())

// A case whose answer is a value.
#define VALUE(name, ...) (answer_key(name), printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

// A case whose value depends on the card or on the run.
#define VARYING(name, ...) (answer_key(name), putchar('~'), printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

// A call that the following cases need. Ends the group if it fails.
#define NEED(...)                                                                                                      \
    do {                                                                                                               \
        CUresult need_status = (__VA_ARGS__);                                                                          \
        if (need_status != CUDA_SUCCESS) {                                                                             \
            printf("%s %s setup: %s of %s\n", answer_program, answer_group, status_name(need_status), #__VA_ARGS__);   \
            fflush(stdout);                                                                                            \
            _exit(3);                                                                                                  \
        }                                                                                                              \
    } while (0)

// Runs a group in a process of its own, and prints how it ended.
static void answer_run(const char *file, const char *function, void (*cases)(void)) {
    static char program[64], group[64];
    const char *slash = strrchr(file, '/');
    snprintf(program, sizeof program, "%s", slash ? slash + 1 : file);
    program[strcspn(program, ".")] = 0;
    snprintf(group, sizeof group, "%s", function);
    for (char *c = group; *c; c++) {
        *c = *c == '_' ? '-' : *c;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        answer_program = program;
        answer_group = group;
        answer_thread = pthread_self();
        signal(SIGSEGV, answer_signal);
        alarm(30);
        cases();
        printf("%s %s end: complete\n", program, group);
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        printf("%s %s end: signal %d\n", program, group, WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        printf("%s %s end: exit status %d\n", program, group, WEXITSTATUS(status));
    }
    fflush(stdout);
}

#define RUN(cases) answer_run(__FILE__, #cases, cases)

// Device 0 and a context of it, which is current.
static CUdevice device;
static CUcontext context;

static void start(void) {
    NEED(cuInit(0));
    NEED(cuDeviceGet(&device, 0));
    NEED(cuCtxCreate_v2(&context, 0, device));
}

static int device_attribute(CUdevice_attribute attribute) {
    int value = 0;
    NEED(cuDeviceGetAttribute(&value, attribute, device));
    return value;
}

static CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    NEED(cuMemAlloc_v2(&address, bytes));
    NEED(cuMemsetD8_v2(address, 0, bytes));
    NEED(cuCtxSynchronize());
    return address;
}

// Reads a 32-bit word of device memory after all work of the context; 0xdeadbeef if it cannot be read.
static unsigned word_at(CUdeviceptr address) {
    unsigned word = 0;
    cuCtxSynchronize();
    return cuMemcpyDtoH_v2(&word, address, 4) == CUDA_SUCCESS ? word : 0xdeadbeef;
}

// Reads a byte of device memory after all work of the context; 0xdeadbeef if it cannot be read.
static unsigned byte_at(CUdeviceptr address) {
    unsigned char byte = 0;
    cuCtxSynchronize();
    return cuMemcpyDtoH_v2(&byte, address, 1) == CUDA_SUCCESS ? byte : 0xdeadbeef;
}

static CUstream new_stream(unsigned flags) {
    CUstream stream;
    NEED(cuStreamCreate(&stream, flags));
    return stream;
}

static CUevent new_event(unsigned flags) {
    CUevent event;
    NEED(cuEventCreate(&event, flags));
    return event;
}

// A host function that waits until the gate is open, so that a stream is busy for as long as a case needs.
static volatile int gate_open;

static void wait_at_gate(void *data) {
    (void)data;
    while (!gate_open) {
        usleep(1000);
    }
}

static void block(CUstream stream) {
    gate_open = 0;
    NEED(cuLaunchHostFunc(stream, wait_at_gate, NULL));
}
