//! Checks the dependencies between the source files of a crate.
//!
//! **Cycles.** The files of a crate do not depend on each other in a cycle. More precisely, the submodules of every
//! module, each with everything below it, can be ordered so that each names only those before it. A module's
//! own file (`layout/mod.rs`, or `tensor.rs` next to `tensor/`) and the files below it are a family: they may
//! name each other.
//!
//! **Layers.** The modules of the crate's root can be arranged in layers. A module names only modules of earlier
//! layers, and none of its own.
//!
//! A path names a module if it appears in a `use`, in code, or among the tokens of a macro's definition or
//! call. It counts as a name of the file that defines the item, after following imports and
//! re-exports. A method call alone names nothing. Comments do not count, and neither do items
//! for tests: items and files under `#[cfg(test)]`, and `#[test]` functions.

mod reader;
mod source;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use source::{Cycle, Source};

/// Checks that the source files of the crate in this folder do not depend on each other in a cycle. A test of the
/// crate passes `env!("CARGO_MANIFEST_DIR")`.
///
/// # Panics
///
/// Panics if there are cycles, and lists the dependencies in them with their files and lines.
#[track_caller]
pub fn assert_no_cycles(crate_dir: impl AsRef<Path>) {
    let cycles = Source::of_crate(crate_dir.as_ref()).cycles();
    let cycles: Vec<String> = cycles.iter().map(Cycle::to_string).collect();
    assert!(cycles.is_empty(), "\n{}\n", cycles.join("\n"));
}
