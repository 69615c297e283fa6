//! The clang compilers of this machine, and their output for programs with Warpbook's headers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A clang that can compile CUDA programs.
#[derive(Clone)]
pub struct Compiler {
    pub name: String,
    /// The GPU to compile for: the newest that this version certainly supports.
    arch: &'static str,
    feature: &'static str,
}

/// Returns the folder of these tests' programs.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda-sim/tests/headers")
}

/// Returns the folder of the headers.
pub fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../kernels/include")
}

impl Compiler {
    /// Finds the suitable clangs: those with a version in their name, and `clang`.
    pub fn all() -> Vec<Self> {
        let numbered = (14..=24).map(|version| format!("clang-{version}"));
        let mut compilers: Vec<(String, Self)> = Vec::new();
        for name in numbered.chain(["clang".to_owned()]) {
            let Ok(version_text) = Command::new(&name).arg("--version").output() else {
                continue;
            };
            let version_text = String::from_utf8_lossy(&version_text.stdout).into_owned();
            let version =
                version_text
                    .split_once("clang version ")
                    .and_then(|(_, after_version)| {
                        after_version.split('.').next()?.parse::<u32>().ok()
                    });
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
            // Skips a second name of the same clang.
            let is_duplicate = compilers
                .iter()
                .any(|(known_version, _)| *known_version == version_text);
            if !is_duplicate && compiler.has_library() {
                compilers.push((version_text, compiler));
            }
        }
        compilers
            .into_iter()
            .map(|(_, compiler)| compiler)
            .collect()
    }

    /// Returns true if it compiles for NVIDIA's GPUs and finds a C++ library.
    fn has_library(&self) -> bool {
        let text = "#include <cmath>\n#include <cstdlib>\n";
        ["host", "device"].into_iter().all(|side| {
            self.run(side, &["-fsyntax-only", "-"], text)
                .status
                .success()
        })
    }

    /// Compiles the text as a CUDA program, without Warpbook's headers.
    fn run(&self, side: &str, options: &[&str], text: &str) -> Output {
        let mut command = Command::new(&self.name);
        command
            .args(["-x", "cuda", "-nocudainc", "-nocudalib", "-std=c++17"])
            .arg(format!("--cuda-{side}-only"))
            .arg(format!("--cuda-gpu-arch={}", self.arch))
            // Use no CUDA toolkit of this machine.
            .arg(format!("--cuda-path={}", folder().display()))
            .args(["-Xclang", "-target-sdk-version=11.0"])
            .args(options);
        if side == "device" {
            command.args(["-Xclang", "-target-feature", "-Xclang", self.feature]);
        }
        output(command, text)
    }

    /// Compiles a program with Warpbook's headers for the given side.
    pub fn compile(&self, side: &str, text: &str) -> Output {
        let include = include();
        let options = [
            "-isystem",
            include.to_str().expect("the path is not UTF-8"),
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

    /// Returns the PTX of a program. The program must compile for the host, too.
    pub fn ptx(&self, program: &str) -> String {
        let path = folder().join(program);
        let text = std::fs::read_to_string(&path).expect("cannot read the program");
        let outputs = ["host", "device"].map(|side| {
            let result = self.compile(side, &text);
            let message = String::from_utf8_lossy(&result.stderr).into_owned();
            assert!(
                result.status.success(),
                "{program} for the {side}:\n{message}"
            );
            String::from_utf8(result.stdout).expect("not UTF-8")
        });
        let [_, ptx] = outputs;
        ptx
    }

    /// Compiles a plain C or C++ file with Warpbook's headers.
    pub fn compile_plain(&self, language: &str, text: &str) -> Output {
        let mut command = Command::new(&self.name);
        command
            .args(["-x", language, "-fsyntax-only", "-Wall", "-Werror"])
            .arg("-isystem")
            .arg(include())
            .arg("-");
        output(command, text)
    }
}

/// Runs a command with this text on its standard input.
fn output(mut command: Command, text: &str) -> Output {
    use std::io::Write;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cannot start clang");
    let mut input = child.stdin.take().expect("stdin is not piped");
    // Ignore errors: a clang that exits without reading has printed the reason.
    let _ = input.write_all(text.as_bytes());
    drop(input);
    child.wait_with_output().expect("cannot wait for clang")
}
