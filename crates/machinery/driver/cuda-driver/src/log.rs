//! Messages on stderr, and the results of calls that panic or that have no implementation.

use std::fmt::Arguments;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_sim::driver::CudaError;

use crate::backend::{Backend, backend};
use crate::simulator::telemetry::{Event, emit};
use crate::simulator::{check_permitted, is_first_unsupported_call};
use crate::status::{CallResult, Code, to_code};

/// Prints one message on stderr. Ignores errors: a closed stderr is no reason to fail.
pub fn warn(message: Arguments) {
    let _ = writeln!(std::io::stderr().lock(), "warpbook: {message}");
}

/// Runs the implementation of the C function `name`. A panic becomes `CUDA_ERROR_UNKNOWN`, because unwinding
/// into C is undefined behaviour.
pub fn catch_panic(name: &str, call: impl FnOnce() -> CallResult) -> Code {
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        warn(format_args!(
            "internal error of the simulator in {name}; please report it"
        ));
        Err(CudaError::Unknown.into())
    });
    to_code(result)
}

/// Returns the error for a function that the simulator does not implement, and prints each function's name
/// once.
pub fn not_simulated(name: &'static str) -> CallResult {
    if is_first_unsupported_call(name) {
        warn(format_args!(
            "the simulator does not support {name}; it requires an NVIDIA GPU"
        ));
        emit(Event::NotSimulated(name));
    }
    Err(CudaError::NotSupported.into())
}

/// Returns the error for a function whose signature is unknown here, so that it cannot be forwarded either.
pub fn not_implemented(name: &'static str) -> Code {
    match backend() {
        None => CudaError::NotInitialized.code(),
        Some(Backend::Simulator) => catch_panic(name, || {
            check_permitted()?;
            not_simulated(name)
        }),
        Some(Backend::Gpu) => {
            warn(format_args!(
                "{name} is not forwarded to NVIDIA's driver; a program that needs it must load the driver itself"
            ));
            CudaError::NotSupported.code()
        }
    }
}

/// Returns the error for a function that the installed driver lacks.
pub fn not_in_library(name: &str) -> Code {
    warn(format_args!(
        "NVIDIA's driver on this machine lacks {name}; a newer driver may provide it"
    ));
    CudaError::NotSupported.code()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    #[test]
    fn a_panic_becomes_an_unknown_error() {
        assert_eq!(catch_panic("cuTest", || panic!("on purpose")), 999);
        assert_eq!(catch_panic("cuTest", || Err(Status(7))), 7);
        assert_eq!(catch_panic("cuTest", || Ok(())), 0);
    }
}
