//! Build-time: a kernel's CUDA C (`kernels/NAME.cu`) to the PTX a chapter loads.
//!
//! A chapter's build script asks for its kernel and the chapter includes the PTX:
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
//! A kernel is compiled for any GPU since Maxwell (sm_52), unless its name ends in
//! another architecture: `kernels/matmul.sm_80.cu` is for GPUs that have what sm_80
//! has, such as asynchronous copies.
//!
//! The PTX is committed in `kernels/ptx`, stamped with a hash of the sources it was
//! made from. While the hash matches, nothing but Rust is needed. Once a source has
//! been edited, the build compiles it: with clang, or failing that with NVRTC from a
//! CUDA toolkit. With neither the build stops. Stale PTX is never used.
//!
//! [`Clang::compile_text`] compiles what is no kernel of the checkout: `kernels/exercises` belongs to the
//! course, and has no PTX. [`Clang::compile_answer`] compiles what somebody else wrote, within bounds.
//!
//! The crate's binary keeps the committed PTX right: `scripts/ptx --write` and
//! `scripts/ptx --check`.

mod answer;
mod arch;
mod bit_field;
mod clang;
mod drift;
mod error;
mod level;
mod nvrtc;
mod resolve;
mod run;
mod sources;
mod stamp;
mod tree;

pub use answer::{Answer, Ended};
pub use arch::Arch;
pub use bit_field::mend_bit_fields;
pub use clang::{Clang, Compiled, PINNED_VERSION, install_command};
pub use drift::{Drift, check, write};
pub use error::Error;
pub use level::Level;
pub use tree::Tree;

use std::path::PathBuf;

/// For a chapter's build script: finds or makes the PTX of kernel `name` and passes
/// its path to the chapter in an environment variable, `RAYTRACE_CONST_PTX` for
/// `raytrace-const`, `MATMUL_SM_80_PTX` for `matmul.sm_80`.
///
/// When that fails, prints why on stderr and ends the build script with status 1: a
/// reader whose kernel has a mistake wants the compiler's message and no backtrace.
pub fn ptx(name: &str) {
    if let Err(error) = try_ptx(name) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

/// [`ptx`] of all kernels in a folder below `kernels`, such as the rungs of a ladder:
/// `RAYTRACE_CONST_LADDER_1_OUTLINES_PTX` for `raytrace-const-ladder/1-outlines`.
pub fn ptx_of_folder(folder: &str) {
    let kernels = env_path("CARGO_MANIFEST_DIR").and_then(|here| {
        let tree = Tree::find(&here)?;
        let place = tree.path("kernels").join(folder);
        println!("cargo:rerun-if-changed={}", place.display());
        tree.kernels()
    });
    match kernels {
        Ok(kernels) => {
            let inside = |name: &&String| {
                name.strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            kernels.iter().filter(inside).for_each(|name| ptx(name));
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
    // A file that is not there would make cargo run the build script every time.
    let committed = tree.ptx(name);
    if committed.exists() {
        println!("cargo:rerun-if-changed={}", committed.display());
    }
    println!("cargo:rerun-if-env-changed={}", clang::OVERRIDE);
    println!("cargo:rerun-if-env-changed={}", nvrtc::OVERRIDE);

    let found = resolve::resolve(&tree, &sources, &env_path("OUT_DIR")?)?;
    for line in found.remarks.lines() {
        println!("cargo:warning={line}");
    }
    println!(
        "cargo:rustc-env={}={}",
        variable(name),
        found.path.display()
    );
    Ok(())
}

/// The environment variable that carries a kernel's PTX path to its chapter.
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
