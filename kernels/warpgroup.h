// Warpgroup multiplication instructions, for kernels compiled for sm_90a: each
// function is one instruction of the PTX ISA, under the instruction's name. A
// warpgroup is four consecutive warps, the first of them a multiple of four, and all
// of their lanes must execute each instruction.
//
//   wgmma_fence();            // orders accesses to registers before the multiplication
//   wgmma_m64n256k8_tf32(…);  // starts it; the sums must not be accessed meanwhile
//   wgmma_commit_group();     // closes a group of this warpgroup's multiplications
//   wgmma_wait_group<1>();    // waits until all groups but the newest one are done

#pragma once

#include "cuda_device.h"

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)

#if defined(__clang__)
#define WARPGROUP_FN static inline __attribute__((device, always_inline, nodebug, unused))
#define WARPGROUP_SHARED(p) ((__attribute__((address_space(3))) const void *)(p))
#else
#define WARPGROUP_FN static __device__ __forceinline__
#define WARPGROUP_SHARED(p) __cvta_generic_to_shared(p)
#endif

WARPGROUP_FN void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

WARPGROUP_FN void wgmma_commit_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int NEWEST> WARPGROUP_FN void wgmma_wait_group() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(NEWEST) : "memory");
}

// Makes this thread's stores to shared memory visible to multiplications. A barrier must
// follow before the multiplication.
WARPGROUP_FN void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Returns the descriptor of a tile in shared memory: rows of 32 floats, 128 bytes, from `tile`
// on, which is aligned to 1024 bytes. The rows are swizzled: of the eight fours of a row, four
// n is stored at n ^ row % 8, so that eight rows' fours of one column are in different banks.
WARPGROUP_FN unsigned long long wgmma_tile(const float *tile) {
    const unsigned long long eight_rows = 1024 / 16, in_128_bytes = 1;
    const unsigned long long at = (unsigned int)(size_t)WARPGROUP_SHARED(tile) / 16;
    return at | 1ull << 16 | eight_rows << 32 | in_128_bytes << 62;
}

// Computes d += a * b: 64 x 256 elements of d, 64 x 8 of a and 8 x 256 of b, both tf32. b is a
// tile of 256 rows, one for each of its columns, and the descriptor `b` holds the start of its
// eight columns: 2 more for each eight. Each warp has 16 rows of a and d, of which a lane holds,
// with g = lane / 4 and t = lane % 4,
//   a[0..4] = A[g][t], A[g + 8][t], A[g][t + 4], A[g + 8][t + 4]
//   d[4 * n..] = D[g][8 * n + 2t], D[g][8 * n + 2t + 1], and the same of row g + 8
WARPGROUP_FN void wgmma_m64n256k8_tf32(float (&d)[128], const unsigned int (&a)[4],
                                       unsigned long long b) {
#define FOUR(n) "+f"(d[n]), "+f"(d[n + 1]), "+f"(d[n + 2]), "+f"(d[n + 3])
#define SIXTEEN(n) FOUR(n), FOUR(n + 4), FOUR(n + 8), FOUR(n + 12)
#define ALL SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), \
            SIXTEEN(96), SIXTEEN(112)
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
        "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "
        "%123, %124, %125, %126, %127}, {%128, %129, %130, %131}, %132, 1, 1, 1;"
        : ALL
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#undef FOUR
#undef SIXTEEN
#undef ALL
}

#undef WARPGROUP_FN
#undef WARPGROUP_SHARED

#else
#error "products of warpgroups need sm_90a: name the kernel's file NAME.sm_90a.cu"
#endif
