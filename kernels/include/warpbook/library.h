// Functions of the C library in device code: memory, messages, assertions.

#pragma once

#include "device_fn.h"

extern "C" {
// Provided by the driver. clang lowers printf to vprintf.
__device__ int vprintf(const char *format, const char *arguments);
__device__ __attribute__((noreturn)) void __assertfail(const char *condition, const char *file,
                                                       unsigned int line, const char *function,
                                                       size_t char_bytes);
__device__ int printf(const char *format, ...);
__device__ void *malloc(size_t bytes) __attribute__((malloc, nothrow));
__device__ void free(void *p) __attribute__((nothrow));

// Called by the C library's `assert` on Linux, macOS and Windows.
WARPBOOK_DEVICE_FN void __assert_fail(const char *condition, const char *file,
                                      unsigned int line, const char *function) {
    __assertfail(condition, file, line, function, 1);
}
WARPBOOK_DEVICE_FN void __assert_rtn(const char *function, const char *file, int line,
                                     const char *condition) {
    __assertfail(condition, file, (unsigned int)line, function, 1);
}
WARPBOOK_DEVICE_FN void _wassert(const wchar_t *condition, const wchar_t *file,
                                 unsigned int line) {
    __assertfail((const char *)condition, (const char *)file, line, "", sizeof(wchar_t));
}
WARPBOOK_DEVICE_FN void abort() { asm volatile("trap;"); }
// The entry of pure virtual functions in a class's table, which clang uses without a declaration. Inline instead of
// static, so that clang finds it by its name.
inline __attribute__((device, nodebug)) void __cxa_pure_virtual() { asm volatile("trap;"); }
WARPBOOK_DEVICE_FN void *memcpy(void *to, const void *from, size_t bytes) {
    return __builtin_memcpy(to, from, bytes);
}
WARPBOOK_DEVICE_FN void *memmove(void *to, const void *from, size_t bytes) {
    return __builtin_memmove(to, from, bytes);
}
WARPBOOK_DEVICE_FN void *memset(void *to, int value, size_t bytes) {
    return __builtin_memset(to, value, bytes);
}
}

// With the types of the arguments, because a copy of aligned elements needs fewer instructions than one of bytes.
#define WARPBOOK_TYPED_COPY(name)                                                                   \
    template <typename To, typename From>                                                           \
    WARPBOOK_DEVICE_FN void *name(To *to, const From *from, size_t bytes) {                         \
        return __builtin_##name(to, from, bytes);                                                   \
    }
WARPBOOK_TYPED_COPY(memcpy)
WARPBOOK_TYPED_COPY(memmove)

namespace std {
WARPBOOK_TYPED_COPY(memcpy)
WARPBOOK_TYPED_COPY(memmove)
WARPBOOK_DEVICE_FN void *malloc(size_t bytes) { return ::malloc(bytes); }
WARPBOOK_DEVICE_FN void free(void *p) { ::free(p); }
WARPBOOK_DEVICE_FN void *memcpy(void *to, const void *from, size_t bytes) {
    return __builtin_memcpy(to, from, bytes);
}
WARPBOOK_DEVICE_FN void *memmove(void *to, const void *from, size_t bytes) {
    return __builtin_memmove(to, from, bytes);
}
WARPBOOK_DEVICE_FN void *memset(void *to, int value, size_t bytes) {
    return __builtin_memset(to, value, bytes);
}
}
#undef WARPBOOK_TYPED_COPY
