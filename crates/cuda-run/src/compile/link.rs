//! All objects of a program in one library, in which CUDA's functions are left open: they are this
//! program's own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{Compiler, together};
use crate::flags::Compile;

/// What the linker is told of libraries, but for the objects.
pub fn words(flags: &Compile) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    for folder in &flags.library_folder {
        words.extend(["-L".into(), folder.into()]);
    }
    words.extend(flags.library.iter().map(|name| format!("-l{name}").into()));
    for word in &flags.link {
        match word.as_str() {
            "-fopenmp" => words.push(word.into()),
            word => words.extend(["-Xlinker".into(), word.into()]),
        }
    }
    words
}

/// Links objects to a library in this folder.
pub fn library(compiler: &Compiler, objects: &[PathBuf], folder: &Path) -> Result<PathBuf> {
    let to = folder.join("program.so");
    let open: &[&str] = match cfg!(target_os = "macos") {
        true => &["-undefined", "dynamic_lookup"],
        // A function of the program is the one that the program calls, whatever else has its name.
        false => &["-Wl,-Bsymbolic-functions"],
    };
    let mut command = Command::new(compiler.clang.program());
    command
        .args(["--driver-mode=g++", "-shared"])
        .args(objects)
        .arg("-o")
        .arg(&to);
    command.args(open).args(words(compiler.flags));
    let output = command.output().context("cannot start clang to link")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!(
            "the program does not link:\n{}{}",
            said.trim_end(),
            remedy(&said)
        );
    }
    Ok(to)
}

/// What to install where the linker lacks a library that clang itself asks for.
fn remedy(said: &str) -> &'static str {
    // GNU's linker, LLVM's, and Apple's.
    let lacks = |how: &str| said.contains(how);
    if lacks("find -lomp") || lacks("library -lomp") || lacks("library 'omp'") {
        "\nclang's OpenMP is a package of its own: sudo apt-get install libomp-dev (Debian and Ubuntu), \
         sudo dnf install libomp-devel (Fedora), brew install libomp (Mac)"
    } else {
        ""
    }
}

/// A function that nobody has, and where it is called, as far as that is known: `main.cu:12`.
#[derive(Debug, PartialEq, Eq)]
pub struct Unresolved {
    pub name: String,
    pub place: String,
}

impl Compiler<'_> {
    /// Which functions of these files are left open, CUDA's among them: asked of the linker, who knows the
    /// lines. Empty where it cannot say.
    pub fn open_functions(&self, files: &[PathBuf]) -> Vec<Unresolved> {
        let said = || -> Result<String> {
            let folder = tempfile::tempdir()?;
            let mut objects = Vec::new();
            for file in self.passes(files, super::Goal::Library) {
                objects.extend(file.compile(folder.path())?.object);
            }
            let mut command = Command::new(self.clang.program());
            command.args(["--driver-mode=g++", "-shared", "-Wl,--no-undefined"]);
            command
                .args(objects)
                .arg("-o")
                .arg(folder.path().join("all.so"));
            command.args(words(self.flags)).env("LC_ALL", "C");
            Ok(String::from_utf8_lossy(&command.output()?.stderr).into_owned())
        };
        let mut open = said().map(|said| unresolved(&said)).unwrap_or_default();
        // Those that register linked kernels are made when the program is linked.
        open.retain(|one| !one.name.starts_with(together::REGISTERS));
        open
    }
}

/// What a linker says is undefined: GNU's `main.cu:12: undefined reference to `name'`, or LLVM's
/// `undefined symbol: name` with `>>> referenced by main.cu:12` below it.
fn unresolved(said: &str) -> Vec<Unresolved> {
    let mut found: Vec<Unresolved> = Vec::new();
    let mut open: Option<String> = None;
    for line in said.lines() {
        if let Some((place, rest)) = line.split_once(": undefined reference to ") {
            let name = rest.trim_matches(['`', '\'', '"']);
            let place = place.strip_prefix("/usr/bin/ld: ").unwrap_or(place);
            add(&mut found, name, place);
        } else if let Some((_, name)) = line.split_once("undefined symbol: ") {
            open = Some(name.trim().to_owned());
        } else if let (Some((_, by)), Some(name)) = (line.split_once(">>> referenced by "), &open) {
            add(&mut found, name, by.split(" (").next().unwrap_or(by));
            open = None;
        }
    }
    found
}

/// Adds a function where it is not known yet. A place is one in a source: `main.cu:12`.
fn add(found: &mut Vec<Unresolved>, name: &str, place: &str) {
    if found.iter().any(|known| known.name == name) {
        return;
    }
    let is_line = |place: &str| {
        let number = place.rsplit(':').next().unwrap_or_default();
        number.parse::<u32>().is_ok()
    };
    let place = place.trim().trim_start_matches("./");
    found.push(Unresolved {
        name: name.to_owned(),
        place: if is_line(place) { place } else { "" }.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, place: &str) -> Unresolved {
        let [name, place] = [name, place].map(str::to_owned);
        Unresolved { name, place }
    }

    #[test]
    fn both_linkers_are_understood() {
        let gnu = "/usr/bin/ld: /tmp/0.o: in function `main':\n\
                   /usr/bin/ld: ./main.cu:12: undefined reference to `cublasSgemm_v2'\n\
                   /usr/bin/ld: ./main.cu:14: undefined reference to `cublasSgemm_v2'\n\
                   0.cpp:(.text+0x5): undefined reference to `gone(int)'\n\
                   clang: error: linker command failed with exit code 1\n";
        let wanted = [one("cublasSgemm_v2", "main.cu:12"), one("gone(int)", "")];
        assert_eq!(unresolved(gnu), wanted);
        let lld = "ld.lld: error: undefined symbol: cublasSgemm_v2\n\
                   >>> referenced by main.cu:12 (./main.cu:12)\n\
                   >>>               0.o:(main)\n";
        assert_eq!(unresolved(lld), [one("cublasSgemm_v2", "main.cu:12")]);
    }

    #[test]
    fn who_lacks_openmp_is_told_its_package() {
        for said in [
            "/usr/bin/ld: cannot find -lomp: No such file or directory",
            "ld.lld: error: unable to find library -lomp",
            "ld: library 'omp' not found",
        ] {
            assert!(remedy(said).contains("libomp-dev"), "{said}");
        }
        assert_eq!(remedy("/usr/bin/ld: cannot find -lcublas"), "");
    }
}
