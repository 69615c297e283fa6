//! The kernels of several files in one module, where they call each other's functions.
//!
//! Of each file there is LLVM's bitcode. clang links these to one, compiles that to PTX, and a small object
//! takes the PTX into the program. At the program's start the host's code of each file then registers its
//! kernels and variables, by a function whose name has a number of the file in it: the object has these too.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::Compiler;
use super::pass::{CUDA_WORDS, mend};

/// What the function is called by which a file's host code registers what it has, up to the number.
pub const REGISTERS: &str = "__cudaRegisterLinkedBinary";

/// Links files with bitcode to one with PTX, in this folder.
pub fn ptx(compiler: &Compiler, bitcode: &[PathBuf], folder: &Path) -> Result<PathBuf> {
    // clang links bitcode to what it compiles, which is a file without anything.
    let (nothing, to) = (folder.join("nothing.cu"), folder.join("together.ptx"));
    fs::write(&nothing, "").with_context(|| format!("cannot write {}", nothing.display()))?;
    let mut command = Command::new(compiler.clang.program());
    command
        .args(CUDA_WORDS)
        .args(compiler.gpu_words())
        .arg("-S");
    for file in bitcode {
        let words: [OsString; 4] = [
            "-Xclang".into(),
            "-mlink-bitcode-file".into(),
            "-Xclang".into(),
            file.into(),
        ];
        command.args(words);
    }
    command.arg(&nothing).arg("-o").arg(&to);
    done(command, "the kernels do not link")?;
    mend(&to)?;
    Ok(to)
}

/// The object that takes the PTX into the program, made in this folder, for the objects of all files.
pub fn object(
    compiler: &Compiler,
    ptx: &Path,
    objects: &[PathBuf],
    folder: &Path,
) -> Result<PathBuf> {
    let mut names = BTreeSet::new();
    for object in objects {
        let read = fs::read(object).with_context(|| format!("cannot read {}", object.display()))?;
        names.extend(registering(&read));
    }
    let text = fs::read_to_string(ptx).with_context(|| format!("cannot read {}", ptx.display()))?;
    let (source, to) = (folder.join("together.c"), folder.join("together.o"));
    fs::write(&source, program(&text, &names))
        .with_context(|| format!("cannot write {}", source.display()))?;
    let mut command = Command::new(compiler.clang.program());
    command
        .args(["-c", "-fPIC", "-w"])
        .arg(&source)
        .arg("-o")
        .arg(&to);
    done(command, "the program's kernels cannot be put into it")?;
    Ok(to)
}

fn done(mut command: Command, what: &str) -> Result<()> {
    let output = command.output().context("cannot start clang")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{what}:\n{}", said.trim_end());
    }
    Ok(())
}

/// The functions' names in an object's table of names.
fn registering(object: &[u8]) -> Vec<String> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let starts = object
        .windows(REGISTERS.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == REGISTERS.as_bytes());
    starts
        .map(|(at, _)| {
            let name = object[at..].iter().take_while(|byte| is_name(byte));
            name.map(|byte| char::from(*byte)).collect()
        })
        .collect()
}

/// The object in C.
fn program(ptx: &str, names: &BTreeSet<String>) -> String {
    let mut text = String::from("static const char kernels[] =\n");
    for line in ptx.lines() {
        text += &format!("\"{}\\n\"\n", line.escape_default());
    }
    // The number is the one that compilers put before a program's device code.
    text += ";
static struct { int number, version; const void *data; void *unused; } part = {0x466243b1, 1, kernels, 0};
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
int atexit(void (*)(void));
static void **handle;
static void forget(void) { __cudaUnregisterFatBinary(handle); }
static void add(void (*all)(void **)) {
    if (!handle) {
        handle = __cudaRegisterFatBinary(&part);
        __cudaRegisterFatBinaryEnd(handle);
        atexit(forget);
    }
    if (all) all(handle);
}
";
    for name in names {
        text += &format!(
            "void {name}(void (*all)(void **), void *own, void *number, void *call) {{ add(all); }}\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_an_object() {
        let object = b"\x7fELF\0_Z1kv\0__cudaRegisterLinkedBinary__nv_6e7f\0\
                       ___cudaRegisterLinkedBinary__nv_01\0main";
        let names = [
            "__cudaRegisterLinkedBinary__nv_6e7f",
            "__cudaRegisterLinkedBinary__nv_01",
        ];
        assert_eq!(registering(object), names);
        assert!(registering(b"\x7fELF\0main").is_empty());
    }
}
