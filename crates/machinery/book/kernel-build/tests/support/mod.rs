//! A temporary checkout, and the real programs run in it.

#![allow(dead_code, reason = "each test program uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A path that does not exist.
pub const NOWHERE: &str = "/nowhere/at/all";

/// A checkout with one kernel, `square`, and one header that it includes.
pub struct Checkout {
    dir: TempDir,
}

impl Checkout {
    pub fn new() -> Self {
        Self::named("warpbook")
    }

    /// Creates the checkout in a directory with this prefix.
    pub fn named(prefix: &str) -> Self {
        let dir = tempfile::Builder::new().prefix(prefix).tempdir();
        let checkout = Self {
            dir: dir.expect("a temporary folder"),
        };
        for (file, text) in [
            ("Cargo.toml", ""),
            ("crates/square/Cargo.toml", ""),
            ("out/.keep", ""),
            ("bin/.keep", ""),
            (
                "kernels/square.cu",
                "#include \"device.h\"\nKERNEL void square(float *x) { *x *= *x; }\n",
            ),
            (
                "kernels/device.h",
                "#define KERNEL extern \"C\" __attribute__((global))\n",
            ),
        ] {
            checkout.write(file, text);
        }
        checkout
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).expect("a readable file")
    }

    /// Copies a directory recursively.
    pub fn copy(&self, from: &Path, to: &str) {
        for entry in fs::read_dir(from).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            let to = format!("{to}/{name}");
            if path.is_dir() {
                self.copy(&path, &to)
            } else {
                self.write(&to, &fs::read_to_string(&path).expect("a text"))
            }
        }
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    /// Replaces text in a file, which must contain `old`.
    pub fn edit(&self, file: &str, old: &str, new: &str) {
        let text = self.read(file);
        assert!(text.contains(old), "{file} has no {old:?}");
        self.write(file, &text.replace(old, new));
    }

    /// Installs a fake clang in `bin/`. It reports `version` and `target`, prints the requested architecture,
    /// and turns each line of the kernel into a comment. A line with `mistake` is an error, one with
    /// `dubious` a warning.
    #[cfg(unix)]
    pub fn install_clang(&self, name: &str, version: &str, target: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;

        let script = format!(
            r#"#!/bin/sh
case "$1" in
--version) echo "Fake clang version {version} (for tests)"; exit ;;
--print-targets) echo "    {target} - a target"; exit ;;
esac
for file in "$@"; do
  case "$file" in
  --cuda-gpu-arch=*) arch=$file ;;
  +ptx*) arch="$arch $file" ;;
  esac
done
number=0
echo ".version 6.4"
echo "// for $arch"
while read -r line; do
  number=$((number + 1))
  case "$line" in
  *mistake*) echo "$file:$number:1: error: a mistake" >&2; echo "    ^" >&2; exit 1 ;;
  *dubious*) echo "$file:$number:1: warning: dubious" >&2 ;;
  esac
  echo "// {version}: $line"
done <"$file"
"#
        );
        let file = format!("bin/{name}");
        self.write(&file, &script);
        let path = self.path(&file);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    /// Creates the command that checks or updates `kernels/ptx`, run in the checkout with `bin/` as the search
    /// path.
    pub fn kernel_build(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernel-build"));
        command
            .current_dir(self.dir.path())
            .env("PATH", self.path("bin"))
            .env_remove("KERNEL_CLANG");
        command
    }

    /// Creates the command of a chapter's build script for kernel `name`, run as cargo runs it, with only the
    /// compilers in `bin/`.
    pub fn build_script(&self, name: &str) -> Command {
        let mut command = Command::new(build_script());
        command
            .arg(name)
            .env("CARGO_MANIFEST_DIR", self.path("crates/square"))
            .env("OUT_DIR", self.path("out"))
            .env("PATH", self.path("bin"))
            .env("KERNEL_NVRTC", NOWHERE)
            .env_remove("KERNEL_CLANG");
        command
    }
}

/// Returns the path of the compiled `examples/build-script.rs`.
fn build_script() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_kernel-build"));
    let name = format!("examples/build-script{}", std::env::consts::EXE_SUFFIX);
    let path = program.with_file_name(name);
    assert!(path.exists(), "cargo test -p kernel-build builds {path:?}");
    path
}

/// Runs a program that must succeed, and returns its standard output.
#[track_caller]
pub fn succeed(mut command: Command) -> String {
    let (output, errors) = run(&mut command);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Runs a program that must fail with status 1 and without a panic, and returns its standard error.
#[track_caller]
pub fn fail(mut command: Command) -> String {
    let (output, errors) = run(&mut command);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    errors
}

fn run(command: &mut Command) -> (Output, String) {
    let output = command.output().expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

/// Asserts that `text` contains all of `parts`.
#[track_caller]
pub fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}
