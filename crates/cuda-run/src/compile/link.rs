//! Linking of a program's objects to a shared library. CUDA's functions stay undefined and resolve to those
//! of this program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{Compiler, device_link};
use crate::flags::CompileFlags;

/// Returns the linker's arguments except the objects.
pub fn link_args(flags: &CompileFlags) -> Vec<OsString> {
    let mut args: Vec<OsString> = Vec::new();
    for dir in &flags.library_dir {
        args.extend(["-L".into(), dir.into()]);
    }
    args.extend(flags.library.iter().map(|name| format!("-l{name}").into()));
    for arg in &flags.link {
        match arg.as_str() {
            "-fopenmp" => args.push(arg.into()),
            arg => args.extend(["-Xlinker".into(), arg.into()]),
        }
    }
    args
}

/// Links objects to a shared library in this directory.
pub fn link_library(compiler: &Compiler, objects: &[PathBuf], dir: &Path) -> Result<PathBuf> {
    let library = dir.join("program.so");
    let undefined_flags: &[&str] = match cfg!(target_os = "macos") {
        true => &["-undefined", "dynamic_lookup"],
        // Calls within the program bind to its own functions, even if this process defines others of that name.
        false => &["-Wl,-Bsymbolic-functions"],
    };
    let mut command = Command::new(compiler.clang.program());
    command
        .args(["--driver-mode=g++", "-shared"])
        .args(objects)
        .arg("-o")
        .arg(&library);
    command
        .args(undefined_flags)
        .args(link_args(compiler.flags));
    let output = command.output().context("cannot start clang to link")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!(
            "cannot link the program:\n{}{}",
            stderr.trim_end(),
            remedy(&stderr)
        );
    }
    Ok(library)
}

/// Returns advice if the linker does not find a library that clang itself requires.
fn remedy(stderr: &str) -> &'static str {
    // The messages of GNU's, LLVM's and Apple's linkers.
    let contains = |message: &str| stderr.contains(message);
    if contains("find -lomp") || contains("library -lomp") || contains("library 'omp'") {
        "\nclang's OpenMP runtime is a separate package: sudo apt-get install libomp-dev (Debian and Ubuntu), \
         sudo dnf install libomp-devel (Fedora), brew install libomp (Mac)"
    } else {
        ""
    }
}

/// An undefined function and the location of a call, if it is known: `main.cu:12`.
#[derive(Debug, PartialEq, Eq)]
pub struct UnresolvedFunction {
    pub name: String,
    pub location: String,
}

impl Compiler<'_> {
    /// Returns the undefined functions of these files, including CUDA's, from the linker's messages, which
    /// contain line numbers. Returns an empty list if linking cannot be tried.
    pub fn unresolved_functions(&self, files: &[PathBuf]) -> Vec<UnresolvedFunction> {
        let link = || -> Result<String> {
            let dir = tempfile::tempdir()?;
            let mut objects = Vec::new();
            for file in self.passes(files, super::Goal::Library) {
                objects.extend(file.compile(dir.path())?.object);
            }
            let mut command = Command::new(self.clang.program());
            command.args(["--driver-mode=g++", "-shared", "-Wl,--no-undefined"]);
            command
                .args(objects)
                .arg("-o")
                .arg(dir.path().join("all.so"));
            command.args(link_args(self.flags)).env("LC_ALL", "C");
            Ok(String::from_utf8_lossy(&command.output()?.stderr).into_owned())
        };
        let mut functions = link()
            .map(|stderr| parse_unresolved(&stderr))
            .unwrap_or_default();
        // Registration functions of linked kernels are generated when the program is linked.
        functions.retain(|function| !function.name.starts_with(device_link::REGISTER_PREFIX));
        functions
    }
}

/// Parses a linker's messages about undefined symbols: GNU's "main.cu:12: undefined reference to `name'", or
/// LLVM's `undefined symbol: name`, followed by `>>> referenced by main.cu:12`.
fn parse_unresolved(stderr: &str) -> Vec<UnresolvedFunction> {
    let mut functions: Vec<UnresolvedFunction> = Vec::new();
    let mut pending_name: Option<String> = None;
    for line in stderr.lines() {
        if let Some((location, rest)) = line.split_once(": undefined reference to ") {
            let name = rest.trim_matches(['`', '\'', '"']);
            let location = location.strip_prefix("/usr/bin/ld: ").unwrap_or(location);
            add_unresolved(&mut functions, name, location);
        } else if let Some((_, name)) = line.split_once("undefined symbol: ") {
            pending_name = Some(name.trim().to_owned());
        } else if let (Some((_, reference)), Some(name)) =
            (line.split_once(">>> referenced by "), &pending_name)
        {
            add_unresolved(
                &mut functions,
                name,
                reference.split(" (").next().unwrap_or(reference),
            );
            pending_name = None;
        }
    }
    functions
}

/// Adds a function unless it is already listed. The location is kept only if it ends with a line number.
fn add_unresolved(functions: &mut Vec<UnresolvedFunction>, name: &str, location: &str) {
    if functions.iter().any(|existing| existing.name == name) {
        return;
    }
    let is_line = |location: &str| {
        let number = location.rsplit(':').next().unwrap_or_default();
        number.parse::<u32>().is_ok()
    };
    let location = location.trim().trim_start_matches("./");
    functions.push(UnresolvedFunction {
        name: name.to_owned(),
        location: if is_line(location) { location } else { "" }.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, location: &str) -> UnresolvedFunction {
        let [name, location] = [name, location].map(str::to_owned);
        UnresolvedFunction { name, location }
    }

    #[test]
    fn gnu_and_llvm_linker_errors_are_parsed() {
        let gnu = "/usr/bin/ld: /tmp/0.o: in function `main':\n\
                   /usr/bin/ld: ./main.cu:12: undefined reference to `cublasSgemm_v2'\n\
                   /usr/bin/ld: ./main.cu:14: undefined reference to `cublasSgemm_v2'\n\
                   0.cpp:(.text+0x5): undefined reference to `gone(int)'\n\
                   clang: error: linker command failed with exit code 1\n";
        let expected = [
            function("cublasSgemm_v2", "main.cu:12"),
            function("gone(int)", ""),
        ];
        assert_eq!(parse_unresolved(gnu), expected);
        let lld = "ld.lld: error: undefined symbol: cublasSgemm_v2\n\
                   >>> referenced by main.cu:12 (./main.cu:12)\n\
                   >>>               0.o:(main)\n";
        assert_eq!(
            parse_unresolved(lld),
            [function("cublasSgemm_v2", "main.cu:12")]
        );
    }

    #[test]
    fn a_missing_openmp_library_names_its_package() {
        for stderr in [
            "/usr/bin/ld: cannot find -lomp: No such file or directory",
            "ld.lld: error: unable to find library -lomp",
            "ld: library 'omp' not found",
        ] {
            assert!(remedy(stderr).contains("libomp-dev"), "{stderr}");
        }
        assert_eq!(remedy("/usr/bin/ld: cannot find -lcublas"), "");
    }
}
