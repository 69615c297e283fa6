//! Compiling a text that nobody vouches for.
//!
//! The compiler runs within bounds that whoever asks for it sets, and starts no other process. Afterwards the
//! list of the files that it opened is compared with what it was to open: on systems where nothing keeps it
//! from opening others, this alone finds out.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::arch::Arch;
use crate::clang::{Clang, Compiled, normal, options, source};
use crate::run::{self, Bounds, Unread, run};
use crate::sources::{resolved, with_included};
use crate::{Error, Level, Tree};

/// The longest PTX that is read. That of the checkout's longest kernel has a fortieth of it.
const LONGEST: usize = 8 << 20;

/// A text that nobody vouches for, and within which bounds it is compiled.
pub struct Answer<'a> {
    /// What the text is called in messages and in the PTX: a plain name.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// Files in the checkout's `kernels` that it may include. What they include themselves is read with them.
    pub headers: &'a [&'a str],
    /// The oldest GPUs that it is for, 80 for sm_80; where there is none, the oldest that there are.
    pub architecture: Option<u32>,
    /// How it is compiled.
    pub level: Level,
    /// A folder for the compiler.
    pub scratch: &'a Path,
    /// How long the compiler may take, on the clock.
    pub time: Duration,
    /// A command that starts the compiler, which can open these files and folders, and write to the scratch
    /// folder.
    pub start: &'a dyn Fn(&OsStr, Vec<PathBuf>) -> io::Result<Command>,
}

/// What became of a compiler that was ended, or ended itself, without a word on the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It took too long, on the clock.
    Late(Duration),
    /// The PTX has more bytes than this.
    Long(usize),
    /// It computed for too long.
    Computing,
    /// It asked for more memory than there is for it.
    Memory,
    /// It crashed; what it said of that, or how the process ended.
    Crashed(String),
}

impl Clang {
    /// Compiles a text that nobody vouches for, for the oldest GPUs.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] where it does not compile, with the compiler's message; [`Error::Ended`] where it
    /// takes more than it may; [`Error::Opened`] where the compiler opened another file;
    /// [`Error::NotStarted`] where the compiler does not run within these bounds, which says nothing of the
    /// text.
    pub fn compile_answer(&self, tree: &Tree, answer: &Answer) -> Result<Compiled, Error> {
        let arch = Arch::numbered(answer.architecture)?;
        let program = Path::new(self.program());
        let io = |why| Error::io(program)(why);
        // The list of files that the compiler opened: each level has its own.
        let opened = answer.scratch.join(format!("opened-{:?}", answer.level));
        let headers = headers(tree, answer.headers)?;
        let read = self.with_installed(tree, &headers);
        let mut command = (answer.start)(self.program(), read).map_err(io)?;
        command
            .current_dir(tree.root())
            .args(options(arch))
            .args(answer.level.options())
            // One process for all: it starts no other.
            .args(["-fintegrated-cc1", "-fno-crash-diagnostics"])
            .env("LLVM_DISABLE_SYMBOLIZATION", "1")
            .args([
                "-Wno-builtin-macro-redefined",
                "-U__has_include",
                "-U__has_include_next",
            ])
            .args(["-U__has_embed", "-MD", "-MF"])
            .arg(&opened);
        if !answer.text.contains("_Pragma") {
            // Then it is not put together from its parts either.
            command.arg("-U_Pragma");
        }
        command.arg("-");
        let bounds = Bounds {
            time: answer.time,
            output: LONGEST,
            alone: false,
        };
        let said = match run(&mut command, source(answer.name, answer.text), bounds) {
            Ok(said) => said,
            Err(Unread::NotStarted(why)) => return Err(io(why)),
            Err(Unread::Late(time)) => return Err(self.ended(answer, Ended::Late(time))),
            Err(Unread::Long(bytes)) => return Err(self.ended(answer, Ended::Long(bytes))),
        };
        self.verdict(answer, &said)?;
        let opened = fs::read_to_string(&opened).map_err(Error::io(&opened))?;
        if let Some(file) = foreign(&opened, &headers) {
            return Err(Error::Opened { file });
        }
        Ok(Compiled {
            ptx: defined(&normal(&said.output, arch)),
            remarks: said.messages,
        })
    }

    /// Whether it compiled.
    fn verdict(&self, answer: &Answer, said: &run::Said) -> Result<(), Error> {
        let ended = |why| Err(self.ended(answer, why));
        // Where it does not compile, clang ends with 1; it ends itself like a shell where it crashes.
        match (said.status.code(), signal(said.status)) {
            (Some(0), _) => Ok(()),
            (Some(1), _) => Err(Error::Text {
                compiler: self.name(),
                shown: answer.name.to_owned(),
                message: said.messages.clone(),
            }),
            (_, Some(CPU_TIME)) => ended(Ended::Computing),
            _ if is_memory(&said.messages) => ended(Ended::Memory),
            (Some(125..=127), _) => Err(Error::NotStarted {
                compiler: self.name(),
                message: said.messages.trim().to_owned(),
            }),
            _ => ended(Ended::Crashed(crash(said))),
        }
    }

    fn ended(&self, answer: &Answer, why: Ended) -> Error {
        Error::Ended {
            compiler: self.name(),
            shown: answer.name.to_owned(),
            why,
        }
    }

    /// What it has to open to compile such a text, beside the system's libraries and the text itself: what
    /// was installed with it, and these headers of the checkout's with all that they include.
    ///
    /// # Errors
    ///
    /// Where a header cannot be read.
    pub fn files(&self, tree: &Tree, headers: &[&str]) -> Result<Vec<PathBuf>, Error> {
        Ok(self.with_installed(tree, &self::headers(tree, headers)?))
    }

    /// What was installed with it, and these files of the checkout.
    fn with_installed(&self, tree: &Tree, files: &[String]) -> Vec<PathBuf> {
        let program = Path::new(self.program());
        let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
        // It lies in `bin`, and its libraries and headers beside that.
        let prefix = real.parent().and_then(Path::parent);
        let beside = |prefix: &Path| ["lib", "lib64"].map(|folder| prefix.join(folder));
        let installed = prefix.map(beside).into_iter().flatten();
        installed
            .chain(files.iter().map(|file| tree.path(file)))
            .collect()
    }
}

/// These headers of the checkout's `kernels`, and all that they include: `kernels/cuda_device.h`.
fn headers(tree: &Tree, names: &[&str]) -> Result<Vec<String>, Error> {
    let files = names.iter().map(|name| format!("kernels/{name}")).collect();
    with_included(tree, files, |_, _| {})
}

/// `SIGXCPU`
const CPU_TIME: i32 = 24;

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// How it crashed, in its own words where it has some.
fn crash(said: &run::Said) -> String {
    let mut lines = said.messages.lines().map(str::trim);
    let own = lines.find_map(|line| {
        line.split_once("fatal error: ")
            .or(line.split_once("LLVM ERROR: "))
    });
    own.map_or_else(|| said.status.to_string(), |(_, own)| own.to_owned())
}

/// Whether it says that it got no memory.
fn is_memory(messages: &str) -> bool {
    ["out of memory", "std::bad_alloc"]
        .iter()
        .any(|word| messages.contains(word))
}

/// The first file in a compiler's list that is not one of the checkout's headers. The list is a rule of a
/// makefile: `-: kernels/cuda_device.h`, with a backslash where a line goes on.
fn foreign(list: &str, headers: &[String]) -> Option<String> {
    let list = list.replace("\\\r\n", " ").replace("\\\n", " ");
    let files = list.split_once(": ").map_or("", |(_, files)| files);
    files
        .split_ascii_whitespace()
        .map(|file| file.replace('\\', "/"))
        .find(|file| {
            // A name with a blank in it comes in pieces; the first one ends in the blank's backslash.
            let whole = (!file.ends_with('/')).then(|| resolved(file)).flatten();
            !whole.is_some_and(|file| headers.contains(&file)) && file != "-"
        })
}

/// Variables that are only declared are defined in the PTX, as nvcc has them: in C++ `extern "C"` in front of
/// one declares it. Shared memory without a length has to stay so.
fn defined(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        let variable = [".const", ".global"].into_iter().find_map(|space| {
            let rest = line.strip_prefix(".extern ")?;
            (rest.starts_with(space) && !rest.contains("[]")).then_some(rest)
        });
        match variable {
            Some(variable) => text.extend([".visible ", variable]),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_headers_are_in_the_list_of_files() {
        let headers = ["kernels/a.h", "kernels/b.h"].map(str::to_owned);
        for list in [
            "-: kernels/a.h\n",
            "-: \\\n  kernels/a.h \\\n  kernels/b.h\n",
            "-: kernels\\a.h \\\r\n kernels/b.h\r\n",
            "-: kernels/include/../a.h\n",
            "-:\n",
            "",
        ] {
            assert_eq!(foreign(list, &headers), None, "{list}");
        }
        for (list, file) in [
            ("-: kernels/a.h /etc/passwd\n", "/etc/passwd"),
            ("-: kernels/c.h kernels/a.h\n", "kernels/c.h"),
            ("-: \\\n ../kernels/a.h\n", "../kernels/a.h"),
            ("-: kernels/../a.h\n", "kernels/../a.h"),
            ("-: kernels/x/../c.h\n", "kernels/x/../c.h"),
            ("-: kernels/a.h\\ b.h\n", "kernels/a.h/"),
        ] {
            assert_eq!(foreign(list, &headers).as_deref(), Some(file), "{list}");
        }
    }

    #[test]
    fn variables_are_defined_and_the_rest_stays() {
        let ptx = ".extern .const .align 4 .b8 settings[16];\n.extern .global .align 4 .f32 x;\n\
                   .extern .shared .align 4 .b8 buffer[];\n.extern .const .align 4 .b8 open[];\n\
                   .extern .func (.param .b32 r) vprintf\n.visible .entry a()\n";
        let expected = ptx
            .replace(
                ".extern .const .align 4 .b8 settings",
                ".visible .const .align 4 .b8 settings",
            )
            .replace(".extern .global", ".visible .global");
        assert_eq!(defined(ptx), expected);
    }
}
