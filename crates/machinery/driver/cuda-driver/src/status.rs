//! Result codes of the driver API, messages on stderr, and the results of calls that panic.

use std::ffi::{CStr, c_int};
use std::fmt::Arguments;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// Prints one message on stderr. Ignores errors: a closed stderr is no reason to fail.
pub fn warn(message: Arguments) {
    let _ = writeln!(std::io::stderr().lock(), "warpbook: {message}");
}

/// Runs the implementation of the C function `name`. A panic becomes `CUDA_ERROR_UNKNOWN`, because unwinding
/// into C is undefined behaviour. Not generic, because hundreds of functions call it.
pub fn catch_panic(name: &str, call: &mut dyn FnMut() -> CallResult) -> Code {
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        warn(format_args!(
            "internal error of the simulator in {name}; please report it"
        ));
        Err(CudaError::Unknown.into())
    });
    to_code(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_unknown_error() {
        assert_eq!(catch_panic("cuTest", &mut || panic!("on purpose")), 999);
        assert_eq!(catch_panic("cuTest", &mut || Err(Status(7))), 7);
        assert_eq!(catch_panic("cuTest", &mut || Ok(())), 0);
    }
}
