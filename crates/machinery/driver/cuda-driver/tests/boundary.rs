//! Properties of the crate's source: panics never cross into C, because every function that C can call runs
//! its body in `status::catch_panic`, and one `Simulator` value owns all state, because there are few statics.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Collects all source files below a folder.
fn sources(folder: &Path, functions: &mut Vec<PathBuf>) {
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, functions);
        } else {
            functions.push(path);
        }
    }
}

/// Returns the functions that C can call, each with its file and the second line of its text.
fn c_functions() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut functions = Vec::new();
    for file in files {
        let text = read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let mut lines = text.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            let defines = line.contains("extern \"C\" fn ") && line.ends_with('{');
            if defines {
                let (_, after_fn) = line.split_once("extern \"C\" fn ").unwrap();
                let function = after_fn.split('(').next().unwrap().to_owned();
                let second_line = lines.peek().copied().unwrap_or_default().to_owned();
                functions.push((name.clone(), function, second_line));
            }
        }
    }
    functions.sort();
    functions
}

/// A new C function belongs in the table in `functions/table/`, whose rows `functions/macros.rs` wraps in
/// `catch_panic`.
#[test]
fn c_functions_catch_panics() {
    let expected = [
        // Generated for each row of the table: the exported function, the same with an unknown signature, the
        // fallback for functions that NVIDIA's library lacks, the one before `cuInit`, and the simulator's.
        (
            "macros.rs",
            "$name",
            "$name::ENTRY.calls.fetch_add(1, Ordering::Relaxed);",
        ),
        (
            "macros.rs",
            "$name",
            "let function = $name::ENTRY.slot.load(Ordering::Acquire);",
        ),
        (
            "macros.rs",
            "before_init",
            "cuda_sim::driver::CudaError::NotInitialized.code()",
        ),
        ("macros.rs", "missing", "not_in_library(stringify!($name))"),
        // The function around `catch_panic` catches the panics of its own report.
        (
            "macros.rs",
            "simulated",
            "$crate::api::telemetry::report_failure(stringify!($name), ",
        ),
        // Functions of the C library, and the handler of access violations at protected pages.
        (
            "page_guard.rs",
            "$name",
            "let function = next(Call::$name, ",
        ),
        (
            "page_guard.rs",
            "$vector",
            "let function = next(Call::$vector, ",
        ),
        ("page_guard.rs", "on_signal", "catch_panic("),
        (
            "process.rs",
            "after_fork",
            "HANDLERS.in_child.store(true, Ordering::Relaxed);",
        ),
        ("process.rs", "handler", "cuda_sim::exec::interrupt();"),
        (
            "process.rs",
            "terminating_handler",
            "let (pending, order) = (&HANDLERS.pending, Ordering::SeqCst);",
        ),
        ("telemetry.rs", "at_exit", "catch_panic("),
    ];
    let functions = c_functions();
    assert_eq!(functions.len(), expected.len(), "{functions:#?}");
    for ((file, name, second_line), (expected_file, expected_name, expected_start)) in
        functions.iter().zip(expected)
    {
        assert_eq!(
            (file.as_str(), name.as_str()),
            (expected_file, expected_name)
        );
        assert!(
            second_line.starts_with(expected_start),
            "{file}: {name}: {second_line}"
        );
    }
}

/// Returns the statics and thread-locals of the crate, those in macros included, each with its file and the line before
/// it.
fn statics() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut statics = Vec::new();
    for file in files {
        let text = read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let mut previous = "";
        for line in text.lines().map(str::trim) {
            let visibilities = [
                "static ",
                "pub static ",
                "pub(crate) static ",
                "pub(super) static ",
            ];
            let item = visibilities
                .iter()
                .find_map(|start| line.strip_prefix(start));
            if let Some(item) = item {
                let item = item.split(':').next().unwrap().to_owned();
                statics.push((name.clone(), item, previous.to_owned()));
            }
            previous = line;
        }
    }
    statics.sort();
    statics
}

/// New state belongs in `simulator::Simulator`, or in `simulator::thread::ThreadState` if each thread has its
/// own.
#[test]
fn there_are_few_statics_each_with_its_reason() {
    const MAX: usize = 8;
    let statics = statics();
    let names: Vec<(&str, &str)> = statics
        .iter()
        .map(|(file, name, _)| (file.as_str(), name.as_str()))
        .collect();
    assert!(names.contains(&("mod.rs", "SIMULATOR")), "{names:?}");
    assert!(names.len() <= MAX, "{names:?}");
    for (file, name, previous) in &statics {
        assert!(previous.starts_with("///"), "{file}: {name}: {previous}");
    }
}
