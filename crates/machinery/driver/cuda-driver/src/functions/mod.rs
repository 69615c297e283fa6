//! All functions of the driver API, by C name.
//!
//! Each function is one row of the table in `table/`: its signature as in `cuda.h` (an enum is a plain `c_int`, because a
//! caller may pass a value the enum lacks) and its implementation in the simulator. The macros in `macros.rs` generate
//! the functions from the rows.

pub(crate) mod backend;
mod lookup;
#[macro_use]
mod macros;
#[cfg(test)]
mod sweep;
mod table;

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use cuda_sim::driver::CudaError;

use self::backend::Backend;
use crate::api;
use crate::status::{Code, catch_panic, warn};

#[cfg(test)]
pub(crate) use self::lookup::base_name;
pub use self::table::*;

/// A function pointer with its signature erased.
pub(crate) type ErasedFn = unsafe extern "C" fn();

/// The stream that a null handle denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultStream {
    /// The legacy default stream, which all threads share.
    Legacy,
    /// The calling thread's default stream: for functions whose names end in `_ptsz` or `_ptds`.
    PerThread,
}

/// One function of the driver API.
pub(crate) struct EntryPoint {
    /// The current implementation; unused for a function whose signature is unknown here.
    slot: AtomicPtr<()>,
    /// The C name, NUL-terminated.
    pub name: &'static str,
    /// The first CUDA version with this function, in the encoding of `cuDriverGetVersion`: 12040 for 12.4.
    pub since: u32,
    pub default_stream: DefaultStream,
    /// The number of calls that the simulator executed.
    calls: AtomicU64,
    /// The exported C function.
    exported: ErasedFn,
    /// The implementations; `None` for a function whose signature is unknown here.
    implementations: Option<Implementations>,
    /// True if the simulator implements it.
    #[cfg(test)]
    pub(crate) simulated: bool,
    /// The argument types as written in the table.
    #[cfg(test)]
    arguments: &'static [&'static str],
}

/// The implementations of a function.
struct Implementations {
    /// The simulator's implementation.
    pub simulated: ErasedFn,
    /// The fallback for a function that NVIDIA's library lacks.
    pub missing: ErasedFn,
}

impl EntryPoint {
    /// Returns the link name, without the NUL.
    pub fn name(&self) -> &'static str {
        self.name.trim_end_matches('\0')
    }

    /// Returns the exported C function.
    pub fn exported(&self) -> ErasedFn {
        self.exported
    }

    /// Directs calls to the simulator.
    pub fn use_simulator(&self) {
        if let Some(implementations) = &self.implementations {
            let function = implementations.simulated as *mut ();
            self.slot.store(function, Ordering::Release);
        }
    }

    /// Directs calls to NVIDIA's `function`, or to an error if NVIDIA's library lacks it.
    ///
    /// # Safety
    /// `function` must be the driver API's function of this name, for as long as the process runs.
    pub unsafe fn forward(&self, function: Option<ErasedFn>) {
        if let Some(implementations) = &self.implementations {
            let function = function.unwrap_or(implementations.missing);
            self.slot.store(function as *mut (), Ordering::Release);
        }
    }
}

/// Returns the number of functions. A program that calls this links all of them, so that shared libraries it
/// loads can resolve them.
pub fn force_link() -> usize {
    all()
        .filter(|function| !std::hint::black_box(function.exported() as *const ()).is_null())
        .count()
}

/// Returns the functions that the simulator has executed, each with its number of calls.
pub fn calls() -> impl Iterator<Item = (&'static str, u64)> {
    let counts = all().map(|function| (function.name(), function.calls.load(Ordering::Relaxed)));
    counts.filter(|(_, count)| *count > 0)
}

/// Returns the link names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(EntryPoint::name)
}

/// Returns the error for a function whose signature is unknown here, so that it cannot be forwarded either.
pub fn not_implemented(name: &'static str) -> Code {
    match backend::backend() {
        None => CudaError::NotInitialized.code(),
        Some(Backend::Simulator) => catch_panic(name, &mut || {
            api::check_permitted()?;
            api::not_simulated(name)
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
