//! One file, compiled: for the GPU, and for the host with what came of that in it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{Compiler, Goal, messages};

/// What a file is, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Cuda,
    Cpp,
    C,
}

/// # Errors
///
/// Where nothing of that ending is compiled.
pub fn kind(file: &Path) -> Result<Kind> {
    let ending = file.extension().unwrap_or_default();
    Ok(match ending.to_str().unwrap_or_default() {
        "cu" => Kind::Cuda,
        "cpp" | "cc" | "cxx" | "C" => Kind::Cpp,
        "c" => Kind::C,
        "ptx" | "cubin" | "fatbin" | "o" | "a" | "so" | "exe" | "out" => bail!(
            "{}: cuda-run takes a program's source (.cu, .cpp, .c) and compiles it itself",
            file.display()
        ),
        _ => bail!("{}: cuda-run takes .cu, .cpp and .c files", file.display()),
    })
}

/// A file and how it is compiled.
pub struct File {
    pub number: usize,
    clang: OsString,
    file: PathBuf,
    device: Option<Vec<OsString>>,
    host: Option<Vec<OsString>>,
}

/// What came of it.
pub struct One {
    /// None where it does not compile.
    pub object: Option<PathBuf>,
    /// What clang said.
    pub remarks: String,
    /// Which files it read.
    pub read: Vec<PathBuf>,
}

impl File {
    pub fn new(compiler: &Compiler, number: usize, file: &Path, goal: Goal) -> File {
        let kind = kind(file).unwrap_or(Kind::Cpp);
        let flags = compiler.flags;
        let mut common: Vec<OsString> = Vec::new();
        for folder in &flags.include {
            common.extend(["-I".into(), folder.into()]);
        }
        common.extend(["-isystem".into(), (&compiler.include).into()]);
        common.extend(flags.define.iter().map(|it| format!("-D{it}").into()));
        common.extend(flags.undefine.iter().map(|it| format!("-U{it}").into()));
        let standard = &flags.standard;
        if kind != Kind::C {
            common.extend([
                "--driver-mode=g++".into(),
                format!("-std={standard}").into(),
            ]);
        } else if standard.starts_with('c') && !standard.starts_with("c++") {
            common.push(format!("-std={standard}").into());
        }
        common.push("-fdebug-compilation-dir=.".into());
        if io::stderr().is_terminal() {
            common.push("-fcolor-diagnostics".into());
        }
        let cuda: Vec<OsString> = [
            "-x",
            "cuda",
            // No toolkit, and none to be found.
            "-nocudainc",
            "-nocudalib",
            "--cuda-path=/nonexistent",
            // So that a launch is a call of the runtime's functions of today.
            "-Xclang",
            "-target-sdk-version=11.0",
            "-include",
            "cuda_runtime.h",
            // nvcc says nothing of it, and a note's listing does it in each line of its scene.
            "-Wno-implicit-const-int-float-conversion",
        ]
        .map(OsString::from)
        .into();
        let feature = compiler.arch.feature();
        let arch = format!("--cuda-gpu-arch={}", compiler.arch.name());
        let mut device = [common.clone(), cuda.clone()].concat();
        let words = [
            "--cuda-device-only",
            &arch,
            "-Xclang",
            "-target-feature",
            "-Xclang",
            &feature,
        ];
        device.extend(words.map(OsString::from));
        // Lines for the counters and checks.
        device.extend(["-O3", "-S", "-gline-directives-only"].map(OsString::from));
        device.extend(flags.kernels.iter().map(OsString::from));
        let mut host = common;
        if kind == Kind::Cuda {
            host.extend(cuda);
            host.extend(["--cuda-host-only".into(), arch.clone().into()]);
        }
        host.extend(["-c", "-fPIC", "-gline-tables-only"].map(OsString::from));
        host.push(format!("-O{}", flags.optimise).into());
        host.extend(flags.host.iter().map(OsString::from));
        File {
            number,
            clang: compiler.clang.program().to_owned(),
            file: file.to_owned(),
            device: (kind == Kind::Cuda).then_some(device),
            host: (goal == Goal::Library).then_some(host),
        }
    }

    /// All that decides how it is compiled.
    pub fn all_words(&self) -> Vec<OsString> {
        let mut words = vec![self.file.clone().into()];
        words.extend(self.device.iter().flatten().cloned());
        words.extend(self.host.iter().flatten().cloned());
        words
    }

    pub fn compile(&self, folder: &Path) -> Result<One> {
        let of = |ending: &str| folder.join(format!("{}.{ending}", self.number));
        let mut one = One {
            object: None,
            remarks: String::new(),
            read: Vec::new(),
        };
        let ptx = of("ptx");
        if let Some(words) = &self.device {
            let done = self.pass(words, &[], &ptx, &of("device.d"))?;
            one.remarks = messages::merged(&done.said, "");
            one.read = done.read;
            if !done.ok {
                return Ok(one);
            }
            one.object = Some(ptx.clone());
        }
        let Some(words) = &self.host else {
            return Ok(one);
        };
        let object = of("o");
        let with: Vec<OsString> = match self.device {
            None => Vec::new(),
            Some(_) => ["-Xclang", "-fcuda-include-gpubinary", "-Xclang"]
                .map(OsString::from)
                .into_iter()
                .chain([ptx.into()])
                .collect(),
        };
        let done = self.pass(words, &with, &object, &of("host.d"))?;
        one.remarks = messages::merged(&one.remarks, &done.said);
        one.read.extend(done.read);
        one.object = done.ok.then_some(object);
        Ok(one)
    }

    fn pass(&self, words: &[OsString], with: &[OsString], to: &Path, read: &Path) -> Result<Pass> {
        let mut command = Command::new(&self.clang);
        command.args(words).args(with);
        command
            .arg("-MD")
            .arg("-MF")
            .arg(read)
            .arg("-o")
            .arg(to)
            .arg(&self.file);
        let output = command
            .output()
            .with_context(|| format!("cannot start {}", self.clang.display()))?;
        let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() && said.trim().is_empty() {
            said = format!(
                "{}: clang ended with {}\n",
                self.file.display(),
                output.status
            );
        }
        Ok(Pass {
            ok: output.status.success(),
            said,
            read: fs::read_to_string(read).map_or_else(|_| Vec::new(), |text| files_of(&text)),
        })
    }
}

struct Pass {
    ok: bool,
    said: String,
    read: Vec<PathBuf>,
}

/// The files that a rule for make names after its colon.
fn files_of(rule: &str) -> Vec<PathBuf> {
    let after = rule.split_once(": ").map_or("", |(_, after)| after);
    let mut files = vec![String::new()];
    let mut characters = after
        .replace("\\\n", " ")
        .chars()
        .collect::<Vec<_>>()
        .into_iter()
        .peekable();
    while let Some(one) = characters.next() {
        let last = files.len() - 1;
        match one {
            '\\' if characters.peek() == Some(&' ') || characters.peek() == Some(&'#') => {
                files[last].extend(characters.next());
            }
            '$' if characters.peek() == Some(&'$') => files[last].extend(characters.next()),
            ' ' | '\n' | '\r' => files.push(String::new()),
            other => files[last].push(other),
        }
    }
    files.retain(|file| !file.is_empty());
    files.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_say_what_a_file_is() {
        let of = |name: &str| kind(Path::new(name)).map_err(|why| why.to_string());
        assert_eq!(of("a/b.cu"), Ok(Kind::Cuda));
        assert_eq!(of("b.cc"), Ok(Kind::Cpp));
        assert_eq!(of("b.c"), Ok(Kind::C));
        assert!(of("a.out").unwrap_err().contains("a program's source"));
        assert!(of("a.txt").unwrap_err().contains("takes .cu, .cpp and .c"));
        assert!(of("a").is_err());
    }

    #[test]
    fn a_rule_names_what_was_read() {
        let rule = "0.o: my\\ dir/a.cu \\\n  /usr/include/stdio.h \\\n  a$$b.h\n";
        let files = ["my dir/a.cu", "/usr/include/stdio.h", "a$b.h"].map(PathBuf::from);
        assert_eq!(files_of(rule), files);
        assert_eq!(files_of(""), [""; 0].map(PathBuf::from));
    }
}
