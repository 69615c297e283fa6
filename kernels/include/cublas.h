// cuBLAS's first interface, for C and C++: without handles and statuses of calls. Its most frequent functions, on top of
// the second interface.

#pragma once
#define CUBLAS_H_ // guard that programs test

#include "cublas_api.h"

typedef cublasStatus_t cublasStatus;

// The handle of the program's calls, and the status of the last one. Weak, because each file of a program defines them.
__attribute__((weak)) cublasHandle_t warpbook_cublas_handle;
__attribute__((weak)) cublasStatus_t warpbook_cublas_status;

static inline cublasStatus_t cublasInit(void) {
    return warpbook_cublas_handle ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&warpbook_cublas_handle);
}
static inline cublasStatus_t cublasShutdown(void) {
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (warpbook_cublas_handle) status = cublasDestroy_v2(warpbook_cublas_handle);
    warpbook_cublas_handle = 0;
    return status;
}
static inline cublasStatus_t cublasGetError(void) {
    cublasStatus_t status = warpbook_cublas_status;
    warpbook_cublas_status = CUBLAS_STATUS_SUCCESS;
    return status;
}
static inline cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
    return cublasSetStream_v2(warpbook_cublas_handle, stream);
}
static inline cublasStatus_t cublasAlloc(int count, int size, void **pointer) {
    return cudaMalloc(pointer, (size_t)count * (size_t)size) ? CUBLAS_STATUS_ALLOC_FAILED
                                                             : CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasFree(void *pointer) {
    return cudaFree(pointer) ? CUBLAS_STATUS_INTERNAL_ERROR : CUBLAS_STATUS_SUCCESS;
}

static inline void warpbook_cublas_note(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) warpbook_cublas_status = status;
}
static inline cublasOperation_t warpbook_cublas_op(char letter) {
    return letter == 'n' || letter == 'N'   ? CUBLAS_OP_N
           : letter == 'c' || letter == 'C' ? CUBLAS_OP_C
                                            : CUBLAS_OP_T;
}
static inline cublasFillMode_t warpbook_cublas_fill(char letter) {
    return letter == 'u' || letter == 'U' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
static inline cublasSideMode_t warpbook_cublas_side(char letter) {
    return letter == 'r' || letter == 'R' ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
}
static inline cublasDiagType_t warpbook_cublas_diagonal(char letter) {
    return letter == 'u' || letter == 'U' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

// The functions of a type.
#define WARPBOOK_CUBLAS(T, PREFIX, LOWER)                                                           \
    static inline int cublasI##LOWER##amax(int n, const T *x, int incx) {                           \
        int result = 0;                                                                             \
        warpbook_cublas_note(cublasI##LOWER##amax_v2(warpbook_cublas_handle, n, x, incx, &result)); \
        return result;                                                                              \
    }                                                                                               \
    static inline void cublas##PREFIX##axpy(int n, T alpha, const T *x, int incx, T *y, int incy) { \
        warpbook_cublas_note(                                                                       \
            cublas##PREFIX##axpy_v2(warpbook_cublas_handle, n, &alpha, x, incx, y, incy));          \
    }                                                                                               \
    static inline void cublas##PREFIX##copy(int n, const T *x, int incx, T *y, int incy) {          \
        warpbook_cublas_note(cublas##PREFIX##copy_v2(warpbook_cublas_handle, n, x, incx, y, incy)); \
    }                                                                                               \
    static inline void cublas##PREFIX##swap(int n, T *x, int incx, T *y, int incy) {                \
        warpbook_cublas_note(cublas##PREFIX##swap_v2(warpbook_cublas_handle, n, x, incx, y, incy)); \
    }                                                                                               \
    static inline void cublas##PREFIX##scal(int n, T alpha, T *x, int incx) {                       \
        warpbook_cublas_note(cublas##PREFIX##scal_v2(warpbook_cublas_handle, n, &alpha, x, incx));  \
    }                                                                                               \
    static inline void cublas##PREFIX##gemv(char trans, int m, int n, T alpha, const T *a, int lda, \
                                            const T *x, int incx, T beta, T *y, int incy) {         \
        warpbook_cublas_note(cublas##PREFIX##gemv_v2(warpbook_cublas_handle,                        \
                                                     warpbook_cublas_op(trans), m, n, &alpha, a,    \
                                                     lda, x, incx, &beta, y, incy));                \
    }                                                                                               \
    static inline void cublas##PREFIX##gemm(char transa, char transb, int m, int n, int k, T alpha, \
                                            const T *a, int lda, const T *b, int ldb, T beta, T *c, \
                                            int ldc) {                                              \
        warpbook_cublas_note(cublas##PREFIX##gemm_v2(                                               \
            warpbook_cublas_handle, warpbook_cublas_op(transa), warpbook_cublas_op(transb), m, n,   \
            k, &alpha, a, lda, b, ldb, &beta, c, ldc));                                             \
    }                                                                                               \
    static inline void cublas##PREFIX##symm(char side, char uplo, int m, int n, T alpha,            \
                                            const T *a, int lda, const T *b, int ldb, T beta, T *c, \
                                            int ldc) {                                              \
        warpbook_cublas_note(cublas##PREFIX##symm_v2(                                               \
            warpbook_cublas_handle, warpbook_cublas_side(side), warpbook_cublas_fill(uplo), m, n,   \
            &alpha, a, lda, b, ldb, &beta, c, ldc));                                                \
    }                                                                                               \
    static inline void cublas##PREFIX##syrk(char uplo, char trans, int n, int k, T alpha,           \
                                            const T *a, int lda, T beta, T *c, int ldc) {           \
        warpbook_cublas_note(cublas##PREFIX##syrk_v2(                                               \
            warpbook_cublas_handle, warpbook_cublas_fill(uplo), warpbook_cublas_op(trans), n, k,    \
            &alpha, a, lda, &beta, c, ldc));                                                        \
    }                                                                                               \
    static inline void cublas##PREFIX##trsm(char side, char uplo, char transa, char diag, int m,    \
                                            int n, T alpha, const T *a, int lda, T *b, int ldb) {   \
        warpbook_cublas_note(cublas##PREFIX##trsm_v2(                                               \
            warpbook_cublas_handle, warpbook_cublas_side(side), warpbook_cublas_fill(uplo),         \
            warpbook_cublas_op(transa), warpbook_cublas_diagonal(diag), m, n, &alpha, a, lda, b,    \
            ldb));                                                                                  \
    }
WARPBOOK_CUBLAS(float, S, s)
WARPBOOK_CUBLAS(double, D, d)
WARPBOOK_CUBLAS(cuComplex, C, c)
WARPBOOK_CUBLAS(cuDoubleComplex, Z, z)
#undef WARPBOOK_CUBLAS

// Functions whose results are numbers.
#define WARPBOOK_CUBLAS_RESULT(T, R, NAME)                                                          \
    static inline R cublas##NAME(int n, const T *x, int incx) {                                     \
        R result = 0;                                                                               \
        warpbook_cublas_note(cublas##NAME##_v2(warpbook_cublas_handle, n, x, incx, &result));       \
        return result;                                                                              \
    }
WARPBOOK_CUBLAS_RESULT(float, float, Snrm2)
WARPBOOK_CUBLAS_RESULT(float, float, Sasum)
WARPBOOK_CUBLAS_RESULT(double, double, Dnrm2)
WARPBOOK_CUBLAS_RESULT(double, double, Dasum)
#undef WARPBOOK_CUBLAS_RESULT

static inline float cublasSdot(int n, const float *x, int incx, const float *y, int incy) {
    float result = 0;
    warpbook_cublas_note(cublasSdot_v2(warpbook_cublas_handle, n, x, incx, y, incy, &result));
    return result;
}
static inline double cublasDdot(int n, const double *x, int incx, const double *y, int incy) {
    double result = 0;
    warpbook_cublas_note(cublasDdot_v2(warpbook_cublas_handle, n, x, incx, y, incy, &result));
    return result;
}
