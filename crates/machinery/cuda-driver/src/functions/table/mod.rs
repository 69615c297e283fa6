//! The table of the driver API's functions: all of CUDA 12 and 13.0, by subject.
//!
//! A row is the CUDA version that introduced the function, its signature, and in brackets the simulator's
//! implementation; empty brackets if there is none. After a slash follows the variant for which a null stream
//! is the
//! calling thread's default stream. `unsupported` lists functions whose signatures are unknown here.

#![expect(non_snake_case, reason = "the names are those of C")]

mod capture;
mod context;
mod copies;
mod device;
mod fills;
mod graph;
mod graph_exec;
mod image;
mod kernel;
mod mapping;
mod memory;
mod module;
mod others;
mod pool;
mod stream;

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::entry::{Answers, DefaultStream, EntryPoint, Erased};
use crate::report::{guarded, not_done, not_in_library, not_simulated};
use crate::simulator::{OwnDefault, permitted};
use crate::status::Code;

pub use capture::*;
pub use context::*;
pub use copies::*;
pub use device::*;
pub use fills::*;
pub use graph::*;
pub use graph_exec::*;
pub use image::*;
pub use kernel::*;
pub use mapping::*;
pub use memory::*;
pub use module::*;
pub use others::*;
pub use pool::*;
pub use stream::*;

/// All functions, by subject.
static SUBJECTS: &[&[&EntryPoint]] = &[
    device::FUNCTIONS,
    context::FUNCTIONS,
    module::FUNCTIONS,
    memory::FUNCTIONS,
    pool::FUNCTIONS,
    mapping::FUNCTIONS,
    copies::FUNCTIONS,
    fills::FUNCTIONS,
    stream::FUNCTIONS,
    kernel::FUNCTIONS,
    graph::FUNCTIONS,
    graph_exec::FUNCTIONS,
    capture::FUNCTIONS,
    image::FUNCTIONS,
    others::FUNCTIONS,
];

/// Returns all functions.
pub(crate) fn all() -> impl Iterator<Item = &'static EntryPoint> {
    SUBJECTS.iter().copied().flatten().copied()
}
