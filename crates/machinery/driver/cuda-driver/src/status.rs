//! Result codes of the driver API.

use std::ffi::{CStr, c_int};

use cuda_sim::driver::CudaError;

/// A `CUresult` as C sees it. A plain integer, because a newer driver may return a code that an enum lacks.
pub type Code = c_int;

/// `CUDA_SUCCESS`.
pub const SUCCESS: Code = 0;

/// An error's number, C name and meaning.
pub type ErrorText = (Code, &'static CStr, &'static CStr);

/// A `CUresult` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub Code);

/// The result type of the Rust implementations behind the C functions.
pub type CallResult = Result<(), Status>;

impl From<CudaError> for Status {
    fn from(error: CudaError) -> Self {
        Self(error.code())
    }
}

/// Converts a result to the code that C receives.
pub fn to_code(result: CallResult) -> Code {
    match result {
        Ok(()) => SUCCESS,
        Err(Status(code)) => code,
    }
}
