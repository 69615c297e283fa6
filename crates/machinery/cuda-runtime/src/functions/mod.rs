//! Every function of the runtime API. Each is one line of a table: its C signature, and what does it. A
//! line without `=>` is one that is missing; it says so by its name. `macros.rs` makes functions of the
//! lines. Those that answer no error are in `plain.rs`.

mod entry;
#[macro_use]
mod macros;
mod copies;
mod devices;
mod graphs;
mod kernels;
mod memory;
mod missing;
mod plain;
mod streams;

use entry::Entry;

pub use self::copies::*;
pub use self::devices::*;
pub use self::graphs::*;
pub use self::kernels::*;
pub use self::memory::*;
pub use self::missing::*;
pub use self::plain::*;
pub use self::streams::*;
pub use crate::program::register::*;

/// All tables.
static TABLES: [&[Entry]; 8] = [
    copies::ALL,
    devices::ALL,
    graphs::ALL,
    kernels::ALL,
    memory::ALL,
    missing::ALL,
    plain::ALL,
    streams::ALL,
];

/// How many functions there are, which keeps them all in the program.
pub(crate) fn kept() -> usize {
    let all = TABLES.iter().flat_map(|table| table.iter());
    all.filter(|entry| std::hint::black_box(entry).is_there())
        .count()
}

/// The names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES
        .iter()
        .flat_map(|table| table.iter().map(Entry::name))
}
