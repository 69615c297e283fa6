//! One file, compiled: for the GPU, and for the host with what came of that in it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{Compiler, Goal, messages, without_body};

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

/// How clang is told of CUDA.
pub const CUDA_WORDS: [&str; 10] = [
    "-x",
    "cuda",
    // No toolkit, and none to be found.
    "-nocudainc",
    "-nocudalib",
    "--cuda-path=/nonexistent",
    // So that a launch is a call of the runtime's functions of today.
    "-Xclang",
    "-target-sdk-version=11.0",
    // nvcc says nothing of these: a note's listing does the first in each line of its scene; a word of
    // C++ that C++17 has no more; a loop that `#pragma unroll` cannot unroll.
    "-Wno-implicit-const-int-float-conversion",
    "-Wno-register",
    "-Wno-pass-failed",
];

impl Compiler<'_> {
    /// How kernels are compiled, whatever comes of them.
    pub fn gpu_words(&self) -> Vec<OsString> {
        let arch = format!("--cuda-gpu-arch={}", self.arch.name());
        let feature = self.arch.feature();
        let words = [
            "--cuda-device-only",
            &arch,
            "-Xclang",
            "-target-feature",
            "-Xclang",
            &feature,
            // In a kernel `new` may be a null pointer.
            "-fcheck-new",
            "-O3",
            // nvcc unrolls loops by four that clang by itself leaves alone.
            "-mllvm",
            "-unroll-partial-threshold=200",
            "-mllvm",
            "-unroll-max-count=4",
            // Lines for the counters and checks.
            "-gline-directives-only",
        ];
        let words = words.map(OsString::from).into_iter();
        words
            .chain(self.flags.kernels.iter().map(OsString::from))
            .collect()
    }
}

/// Whether a folder of headers is that of NVIDIA's toolkit, which a Makefile may name.
fn is_toolkit(folder: &Path) -> bool {
    folder.join("crt/host_runtime.h").is_file()
}

/// A file and how it is compiled.
pub struct File {
    pub number: usize,
    /// Its kernels are linked with those of other files.
    linked: bool,
    clang: OsString,
    file: PathBuf,
    device: Option<Vec<OsString>>,
    host: Option<Vec<OsString>>,
}

/// What came of it.
pub struct One {
    /// None where it does not compile.
    pub object: Option<PathBuf>,
    /// Its kernels: PTX, or LLVM's bitcode where they are linked with others.
    pub kernels: Option<PathBuf>,
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
        let (toolkits, own): (Vec<_>, Vec<_>) =
            flags.include.iter().partition(|folder| is_toolkit(folder));
        for folder in own {
            common.extend(["-I".into(), folder.into()]);
        }
        common.extend(["-isystem".into(), (&compiler.include).into()]);
        // NVIDIA's own headers are not for this runtime; those of its libraries are found behind ours.
        for folder in toolkits {
            common.extend(["-isystem".into(), folder.into()]);
        }
        common.extend(flags.define.iter().map(|it| format!("-D{it}").into()));
        common.extend(flags.undefine.iter().map(|it| format!("-U{it}").into()));
        let standard = &flags.standard;
        if kind != Kind::C {
            common.extend([
                "--driver-mode=g++".into(),
                format!("-std={standard}").into(),
                // `"%"FORMAT`, which older C++ allowed, and nvcc's compilers still do.
                "-Wno-error=reserved-user-defined-literal".into(),
            ]);
        } else if standard.starts_with('c') && !standard.starts_with("c++") {
            common.push(format!("-std={standard}").into());
        }
        common.push("-fdebug-compilation-dir=.".into());
        if io::stderr().is_terminal() {
            common.push("-fcolor-diagnostics".into());
        }
        let mut cuda: Vec<OsString> = CUDA_WORDS.map(OsString::from).into();
        cuda.extend(["-include".into(), "cuda_runtime.h".into()]);
        let linked = flags.link_kernels && goal == Goal::Library;
        if linked {
            // Static kernels and variables of two files may have one name, to which clang puts this word. The
            // host's code, compiled by itself, has to have the same.
            let word = format!("-cuid=file{number}");
            cuda.extend(["-fgpu-rdc", "-fuse-cuid=none", "-Xclang", &word].map(OsString::from));
        }
        let mut device = [common.clone(), cuda.clone(), compiler.gpu_words()].concat();
        // Where kernels are linked, that is where they are optimised, as if they stood in one file.
        let form: &[&str] = match linked {
            true => &["-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes"],
            false => &["-S"],
        };
        device.extend(form.iter().map(OsString::from));
        let mut host = common;
        if kind == Kind::Cuda {
            host.extend(cuda);
            host.push("--cuda-host-only".into());
            host.push(format!("--cuda-gpu-arch={}", compiler.arch.name()).into());
        }
        host.extend(["-c", "-fPIC", "-gline-tables-only"].map(OsString::from));
        host.push(format!("-O{}", flags.optimise).into());
        host.extend(flags.host.iter().map(OsString::from));
        File {
            number,
            linked,
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
            kernels: None,
            remarks: String::new(),
            read: Vec::new(),
        };
        let kernels = of(if self.linked { "bc" } else { "ptx" });
        if let Some(words) = &self.device {
            let done = self.pass(words, &[], &kernels, &of("device.d"))?;
            one.remarks = messages::merged(&done.said, "");
            one.read = done.read;
            if !done.ok {
                return Ok(one);
            }
            if !self.linked {
                mend(&kernels)?;
            }
            one.kernels = Some(kernels.clone());
        }
        let Some(words) = &self.host else {
            one.object = one.kernels.clone();
            return Ok(one);
        };
        if self.device.is_some() && !self.linked {
            end_with_nul(&kernels)?;
        }
        let object = of("o");
        let mut with: Vec<OsString> = Vec::new();
        if self.device.is_some() {
            let words = ["-Xclang", "-fcuda-include-gpubinary", "-Xclang"];
            with.extend(words.map(OsString::from));
            // What is linked is put into the program later, and by then once. clang asks for a file.
            with.push(if self.linked { &self.file } else { &kernels }.into());
        }
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

/// Mends a fault of older clangs in the PTX, and puts in what clang leaves to a library.
pub fn mend(ptx: &Path) -> Result<()> {
    let text = fs::read_to_string(ptx).with_context(|| format!("cannot read {}", ptx.display()))?;
    let mended = kernel_build::mend_bit_fields(&text);
    let mended = without_body::that_traps(&mended);
    if *mended == *text {
        return Ok(());
    }
    fs::write(ptx, &*mended).with_context(|| format!("cannot write {}", ptx.display()))
}

/// PTX ends with a NUL where it is loaded, which newer clangs do not put behind what they take into an object.
fn end_with_nul(ptx: &Path) -> Result<()> {
    let file = fs::OpenOptions::new().append(true).open(ptx);
    file.and_then(|mut file| file.write_all(&[0]))
        .with_context(|| format!("cannot write {}", ptx.display()))
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
