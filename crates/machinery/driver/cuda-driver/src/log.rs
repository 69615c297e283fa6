//! Messages on stderr, and the results of calls that panic.

use std::fmt::Arguments;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_sim::driver::CudaError;

use crate::status::{CallResult, Code, to_code};

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
    use crate::status::Status;

    #[test]
    fn a_panic_becomes_an_unknown_error() {
        assert_eq!(catch_panic("cuTest", &mut || panic!("on purpose")), 999);
        assert_eq!(catch_panic("cuTest", &mut || Err(Status(7))), 7);
        assert_eq!(catch_panic("cuTest", &mut || Ok(())), 0);
    }
}
