//! Every function of the driver API that `cust` references, and those a reader of its chapters
//! reaches for through `cust::sys`.
//!
//! Each function is one line of the table in `table.rs`: its C signature as in `cust_raw` (an enum is
//! a plain `c_int`, for a caller may pass a number the enum lacks), and what the simulator does.
//! A line without `=>` is one the simulator does not do. `macros.rs` makes functions of the lines.

mod entry;
#[macro_use]
mod macros;
mod table;

pub(crate) use self::entry::Erased;
pub use self::table::*;

/// How many functions there are. Who calls this has them all in the program, for libraries that it loads.
pub fn kept() -> usize {
    let all = EXPORTED.iter();
    all.filter(|function| !std::hint::black_box(**function as *const ()).is_null())
        .count()
}

/// The names of all functions, as they are linked.
pub fn names() -> impl Iterator<Item = &'static str> {
    let all = table::FUNCTIONS.iter();
    all.map(|function| function.name.trim_end_matches('\0'))
}
