//! cuBLAS. Matrices are in column-major order, as in BLAS.

use std::ffi::c_int;

mod handle;

use crate::functions::{Handles, Status};
use crate::nvidia::Library;

pub use handle::Handle;

use crate::call::{DriverError, Stream};

/// `CUBLAS_STATUS_NOT_INITIALIZED`.
const NOT_INITIALIZED: Status = Status(1);
/// `CUBLAS_STATUS_INVALID_VALUE`.
const INVALID_VALUE: Status = Status(7);
/// `CUBLAS_STATUS_EXECUTION_FAILED`.
const EXECUTION_FAILED: Status = Status(13);
/// `CUBLAS_STATUS_INTERNAL_ERROR`.
const INTERNAL_ERROR: Status = Status(14);

static CUBLAS: Library = Library::new(
    "cuBLAS",
    &["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"],
    ["nvidia-cublas-cu12", "libcublas"],
    [NOT_INITIALIZED.0, INTERNAL_ERROR.0],
);

impl From<DriverError> for Status {
    fn from(_: DriverError) -> Self {
        EXECUTION_FAILED
    }
}

functions! { CUBLAS;
    [cublasCreate_v2] (handle: *mut Handle) => handle::create;
    [cublasDestroy_v2] (handle: Handle) => handle::destroy;
}
