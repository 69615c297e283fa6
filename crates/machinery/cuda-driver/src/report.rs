//! Messages on stderr, and the results of calls that panic or that have no implementation.

use std::collections::BTreeSet;
use std::fmt::Arguments;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use cuda_sim::driver::CudaError;

use crate::simulator::permitted;
use crate::simulator::watch::{Event, tell};
use crate::start::{Backend, backend};
use crate::status::{Answer, Code, code};

/// Prints one message on stderr. Ignores errors: a closed stderr is no reason to fail.
pub fn say(message: Arguments) {
    let _ = writeln!(std::io::stderr().lock(), "warpbook: {message}");
}

/// Runs the implementation of the C function `name`. A panic becomes `CUDA_ERROR_UNKNOWN`, because unwinding
/// into C is
/// undefined behaviour.
pub fn guarded(name: &str, call: impl FnOnce() -> Answer) -> Code {
    let answer = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        say(format_args!(
            "a fault of the simulator itself in {name}; please report it"
        ));
        Err(CudaError::Unknown.into())
    });
    code(answer)
}

/// Returns the error for a function that the simulator does not implement, and prints each function's name
/// once.
pub fn not_simulated(name: &'static str) -> Answer {
    static NAMED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if named.insert(name) {
        say(format_args!(
            "the simulator does not do {name}; it needs an NVIDIA GPU"
        ));
        tell(Event::NotSimulated(name));
    }
    Err(CudaError::NotSupported.into())
}

/// Returns the error for a function whose signature is unknown here, so that it cannot be forwarded either.
pub fn not_done(name: &'static str) -> Code {
    match backend() {
        None => CudaError::NotInitialized.code(),
        Some(Backend::Simulator) => guarded(name, || {
            permitted()?;
            not_simulated(name)
        }),
        Some(Backend::Gpu) => {
            say(format_args!(
                "{name} is not handed on to NVIDIA's driver: a program that needs it has to load that itself"
            ));
            CudaError::NotSupported.code()
        }
    }
}

/// Returns the error for a function that the installed driver lacks.
pub fn not_in_library(name: &str) -> Code {
    say(format_args!(
        "NVIDIA's driver on this machine has no {name}; a newer one may"
    ));
    CudaError::NotSupported.code()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    #[test]
    fn a_panic_becomes_an_unknown_error() {
        assert_eq!(guarded("cuTest", || panic!("on purpose")), 999);
        assert_eq!(guarded("cuTest", || Err(Status(7))), 7);
        assert_eq!(guarded("cuTest", || Ok(())), 0);
    }
}
