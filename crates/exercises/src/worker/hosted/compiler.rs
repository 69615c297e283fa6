//! The compiler of Rust submissions. It must be the one that compiled the course, because no other can read
//! the course's libraries.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::lang::Lang;

/// The sysroot of the compiler that built the course.
const SYSROOT: &str = env!("EXERCISES_SYSROOT");

/// The minimum version that the course compiles with.
const MIN_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// A Rust compiler.
pub struct Compiler {
    /// The path of `rustc`.
    pub program: PathBuf,
    /// The sysroot with its libraries.
    pub sysroot: PathBuf,
}

impl Compiler {
    /// Finds the compiler named by `RUSTC`, else the one that built the course, else the installed one.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    pub fn find(lang: Lang) -> Result<Compiler> {
        let named = env::var_os("RUSTC").filter(|name| !name.is_empty());
        let sysroot = PathBuf::from(SYSROOT);
        let program = rustc_path(&sysroot);
        if named.is_none() && program.is_file() {
            return Ok(Compiler { program, sysroot });
        }
        let named = named.unwrap_or_else(|| "rustc".into());
        let sysroot = PathBuf::from(query(&named, &["--print", "sysroot"], lang)?);
        let rustc = rustc_path(&sysroot);
        let program = if rustc.is_file() { rustc } else { named.into() };
        Ok(Compiler { program, sysroot })
    }

    /// Explains that the compiler is too old for the course; `None` if it is not.
    pub fn too_old(&self, lang: Lang) -> Result<Option<String>> {
        let version_line = query(self.program.as_os_str(), &["--version"], lang)?;
        let version = version_line.split(' ').nth(1).unwrap_or_default();
        Ok((version_number(version) < version_number(MIN_VERSION)).then(|| {
            localize!(
                lang,
                "Rust submissions need Rust {} or newer, but {} is version {}. Update it (rustup \
                 update) and rebuild the course",
                "用 Rust 写的答案需要 Rust {} 或更新的版本，而 {} 的版本是 {}。请更新（rustup update），再重新构建\
                 课程";
                MIN_VERSION, self.program.display(), version
            )
        }))
    }
}

/// Returns the path of the compiler in a sysroot.
fn rustc_path(sysroot: &Path) -> PathBuf {
    sysroot
        .join("bin")
        .join(format!("rustc{}", env::consts::EXE_SUFFIX))
}

/// Runs a compiler with arguments that query it. Returns the trimmed output.
fn query(program: &OsStr, arguments: &[&str], lang: Lang) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    let output = command
        .output()
        .with_context(|| localize!(lang, "cannot run {}", "无法运行 {}"; program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the first two numbers of a version for comparison.
fn version_number(version: &str) -> [u32; 2] {
    let mut parts = version
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0));
    [(); 2].map(|()| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version_number("1.9.0") < version_number("1.95"));
        assert!(
            version_number("1.96.0-nightly") > version_number("1.95")
                && version_number("1.95.1") == version_number("1.95")
        );
        assert!(
            version_number("2.0.0") > version_number("1.95")
                && version_number("") < version_number("1.0")
        );
    }
}
