//! clang: finding one that compiles for NVIDIA GPUs, and running it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::arch::Arch;
use crate::bit_field::mend_bit_fields;
use crate::run::{Bounds, Unread, run};
use crate::tree::source_file;
use crate::{Error, Tree};

/// The version that makes committed PTX: Debian 12's `clang-14`.
pub const PINNED_VERSION: &str = "14.0.6";

/// Names the clang to use, in place of the search.
pub(crate) const OVERRIDE: &str = "KERNEL_CLANG";

/// Where to look: on the search path, the pinned version first; then where Homebrew
/// and the LLVM installer for Windows put it, which they do not add to the path.
const CANDIDATES: [&str; 11] = [
    "clang-14",
    "clang-15",
    "clang-16",
    "clang-17",
    "clang-18",
    "clang-19",
    "clang-20",
    "clang",
    "/opt/homebrew/opt/llvm/bin/clang",
    "/usr/local/opt/llvm/bin/clang",
    r"C:\Program Files\LLVM\bin\clang.exe",
];

/// What a kernel for `arch` is compiled with. clang runs in the checkout's root.
pub(crate) fn options(arch: Arch) -> Vec<String> {
    let general = [
        "-x",
        "cuda",
        "--cuda-device-only",
        // No toolkit: no headers of its own, no device library, and none to be found,
        // lest clang take the PTX version or a limit on GPUs from it.
        "-nocudainc",
        "-nocudalib",
        "--cuda-path=kernels",
        // No headers of this machine, and the sizes of one host for all.
        "-nostdlibinc",
        "--target=x86_64-unknown-linux-gnu",
        "-Ikernels",
    ];
    let rest = [
        "-O3",
        // Lines for the counters and checks; the names of files relative to the root.
        "-gline-directives-only",
        "-fdebug-compilation-dir=.",
        "-Wall",
        "-S",
        "-o-",
    ];
    let owned = |options: &[&str]| {
        options
            .iter()
            .map(|&option| option.to_owned())
            .collect::<Vec<_>>()
    };
    [owned(&general), arch.options(), owned(&rest)].concat()
}

/// A clang that compiles for NVIDIA GPUs.
#[derive(Debug, Clone)]
pub struct Clang {
    program: OsString,
    version: String,
}

impl Clang {
    /// The clang `KERNEL_CLANG` names, or else the first that will do. The error says
    /// what was looked at.
    pub fn find() -> Result<Self, String> {
        if let Some(program) = env::var_os(OVERRIDE) {
            return Self::try_program(&program)
                .map_err(|why| format!("{OVERRIDE}={}: {why}", program.display()));
        }
        let mut unfit = Vec::new();
        for program in CANDIDATES.map(OsStr::new) {
            match Self::try_program(program) {
                Ok(clang) => return Ok(clang),
                Err(Unfit::Silent(Unread::NotStarted(_))) => {}
                Err(why) => unfit.push(format!("{}: {why}", program.display())),
            }
        }
        if unfit.is_empty() {
            Err("no clang on the search path".into())
        } else {
            Err(unfit.join("; "))
        }
    }

    fn try_program(program: &OsStr) -> Result<Self, Unfit> {
        let ask = |option| {
            let said = run(command(program).arg(option), String::new(), ASKED);
            said.map(|said| said.output).map_err(Unfit::Silent)
        };
        let text = ask("--version")?;
        let version = version(&text).ok_or(Unfit::NotClang)?;
        if !ask("--print-targets")?.contains("nvptx64") {
            return Err(Unfit::NoTarget(version));
        }
        let program = installed(program, &text, &version);
        Ok(Self { program, version })
    }

    /// One that [`Clang::find`] found before, as in another process: the program and the version.
    pub fn found(program: OsString, version: String) -> Self {
        Self { program, version }
    }

    /// What starts it.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Its version, such as `14.0.6`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its name and version, as the stamp has it.
    pub fn name(&self) -> String {
        format!("clang {}", self.version)
    }

    /// Compiles kernel `name` to PTX, the same on every machine, for the GPUs its name
    /// says. Also returns the compiler's warnings.
    pub(crate) fn compile(&self, tree: &Tree, name: &str) -> Result<(String, String), Error> {
        let arch = Arch::of(name)?;
        let output = command(&self.program)
            .current_dir(tree.root())
            .args(options(arch))
            .arg(source_file(name))
            .output()
            .map_err(Error::io(self.program.as_ref()))?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(Error::Kernel {
                compiler: self.name(),
                name: name.to_owned(),
                message,
            });
        }
        Ok((normal(&stdout(output), arch), message))
    }

    /// Compiles `text`, which need not lie in a file, with the checkout's headers and for GPUs from an
    /// `architecture` on, 80 for sm_80, or for the oldest. Messages and lines in the PTX name it `shown`. Whoever wrote it is trusted: it is
    /// [`Clang::compile_answer`] that is careful.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] where it does not compile, with the compiler's message.
    pub fn compile_text(
        &self,
        tree: &Tree,
        shown: &str,
        text: &str,
        architecture: Option<u32>,
    ) -> Result<Compiled, Error> {
        let arch = Arch::numbered(architecture)?;
        let mut command = command(&self.program);
        command
            .current_dir(tree.root())
            .args(options(arch))
            .arg("-");
        let failed = |message| Error::Text {
            compiler: self.name(),
            shown: shown.to_owned(),
            message,
        };
        let said = match run(&mut command, source(shown, text), TRUSTED) {
            Ok(said) => said,
            Err(Unread::NotStarted(why)) => return Err(Error::io(self.program.as_ref())(why)),
            Err(why) => return Err(failed(why.to_string())),
        };
        match said.status.success() {
            true => Ok(Compiled {
                ptx: normal(&said.output, arch),
                remarks: said.messages,
            }),
            // One that was ended from outside had no time to say why.
            false if said.messages.trim().is_empty() => Err(failed(said.status.to_string())),
            false => Err(failed(said.messages)),
        }
    }
}

/// What a clang may take that says what it is. It takes hundredths of a second, and on a machine that is
/// busy with much else many times as long.
const ASKED: Bounds = Bounds {
    time: Duration::from_secs(20),
    output: 64 << 10,
    alone: true,
};

/// What it may take for a text of the checkout's own.
const TRUSTED: Bounds = Bounds {
    time: Duration::from_secs(600),
    output: 1 << 30,
    alone: false,
};

/// A text as the compiler reads it, which calls it `shown`.
pub(crate) fn source(shown: &str, text: &str) -> String {
    format!("#line 1 \"{}\"\n{text}", quoted(shown))
}

/// A file's name in a `#line` directive.
fn quoted(name: &str) -> String {
    name.replace('\\', "/").replace('"', "\\\"")
}

/// A text that is no kernel of the checkout, compiled.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The PTX.
    pub ptx: String,
    /// The compiler's warnings.
    pub remarks: String,
}

/// Why a program is not the clang to use.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("{0}")]
    Silent(Unread),
    #[error("it is not a clang")]
    NotClang,
    #[error("clang {0} was built without the NVPTX target (Apple's is)")]
    NoTarget(String),
}

/// The command that installs clang on this platform.
pub fn install_command() -> &'static str {
    if cfg!(target_os = "macos") {
        "brew install llvm"
    } else if cfg!(windows) {
        "winget install LLVM.LLVM"
    } else {
        "sudo apt-get install clang   (Fedora: sudo dnf install clang)"
    }
}

/// A command that no variable of the user's makes search other folders for headers.
fn command(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    for variable in ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"] {
        command.env_remove(variable);
    }
    command
}

/// The program that answered: what was started may be a script, or a link to a program that looks for the
/// real one, and these start others, which a compiler of answers must not.
fn installed(program: &OsStr, text: &str, version: &str) -> OsString {
    let Some(folder) = text
        .lines()
        .find_map(|line| line.strip_prefix("InstalledDir: "))
    else {
        return program.to_owned();
    };
    let major = version.split('.').next().unwrap_or_default();
    let own = Path::new(program).file_name().unwrap_or_default();
    let names = [
        own.to_owned(),
        format!("clang-{major}").into(),
        "clang".into(),
    ];
    let mut files = names.iter().map(|name| Path::new(folder.trim()).join(name));
    let file = files.find(|file| file.is_file());
    file.map_or_else(|| program.to_owned(), PathBuf::into_os_string)
}

fn stdout(output: Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The version in what `clang --version` prints.
fn version(text: &str) -> Option<String> {
    let rest = text.split_once("clang version ")?.1;
    let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit());
    let version = &rest[..end.unwrap_or(rest.len())];
    (!version.is_empty()).then(|| version.to_owned())
}

/// Mends a fault of older clangs, and takes out what may differ between machines and what nobody reads: `./` and
/// backslashes in the names of files, empty debug sections, blanks at line ends. The header becomes that of `arch`.
pub(crate) fn normal(ptx: &str, arch: Arch) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in mend_bit_fields(ptx).lines().map(str::trim_end) {
        let words = line.trim_start();
        if words.starts_with(".section") && words.ends_with('}') {
            continue;
        }
        if words.starts_with(".file") {
            let line = line.replace(r"\\", "/").replace('\\', "/");
            text.push_str(&line.replace("\"./", "\""));
        } else if let Some(header) = arch.header(words) {
            text.push_str(&header);
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_every_vendor() {
        let read = |text| version(text).unwrap_or_default();
        assert_eq!(read("Debian clang version 14.0.6\nTarget: x"), "14.0.6");
        assert_eq!(read("clang version 19.1.7 (Fedora 19.1.7-1)"), "19.1.7");
        assert_eq!(read("Ubuntu clang version 18.1.3 (1ubuntu1)"), "18.1.3");
        assert_eq!(read("Apple clang version 16.0.0"), "16.0.0");
        assert_eq!(version("gcc (Debian 12.2.0) 12.2.0"), None);
        assert_eq!(version("clang version unknown"), None);
    }

    #[test]
    fn names_in_a_line_directive_end_where_they_should() {
        assert_eq!(quoted("answers/a.cu"), "answers/a.cu");
        assert_eq!(quoted("answers\\a\".cu"), "answers/a\\\".cu");
    }

    #[test]
    fn normal_ptx_names_files_alike_and_has_no_empty_sections() {
        let ptx = "ret; \r\n\t.section\t.debug_loc\t{\t}\n\t.file\t1 \"./kernels/a.cu\"";
        assert_eq!(
            normal(ptx, Arch::OLDEST),
            "ret;\n\t.file\t1 \"kernels/a.cu\"\n"
        );
        let windows = "\t.file\t1 \"kernels\\\\a.cu\"\n";
        assert_eq!(
            normal(windows, Arch::OLDEST),
            "\t.file\t1 \"kernels/a.cu\"\n"
        );
    }
}
