// Asynchronous copies from global to shared memory, for kernels compiled for sm_80 and
// newer GPUs: the pipeline primitives of the CUDA C++ Programming Guide, by its names.
//
// The copy goes past the registers, and the thread goes on meanwhile:
//
//   __pipeline_memcpy_async(to_shared, from_global, 16);  // starts; 4, 8 or 16 bytes
//   __pipeline_commit();          // closes a group of the copies this thread started
//   __pipeline_wait_prior(1);     // until all but the newest 1 groups have arrived
//   __syncthreads();              // and those of the other threads have too
//
// Both addresses are aligned to the size. A fourth argument fills that many bytes at the
// end with zeros in place of reading them. Copies of 16 bytes leave out the first-level
// cache. nvcc has all this in a header of its own.

#pragma once

#include "cuda_device.h"

#if defined(__NVCC__) && !defined(__CUDACC_RTC__)
#include <cuda_pipeline.h>
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "asynchronous copies need sm_80: name the kernel's file NAME.sm_80.cu"
#elif defined(__CUDA_ARCH__)

#if defined(__CUDACC_RTC__)
#define ASYNC_COPY_FN static __device__ __forceinline__
#define ASYNC_COPY_TO(p) __cvta_generic_to_shared(p)
#define ASYNC_COPY_FROM(p) __cvta_generic_to_global(p)
#else
#define ASYNC_COPY_FN static inline __attribute__((device, always_inline, nodebug, unused))
#define ASYNC_COPY_TO(p) ((__attribute__((address_space(3))) void *)(p))
#define ASYNC_COPY_FROM(p) ((__attribute__((address_space(1))) const void *)(p))
#endif

// cp.async writes `size` bytes, the first `size - zeros` of them from global memory.
#define ASYNC_COPY(cache, size)                                                          \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #size ", %2;"           \
                 :                                                                       \
                 : "l"(ASYNC_COPY_TO(to)), "l"(ASYNC_COPY_FROM(from)),                   \
                   "r"((unsigned int)(size - zeros))                                     \
                 : "memory")

// Never defined: what a copy of another size calls, so that it does not compile.
#if defined(__clang__)
__attribute__((error("asynchronous copies are of 4, 8 or 16 bytes, a constant")))
#endif
__device__ void async_copy_of_another_size();

ASYNC_COPY_FN void __pipeline_memcpy_async(void *to, const void *from, size_t size,
                                           size_t zeros = 0) {
    if (size == 4) {
        ASYNC_COPY("ca", 4);
    } else if (size == 8) {
        ASYNC_COPY("ca", 8);
    } else if (size == 16) {
        ASYNC_COPY("cg", 16);
    } else {
        async_copy_of_another_size();
    }
}
#undef ASYNC_COPY
#undef ASYNC_COPY_TO
#undef ASYNC_COPY_FROM

ASYNC_COPY_FN void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#undef ASYNC_COPY_FN

// A macro: the instruction takes a constant.
#define __pipeline_wait_prior(groups) \
    asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory")

#endif
