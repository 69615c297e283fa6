//! The clangs of this machine, and what they make of a program with our headers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A clang that compiles CUDA programs.
#[derive(Clone)]
pub struct Compiler {
    pub name: String,
    /// The GPU that it compiles for: the newest it surely knows.
    arch: &'static str,
    feature: &'static str,
}

/// Where the programs of these tests lie.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda-sim/tests/headers")
}

/// Where the headers lie.
pub fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../kernels/include")
}

impl Compiler {
    /// The clangs that can do it: those with a version in their name, and `clang`.
    pub fn all() -> Vec<Self> {
        let numbered = (14..=24).map(|version| format!("clang-{version}"));
        let mut found: Vec<(String, Self)> = Vec::new();
        for name in numbered.chain(["clang".to_owned()]) {
            let Ok(said) = Command::new(&name).arg("--version").output() else {
                continue;
            };
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            let version = said
                .split_once("clang version ")
                .and_then(|(_, rest)| rest.split('.').next()?.parse::<u32>().ok());
            let (arch, feature) = match version {
                Some(18..) => ("sm_90", "+ptx80"),
                Some(14..) => ("sm_80", "+ptx70"),
                _ => continue,
            };
            let compiler = Self {
                name,
                arch,
                feature,
            };
            // The same clang by a second name is enough once.
            let known = found.iter().any(|(other, _)| *other == said);
            if !known && compiler.has_library() {
                found.push((said, compiler));
            }
        }
        found.into_iter().map(|(_, compiler)| compiler).collect()
    }

    /// Whether it compiles for NVIDIA's GPUs and finds a C++ library.
    fn has_library(&self) -> bool {
        let text = "#include <cmath>\n#include <cstdlib>\n";
        ["host", "device"].into_iter().all(|side| {
            self.run(side, &["-fsyntax-only", "-"], text)
                .status
                .success()
        })
    }

    /// Runs it on the text as a CUDA program, without our headers.
    fn run(&self, side: &str, options: &[&str], text: &str) -> Output {
        let mut command = Command::new(&self.name);
        command
            .args(["-x", "cuda", "-nocudainc", "-nocudalib", "-std=c++17"])
            .arg(format!("--cuda-{side}-only"))
            .arg(format!("--cuda-gpu-arch={}", self.arch))
            // No toolkit of this machine.
            .arg(format!("--cuda-path={}", folder().display()))
            .args(["-Xclang", "-target-sdk-version=11.0"])
            .args(options);
        if side == "device" {
            command.args(["-Xclang", "-target-feature", "-Xclang", self.feature]);
        }
        output(command, text)
    }

    /// What it says of a program with our headers, compiled for one side.
    pub fn compile(&self, side: &str, text: &str) -> Output {
        let include = include();
        let options = [
            "-isystem",
            include.to_str().expect("a path in UTF-8"),
            "-include",
            "cuda_runtime.h",
            "-O3",
            "-Wall",
            "-Werror",
            "-S",
            "-o-",
            "-",
        ];
        self.run(side, &options, text)
    }

    /// The PTX of a program, which has to compile for the host, too.
    pub fn ptx(&self, program: &str) -> String {
        let path = folder().join(program);
        let text = std::fs::read_to_string(&path).expect("the program");
        let made = ["host", "device"].map(|side| {
            let done = self.compile(side, &text);
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.success(), "{program} for the {side}:\n{said}");
            String::from_utf8(done.stdout).expect("text")
        });
        let [_, ptx] = made;
        ptx
    }

    /// What it says of a plain file of C or C++ with our headers.
    pub fn plain(&self, language: &str, text: &str) -> Output {
        let mut command = Command::new(&self.name);
        command
            .args(["-x", language, "-fsyntax-only", "-Wall", "-Werror"])
            .arg("-isystem")
            .arg(include())
            .arg("-");
        output(command, text)
    }
}

/// What a command says of this text on its input.
fn output(mut command: Command, text: &str) -> Output {
    use std::io::Write;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("clang starts");
    let mut input = child.stdin.take().expect("its input");
    // A clang that ends without reading has said why.
    let _ = input.write_all(text.as_bytes());
    drop(input);
    child.wait_with_output().expect("clang ends")
}
