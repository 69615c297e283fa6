// Asynchronous copies from global to shared memory: the pipeline primitives of the CUDA C++ Programming Guide.
//
// On GPUs before sm_80 copies are synchronous, and waiting does nothing.

#pragma once

#if defined(__CUDA__) || defined(__CUDACC_RTC__)

#if defined(__clang__)
#include "warpbook/device_fn.h"
#define WARPBOOK_COPY_FN WARPBOOK_DEVICE_FN
#define WARPBOOK_COPY_TO(p) ((__attribute__((address_space(3))) void *)(p))
#define WARPBOOK_COPY_FROM(p) ((__attribute__((address_space(1))) const void *)(p))
#else
#define WARPBOOK_COPY_FN static __device__ __forceinline__
#define WARPBOOK_COPY_TO(p) __cvta_generic_to_shared(p)
#define WARPBOOK_COPY_FROM(p) __cvta_generic_to_global(p)
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// cp.async writes `size` bytes, the first `size - zeros` of them from global memory.
#define WARPBOOK_COPY(cache, size) \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #size ", %2;"           \
                 :                                                                       \
                 : "l"(WARPBOOK_COPY_TO(to)), "l"(WARPBOOK_COPY_FROM(from)),             \
                   "r"((unsigned int)(size - zeros))                                     \
                 : "memory")
#else
#define WARPBOOK_COPY(cache, size) \
    for (size_t at = 0; at < size; at++)                                                 \
    ((char *)to)[at] = at < size - zeros ? ((const char *)from)[at] : (char)0
#endif

// A size that is constant but not 4, 8 or 16 fails to compile, with and without optimization.
WARPBOOK_COPY_FN void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0)
#if defined(__clang__)
    __attribute__((diagnose_if(size != 4 && size != 8 && size != 16,
                               "asynchronous copies are of 4, 8 or 16 bytes, a constant", "error")))
#endif
    ;

WARPBOOK_COPY_FN void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros) {
    if (size == 4) {
        WARPBOOK_COPY("ca", 4);
    } else if (size == 8) {
        WARPBOOK_COPY("ca", 8);
    } else if (size == 16) {
        WARPBOOK_COPY("cg", 16);
    } else {
        __trap();
    }
}
#undef WARPBOOK_COPY
#undef WARPBOOK_COPY_TO
#undef WARPBOOK_COPY_FROM

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
WARPBOOK_COPY_FN void __pipeline_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// A macro, because the instruction takes a compile-time constant.
#define __pipeline_wait_prior(groups) \
    asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory")
#else
WARPBOOK_COPY_FN void __pipeline_commit() {}
WARPBOOK_COPY_FN void __pipeline_wait_prior(size_t) {}
#endif
#undef WARPBOOK_COPY_FN

#endif
