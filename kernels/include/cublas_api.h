// cuBLAS: enums and functions, for C and C++. Programs include cublas_v2.h.
// The functions of the library are in crates/machinery/driver/cuda-libraries.

#pragma once
#define CUBLAS_API_H_ // guard that programs test

#include <stdint.h>

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

#if defined(__cplusplus)
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#else
// The header of halves is C++.
typedef struct {
    unsigned short bits;
} __half;
#endif

#define CUBLASAPI
#define CUBLASWINAPI

#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 8
#define CUBLAS_VER_PATCH 4
#define CUBLAS_VER_BUILD 0
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

typedef struct cublasContext *cublasHandle_t;
typedef void (*cublasLogCallback)(const char *message);

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3,
    CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_ALGO5 = 5,
    CUBLAS_GEMM_ALGO6 = 6,
    CUBLAS_GEMM_ALGO7 = 7,
    CUBLAS_GEMM_ALGO8 = 8,
    CUBLAS_GEMM_ALGO9 = 9,
    CUBLAS_GEMM_ALGO10 = 10,
    CUBLAS_GEMM_ALGO11 = 11,
    CUBLAS_GEMM_ALGO12 = 12,
    CUBLAS_GEMM_ALGO13 = 13,
    CUBLAS_GEMM_ALGO14 = 14,
    CUBLAS_GEMM_ALGO15 = 15,
    CUBLAS_GEMM_ALGO16 = 16,
    CUBLAS_GEMM_ALGO17 = 17,
    CUBLAS_GEMM_ALGO18 = 18,
    CUBLAS_GEMM_ALGO19 = 19,
    CUBLAS_GEMM_ALGO20 = 20,
    CUBLAS_GEMM_ALGO21 = 21,
    CUBLAS_GEMM_ALGO22 = 22,
    CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO1_TENSOR_OP = 101,
    CUBLAS_GEMM_ALGO2_TENSOR_OP = 102,
    CUBLAS_GEMM_ALGO3_TENSOR_OP = 103,
    CUBLAS_GEMM_ALGO4_TENSOR_OP = 104,
    CUBLAS_GEMM_ALGO5_TENSOR_OP = 105,
    CUBLAS_GEMM_ALGO6_TENSOR_OP = 106,
    CUBLAS_GEMM_ALGO7_TENSOR_OP = 107,
    CUBLAS_GEMM_ALGO8_TENSOR_OP = 108,
    CUBLAS_GEMM_ALGO9_TENSOR_OP = 109,
    CUBLAS_GEMM_ALGO10_TENSOR_OP = 110,
    CUBLAS_GEMM_ALGO11_TENSOR_OP = 111,
    CUBLAS_GEMM_ALGO12_TENSOR_OP = 112,
    CUBLAS_GEMM_ALGO13_TENSOR_OP = 113,
    CUBLAS_GEMM_ALGO14_TENSOR_OP = 114,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;

#if defined(__cplusplus)
extern "C" {
#endif

// Handles and settings.
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count);
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int *count);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
cublasStatus_t cublasGetProperty(libraryPropertyType kind, int *value);
size_t cublasGetCudartVersion(void);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file);
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback);
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback *callback);

// Copies between host and device.
cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *from, int
    from_leading, void *to, int to_leading);
cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *from, int
    from_leading, void *to, int to_leading);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *from, int
    from_leading, void *to, int to_leading, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void *from, int
    from_leading, void *to, int to_leading, cudaStream_t stream);
cublasStatus_t cublasSetVector(int length, int size, const void *from, int from_increment, void
    *to, int to_increment);
cublasStatus_t cublasGetVector(int length, int size, const void *from, int from_increment, void
    *to, int to_increment);
cublasStatus_t cublasSetVectorAsync(int length, int size, const void *from, int from_increment,
    void *to, int to_increment, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int length, int size, const void *from, int from_increment,
    void *to, int to_increment, cudaStream_t stream);

// Level 1.
cublasStatus_t cublasIsamax_v2(cublasHandle_t handle, int n, const float *x, int incx, int
    *result);
cublasStatus_t cublasIdamax_v2(cublasHandle_t handle, int n, const double *x, int incx, int
    *result);
cublasStatus_t cublasIcamax_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, int
    *result);
cublasStatus_t cublasIzamax_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx,
    int *result);
cublasStatus_t cublasIsamin_v2(cublasHandle_t handle, int n, const float *x, int incx, int
    *result);
cublasStatus_t cublasIdamin_v2(cublasHandle_t handle, int n, const double *x, int incx, int
    *result);
cublasStatus_t cublasIcamin_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, int
    *result);
cublasStatus_t cublasIzamin_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx,
    int *result);
cublasStatus_t cublasSasum_v2(cublasHandle_t handle, int n, const float *x, int incx, float
    *result);
cublasStatus_t cublasDasum_v2(cublasHandle_t handle, int n, const double *x, int incx, double
    *result);
cublasStatus_t cublasScasum_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, float
    *result);
cublasStatus_t cublasDzasum_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx,
    double *result);
cublasStatus_t cublasSnrm2_v2(cublasHandle_t handle, int n, const float *x, int incx, float
    *result);
cublasStatus_t cublasDnrm2_v2(cublasHandle_t handle, int n, const double *x, int incx, double
    *result);
cublasStatus_t cublasScnrm2_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, float
    *result);
cublasStatus_t cublasDznrm2_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx,
    double *result);
cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float *x, int incx, const float
    *y, int incy, float *result);
cublasStatus_t cublasDdot_v2(cublasHandle_t handle, int n, const double *x, int incx, const
    double *y, int incy, double *result);
cublasStatus_t cublasCdotu_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, const
    cuComplex *y, int incy, cuComplex *result);
cublasStatus_t cublasZdotu_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx,
    const cuDoubleComplex *y, int incy, cuDoubleComplex *result);
cublasStatus_t cublasCdotc_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx, const
    cuComplex *y, int incy, cuComplex *result);
cublasStatus_t cublasZdotc_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx,
    const cuDoubleComplex *y, int incy, cuDoubleComplex *result);
cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float *alpha, const float *x,
    int incx, float *y, int incy);
cublasStatus_t cublasDaxpy_v2(cublasHandle_t handle, int n, const double *alpha, const double
    *x, int incx, double *y, int incy);
cublasStatus_t cublasCaxpy_v2(cublasHandle_t handle, int n, const cuComplex *alpha, const
    cuComplex *x, int incx, cuComplex *y, int incy);
cublasStatus_t cublasZaxpy_v2(cublasHandle_t handle, int n, const cuDoubleComplex *alpha, const
    cuDoubleComplex *x, int incx, cuDoubleComplex *y, int incy);
cublasStatus_t cublasScopy_v2(cublasHandle_t handle, int n, const float *x, int incx, float *y,
    int incy);
cublasStatus_t cublasDcopy_v2(cublasHandle_t handle, int n, const double *x, int incx, double
    *y, int incy);
cublasStatus_t cublasCcopy_v2(cublasHandle_t handle, int n, const cuComplex *x, int incx,
    cuComplex *y, int incy);
cublasStatus_t cublasZcopy_v2(cublasHandle_t handle, int n, const cuDoubleComplex *x, int incx,
    cuDoubleComplex *y, int incy);
cublasStatus_t cublasSswap_v2(cublasHandle_t handle, int n, float *x, int incx, float *y, int
    incy);
cublasStatus_t cublasDswap_v2(cublasHandle_t handle, int n, double *x, int incx, double *y, int
    incy);
cublasStatus_t cublasCswap_v2(cublasHandle_t handle, int n, cuComplex *x, int incx, cuComplex
    *y, int incy);
cublasStatus_t cublasZswap_v2(cublasHandle_t handle, int n, cuDoubleComplex *x, int incx,
    cuDoubleComplex *y, int incy);
cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float *alpha, float *x, int
    incx);
cublasStatus_t cublasDscal_v2(cublasHandle_t handle, int n, const double *alpha, double *x, int
    incx);
cublasStatus_t cublasCscal_v2(cublasHandle_t handle, int n, const cuComplex *alpha, cuComplex
    *x, int incx);
cublasStatus_t cublasCsscal_v2(cublasHandle_t handle, int n, const float *alpha, cuComplex *x,
    int incx);
cublasStatus_t cublasZscal_v2(cublasHandle_t handle, int n, const cuDoubleComplex *alpha,
    cuDoubleComplex *x, int incx);
cublasStatus_t cublasZdscal_v2(cublasHandle_t handle, int n, const double *alpha,
    cuDoubleComplex *x, int incx);
cublasStatus_t cublasSrot_v2(cublasHandle_t handle, int n, float *x, int incx, float *y, int
    incy, const float *c, const float *s);
cublasStatus_t cublasDrot_v2(cublasHandle_t handle, int n, double *x, int incx, double *y, int
    incy, const double *c, const double *s);
cublasStatus_t cublasCrot_v2(cublasHandle_t handle, int n, cuComplex *x, int incx, cuComplex *y,
    int incy, const float *c, const cuComplex *s);
cublasStatus_t cublasCsrot_v2(cublasHandle_t handle, int n, cuComplex *x, int incx, cuComplex
    *y, int incy, const float *c, const float *s);
cublasStatus_t cublasZrot_v2(cublasHandle_t handle, int n, cuDoubleComplex *x, int incx,
    cuDoubleComplex *y, int incy, const double *c, const cuDoubleComplex *s);
cublasStatus_t cublasZdrot_v2(cublasHandle_t handle, int n, cuDoubleComplex *x, int incx,
    cuDoubleComplex *y, int incy, const double *c, const double *s);
cublasStatus_t cublasSrotg_v2(cublasHandle_t handle, float *a, float *b, float *c, float *s);
cublasStatus_t cublasDrotg_v2(cublasHandle_t handle, double *a, double *b, double *c, double
    *s);
cublasStatus_t cublasCrotg_v2(cublasHandle_t handle, cuComplex *a, cuComplex *b, float *c,
    cuComplex *s);
cublasStatus_t cublasZrotg_v2(cublasHandle_t handle, cuDoubleComplex *a, cuDoubleComplex *b,
    double *c, cuDoubleComplex *s);
cublasStatus_t cublasSrotm_v2(cublasHandle_t handle, int n, float *x, int incx, float *y, int
    incy, const float *param);
cublasStatus_t cublasDrotm_v2(cublasHandle_t handle, int n, double *x, int incx, double *y, int
    incy, const double *param);
cublasStatus_t cublasSrotmg_v2(cublasHandle_t handle, float *d1, float *d2, float *x1, const
    float *y1, float *param);
cublasStatus_t cublasDrotmg_v2(cublasHandle_t handle, double *d1, double *d2, double *x1, const
    double *y1, double *param);

// Level 2.
cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
    const float *alpha, const float *a, int lda, const float *x, int incx, const float *beta,
    float *y, int incy);
cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
    const double *alpha, const double *a, int lda, const double *x, int incx, const double
    *beta, double *y, int incy);
cublasStatus_t cublasCgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
    const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *x, int incx, const
    cuComplex *beta, cuComplex *y, int incy);
cublasStatus_t cublasZgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
    const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex *x,
    int incx, const cuDoubleComplex *beta, cuDoubleComplex *y, int incy);
cublasStatus_t cublasSgbmv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int
    kl, int ku, const float *alpha, const float *a, int lda, const float *x, int incx, const
    float *beta, float *y, int incy);
cublasStatus_t cublasDgbmv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int
    kl, int ku, const double *alpha, const double *a, int lda, const double *x, int incx, const
    double *beta, double *y, int incy);
cublasStatus_t cublasCgbmv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int
    kl, int ku, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *x, int
    incx, const cuComplex *beta, cuComplex *y, int incy);
cublasStatus_t cublasZgbmv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int
    kl, int ku, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *x, int incx, const cuDoubleComplex *beta, cuDoubleComplex *y, int incy);
cublasStatus_t cublasSsymv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *alpha, const float *a, int lda, const float *x, int incx, const float *beta, float *y, int
    incy);
cublasStatus_t cublasDsymv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *alpha, const double *a, int lda, const double *x, int incx, const double *beta, double *y,
    int incy);
cublasStatus_t cublasCsymv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *x, int incx, const cuComplex
    *beta, cuComplex *y, int incy);
cublasStatus_t cublasZsymv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex *x, int
    incx, const cuDoubleComplex *beta, cuDoubleComplex *y, int incy);
cublasStatus_t cublasChemv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *x, int incx, const cuComplex
    *beta, cuComplex *y, int incy);
cublasStatus_t cublasZhemv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex *x, int
    incx, const cuDoubleComplex *beta, cuDoubleComplex *y, int incy);
cublasStatus_t cublasSsbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, int k, const
    float *alpha, const float *a, int lda, const float *x, int incx, const float *beta, float
    *y, int incy);
cublasStatus_t cublasDsbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, int k, const
    double *alpha, const double *a, int lda, const double *x, int incx, const double *beta,
    double *y, int incy);
cublasStatus_t cublasChbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, int k, const
    cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *x, int incx, const cuComplex
    *beta, cuComplex *y, int incy);
cublasStatus_t cublasZhbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, int k, const
    cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex *x, int
    incx, const cuDoubleComplex *beta, cuDoubleComplex *y, int incy);
cublasStatus_t cublasSspmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *alpha, const float *a, const float *x, int incx, const float *beta, float *y, int incy);
cublasStatus_t cublasDspmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *alpha, const double *a, const double *x, int incx, const double *beta, double *y, int
    incy);
cublasStatus_t cublasChpmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuComplex *alpha, const cuComplex *a, const cuComplex *x, int incx, const cuComplex *beta,
    cuComplex *y, int incy);
cublasStatus_t cublasZhpmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *alpha, const cuDoubleComplex *a, const cuDoubleComplex *x, int incx, const
    cuDoubleComplex *beta, cuDoubleComplex *y, int incy);
cublasStatus_t cublasStrmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const float *a, int lda, float *x, int incx);
cublasStatus_t cublasDtrmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const double *a, int lda, double *x, int incx);
cublasStatus_t cublasCtrmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const cuComplex *a, int lda, cuComplex *x, int incx);
cublasStatus_t cublasZtrmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const cuDoubleComplex *a, int lda, cuDoubleComplex *x,
    int incx);
cublasStatus_t cublasStrsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const float *a, int lda, float *x, int incx);
cublasStatus_t cublasDtrsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const double *a, int lda, double *x, int incx);
cublasStatus_t cublasCtrsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const cuComplex *a, int lda, cuComplex *x, int incx);
cublasStatus_t cublasZtrsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const cuDoubleComplex *a, int lda, cuDoubleComplex *x,
    int incx);
cublasStatus_t cublasStbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, int k, const float *a, int lda, float *x, int incx);
cublasStatus_t cublasDtbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, int k, const double *a, int lda, double *x, int incx);
cublasStatus_t cublasCtbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, int k, const cuComplex *a, int lda, cuComplex *x, int
    incx);
cublasStatus_t cublasZtbmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, int k, const cuDoubleComplex *a, int lda,
    cuDoubleComplex *x, int incx);
cublasStatus_t cublasStbsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, int k, const float *a, int lda, float *x, int incx);
cublasStatus_t cublasDtbsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, int k, const double *a, int lda, double *x, int incx);
cublasStatus_t cublasCtbsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, int k, const cuComplex *a, int lda, cuComplex *x, int
    incx);
cublasStatus_t cublasZtbsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, int k, const cuDoubleComplex *a, int lda,
    cuDoubleComplex *x, int incx);
cublasStatus_t cublasStpmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const float *a, float *x, int incx);
cublasStatus_t cublasDtpmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const double *a, double *x, int incx);
cublasStatus_t cublasCtpmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const cuComplex *a, cuComplex *x, int incx);
cublasStatus_t cublasZtpmv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const cuDoubleComplex *a, cuDoubleComplex *x, int
    incx);
cublasStatus_t cublasStpsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const float *a, float *x, int incx);
cublasStatus_t cublasDtpsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const double *a, double *x, int incx);
cublasStatus_t cublasCtpsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const cuComplex *a, cuComplex *x, int incx);
cublasStatus_t cublasZtpsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, cublasDiagType_t diag, int n, const cuDoubleComplex *a, cuDoubleComplex *x, int
    incx);
cublasStatus_t cublasSger_v2(cublasHandle_t handle, int m, int n, const float *alpha, const
    float *x, int incx, const float *y, int incy, float *a, int lda);
cublasStatus_t cublasDger_v2(cublasHandle_t handle, int m, int n, const double *alpha, const
    double *x, int incx, const double *y, int incy, double *a, int lda);
cublasStatus_t cublasCgeru_v2(cublasHandle_t handle, int m, int n, const cuComplex *alpha, const
    cuComplex *x, int incx, const cuComplex *y, int incy, cuComplex *a, int lda);
cublasStatus_t cublasZgeru_v2(cublasHandle_t handle, int m, int n, const cuDoubleComplex *alpha,
    const cuDoubleComplex *x, int incx, const cuDoubleComplex *y, int incy, cuDoubleComplex *a,
    int lda);
cublasStatus_t cublasCgerc_v2(cublasHandle_t handle, int m, int n, const cuComplex *alpha, const
    cuComplex *x, int incx, const cuComplex *y, int incy, cuComplex *a, int lda);
cublasStatus_t cublasZgerc_v2(cublasHandle_t handle, int m, int n, const cuDoubleComplex *alpha,
    const cuDoubleComplex *x, int incx, const cuDoubleComplex *y, int incy, cuDoubleComplex *a,
    int lda);
cublasStatus_t cublasSsyr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *alpha, const float *x, int incx, float *a, int lda);
cublasStatus_t cublasDsyr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *alpha, const double *x, int incx, double *a, int lda);
cublasStatus_t cublasCsyr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuComplex *alpha, const cuComplex *x, int incx, cuComplex *a, int lda);
cublasStatus_t cublasZsyr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *alpha, const cuDoubleComplex *x, int incx, cuDoubleComplex *a, int lda);
cublasStatus_t cublasCher_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *alpha, const cuComplex *x, int incx, cuComplex *a, int lda);
cublasStatus_t cublasZher_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *alpha, const cuDoubleComplex *x, int incx, cuDoubleComplex *a, int lda);
cublasStatus_t cublasSspr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *alpha, const float *x, int incx, float *a);
cublasStatus_t cublasDspr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *alpha, const double *x, int incx, double *a);
cublasStatus_t cublasChpr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *alpha, const cuComplex *x, int incx, cuComplex *a);
cublasStatus_t cublasZhpr_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *alpha, const cuDoubleComplex *x, int incx, cuDoubleComplex *a);
cublasStatus_t cublasSsyr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *alpha, const float *x, int incx, const float *y, int incy, float *a, int lda);
cublasStatus_t cublasDsyr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *alpha, const double *x, int incx, const double *y, int incy, double *a, int lda);
cublasStatus_t cublasCsyr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuComplex *alpha, const cuComplex *x, int incx, const cuComplex *y, int incy, cuComplex *a,
    int lda);
cublasStatus_t cublasZsyr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *alpha, const cuDoubleComplex *x, int incx, const cuDoubleComplex *y, int
    incy, cuDoubleComplex *a, int lda);
cublasStatus_t cublasCher2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuComplex *alpha, const cuComplex *x, int incx, const cuComplex *y, int incy, cuComplex *a,
    int lda);
cublasStatus_t cublasZher2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *alpha, const cuDoubleComplex *x, int incx, const cuDoubleComplex *y, int
    incy, cuDoubleComplex *a, int lda);
cublasStatus_t cublasSspr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *alpha, const float *x, int incx, const float *y, int incy, float *a);
cublasStatus_t cublasDspr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *alpha, const double *x, int incx, const double *y, int incy, double *a);
cublasStatus_t cublasChpr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuComplex *alpha, const cuComplex *x, int incx, const cuComplex *y, int incy, cuComplex *a);
cublasStatus_t cublasZhpr2_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *alpha, const cuDoubleComplex *x, int incx, const cuDoubleComplex *y, int
    incy, cuDoubleComplex *a);
cublasStatus_t cublasStpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float
    *packed, float *a, int lda);
cublasStatus_t cublasDtpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *packed, double *a, int lda);
cublasStatus_t cublasCtpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const cuComplex
    *packed, cuComplex *a, int lda);
cublasStatus_t cublasZtpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *packed, cuDoubleComplex *a, int lda);
cublasStatus_t cublasStrttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float *a,
    int lda, float *packed);
cublasStatus_t cublasDtrttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double
    *a, int lda, double *packed);
cublasStatus_t cublasCtrttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const cuComplex
    *a, int lda, cuComplex *packed);
cublasStatus_t cublasZtrttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const
    cuDoubleComplex *a, int lda, cuDoubleComplex *packed);

// Level 3.
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const float *alpha, const float *a, int lda, const float *b,
    int ldb, const float *beta, float *c, int ldc);
cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const double *alpha, const double *a, int lda, const double *b,
    int ldb, const double *beta, double *c, int ldc);
cublasStatus_t cublasCgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const cuComplex *alpha, const cuComplex *a, int lda, const
    cuComplex *b, int ldb, const cuComplex *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int
    lda, const cuDoubleComplex *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int
    ldc);
cublasStatus_t cublasCgemm3m(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const cuComplex *alpha, const cuComplex *a, int lda, const
    cuComplex *b, int ldb, const cuComplex *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZgemm3m(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int
    lda, const cuDoubleComplex *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int
    ldc);
cublasStatus_t cublasSsymm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, int m, int n, const float *alpha, const float *a, int lda, const float *b, int ldb,
    const float *beta, float *c, int ldc);
cublasStatus_t cublasDsymm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, int m, int n, const double *alpha, const double *a, int lda, const double *b, int ldb,
    const double *beta, double *c, int ldc);
cublasStatus_t cublasCsymm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, int m, int n, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *b,
    int ldb, const cuComplex *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZsymm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, int m, int n, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasChemm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, int m, int n, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex *b,
    int ldb, const cuComplex *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZhemm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, int m, int n, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasSsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const float *alpha, const float *a, int lda, const float *beta, float
    *c, int ldc);
cublasStatus_t cublasDsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const double *alpha, const double *a, int lda, const double *beta,
    double *c, int ldc);
cublasStatus_t cublasCsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex
    *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasCherk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const float *alpha, const cuComplex *a, int lda, const float *beta,
    cuComplex *c, int ldc);
cublasStatus_t cublasZherk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const double *alpha, const cuDoubleComplex *a, int lda, const double
    *beta, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasSsyr2k_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const float *alpha, const float *a, int lda, const float *b, int ldb,
    const float *beta, float *c, int ldc);
cublasStatus_t cublasDsyr2k_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const double *alpha, const double *a, int lda, const double *b, int
    ldb, const double *beta, double *c, int ldc);
cublasStatus_t cublasCsyr2k_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex
    *b, int ldb, const cuComplex *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZsyr2k_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasCher2k_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex
    *b, int ldb, const float *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZher2k_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *b, int ldb, const double *beta, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasSsyrkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const float *alpha, const float *a, int lda, const float *b, int ldb,
    const float *beta, float *c, int ldc);
cublasStatus_t cublasDsyrkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const double *alpha, const double *a, int lda, const double *b, int
    ldb, const double *beta, double *c, int ldc);
cublasStatus_t cublasCsyrkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex
    *b, int ldb, const cuComplex *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZsyrkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasCherkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex
    *b, int ldb, const float *beta, cuComplex *c, int ldc);
cublasStatus_t cublasZherkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *b, int ldb, const double *beta, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasStrmm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const float *alpha,
    const float *a, int lda, const float *b, int ldb, float *c, int ldc);
cublasStatus_t cublasDtrmm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const double *alpha,
    const double *a, int lda, const double *b, int ldb, double *c, int ldc);
cublasStatus_t cublasCtrmm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const cuComplex *alpha,
    const cuComplex *a, int lda, const cuComplex *b, int ldb, cuComplex *c, int ldc);
cublasStatus_t cublasZtrmm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const cuDoubleComplex
    *alpha, const cuDoubleComplex *a, int lda, const cuDoubleComplex *b, int ldb,
    cuDoubleComplex *c, int ldc);
cublasStatus_t cublasStrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const float *alpha,
    const float *a, int lda, float *b, int ldb);
cublasStatus_t cublasDtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const double *alpha,
    const double *a, int lda, double *b, int ldb);
cublasStatus_t cublasCtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const cuComplex *alpha,
    const cuComplex *a, int lda, cuComplex *b, int ldb);
cublasStatus_t cublasZtrsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const cuDoubleComplex
    *alpha, const cuDoubleComplex *a, int lda, cuDoubleComplex *b, int ldb);
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, const float *alpha, const float *a, int lda, const float *beta, const
    float *b, int ldb, float *c, int ldc);
cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, const double *alpha, const double *a, int lda, const double *beta,
    const double *b, int ldb, double *c, int ldc);
cublasStatus_t cublasCgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, const cuComplex *alpha, const cuComplex *a, int lda, const cuComplex
    *beta, const cuComplex *b, int ldb, cuComplex *c, int ldc);
cublasStatus_t cublasZgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, const
    cuDoubleComplex *beta, const cuDoubleComplex *b, int ldb, cuDoubleComplex *c, int ldc);
cublasStatus_t cublasSdgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const
    float *a, int lda, const float *x, int incx, float *c, int ldc);
cublasStatus_t cublasDdgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const
    double *a, int lda, const double *x, int incx, double *c, int ldc);
cublasStatus_t cublasCdgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const
    cuComplex *a, int lda, const cuComplex *x, int incx, cuComplex *c, int ldc);
cublasStatus_t cublasZdgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const
    cuDoubleComplex *a, int lda, const cuDoubleComplex *x, int incx, cuDoubleComplex *c, int
    ldc);

// Batches.
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha, const float *const *a,
    int lda, const float *const *b, int ldb, const float *beta, float *const *c, int ldc, int
    count);
cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const double *alpha, const double *const *a,
    int lda, const double *const *b, int ldb, const double *beta, double *const *c, int ldc, int
    count);
cublasStatus_t cublasCgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const cuComplex *alpha, const cuComplex
    *const *a, int lda, const cuComplex *const *b, int ldb, const cuComplex *beta, cuComplex
    *const *c, int ldc, int count);
cublasStatus_t cublasZgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const cuDoubleComplex *alpha, const
    cuDoubleComplex *const *a, int lda, const cuDoubleComplex *const *b, int ldb, const
    cuDoubleComplex *beta, cuDoubleComplex *const *c, int ldc, int count);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha, const float *a, int lda,
    long long int stride_a, const float *b, int ldb, long long int stride_b, const float *beta,
    float *c, int ldc, long long int stride_c, int count);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const double *alpha, const double *a, int
    lda, long long int stride_a, const double *b, int ldb, long long int stride_b, const double
    *beta, double *c, int ldc, long long int stride_c, int count);
cublasStatus_t cublasCgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const cuComplex *alpha, const cuComplex *a,
    int lda, long long int stride_a, const cuComplex *b, int ldb, long long int stride_b, const
    cuComplex *beta, cuComplex *c, int ldc, long long int stride_c, int count);
cublasStatus_t cublasZgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const cuDoubleComplex *alpha, const
    cuDoubleComplex *a, int lda, long long int stride_a, const cuDoubleComplex *b, int ldb, long
    long int stride_b, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc, long long int
    stride_c, int count);
cublasStatus_t cublasSgemvBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
    const float *alpha, const float *const *a, int lda, const float *const *x, int incx, const
    float *beta, float *const *y, int incy, int count);
cublasStatus_t cublasDgemvBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
    const double *alpha, const double *const *a, int lda, const double *const *x, int incx,
    const double *beta, double *const *y, int incy, int count);
cublasStatus_t cublasCgemvBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
    const cuComplex *alpha, const cuComplex *const *a, int lda, const cuComplex *const *x, int
    incx, const cuComplex *beta, cuComplex *const *y, int incy, int count);
cublasStatus_t cublasZgemvBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
    const cuDoubleComplex *alpha, const cuDoubleComplex *const *a, int lda, const
    cuDoubleComplex *const *x, int incx, const cuDoubleComplex *beta, cuDoubleComplex *const *y,
    int incy, int count);
cublasStatus_t cublasSgemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m,
    int n, const float *alpha, const float *a, int lda, long long int stride_a, const float *x,
    int incx, long long int stride_x, const float *beta, float *y, int incy, long long int
    stride_y, int count);
cublasStatus_t cublasDgemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m,
    int n, const double *alpha, const double *a, int lda, long long int stride_a, const double
    *x, int incx, long long int stride_x, const double *beta, double *y, int incy, long long int
    stride_y, int count);
cublasStatus_t cublasCgemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m,
    int n, const cuComplex *alpha, const cuComplex *a, int lda, long long int stride_a, const
    cuComplex *x, int incx, long long int stride_x, const cuComplex *beta, cuComplex *y, int
    incy, long long int stride_y, int count);
cublasStatus_t cublasZgemvStridedBatched(cublasHandle_t handle, cublasOperation_t trans, int m,
    int n, const cuDoubleComplex *alpha, const cuDoubleComplex *a, int lda, long long int
    stride_a, const cuDoubleComplex *x, int incx, long long int stride_x, const cuDoubleComplex
    *beta, cuDoubleComplex *y, int incy, long long int stride_y, int count);
cublasStatus_t cublasStrsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const float *alpha,
    const float *const *a, int lda, float *const *b, int ldb, int count);
cublasStatus_t cublasDtrsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const double *alpha,
    const double *const *a, int lda, double *const *b, int ldb, int count);
cublasStatus_t cublasCtrsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const cuComplex *alpha,
    const cuComplex *const *a, int lda, cuComplex *const *b, int ldb, int count);
cublasStatus_t cublasZtrsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t
    uplo, cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const cuDoubleComplex
    *alpha, const cuDoubleComplex *const *a, int lda, cuDoubleComplex *const *b, int ldb, int
    count);
cublasStatus_t cublasSgetrfBatched(cublasHandle_t handle, int n, float *const *a, int lda, int
    *pivot, int *info, int count);
cublasStatus_t cublasDgetrfBatched(cublasHandle_t handle, int n, double *const *a, int lda, int
    *pivot, int *info, int count);
cublasStatus_t cublasCgetrfBatched(cublasHandle_t handle, int n, cuComplex *const *a, int lda,
    int *pivot, int *info, int count);
cublasStatus_t cublasZgetrfBatched(cublasHandle_t handle, int n, cuDoubleComplex *const *a, int
    lda, int *pivot, int *info, int count);
cublasStatus_t cublasSgetriBatched(cublasHandle_t handle, int n, const float *const *a, int lda,
    const int *pivot, float *const *c, int ldc, int *info, int count);
cublasStatus_t cublasDgetriBatched(cublasHandle_t handle, int n, const double *const *a, int
    lda, const int *pivot, double *const *c, int ldc, int *info, int count);
cublasStatus_t cublasCgetriBatched(cublasHandle_t handle, int n, const cuComplex *const *a, int
    lda, const int *pivot, cuComplex *const *c, int ldc, int *info, int count);
cublasStatus_t cublasZgetriBatched(cublasHandle_t handle, int n, const cuDoubleComplex *const
    *a, int lda, const int *pivot, cuDoubleComplex *const *c, int ldc, int *info, int count);
cublasStatus_t cublasSgetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int
    nrhs, const float *const *a, int lda, const int *pivot, float *const *b, int ldb, int *info,
    int count);
cublasStatus_t cublasDgetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int
    nrhs, const double *const *a, int lda, const int *pivot, double *const *b, int ldb, int
    *info, int count);
cublasStatus_t cublasCgetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int
    nrhs, const cuComplex *const *a, int lda, const int *pivot, cuComplex *const *b, int ldb,
    int *info, int count);
cublasStatus_t cublasZgetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int
    nrhs, const cuDoubleComplex *const *a, int lda, const int *pivot, cuDoubleComplex *const *b,
    int ldb, int *info, int count);
cublasStatus_t cublasSmatinvBatched(cublasHandle_t handle, int n, const float *const *a, int
    lda, float *const *inverse, int ldinv, int *info, int count);
cublasStatus_t cublasDmatinvBatched(cublasHandle_t handle, int n, const double *const *a, int
    lda, double *const *inverse, int ldinv, int *info, int count);
cublasStatus_t cublasCmatinvBatched(cublasHandle_t handle, int n, const cuComplex *const *a, int
    lda, cuComplex *const *inverse, int ldinv, int *info, int count);
cublasStatus_t cublasZmatinvBatched(cublasHandle_t handle, int n, const cuDoubleComplex *const
    *a, int lda, cuDoubleComplex *const *inverse, int ldinv, int *info, int count);

// Other types of elements.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const void *alpha, const void *a, cudaDataType a_type, int lda,
    const void *b, cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type,
    int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const void *alpha, const void *const *a,
    cudaDataType a_type, int lda, const void *const *b, cudaDataType b_type, int ldb, const void
    *beta, void *const *c, cudaDataType c_type, int ldc, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const void *alpha, const void *a,
    cudaDataType a_type, int lda, long long int stride_a, const void *b, cudaDataType b_type,
    int ldb, long long int stride_b, const void *beta, void *c, cudaDataType c_type, int ldc,
    long long int stride_c, int count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const float *alpha, const void *a, cudaDataType a_type, int
    lda, const void *b, cudaDataType b_type, int ldb, const float *beta, void *c, cudaDataType
    c_type, int ldc);
cublasStatus_t cublasCgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const cuComplex *alpha, const void *a, cudaDataType a_type, int
    lda, const void *b, cudaDataType b_type, int ldb, const cuComplex *beta, void *c,
    cudaDataType c_type, int ldc);
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t
    transb, int m, int n, int k, const __half *alpha, const __half *a, int lda, const __half *b,
    int ldb, const __half *beta, __half *c, int ldc);
cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const __half *alpha, const __half *const *a,
    int lda, const __half *const *b, int ldb, const __half *beta, __half *const *c, int ldc, int
    count);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const __half *alpha, const __half *a, int
    lda, long long int stride_a, const __half *b, int ldb, long long int stride_b, const __half
    *beta, __half *c, int ldc, long long int stride_c, int count);
cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType
    alpha_type, const void *x, cudaDataType x_type, int incx, void *y, cudaDataType y_type, int
    incy, cudaDataType execution);
cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType
    alpha_type, void *x, cudaDataType x_type, int incx, cudaDataType execution);
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType x_type, int
    incx, const void *y, cudaDataType y_type, int incy, void *result, cudaDataType result_type,
    cudaDataType execution);
cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void *x, cudaDataType x_type,
    int incx, const void *y, cudaDataType y_type, int incy, void *result, cudaDataType
    result_type, cudaDataType execution);
cublasStatus_t cublasRotEx(cublasHandle_t handle, int n, void *x, cudaDataType x_type, int incx,
    void *y, cudaDataType y_type, int incy, const void *c, const void *s, cudaDataType cs_type,
    cudaDataType execution);
cublasStatus_t cublasCsyrkEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuComplex *alpha, const void *a, cudaDataType a_type, int lda,
    const cuComplex *beta, void *c, cudaDataType c_type, int ldc);
cublasStatus_t cublasCsyrk3mEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const cuComplex *alpha, const void *a, cudaDataType a_type, int lda,
    const cuComplex *beta, void *c, cudaDataType c_type, int ldc);
cublasStatus_t cublasCherkEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const float *alpha, const void *a, cudaDataType a_type, int lda, const
    float *beta, void *c, cudaDataType c_type, int ldc);
cublasStatus_t cublasCherk3mEx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t
    trans, int n, int k, const float *alpha, const void *a, cudaDataType a_type, int lda, const
    float *beta, void *c, cudaDataType c_type, int ldc);
cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType x_type,
    int incx, void *result, cudaDataType result_type, cudaDataType execution);

#if defined(__cplusplus)
}
#endif
