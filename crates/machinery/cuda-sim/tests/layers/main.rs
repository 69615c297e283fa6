//! Which of the simulator's files knows which: read from its source.
//!
//! **Layers.** The rooms are the modules of `lib.rs`. Each is in one step of [`LAYERS`], and names
//! only rooms of earlier steps: those of its own step do not know each other either.
//!
//! **Circles.** Files of a room do not need each other in a circle. Precisely: of every module the
//! submodules, each taken with all that is below it, can be put into an order in which each names
//! only those before it. A module's own file (`layout/mod.rs`, or `tensor.rs` beside `tensor/`) and
//! the files below it are a family: it may name them, and they may name it.
//!
//! What counts as naming is a path: in a `use`, in code, or among the tokens of a macro, of its
//! definition and of its calls. It counts as the file that defines what is named, imports and
//! re-exports on the way followed. A call of a method names nothing by itself. Comments do not
//! count, and neither does what is for tests alone: items and files under `#[cfg(test)]`, and
//! functions that are a `#[test]`.

mod made_up;
mod reader;
mod source;

use source::Source;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The rooms in their order. Those of one step stand side by side.
const LAYERS: &[&[&str]] = &[
    &["ptx", "device", "lanes", "memory"],
    &["isa"],
    &["profile", "check"],
    &["exec"],
    &["lower", "model"],
    &["launch"],
    &["driver"],
];

/// The simulator, which takes seconds to read.
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

/// That all files were read, and most of what they name was understood.
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
