//! Embeds the course's folder, and records the sysroot of the compiler that builds the course, with which Rust
//! submissions are compiled. The sysroot identifies the compiler, because `rustc` may be a wrapper that selects one
//! of several.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The course's folder, relative to this crate.
const COURSE: &str = "../../kernels/exercises";

fn main() -> io::Result<()> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let folder = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!(
        "cargo:rustc-env=EXERCISES_SYSROOT={}",
        folder.unwrap_or_default()
    );
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={COURSE}");
    let out = env::var_os("OUT_DIR")
        .map(PathBuf::from)
        .unwrap_or_default();
    fs::write(out.join("course.rs"), embedded_course()?)
}

/// Returns a slice expression with the name of each exercise and its files, as pairs of name and contents. The
/// folders `right`, `wrong` and so on are left out, because only tests read them.
fn embedded_course() -> io::Result<String> {
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .unwrap_or_default();
    let course = fs::canonicalize(manifest.join(COURSE))?;
    let mut text = "&[\n".to_owned();
    for exercise in entries(&course)?.iter().filter(|path| path.is_dir()) {
        text += &format!("({:?}, &[\n", file_name(exercise));
        for file in entries(exercise)?.iter().filter(|path| path.is_file()) {
            text += &format!("({:?}, include_str!({file:?})),\n", file_name(file));
        }
        text += "]),\n";
    }
    Ok(text + "]\n")
}

/// Returns the entries of a folder, sorted by name, without hidden ones.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    entries.retain(|path| !file_name(path).starts_with('.'));
    entries.sort();
    Ok(entries)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
