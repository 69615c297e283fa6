// How the headers here declare functions. Each is inlined and carries no line numbers of its
// own, so that an instruction counts for the kernel's line that asked for it.

#pragma once

#define WARPBOOK_DEVICE_FN \
    static inline __attribute__((device, always_inline, nodebug, unused))
#define WARPBOOK_BOTH_FN \
    static inline __attribute__((host, device, always_inline, nodebug, unused))

// Whether functions that need this GPU are there: in host code all are, to be named.
#define WARPBOOK_HAS_SM(version) (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= version)

// An address as the instructions for one memory take it.
#define WARPBOOK_GLOBAL(p) ((__attribute__((address_space(1))) void *)(p))
#define WARPBOOK_SHARED(p) ((__attribute__((address_space(3))) void *)(p))
