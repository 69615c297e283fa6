//! All functions of the driver API, by C name.
//!
//! Each function is one row of the table in `table/`: its C signature as in `cust_raw` (an enum is a plain
//! `c_int`, because a caller may pass a value the enum lacks) and its implementation in the simulator. The
//! macros in `macros.rs` generate the functions from the rows.

mod entry;
mod lookup;
#[macro_use]
mod macros;
#[cfg(test)]
mod sweep;
mod table;

use std::sync::atomic::Ordering;

pub(crate) use self::entry::{DefaultStream, EntryPoint, ErasedFn};
#[cfg(test)]
pub(crate) use self::lookup::base_name;
pub(crate) use self::lookup::{NotFound, find};
pub use self::table::*;

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
