//! Checks the dependencies between the course's source files: see the crate [`layers`].

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use layers::{Cycle, Source};

/// The modules of `lib.rs` by layer. Modules of one layer must not depend on each other.
const LAYERS: &[&[&str]] = &[
    &["text", "process"],
    &["files", "error", "data", "picture"],
    &["output", "host"],
    &["declarative", "host_sides"],
    &["course"],
    &["workspace", "grade"],
    &["report", "worker"],
    &["class"],
    &["flags"],
    &["commands"],
];

/// The course's source. Parsing it takes seconds.
static EXERCISES: LazyLock<Source> =
    LazyLock::new(|| Source::of_crate(Path::new(env!("CARGO_MANIFEST_DIR"))));

#[test]
fn modules_name_only_earlier_layers() {
    let violations = EXERCISES.layer_violations(LAYERS);
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

/// In particular, the modules of `grade` have no cycle, so the grading of a submission enters each at most once.
#[test]
fn files_have_no_dependency_cycles() {
    let cycles: Vec<String> = EXERCISES.cycles().iter().map(Cycle::to_string).collect();
    assert!(cycles.is_empty(), "\n{}\n", cycles.join("\n"));
}

/// Checks that the layers list all modules and that the files are read.
#[test]
fn all_files_are_read() {
    let top_modules: BTreeSet<&str> = LAYERS.iter().copied().flatten().copied().collect();
    assert_eq!(EXERCISES.top_modules(), top_modules);
    let (modules, mentions) = (EXERCISES.modules().len(), EXERCISES.mention_count());
    assert!(
        modules > 50 && mentions > 800,
        "{modules} files, {mentions} names"
    );
}
