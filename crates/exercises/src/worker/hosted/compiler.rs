//! The compiler of answers in Rust: the one that the course was compiled with, which alone reads its
//! libraries.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::lang::Lang;

/// Where the course's compiler had its libraries.
const SYSROOT: &str = env!("EXERCISES_SYSROOT");

/// The oldest version that the course compiles with.
const NEEDED: &str = env!("CARGO_PKG_RUST_VERSION");

/// A compiler.
pub struct Compiler {
    /// The program.
    pub program: PathBuf,
    /// The folder with its libraries.
    pub sysroot: PathBuf,
}

impl Compiler {
    /// The one that `RUSTC` names, or the course's own, or, where that is gone, the one that is installed now.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn find(lang: Lang) -> Result<Compiler> {
        let named = env::var_os("RUSTC").filter(|name| !name.is_empty());
        let sysroot = PathBuf::from(SYSROOT);
        let program = of(&sysroot);
        if named.is_none() && program.is_file() {
            return Ok(Compiler { program, sysroot });
        }
        let named = named.unwrap_or_else(|| "rustc".into());
        let sysroot = PathBuf::from(says(&named, &["--print", "sysroot"], lang)?);
        let real = of(&sysroot);
        let program = if real.is_file() { real } else { named.into() };
        Ok(Compiler { program, sysroot })
    }

    /// What is said of it, where it is too old for the course.
    pub fn too_old(&self, lang: Lang) -> Result<Option<String>> {
        let said = says(self.program.as_os_str(), &["--version"], lang)?;
        let version = said.split(' ').nth(1).unwrap_or_default();
        Ok((number(version) < number(NEEDED)).then(|| {
            say!(
                lang,
                "answers in Rust take Rust {} or newer, and {} is of {}. Update it (rustup update), and build \
                 the course again",
                "用 Rust 写的答案需要 Rust {} 或更新的版本，而 {} 的版本是 {}。请更新（rustup update），再重新构建\
                 课程";
                NEEDED, self.program.display(), version
            )
        }))
    }
}

/// The compiler of such a folder.
fn of(sysroot: &Path) -> PathBuf {
    sysroot
        .join("bin")
        .join(format!("rustc{}", env::consts::EXE_SUFFIX))
}

/// What a compiler says of itself.
fn says(program: &OsStr, asked: &[&str], lang: Lang) -> Result<String> {
    let mut command = Command::new(program);
    command.args(asked).stdin(Stdio::null());
    let output = command
        .output()
        .with_context(|| say!(lang, "cannot run {}", "无法运行 {}"; program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The first two numbers of a version, which are compared.
fn number(version: &str) -> [u32; 2] {
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
        assert!(number("1.9.0") < number("1.95"));
        assert!(number("1.96.0-nightly") > number("1.95") && number("1.95.1") == number("1.95"));
        assert!(number("2.0.0") > number("1.95") && number("") < number("1.0"));
    }
}
