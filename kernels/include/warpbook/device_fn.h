// Macros that declare this project's device functions. Each function is inlined and has no line
// numbers of its own, so that its instructions are attributed to the kernel's line that calls it.

#pragma once

#define WARPBOOK_DEVICE_FN \
    static inline __attribute__((device, always_inline, nodebug, unused))
#define WARPBOOK_BOTH_FN \
    static inline __attribute__((host, device, always_inline, nodebug, unused))

// True if functions that need this GPU are declared; in host code all are, so that they can be named.
#define WARPBOOK_HAS_SM(version) (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= version)

// Casts a pointer to the address space of one state space.
#define WARPBOOK_GLOBAL(p) ((__attribute__((address_space(1))) void *)(p))
#define WARPBOOK_SHARED(p) ((__attribute__((address_space(3))) void *)(p))
