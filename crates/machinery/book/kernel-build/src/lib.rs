//! Compiles a kernel's CUDA C (`kernels/NAME.cu`) at build time to the PTX that a chapter loads.
//!
//! A chapter's build script requests its kernel, and the chapter includes the PTX:
//!
//! ```ignore
//! // build.rs
//! fn main() {
//!     kernel_build::ptx("raytrace-const");
//! }
//!
//! // main.rs
//! const PTX: &str = include_str!(env!("RAYTRACE_CONST_PTX"));
//! ```
//!
//! A kernel is compiled for all GPUs since Maxwell (sm_52), unless its name ends in another architecture:
//! `kernels/matmul.sm_80.cu` is for GPUs with the features of sm_80, such as asynchronous copies.
//!
//! The PTX is committed in `kernels/ptx`, stamped with a hash of its sources. While the hash matches, a build
//! needs only Rust. After a source has been edited, the build compiles it with clang, or else with NVRTC from
//! a CUDA Toolkit. Without a compiler the build fails; it never uses stale PTX.
//!
//! [`Clang::compile_text`] compiles sources that are not kernels of the checkout: `kernels/exercises` belongs
//! to the course and has no PTX. [`compile_with`] also takes the command that starts clang, and limits.
//!
//! The crate's binary updates and checks the committed PTX: `scripts/ptx --write` and `scripts/ptx --check`.

mod arch;
mod clang;
mod committed;
mod error;
mod nvrtc;
mod process;
mod tree;

pub use arch::Arch;
pub use clang::{Clang, Compiled, SourceText, compile_with, fix_bit_fields};
pub use committed::{Drift, check, write};
pub use error::{Error, PINNED_VERSION, install_command};
pub use process::{Limits, ProcessOutput, RunError};
pub use tree::{Tree, normalize_path};

use std::path::PathBuf;

/// Finds or compiles the PTX of kernel `name` in a chapter's build script, and passes its path to the chapter
/// in an environment variable: `RAYTRACE_CONST_PTX` for `raytrace-const`, `MATMUL_SM_80_PTX` for
/// `matmul.sm_80`.
///
/// On failure prints the reason to stderr and exits the build script with status 1, because the author of a
/// kernel with an error needs the compiler's message, not a backtrace.
pub fn ptx(name: &str) {
    if let Err(error) = try_ptx(name) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

/// Calls [`ptx`] for all kernels in a directory below `kernels`, such as the rungs of a ladder:
/// `RAYTRACE_CONST_LADDER_1_OUTLINES_PTX` for `raytrace-const-ladder/1-outlines`.
pub fn ptx_of_folder(directory: &str) {
    let kernels = env_path("CARGO_MANIFEST_DIR").and_then(|manifest_dir| {
        let tree = Tree::find(&manifest_dir)?;
        let path = tree.path("kernels").join(directory);
        println!("cargo:rerun-if-changed={}", path.display());
        tree.kernels()
    });
    match kernels {
        Ok(kernels) => {
            let is_inside = |name: &&String| {
                name.strip_prefix(directory)
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            kernels.iter().filter(is_inside).for_each(|name| ptx(name));
        }
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}

fn try_ptx(name: &str) -> Result<(), Error> {
    let tree = Tree::find(&env_path("CARGO_MANIFEST_DIR")?)?;
    let sources = tree.sources(name)?;
    for file in sources.files() {
        println!("cargo:rerun-if-changed={}", tree.path(file).display());
    }
    // cargo would run the build script every time if it depended on a file that does not exist.
    let committed = tree.ptx(name);
    if committed.exists() {
        println!("cargo:rerun-if-changed={}", committed.display());
    }
    println!("cargo:rerun-if-env-changed={}", clang::OVERRIDE);
    println!("cargo:rerun-if-env-changed={}", nvrtc::OVERRIDE);

    let resolved = committed::resolve(&tree, &sources, &env_path("OUT_DIR")?)?;
    for line in resolved.warnings.lines() {
        println!("cargo:warning={line}");
    }
    println!(
        "cargo:rustc-env={}={}",
        variable(name),
        resolved.path.display()
    );
    Ok(())
}

/// Returns the name of the environment variable that passes a kernel's PTX path to its chapter.
pub fn variable(name: &str) -> String {
    let letters = name.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
        _ => '_',
    });
    letters.chain("_PTX".chars()).collect()
}

fn env_path(variable: &'static str) -> Result<PathBuf, Error> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .ok_or(Error::NotABuildScript { variable })
}

#[cfg(test)]
mod tests {
    use super::variable;

    #[test]
    fn variables_are_upper_case_words() {
        assert_eq!(variable("raytrace-const"), "RAYTRACE_CONST_PTX");
        assert_eq!(variable("ladder/add-1"), "LADDER_ADD_1_PTX");
        assert_eq!(variable("matmul.sm_80"), "MATMUL_SM_80_PTX");
    }
}
