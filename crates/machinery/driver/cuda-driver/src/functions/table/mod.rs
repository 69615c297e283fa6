//! The table of the driver API's functions: all of CUDA 12 and 13.0, by subject.
//!
//! A row is the CUDA version that introduced the function, its signature, and in brackets the simulator's
//! implementation; empty brackets if there is none. After a slash follows the variant for which a null stream
//! is the calling thread's default stream. `unsupported` lists functions whose signatures are unknown here.

#![expect(non_snake_case, reason = "the names are those of C")]

mod device;
mod graph;
mod image;
mod memory;
mod module;
mod stream;

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::{
    DefaultStream, EntryPoint, ErasedFn, Implementations, not_implemented, not_in_library,
};
use crate::api::{check_permitted, not_simulated};
use crate::arguments::Argument;
use crate::simulator::PerThreadDefault;
use crate::status::{Code, catch_panic};

pub use device::*;
pub use graph::*;
pub use image::*;
pub use memory::*;
pub use module::*;
pub use stream::*;

/// Returns all functions, by subject.
pub(crate) fn all() -> impl Iterator<Item = &'static EntryPoint> {
    let subjects: [&'static [&'static EntryPoint]; _] = [
        device::FUNCTIONS,
        module::FUNCTIONS,
        memory::FUNCTIONS,
        stream::FUNCTIONS,
        graph::FUNCTIONS,
        image::FUNCTIONS,
    ];
    subjects.into_iter().flatten().copied()
}
