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

mod made_up;
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
fn rooms_name_only_those_before_them() {
    let wrong = SIMULATOR.against_layers(LAYERS);
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn files_do_not_need_each_other_in_a_circle() {
    let circles = SIMULATOR.circles();
    let circles: Vec<String> = circles
        .iter()
        .map(|circle| {
            let parent = circle.parent.join("::");
            format!("a circle in {parent}:\n  {}", circle.steps.join("\n  "))
        })
        .collect();
    assert!(circles.is_empty(), "\n{}\n", circles.join("\n"));
}

/// Checks that all files are read, and that most names are resolved.
#[test]
fn the_simulator_is_read_whole() {
    let source = &*SIMULATOR;
    let rooms: BTreeSet<&str> = LAYERS.iter().copied().flatten().copied().collect();
    assert_eq!(source.rooms(), rooms);
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
