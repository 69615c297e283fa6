// Tensor core instructions, for kernels compiled for sm_80 or newer: each
// function is one instruction of the PTX ISA, under the instruction's name. All
// 32 lanes of a warp must execute it; a lane holds the elements that the ISA's
// figures for the shape assign to it.

#pragma once

#include "cuda_device.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

#if defined(__clang__)
#define TENSOR_CORE_FN static inline __attribute__((device, always_inline, nodebug, unused))
#define TENSOR_CORE_SHARED(p) ((__attribute__((address_space(3))) const void *)(p))
#else
#define TENSOR_CORE_FN static __device__ __forceinline__
#define TENSOR_CORE_SHARED(p) __cvta_generic_to_shared(p)
#endif

// Returns `x` rounded to tf32, with the 10 bits of fraction that tensor cores use: to
// nearest, ties away from zero. Tensor cores truncate a float that is not rounded.
TENSOR_CORE_FN unsigned int cvt_rna_tf32(float x) {
    unsigned int bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

// Computes d += a * b: 16 x 8 elements of d, 16 x 8 of a by rows and 8 x 8 of b by columns,
// both tf32. With g = lane / 4 and t = lane % 4 a lane holds
//   a[0..4] = A[g][t], A[g + 8][t], A[g][t + 4], A[g + 8][t + 4]
//   b[0..2] = B[t][g], B[t + 4][g]
//   d[0..4] = D[g][2t], D[g][2t + 1], D[g + 8][2t], D[g + 8][2t + 1]
TENSOR_CORE_FN void mma_m16n8k8_tf32(float (&d)[4], const unsigned int (&a)[4],
                                     const unsigned int (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Loads four matrices of 8 rows of 16 bytes from shared memory: lane i passes the address
// of row i % 8 of matrix i / 8, a multiple of 16, and receives of each matrix's row lane /
// 4 the 4 bytes at 4 * (lane % 4).
TENSOR_CORE_FN void ldmatrix_x4(unsigned int (&d)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "l"(TENSOR_CORE_SHARED(row))
                 : "memory");
}

// Loads two such matrices; lanes 0 to 15 pass the addresses of the rows.
TENSOR_CORE_FN void ldmatrix_x2(unsigned int (&d)[2], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "l"(TENSOR_CORE_SHARED(row))
                 : "memory");
}

#undef TENSOR_CORE_FN
#undef TENSOR_CORE_SHARED

#else
#error "tensor cores need sm_80: name the kernel's file NAME.sm_80.cu"
#endif
