//! Checks the dependencies between the simulator's source files.
//!
//! **Layers.** The modules of `lib.rs` are arranged in layers, [`LAYERS`]. A module names only modules of
//! earlier layers, and none of its own.
//!
//! **Cycles.** The files of a module do not depend on each other in a cycle. More precisely, the submodules of every
//! module, each with everything below it, can be ordered so that each names only those before it. A module's
//! own file (`layout/mod.rs`, or `tensor.rs` next to `tensor/`) and the files below it are a family: they may
//! name each other.
//!
//! A path names a module if it appears in a `use`, in code, or among the tokens of a macro's definition or
//! call. It counts as a name of the file that defines the item, after following imports and
//! re-exports. A method call alone names nothing. Comments do not count, and neither do items
//! for tests: items and files under `#[cfg(test)]`, and `#[test]` functions.

mod examples;
mod reader;
mod source;

use source::Source;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The modules of `lib.rs` by layer. Modules of one layer must not depend on each other.
const LAYERS: &[&[&str]] = &[
    &["ptx", "device", "lanes", "memory"],
    &["isa"],
    &["profile", "check"],
    &["exec"],
    &["lower", "model"],
    &["launch"],
    &["driver"],
];

/// The simulator's source. Parsing it takes seconds.
static SIMULATOR: LazyLock<Source> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda-sim/src");
    Source::read(&|path| fs::read_to_string(root.join(path)).ok())
});

#[test]
fn modules_name_only_earlier_layers() {
    let violations = SIMULATOR.layer_violations(LAYERS);
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn files_have_no_dependency_cycles() {
    let cycles = SIMULATOR.cycles();
    let cycles: Vec<String> = cycles
        .iter()
        .map(|cycle| {
            let parent = cycle.parent.join("::");
            format!("a cycle in {parent}:\n  {}", cycle.steps.join("\n  "))
        })
        .collect();
    assert!(cycles.is_empty(), "\n{}\n", cycles.join("\n"));
}

/// Checks that all files are read, and that most names are resolved.
#[test]
fn all_simulator_files_are_read() {
    let source = &*SIMULATOR;
    let top_modules: BTreeSet<&str> = LAYERS.iter().copied().flatten().copied().collect();
    assert_eq!(source.top_modules(), top_modules);
    let mentions: usize = source.0.values().map(|file| file.mentions.len()).sum();
    assert!(
        source.0.len() > 150 && mentions > 3000,
        "{} files, {mentions} names",
        source.0.len()
    );
    assert!(
        source
            .0
            .keys()
            .all(|module| module.iter().all(|name| name != "tests"))
    );
}
