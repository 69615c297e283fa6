// Everything that a CUDA program has without an #include: read before each program
// (`-include`), as nvcc does.
//
// The order matters. The C++ library's mathematics may be `constexpr`, and clang takes such
// functions as host and device functions unless it has seen a device function of that name;
// so this project's mathematics comes first, then the C++ library, and then the rest.

#pragma once
#define __CUDA_RUNTIME_H__ // guard that programs test

#if defined(__CUDA__)
#include "math_functions.h"

#define __NVCC__ 1
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#endif

#if defined(__cplusplus)
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#endif
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crt/host_defines.h"
#include "vector_types.h"
#include "vector_functions.h"
#include "device_types.h"
#include "driver_types.h"
#include "cuda_runtime_api.h"

#if defined(__CUDA__)
#include "device_launch_parameters.h"
#include "device_functions.h"
#include "warpbook/references.h"
#include "surface_functions.h"
#include "texture_fetch_functions.h"
#include "warpbook/host_math.h"

// nvcc replaces lambda expressions with `__device__` by a type that host code cannot call. clang's are ordinary ones.
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false

#if defined(__CUDA_ARCH__) && __cplusplus >= 201402L
// The vector types that have an assignment operator here (see vector_types.h) are plain structs in CUDA, and so may be
// copied as bytes.
template <class T> constexpr bool warpbook_is_plain = __is_trivially_copyable(T);
template <class T> constexpr bool warpbook_is_plain<const T> = warpbook_is_plain<T>;
#define WARPBOOK_PLAIN(T) template <> inline constexpr bool warpbook_is_plain<T> = true;
WARPBOOK_PLAIN(int4) WARPBOOK_PLAIN(uint4) WARPBOOK_PLAIN(long4) WARPBOOK_PLAIN(ulong4)
WARPBOOK_PLAIN(long2) WARPBOOK_PLAIN(ulong2) WARPBOOK_PLAIN(longlong2) WARPBOOK_PLAIN(ulonglong2)
WARPBOOK_PLAIN(longlong4) WARPBOOK_PLAIN(ulonglong4) WARPBOOK_PLAIN(float4) WARPBOOK_PLAIN(double2)
WARPBOOK_PLAIN(double4)
#undef WARPBOOK_PLAIN
#define __is_trivially_copyable(...) warpbook_is_plain<__VA_ARGS__>
#endif

// Older versions of clang do not parse `__host__ __device__ [[deprecated]]`, which CCCL then leaves out.
#define CCCL_IGNORE_DEPRECATED_API 1
#define CUB_IGNORE_DEPRECATED_API 1
#define THRUST_IGNORE_DEPRECATED_API 1

#if defined(__cplusplus)
// Storage for a `__shared__` object whose constructor never runs.
template <class T> union warpbook_unconstructed {
    T value;
    __device__ warpbook_unconstructed() {}
    __device__ ~warpbook_unconstructed() {}
};

// Included again: clang's wrapper declares `new` and `delete` for kernels only if `__device__` is already defined.
#include <new>
#endif

// Called by the code that clang generates for `kernel<<<grid, block, shared, stream>>>(…)`.
extern "C" unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                    void *stream = 0);
#endif
