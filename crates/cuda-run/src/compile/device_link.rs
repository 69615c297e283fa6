//! Device linking: the kernels of several files in one module, in which they call each other's functions.
//!
//! Each file is compiled to LLVM bitcode. clang links the bitcode and compiles it to PTX, and a small object
//! embeds the PTX in the program. At program start, the host code of each file registers its kernels and
//! variables through a function whose name contains an identifier of the file; the object defines these
//! functions.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::Compiler;
use super::pass::{CUDA_ARGS, patch_ptx};

/// The prefix of the registration functions, followed by the file's identifier.
pub const REGISTER_PREFIX: &str = "__cudaRegisterLinkedBinary";

/// Links bitcode files to one PTX file in this directory.
pub fn link_ptx(compiler: &Compiler, bitcode: &[PathBuf], dir: &Path) -> Result<PathBuf> {
    // clang links bitcode into the file that it compiles, which is empty here.
    let (empty_file, output) = (dir.join("nothing.cu"), dir.join("together.ptx"));
    fs::write(&empty_file, "").with_context(|| format!("cannot write {}", empty_file.display()))?;
    let mut command = Command::new(compiler.clang.program());
    command
        .args(CUDA_ARGS)
        .args(compiler.device_args())
        .arg("-S");
    for file in bitcode {
        let args: [OsString; 4] = [
            "-Xclang".into(),
            "-mlink-bitcode-file".into(),
            "-Xclang".into(),
            file.into(),
        ];
        command.args(args);
    }
    command.arg(&empty_file).arg("-o").arg(&output);
    run_clang(command, "cannot link the kernels")?;
    patch_ptx(&output)?;
    Ok(output)
}

/// Compiles the object that embeds the PTX and defines the registration functions that `objects` call.
pub fn embed_object(
    compiler: &Compiler,
    ptx: &Path,
    objects: &[PathBuf],
    dir: &Path,
) -> Result<PathBuf> {
    let mut names = BTreeSet::new();
    for object in objects {
        let bytes =
            fs::read(object).with_context(|| format!("cannot read {}", object.display()))?;
        names.extend(registration_functions(&bytes));
    }
    let text = fs::read_to_string(ptx).with_context(|| format!("cannot read {}", ptx.display()))?;
    let (source, output) = (dir.join("together.c"), dir.join("together.o"));
    fs::write(&source, object_source(&text, &names))
        .with_context(|| format!("cannot write {}", source.display()))?;
    let mut command = Command::new(compiler.clang.program());
    command
        .args(["-c", "-fPIC", "-w"])
        .arg(&source)
        .arg("-o")
        .arg(&output);
    run_clang(command, "cannot embed the kernels in the program")?;
    Ok(output)
}

fn run_clang(mut command: Command, context: &str) -> Result<()> {
    let output = command.output().context("cannot start clang")?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{context}:\n{}", stderr.trim_end());
    }
    Ok(())
}

/// Finds the names of registration functions in an object's symbol table.
fn registration_functions(object: &[u8]) -> Vec<String> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let starts = object
        .windows(REGISTER_PREFIX.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == REGISTER_PREFIX.as_bytes());
    starts
        .map(|(start, _)| {
            let name = object[start..].iter().take_while(|byte| is_name(byte));
            name.map(|byte| char::from(*byte)).collect()
        })
        .collect()
}

/// Returns the C source of the embedding object.
fn object_source(ptx: &str, names: &BTreeSet<String>) -> String {
    let mut source = String::from("static const char kernels[] =\n");
    for line in ptx.lines() {
        source += &format!("\"{}\\n\"\n", line.escape_default());
    }
    // The magic number identifies a fat binary wrapper.
    source += ";
static struct { int number, version; const void *data; void *unused; } fat_binary = {0x466243b1, 1, kernels, 0};
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
int atexit(void (*)(void));
static void **handle;
static void unregister(void) { __cudaUnregisterFatBinary(handle); }
static void register_file(void (*register_all)(void **)) {
    if (!handle) {
        handle = __cudaRegisterFatBinary(&fat_binary);
        __cudaRegisterFatBinaryEnd(handle);
        atexit(unregister);
    }
    if (register_all) register_all(handle);
}
";
    for name in names {
        source += &format!(
            "void {name}(void (*register_all)(void **), void *binary, void *id, void *callback) {{ register_file(register_all); }}\n"
        );
    }
    source
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registration_functions_are_found_in_an_object() {
        let object = b"\x7fELF\0_Z1kv\0__cudaRegisterLinkedBinary__nv_6e7f\0\
                       ___cudaRegisterLinkedBinary__nv_01\0main";
        let names = [
            "__cudaRegisterLinkedBinary__nv_6e7f",
            "__cudaRegisterLinkedBinary__nv_01",
        ];
        assert_eq!(registration_functions(object), names);
        assert!(registration_functions(b"\x7fELF\0main").is_empty());
    }
}
