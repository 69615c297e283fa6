//! Checks the dependencies between the simulator's source files: see the crate [`layers`].

use layers::{Cycle, Source};
use std::collections::BTreeSet;
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
static SIMULATOR: LazyLock<Source> =
    LazyLock::new(|| Source::of_crate(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda-sim")));

#[test]
fn modules_name_only_earlier_layers() {
    let violations = SIMULATOR.layer_violations(LAYERS);
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn files_have_no_dependency_cycles() {
    let cycles: Vec<String> = SIMULATOR.cycles().iter().map(Cycle::to_string).collect();
    assert!(cycles.is_empty(), "\n{}\n", cycles.join("\n"));
}

/// Checks that all files are read, and that most names are resolved.
#[test]
fn all_simulator_files_are_read() {
    let top_modules: BTreeSet<&str> = LAYERS.iter().copied().flatten().copied().collect();
    assert_eq!(SIMULATOR.top_modules(), top_modules);
    let modules = SIMULATOR.modules();
    let mentions = SIMULATOR.mention_count();
    assert!(
        modules.len() > 150 && mentions > 3000,
        "{} files, {mentions} names",
        modules.len()
    );
    assert!(
        modules
            .iter()
            .all(|module| module.iter().all(|name| name != "tests"))
    );
}
