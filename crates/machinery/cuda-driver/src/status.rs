//! What a function of the driver API answers.

use std::ffi::c_int;

use cuda_sim::driver::CudaError;

/// A `CUresult` as C sees it. A plain number, because a newer driver may answer with one that
/// `cust_raw`'s enum does not have.
pub type Code = c_int;

/// `CUDA_SUCCESS`.
pub const SUCCESS: Code = 0;

/// A `CUresult` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub Code);

/// What the Rust functions return that are called by those that C calls.
pub type Answer = Result<(), Status>;

impl From<CudaError> for Status {
    fn from(error: CudaError) -> Self {
        Self(error.code())
    }
}

/// An answer as the number that C is given.
pub fn code(answer: Answer) -> Code {
    match answer {
        Ok(()) => SUCCESS,
        Err(Status(code)) => code,
    }
}
