//! The exported functions of the runtime API. Each is one line of a table: its C signature and the function
//! that implements it. A line without `=>` is unimplemented; calling it prints its name. The macros in
//! `macros.rs` turn the lines into functions. Functions that do not return an error are in `special.rs`.

mod entry;
#[macro_use]
mod macros;
mod devices;
mod graphs;
mod kernels;
mod memcpy;
mod memory;
mod special;
mod streams;
mod unsupported;

use entry::Entry;

pub use self::devices::*;
pub use self::graphs::*;
pub use self::kernels::*;
pub use self::memcpy::*;
pub use self::memory::*;
pub use self::special::*;
pub use self::streams::*;
pub use self::unsupported::*;
pub use crate::program::register::*;

/// The tables of all modules.
static TABLES: [&[Entry]; 8] = [
    memcpy::ALL,
    devices::ALL,
    graphs::ALL,
    kernels::ALL,
    memory::ALL,
    unsupported::ALL,
    special::ALL,
    streams::ALL,
];

/// Counts the functions, which keeps all of them in the linked program.
pub(crate) fn force_link() -> usize {
    let all = TABLES.iter().flat_map(|table| table.iter());
    all.filter(|entry| std::hint::black_box(entry).is_linked())
        .count()
}

/// Returns the names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES
        .iter()
        .flat_map(|table| table.iter().map(Entry::name))
}
