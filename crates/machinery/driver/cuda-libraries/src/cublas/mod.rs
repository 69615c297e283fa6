//! cuBLAS. Matrices are in column-major order, as in BLAS.

use std::ffi::{c_char, c_int, c_void};

use cuda_driver::types::CUstream;
use half::f16;

mod arguments;
mod batched;
mod extended;
mod gemm;
mod handle;
mod level1;
mod level2;
mod level3;
pub mod lt;
mod matrix;
mod scalar;
mod transfer;
mod xt;

use crate::functions::{Handles, Status};
use crate::nvidia::Library;

pub use handle::Handle;
pub use scalar::{C32, C64, Scalar};
pub use xt::XtHandle;

use crate::call::Stream;

/// `CUBLAS_STATUS_NOT_INITIALIZED`.
const NOT_INITIALIZED: Status = Status(1);
/// `CUBLAS_STATUS_INVALID_VALUE`.
const INVALID_VALUE: Status = Status(7);
/// `CUBLAS_STATUS_EXECUTION_FAILED`.
const EXECUTION_FAILED: Status = Status(13);
/// `CUBLAS_STATUS_INTERNAL_ERROR`.
const INTERNAL_ERROR: Status = Status(14);

/// `CUBLAS_STATUS_NOT_SUPPORTED`.
const NOT_SUPPORTED: Status = Status(15);

static CUBLAS: Library = Library::new(
    "cuBLAS",
    &["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"],
    ["nvidia-cublas-cu12", "libcublas"],
    [NOT_INITIALIZED.0, EXECUTION_FAILED.0, INTERNAL_ERROR.0],
);

functions! { CUBLAS;
    // Handles and settings.
    [cublasCreate_v2] (handle: *mut Handle) => handle::create;
    [cublasDestroy_v2] (handle: Handle) => handle::destroy;
    [cublasSetStream_v2] (handle: Handle, stream: CUstream) => handle::set_stream;
    [cublasGetStream_v2] (handle: Handle, stream: *mut CUstream) => handle::get_stream;
    [cublasSetPointerMode_v2] (handle: Handle, mode: c_int) => handle::set_pointer_mode;
    [cublasGetPointerMode_v2] (handle: Handle, mode: *mut c_int) => handle::get_pointer_mode;
    [cublasSetMathMode] (handle: Handle, mode: c_int) => handle::set_math_mode;
    [cublasGetMathMode] (handle: Handle, mode: *mut c_int) => handle::get_math_mode;
    [cublasSetAtomicsMode] (handle: Handle, mode: c_int) => handle::set_atomics_mode;
    [cublasGetAtomicsMode] (handle: Handle, mode: *mut c_int) => handle::get_atomics_mode;
    [cublasSetSmCountTarget] (handle: Handle, count: c_int) => handle::set_multiprocessors;
    [cublasGetSmCountTarget] (handle: Handle, count: *mut c_int) => handle::get_multiprocessors;
    [cublasSetWorkspace_v2] (handle: Handle, workspace: *mut c_void, bytes: usize) => handle::set_workspace;
    [cublasGetVersion_v2] (handle: Handle, version: *mut c_int) => handle::version;
    [cublasGetProperty] (kind: c_int, value: *mut c_int) => handle::property;
    [cublasGetCudartVersion] () -> usize => handle::runtime_version, local;
    [cublasGetStatusName] (status: c_int) -> *const c_char => handle::status_name, local;
    [cublasGetStatusString] (status: c_int) -> *const c_char => handle::status_string, local;
    [cublasLoggerConfigure] (on: c_int, to_stdout: c_int, to_stderr: c_int, file: *const c_char) => handle::configure_logger;
    [cublasSetLoggerCallback] (callback: *mut c_void) => handle::set_logger_callback;
    [cublasGetLoggerCallback] (callback: *mut *mut c_void) => handle::get_logger_callback;

    // Copies between host and device.
    [cublasSetMatrix, cublasGetMatrix] (rows: c_int, columns: c_int, size: c_int, from: *const c_void, from_leading: c_int, to: *mut c_void, to_leading: c_int) => transfer::matrix;
    [cublasSetMatrixAsync, cublasGetMatrixAsync] (rows: c_int, columns: c_int, size: c_int, from: *const c_void, from_leading: c_int, to: *mut c_void, to_leading: c_int, stream: CUstream) => transfer::matrix_async;
    [cublasSetVector, cublasGetVector] (length: c_int, size: c_int, from: *const c_void, from_increment: c_int, to: *mut c_void, to_increment: c_int) => transfer::vector;
    [cublasSetVectorAsync, cublasGetVectorAsync] (length: c_int, size: c_int, from: *const c_void, from_increment: c_int, to: *mut c_void, to_increment: c_int, stream: CUstream) => transfer::vector_async;

    // Level 1.
    [cublasIsamax_v2 f32, cublasIdamax_v2 f64, cublasIcamax_v2 C32, cublasIzamax_v2 C64] (handle: Handle, n: c_int, x: *const T, incx: c_int, result: *mut c_int) => level1::amax;
    [cublasIsamin_v2 f32, cublasIdamin_v2 f64, cublasIcamin_v2 C32, cublasIzamin_v2 C64] (handle: Handle, n: c_int, x: *const T, incx: c_int, result: *mut c_int) => level1::amin;
    [cublasSasum_v2 f32, cublasDasum_v2 f64, cublasScasum_v2 C32, cublasDzasum_v2 C64] (handle: Handle, n: c_int, x: *const T, incx: c_int, result: *mut <T as Scalar>::Real) => level1::asum;
    [cublasSnrm2_v2 f32, cublasDnrm2_v2 f64, cublasScnrm2_v2 C32, cublasDznrm2_v2 C64] (handle: Handle, n: c_int, x: *const T, incx: c_int, result: *mut <T as Scalar>::Real) => level1::nrm2;
    [cublasSdot_v2 f32, cublasDdot_v2 f64, cublasCdotu_v2 C32, cublasZdotu_v2 C64] (handle: Handle, n: c_int, x: *const T, incx: c_int, y: *const T, incy: c_int, result: *mut T) => level1::dotu;
    [cublasCdotc_v2 C32, cublasZdotc_v2 C64] (handle: Handle, n: c_int, x: *const T, incx: c_int, y: *const T, incy: c_int, result: *mut T) => level1::dotc;
    [cublasSaxpy_v2 f32, cublasDaxpy_v2 f64, cublasCaxpy_v2 C32, cublasZaxpy_v2 C64] (handle: Handle, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *mut T, incy: c_int) => level1::axpy;
    [cublasScopy_v2 f32, cublasDcopy_v2 f64, cublasCcopy_v2 C32, cublasZcopy_v2 C64] (handle: Handle, n: c_int, x: *const T, incx: c_int, y: *mut T, incy: c_int) => level1::copy;
    [cublasSswap_v2 f32, cublasDswap_v2 f64, cublasCswap_v2 C32, cublasZswap_v2 C64] (handle: Handle, n: c_int, x: *mut T, incx: c_int, y: *mut T, incy: c_int) => level1::swap;
    [cublasSscal_v2 f32 f32, cublasDscal_v2 f64 f64, cublasCscal_v2 C32 C32, cublasCsscal_v2 C32 f32, cublasZscal_v2 C64 C64, cublasZdscal_v2 C64 f64] (handle: Handle, n: c_int, alpha: *const U, x: *mut T, incx: c_int) => level1::scal;
    [cublasSrot_v2 f32 f32, cublasDrot_v2 f64 f64, cublasCrot_v2 C32 C32, cublasCsrot_v2 C32 f32, cublasZrot_v2 C64 C64, cublasZdrot_v2 C64 f64] (handle: Handle, n: c_int, x: *mut T, incx: c_int, y: *mut T, incy: c_int, c: *const <T as Scalar>::Real, s: *const U) => level1::rot;
    [cublasSrotg_v2 f32, cublasDrotg_v2 f64] (handle: Handle, a: *mut T, b: *mut T, c: *mut T, s: *mut T) => level1::rotg;
    [cublasCrotg_v2 C32, cublasZrotg_v2 C64] (handle: Handle, a: *mut T, b: *mut T, c: *mut <T as Scalar>::Real, s: *mut T) => level1::rotg_complex;
    [cublasSrotm_v2 f32, cublasDrotm_v2 f64] (handle: Handle, n: c_int, x: *mut T, incx: c_int, y: *mut T, incy: c_int, param: *const T) => level1::rotm;
    [cublasSrotmg_v2 f32, cublasDrotmg_v2 f64] (handle: Handle, d1: *mut T, d2: *mut T, x1: *mut T, y1: *const T, param: *mut T) => level1::rotmg;

    // Level 2.
    [cublasSgemv_v2 f32, cublasDgemv_v2 f64, cublasCgemv_v2 C32, cublasZgemv_v2 C64] (handle: Handle, trans: c_int, m: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int) => level2::gemv;
    [cublasSgbmv_v2 f32, cublasDgbmv_v2 f64, cublasCgbmv_v2 C32, cublasZgbmv_v2 C64] (handle: Handle, trans: c_int, m: c_int, n: c_int, kl: c_int, ku: c_int, alpha: *const T, a: *const T, lda: c_int, x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int) => level2::gbmv;
    [cublasSsymv_v2 f32, cublasDsymv_v2 f64, cublasCsymv_v2 C32, cublasZsymv_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int) => level2::symv;
    [cublasChemv_v2 C32, cublasZhemv_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int) => level2::hemv;
    [cublasSsbmv_v2 f32, cublasDsbmv_v2 f64] (handle: Handle, uplo: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int) => level2::sbmv;
    [cublasChbmv_v2 C32, cublasZhbmv_v2 C64] (handle: Handle, uplo: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int) => level2::hbmv;
    [cublasSspmv_v2 f32, cublasDspmv_v2 f64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, a: *const T, x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int) => level2::spmv;
    [cublasChpmv_v2 C32, cublasZhpmv_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, a: *const T, x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int) => level2::hpmv;
    [cublasStrmv_v2 f32, cublasDtrmv_v2 f64, cublasCtrmv_v2 C32, cublasZtrmv_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, diag: c_int, n: c_int, a: *const T, lda: c_int, x: *mut T, incx: c_int) => level2::trmv;
    [cublasStrsv_v2 f32, cublasDtrsv_v2 f64, cublasCtrsv_v2 C32, cublasZtrsv_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, diag: c_int, n: c_int, a: *const T, lda: c_int, x: *mut T, incx: c_int) => level2::trsv;
    [cublasStbmv_v2 f32, cublasDtbmv_v2 f64, cublasCtbmv_v2 C32, cublasZtbmv_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, diag: c_int, n: c_int, k: c_int, a: *const T, lda: c_int, x: *mut T, incx: c_int) => level2::tbmv;
    [cublasStbsv_v2 f32, cublasDtbsv_v2 f64, cublasCtbsv_v2 C32, cublasZtbsv_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, diag: c_int, n: c_int, k: c_int, a: *const T, lda: c_int, x: *mut T, incx: c_int) => level2::tbsv;
    [cublasStpmv_v2 f32, cublasDtpmv_v2 f64, cublasCtpmv_v2 C32, cublasZtpmv_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, diag: c_int, n: c_int, a: *const T, x: *mut T, incx: c_int) => level2::tpmv;
    [cublasStpsv_v2 f32, cublasDtpsv_v2 f64, cublasCtpsv_v2 C32, cublasZtpsv_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, diag: c_int, n: c_int, a: *const T, x: *mut T, incx: c_int) => level2::tpsv;
    [cublasSger_v2 f32, cublasDger_v2 f64, cublasCgeru_v2 C32, cublasZgeru_v2 C64] (handle: Handle, m: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *const T, incy: c_int, a: *mut T, lda: c_int) => level2::geru;
    [cublasCgerc_v2 C32, cublasZgerc_v2 C64] (handle: Handle, m: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *const T, incy: c_int, a: *mut T, lda: c_int) => level2::gerc;
    [cublasSsyr_v2 f32, cublasDsyr_v2 f64, cublasCsyr_v2 C32, cublasZsyr_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, a: *mut T, lda: c_int) => level2::syr;
    [cublasCher_v2 C32, cublasZher_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const <T as Scalar>::Real, x: *const T, incx: c_int, a: *mut T, lda: c_int) => level2::her;
    [cublasSspr_v2 f32, cublasDspr_v2 f64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, a: *mut T) => level2::spr;
    [cublasChpr_v2 C32, cublasZhpr_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const <T as Scalar>::Real, x: *const T, incx: c_int, a: *mut T) => level2::hpr;
    [cublasSsyr2_v2 f32, cublasDsyr2_v2 f64, cublasCsyr2_v2 C32, cublasZsyr2_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *const T, incy: c_int, a: *mut T, lda: c_int) => level2::syr2;
    [cublasCher2_v2 C32, cublasZher2_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *const T, incy: c_int, a: *mut T, lda: c_int) => level2::her2;
    [cublasSspr2_v2 f32, cublasDspr2_v2 f64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *const T, incy: c_int, a: *mut T) => level2::spr2;
    [cublasChpr2_v2 C32, cublasZhpr2_v2 C64] (handle: Handle, uplo: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *const T, incy: c_int, a: *mut T) => level2::hpr2;
    [cublasStpttr f32, cublasDtpttr f64, cublasCtpttr C32, cublasZtpttr C64] (handle: Handle, uplo: c_int, n: c_int, packed: *const T, a: *mut T, lda: c_int) => level2::tpttr;
    [cublasStrttp f32, cublasDtrttp f64, cublasCtrttp C32, cublasZtrttp C64] (handle: Handle, uplo: c_int, n: c_int, a: *const T, lda: c_int, packed: *mut T) => level2::trttp;

    // Level 3.
    [cublasSgemm_v2 f32, cublasDgemm_v2 f64, cublasCgemm_v2 C32, cublasZgemm_v2 C64, cublasCgemm3m C32, cublasZgemm3m C64, cublasHgemm f16] (handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, b: *const T, ldb: c_int, beta: *const T, c: *mut T, ldc: c_int) => gemm::gemm;
    [cublasSsymm_v2 f32, cublasDsymm_v2 f64, cublasCsymm_v2 C32, cublasZsymm_v2 C64] (handle: Handle, side: c_int, uplo: c_int, m: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, b: *const T, ldb: c_int, beta: *const T, c: *mut T, ldc: c_int) => level3::symm;
    [cublasChemm_v2 C32, cublasZhemm_v2 C64] (handle: Handle, side: c_int, uplo: c_int, m: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, b: *const T, ldb: c_int, beta: *const T, c: *mut T, ldc: c_int) => level3::hemm;
    [cublasSsyrk_v2 f32, cublasDsyrk_v2 f64, cublasCsyrk_v2 C32, cublasZsyrk_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, beta: *const T, c: *mut T, ldc: c_int) => level3::syrk;
    [cublasCherk_v2 C32, cublasZherk_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const <T as Scalar>::Real, a: *const T, lda: c_int, beta: *const <T as Scalar>::Real, c: *mut T, ldc: c_int) => level3::herk;
    [cublasSsyr2k_v2 f32, cublasDsyr2k_v2 f64, cublasCsyr2k_v2 C32, cublasZsyr2k_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, b: *const T, ldb: c_int, beta: *const T, c: *mut T, ldc: c_int) => level3::syr2k;
    [cublasCher2k_v2 C32, cublasZher2k_v2 C64] (handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, b: *const T, ldb: c_int, beta: *const <T as Scalar>::Real, c: *mut T, ldc: c_int) => level3::her2k;
    [cublasSsyrkx f32, cublasDsyrkx f64, cublasCsyrkx C32, cublasZsyrkx C64] (handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, b: *const T, ldb: c_int, beta: *const T, c: *mut T, ldc: c_int) => level3::syrkx;
    [cublasCherkx C32, cublasZherkx C64] (handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, b: *const T, ldb: c_int, beta: *const <T as Scalar>::Real, c: *mut T, ldc: c_int) => level3::herkx;
    [cublasStrmm_v2 f32, cublasDtrmm_v2 f64, cublasCtrmm_v2 C32, cublasZtrmm_v2 C64] (handle: Handle, side: c_int, uplo: c_int, trans: c_int, diag: c_int, m: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, b: *const T, ldb: c_int, c: *mut T, ldc: c_int) => level3::trmm;
    [cublasStrsm_v2 f32, cublasDtrsm_v2 f64, cublasCtrsm_v2 C32, cublasZtrsm_v2 C64] (handle: Handle, side: c_int, uplo: c_int, trans: c_int, diag: c_int, m: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, b: *mut T, ldb: c_int) => level3::trsm;
    [cublasSgeam f32, cublasDgeam f64, cublasCgeam C32, cublasZgeam C64] (handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, beta: *const T, b: *const T, ldb: c_int, c: *mut T, ldc: c_int) => level3::geam;
    [cublasSdgmm f32, cublasDdgmm f64, cublasCdgmm C32, cublasZdgmm C64] (handle: Handle, side: c_int, m: c_int, n: c_int, a: *const T, lda: c_int, x: *const T, incx: c_int, c: *mut T, ldc: c_int) => level3::dgmm;

    // Batches.
    [cublasSgemmBatched f32, cublasDgemmBatched f64, cublasCgemmBatched C32, cublasZgemmBatched C64, cublasHgemmBatched f16] (handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, k: c_int, alpha: *const T, a: *const *const T, lda: c_int, b: *const *const T, ldb: c_int, beta: *const T, c: *const *mut T, ldc: c_int, count: c_int) => gemm::gemm_array;
    [cublasSgemmStridedBatched f32, cublasDgemmStridedBatched f64, cublasCgemmStridedBatched C32, cublasZgemmStridedBatched C64, cublasHgemmStridedBatched f16] (handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int, stride_a: i64, b: *const T, ldb: c_int, stride_b: i64, beta: *const T, c: *mut T, ldc: c_int, stride_c: i64, count: c_int) => gemm::gemm_strided;
    [cublasSgemvBatched f32, cublasDgemvBatched f64, cublasCgemvBatched C32, cublasZgemvBatched C64] (handle: Handle, trans: c_int, m: c_int, n: c_int, alpha: *const T, a: *const *const T, lda: c_int, x: *const *const T, incx: c_int, beta: *const T, y: *const *mut T, incy: c_int, count: c_int) => batched::gemv_array;
    [cublasSgemvStridedBatched f32, cublasDgemvStridedBatched f64, cublasCgemvStridedBatched C32, cublasZgemvStridedBatched C64] (handle: Handle, trans: c_int, m: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int, stride_a: i64, x: *const T, incx: c_int, stride_x: i64, beta: *const T, y: *mut T, incy: c_int, stride_y: i64, count: c_int) => batched::gemv_strided;
    [cublasStrsmBatched f32, cublasDtrsmBatched f64, cublasCtrsmBatched C32, cublasZtrsmBatched C64] (handle: Handle, side: c_int, uplo: c_int, trans: c_int, diag: c_int, m: c_int, n: c_int, alpha: *const T, a: *const *const T, lda: c_int, b: *const *mut T, ldb: c_int, count: c_int) => batched::trsm_array;
    [cublasSgetrfBatched f32, cublasDgetrfBatched f64, cublasCgetrfBatched C32, cublasZgetrfBatched C64] (handle: Handle, n: c_int, a: *const *mut T, lda: c_int, pivot: *mut c_int, info: *mut c_int, count: c_int) => batched::getrf;
    [cublasSgetriBatched f32, cublasDgetriBatched f64, cublasCgetriBatched C32, cublasZgetriBatched C64] (handle: Handle, n: c_int, a: *const *const T, lda: c_int, pivot: *const c_int, c: *const *mut T, ldc: c_int, info: *mut c_int, count: c_int) => batched::getri;
    [cublasSgetrsBatched f32, cublasDgetrsBatched f64, cublasCgetrsBatched C32, cublasZgetrsBatched C64] (handle: Handle, trans: c_int, n: c_int, nrhs: c_int, a: *const *const T, lda: c_int, pivot: *const c_int, b: *const *mut T, ldb: c_int, info: *mut c_int, count: c_int) => batched::getrs;
    [cublasSmatinvBatched f32, cublasDmatinvBatched f64, cublasCmatinvBatched C32, cublasZmatinvBatched C64] (handle: Handle, n: c_int, a: *const *const T, lda: c_int, inverse: *const *mut T, ldinv: c_int, info: *mut c_int, count: c_int) => batched::matinv;

    // Other types of elements.
    [cublasGemmEx] (handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, k: c_int, alpha: *const c_void, a: *const c_void, a_type: c_int, lda: c_int, b: *const c_void, b_type: c_int, ldb: c_int, beta: *const c_void, c: *mut c_void, c_type: c_int, ldc: c_int, compute: c_int, algorithm: c_int) => gemm::gemm_ex;
    [cublasGemmBatchedEx] (handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, k: c_int, alpha: *const c_void, a: *const *const c_void, a_type: c_int, lda: c_int, b: *const *const c_void, b_type: c_int, ldb: c_int, beta: *const c_void, c: *const *mut c_void, c_type: c_int, ldc: c_int, count: c_int, compute: c_int, algorithm: c_int) => gemm::gemm_array_ex;
    [cublasGemmStridedBatchedEx] (handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, k: c_int, alpha: *const c_void, a: *const c_void, a_type: c_int, lda: c_int, stride_a: i64, b: *const c_void, b_type: c_int, ldb: c_int, stride_b: i64, beta: *const c_void, c: *mut c_void, c_type: c_int, ldc: c_int, stride_c: i64, count: c_int, compute: c_int, algorithm: c_int) => gemm::gemm_strided_ex;
    [cublasSgemmEx f32, cublasCgemmEx C32] (handle: Handle, transa: c_int, transb: c_int, m: c_int, n: c_int, k: c_int, alpha: *const T, a: *const c_void, a_type: c_int, lda: c_int, b: *const c_void, b_type: c_int, ldb: c_int, beta: *const T, c: *mut c_void, c_type: c_int, ldc: c_int) => gemm::gemm_ex_of;
    [cublasAxpyEx] (handle: Handle, n: c_int, alpha: *const c_void, alpha_type: c_int, x: *const c_void, x_type: c_int, incx: c_int, y: *mut c_void, y_type: c_int, incy: c_int, execution: c_int) => extended::axpy;
    [cublasScalEx] (handle: Handle, n: c_int, alpha: *const c_void, alpha_type: c_int, x: *mut c_void, x_type: c_int, incx: c_int, execution: c_int) => extended::scal;
    [cublasDotEx] (handle: Handle, n: c_int, x: *const c_void, x_type: c_int, incx: c_int, y: *const c_void, y_type: c_int, incy: c_int, result: *mut c_void, result_type: c_int, execution: c_int) => extended::dot;
    [cublasDotcEx] (handle: Handle, n: c_int, x: *const c_void, x_type: c_int, incx: c_int, y: *const c_void, y_type: c_int, incy: c_int, result: *mut c_void, result_type: c_int, execution: c_int) => extended::dotc;
    [cublasRotEx] (handle: Handle, n: c_int, x: *mut c_void, x_type: c_int, incx: c_int, y: *mut c_void, y_type: c_int, incy: c_int, c: *const c_void, s: *const c_void, cs_type: c_int, execution: c_int) => extended::rot;
    [cublasCsyrkEx, cublasCsyrk3mEx] (handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const C32, a: *const c_void, a_type: c_int, lda: c_int, beta: *const C32, c: *mut c_void, c_type: c_int, ldc: c_int) => extended::csyrk;
    [cublasCherkEx, cublasCherk3mEx] (handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const f32, a: *const c_void, a_type: c_int, lda: c_int, beta: *const f32, c: *mut c_void, c_type: c_int, ldc: c_int) => extended::cherk;
    [cublasNrm2Ex] (handle: Handle, n: c_int, x: *const c_void, x_type: c_int, incx: c_int, result: *mut c_void, result_type: c_int, execution: c_int) => extended::nrm2;

    // cuBLASXt.
    [cublasXtCreate] (handle: *mut XtHandle) => xt::create;
    [cublasXtDestroy] (handle: XtHandle) => xt::destroy;
    [cublasXtGetNumBoards] (count: c_int, devices: *const c_int, boards: *mut c_int) => xt::boards;
    [cublasXtMaxBoards] (boards: *mut c_int) => xt::max_boards;
    [cublasXtDeviceSelect] (handle: XtHandle, count: c_int, devices: *const c_int) => xt::select_devices;
    [cublasXtSetBlockDim] (handle: XtHandle, size: c_int) => xt::set_block_size;
    [cublasXtGetBlockDim] (handle: XtHandle, size: *mut c_int) => xt::get_block_size;
    [cublasXtSetPinningMemMode] (handle: XtHandle, mode: c_int) => xt::set_pinning_mode;
    [cublasXtGetPinningMemMode] (handle: XtHandle, mode: *mut c_int) => xt::get_pinning_mode;
    [cublasXtSetCpuRoutine] (handle: XtHandle, routine: c_int, kind: c_int, function: *mut c_void) => xt::set_cpu_routine;
    [cublasXtSetCpuRatio] (handle: XtHandle, routine: c_int, kind: c_int, ratio: f32) => xt::set_cpu_ratio;
    [cublasXtSgemm f32, cublasXtDgemm f64, cublasXtCgemm C32, cublasXtZgemm C64] (handle: XtHandle, transa: c_int, transb: c_int, m: usize, n: usize, k: usize, alpha: *const T, a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const T, c: *mut T, ldc: usize) => xt::gemm;
    [cublasXtSsymm f32, cublasXtDsymm f64, cublasXtCsymm C32, cublasXtZsymm C64] (handle: XtHandle, side: c_int, uplo: c_int, m: usize, n: usize, alpha: *const T, a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const T, c: *mut T, ldc: usize) => xt::symm;
    [cublasXtChemm C32, cublasXtZhemm C64] (handle: XtHandle, side: c_int, uplo: c_int, m: usize, n: usize, alpha: *const T, a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const T, c: *mut T, ldc: usize) => xt::hemm;
    [cublasXtSspmm f32, cublasXtDspmm f64, cublasXtCspmm C32, cublasXtZspmm C64] (handle: XtHandle, side: c_int, uplo: c_int, m: usize, n: usize, alpha: *const T, packed: *const T, b: *const T, ldb: usize, beta: *const T, c: *mut T, ldc: usize) => xt::spmm;
    [cublasXtSsyrk f32, cublasXtDsyrk f64, cublasXtCsyrk C32, cublasXtZsyrk C64] (handle: XtHandle, uplo: c_int, trans: c_int, n: usize, k: usize, alpha: *const T, a: *const T, lda: usize, beta: *const T, c: *mut T, ldc: usize) => xt::syrk;
    [cublasXtCherk C32, cublasXtZherk C64] (handle: XtHandle, uplo: c_int, trans: c_int, n: usize, k: usize, alpha: *const <T as Scalar>::Real, a: *const T, lda: usize, beta: *const <T as Scalar>::Real, c: *mut T, ldc: usize) => xt::herk;
    [cublasXtSsyr2k f32, cublasXtDsyr2k f64, cublasXtCsyr2k C32, cublasXtZsyr2k C64] (handle: XtHandle, uplo: c_int, trans: c_int, n: usize, k: usize, alpha: *const T, a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const T, c: *mut T, ldc: usize) => xt::syr2k;
    [cublasXtSsyrkx f32, cublasXtDsyrkx f64, cublasXtCsyrkx C32, cublasXtZsyrkx C64] (handle: XtHandle, uplo: c_int, trans: c_int, n: usize, k: usize, alpha: *const T, a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const T, c: *mut T, ldc: usize) => xt::syrkx;
    [cublasXtCher2k C32, cublasXtZher2k C64] (handle: XtHandle, uplo: c_int, trans: c_int, n: usize, k: usize, alpha: *const T, a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const <T as Scalar>::Real, c: *mut T, ldc: usize) => xt::her2k;
    [cublasXtCherkx C32, cublasXtZherkx C64] (handle: XtHandle, uplo: c_int, trans: c_int, n: usize, k: usize, alpha: *const T, a: *const T, lda: usize, b: *const T, ldb: usize, beta: *const <T as Scalar>::Real, c: *mut T, ldc: usize) => xt::herkx;
    [cublasXtStrmm f32, cublasXtDtrmm f64, cublasXtCtrmm C32, cublasXtZtrmm C64] (handle: XtHandle, side: c_int, uplo: c_int, trans: c_int, diag: c_int, m: usize, n: usize, alpha: *const T, a: *const T, lda: usize, b: *const T, ldb: usize, c: *mut T, ldc: usize) => xt::trmm;
    [cublasXtStrsm f32, cublasXtDtrsm f64, cublasXtCtrsm C32, cublasXtZtrsm C64] (handle: XtHandle, side: c_int, uplo: c_int, trans: c_int, diag: c_int, m: usize, n: usize, alpha: *const T, a: *const T, lda: usize, b: *mut T, ldb: usize) => xt::trsm;
}
