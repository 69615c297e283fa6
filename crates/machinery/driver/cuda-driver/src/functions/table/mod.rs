//! The table of the driver API's functions: all of CUDA 12 and 13.0, by subject.
//!
//! A row is the CUDA version that introduced the function, its signature, and in brackets the simulator's
//! implementation; empty brackets if there is none. After a slash follows the variant for which a null stream
//! is the calling thread's default stream. `unsupported` lists functions whose signatures are unknown here.

#![expect(non_snake_case, reason = "the names are those of C")]

mod capture;
mod context;
mod device;
mod graph;
mod graph_exec;
mod image;
mod interop;
mod kernel;
mod memcpy;
mod memory;
mod memset;
mod module;
mod pool;
mod stream;
mod virtual_memory;

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::entry::{DefaultStream, EntryPoint, ErasedFn, Implementations};
use crate::log::{catch_panic, not_implemented, not_in_library, not_simulated};
use crate::simulator::arguments::Argument;
use crate::simulator::{PerThreadDefault, check_permitted};
use crate::status::Code;

pub use capture::*;
pub use context::*;
pub use device::*;
pub use graph::*;
pub use graph_exec::*;
pub use image::*;
pub use interop::*;
pub use kernel::*;
pub use memcpy::*;
pub use memory::*;
pub use memset::*;
pub use module::*;
pub use pool::*;
pub use stream::*;
pub use virtual_memory::*;

/// Returns all functions, by subject.
pub(crate) fn all() -> impl Iterator<Item = &'static EntryPoint> {
    let subjects: [&'static [&'static EntryPoint]; _] = [
        device::FUNCTIONS,
        context::FUNCTIONS,
        module::FUNCTIONS,
        memory::FUNCTIONS,
        pool::FUNCTIONS,
        virtual_memory::FUNCTIONS,
        memcpy::FUNCTIONS,
        memset::FUNCTIONS,
        stream::FUNCTIONS,
        kernel::FUNCTIONS,
        graph::FUNCTIONS,
        graph_exec::FUNCTIONS,
        capture::FUNCTIONS,
        image::FUNCTIONS,
        interop::FUNCTIONS,
    ];
    subjects.into_iter().flatten().copied()
}
