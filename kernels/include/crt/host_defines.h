// Execution and memory space specifiers: the keywords that CUDA adds to C++.
//
// In a compilation without CUDA (a plain .c or .cpp file) they are empty macros, so that
// headers which use them can be included there, too.

#pragma once
#define __HOST_DEFINES_H__ // guard that programs test

#if defined(__CUDA__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// cuda-run finds managed variables by this section: clang has an attribute for them in HIP only.
#define __managed__ __attribute__((device, section("__DATA,managed")))
// Makes the section writable: clang takes the variables of a section for constants if it has only instances of templates.
static __managed__ __attribute__((unused)) char __warpbook_managed_section;
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#endif

// Kernel parameter that is read in place, where the launch stored it. clang reads all parameters in place.
#if !(defined(__CUDA__) && __clang_major__ >= 20)
#define __grid_constant__
#endif

// The size of a kernel's clusters. cuda-run reads it from this annotation in LLVM code, and writes it to the PTX.
#if defined(WARPBOOK_ANNOTATE_CLUSTER_DIMS)
#define __cluster_dims__(...) __attribute__((annotate("warpbook_cluster_dims", __VA_ARGS__)))
#else
#define __cluster_dims__(...)
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define __forceinline__ __forceinline
#define __align__(bytes) __declspec(align(bytes))
#else
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
// clang has had this keyword since version 15, and accepts it inside an attribute as well.
#if defined(__CUDA__)
#if !__has_feature(__cuda_noinline_keyword__)
#define __noinline__ __attribute__((noinline))
#endif
#endif
#endif
#define __builtin_align__(bytes) __align__(bytes)
#define __inline_hint__
#define __no_return__ __attribute__((noreturn))
#define __thread__ __thread
#define __import__
#define __export__
#define __location__(where) __##where##__
#define __device_builtin__
#define __cudart_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define CUDARTAPI
#define CUDAAPI
#define CUDART_CB
