//! No panic crosses into C: whatever C may call runs behind `report::guarded`.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// All of the crate's sources.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The functions that C may call, each with the file it is in and the line after its first.
fn called_from_c() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut found = Vec::new();
    for file in files {
        let text = read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let mut lines = text.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            let defines = line.contains("extern \"C\" fn ") && line.ends_with('{');
            if defines {
                let (_, rest) = line.split_once("extern \"C\" fn ").unwrap();
                let function = rest.split('(').next().unwrap().to_owned();
                let next = lines.peek().copied().unwrap_or_default().to_owned();
                found.push((name.clone(), function, next));
            }
        }
    }
    found.sort();
    found
}

/// A new one belongs into the table in `functions/table/`: `functions/macros.rs` guards all of its
/// lines.
#[test]
fn whatever_c_calls_is_guarded() {
    let wanted = [
        ("check.rs", "at_exit", "guarded("),
        ("fork.rs", "after_fork", "IN_CHILD.store("),
        ("interrupt.rs", "handler", "cuda_sim::exec::interrupt();"),
        // Those of each line of the table: what C calls, the same where the arguments are unknown, where
        // NVIDIA's library lacks it, before `cuInit`, and the simulator.
        (
            "macros.rs",
            "$name",
            "$name::CALLS.fetch_add(1, Ordering::Relaxed);",
        ),
        (
            "macros.rs",
            "$name",
            "let function = $name::SLOT.load(Ordering::Acquire);",
        ),
        ("macros.rs", "absent", "not_in_library(stringify!($name))"),
        (
            "macros.rs",
            "before",
            "cuda_sim::driver::CudaError::NotInitialized.code()",
        ),
        ("macros.rs", "simulated", "guarded(stringify!($name), "),
        // The handler of faults at guarded pages.
        ("pages.rs", "touched", "guarded("),
    ];
    let found = called_from_c();
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for ((file, name, next), (wanted_file, wanted_name, begins)) in found.iter().zip(wanted) {
        assert_eq!((file.as_str(), name.as_str()), (wanted_file, wanted_name));
        assert!(next.starts_with(begins), "{file}: {name}: {next}");
    }
}
