// What nvcc has built in and libraries use where `__NVCC__` is defined, foremost CCCL (Thrust, CUB and libcu++).

#pragma once

#include "addresses.h"

// nvcc replaces lambda expressions with `__device__` by a type that host code cannot call. clang's are ordinary ones.
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false

// True for the address of a kernel's parameter that is declared with `__grid_constant__`.
__attribute__((const)) WARPBOOK_DEVICE_FN unsigned int __isGridConstant(const void *p) {
    unsigned int is_parameter;
    asm("{ .reg .pred is; isspacep.param is, %1; selp.u32 %0, 1, 0, is; }" : "=r"(is_parameter) : "l"(p));
    return is_parameter;
}

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
