//! Every function of the driver API, by its C name.
//!
//! Each is one line of the table in `table/`: its C signature as in `cust_raw` (an enum is a plain
//! `c_int`, for a caller may pass a number the enum lacks), and what the simulator does.
//! `macros.rs` makes functions of the lines.

mod entry;
mod lookup;
#[macro_use]
mod macros;
#[cfg(test)]
mod sweep;
mod table;

use std::sync::atomic::Ordering;

pub(crate) use self::entry::{DefaultStream, EntryPoint, Erased};
#[cfg(test)]
pub(crate) use self::lookup::base;
pub(crate) use self::lookup::{NotFound, find};
pub use self::table::*;

/// How many functions there are. Who calls this has them all in the program, for libraries that it loads.
pub fn kept() -> usize {
    all()
        .filter(|function| !std::hint::black_box(function.exported() as *const ()).is_null())
        .count()
}

/// The functions that were called and that the simulator answered, each with how often.
pub fn calls() -> impl Iterator<Item = (&'static str, u64)> {
    let counts = all().map(|function| (function.name(), function.calls.load(Ordering::Relaxed)));
    counts.filter(|(_, count)| *count > 0)
}

/// The names of all functions, as they are linked.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(EntryPoint::name)
}
