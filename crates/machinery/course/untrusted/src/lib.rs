//! Compilation of untrusted source code.
//!
//! The compiler runs within limits set by the caller and starts no other process. Afterwards the list of
//! files that it opened is compared with the allowed ones; on systems without a sandbox, this check alone
//! detects forbidden files.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kernel_build::{
    Arch, Clang, Compiled, Limits, ProcessOutput, RunError, SourceText, Tree, compile_with,
    normalize_path,
};

/// The maximum length of the PTX in bytes, 40 times that of the checkout's longest kernel.
const MAX_PTX_BYTES: usize = 8 << 20;

/// Untrusted source code and the limits of its compilation.
pub struct UntrustedSource<'a> {
    /// The name of the source in messages and in the PTX, without a directory.
    pub name: &'a str,
    /// The source code.
    pub text: &'a str,
    /// Files in the checkout's `kernels` that the source may include. Files that they include are allowed too.
    pub headers: &'a [&'a str],
    /// The oldest architecture that must run the code, such as 80 for sm_80; the oldest supported one by
    /// default.
    pub architecture: Option<u32>,
    pub optimization: OptimizationLevel,
    /// A directory in which the compiler may write.
    pub scratch: &'a Path,
    /// The compiler's time limit, in wall-clock time.
    pub time_limit: Duration,
    /// Returns the command that starts the given compiler. The process must be able to read the given files and
    /// directories, and to write to the scratch directory.
    pub command: &'a dyn Fn(&OsStr, Vec<PathBuf>) -> io::Result<Command>,
}

/// The amount of optimization that clang applies to a kernel, without effect on its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptimizationLevel {
    /// All optimizations, with which kernels are measured.
    Optimized,
    /// No optimization: every load and store is emitted where it is written. Optimization may remove an unused
    /// access, or move one behind a condition that follows it.
    Unoptimized,
}

impl OptimizationLevel {
    /// Returns the options to add. The macros hide the level from the source.
    fn options(self) -> &'static [&'static str] {
        match self {
            OptimizationLevel::Optimized => &[],
            OptimizationLevel::Unoptimized => &["-O0", "-D__OPTIMIZE__=1", "-U__NO_INLINE__"],
        }
    }
}

/// An error of a compilation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The source does not compile; `message` is the compiler's.
    #[error("{compiler} cannot compile {file_name}:\n{message}")]
    Text {
        /// The compiler, with its version.
        compiler: String,
        /// The name of the source.
        file_name: String,
        /// The compiler's messages.
        message: String,
    },
    /// The compiler exceeded a limit or crashed before it diagnosed the source.
    #[error("{compiler} was stopped while compiling {file_name}: {reason:?}")]
    Terminated {
        /// The compiler, with its version.
        compiler: String,
        /// The name of the source.
        file_name: String,
        /// The cause.
        reason: Termination,
    },
    /// The compiler opened a file that the source may not include.
    #[error("the compiler opened {file}, which the source may not include")]
    ForbiddenFile {
        /// The file, as named by the compiler.
        file: String,
    },
    /// The compiler cannot run within its limits.
    #[error(
        "{compiler} does not run in the sandbox, where it can open only its own files: {message}\n\
         KERNEL_CLANG=/path/to/clang selects another clang."
    )]
    NotStarted {
        /// The compiler, with its version.
        compiler: String,
        /// The compiler's message.
        message: String,
    },
    /// The compiler failed because of the system, regardless of the source: it was killed by another process, or
    /// could not write a file.
    #[error("{compiler} could not finish compiling {file_name}: {message}")]
    System {
        /// The compiler, with its version.
        compiler: String,
        /// The name of the source.
        file_name: String,
        /// The compiler's message, or its exit status.
        message: String,
    },
    /// The compilation could not be prepared or started, regardless of the source.
    #[error(transparent)]
    Build(#[from] kernel_build::Error),
}

/// The reason for which a compiler exited abnormally, without a diagnosis of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Termination {
    /// The wall-clock time limit was exceeded.
    TimedOut(Duration),
    /// The PTX exceeded this many bytes.
    OutputTooLong(usize),
    /// The CPU time limit was exceeded.
    CpuTimeExceeded,
    /// A memory allocation failed.
    OutOfMemory,
    /// The compiler crashed; this is its own message, or the exit status.
    Crashed(String),
}

impl UntrustedSource<'_> {
    /// Compiles the source.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Text`] and the compiler's message if the source does not compile, with
    /// [`Error::Terminated`] if a limit was exceeded, with [`Error::ForbiddenFile`] if the compiler opened
    /// another file, and with [`Error::NotStarted`] if the compiler cannot run within these limits, regardless
    /// of the source.
    pub fn compile(&self, clang: &Clang, tree: &Tree) -> Result<Compiled, Error> {
        let source = SourceText {
            name: self.name,
            text: self.text,
            arch: Arch::from_sm(self.architecture)?,
        };
        let io = |reason| kernel_build::Error::io(Path::new(clang.program()))(reason);
        // The list of files that the compiler opened; several sources may be compiled at the same time.
        static COMPILATIONS: AtomicUsize = AtomicUsize::new(0);
        let number = COMPILATIONS.fetch_add(1, Ordering::Relaxed);
        let dep_file = self.scratch.join(format!("opened-{number}"));
        let headers = headers(tree, self.headers)?;
        let readable_files = required_with_headers(clang, tree, &headers);
        let mut command = (self.command)(clang.program(), readable_files).map_err(io)?;
        command.env("LLVM_DISABLE_SYMBOLIZATION", "1");
        let limits = Limits {
            time: self.time_limit,
            max_output: MAX_PTX_BYTES,
            kill_group: false,
        };
        let terminated = |reason| Err(self.terminated(clang, reason));
        let output = match compile_with(
            command,
            tree,
            &source,
            &self.options(clang, &dep_file),
            limits,
        ) {
            Ok(output) => output,
            Err(RunError::NotStarted(reason)) => return Err(io(reason).into()),
            Err(RunError::TimedOut(limit)) => return terminated(Termination::TimedOut(limit)),
            Err(RunError::OutputTooLong(bytes)) => {
                return terminated(Termination::OutputTooLong(bytes));
            }
        };
        self.check_status(clang, &output)?;
        let dependencies =
            fs::read_to_string(&dep_file).map_err(kernel_build::Error::io(&dep_file))?;
        if let Some(file) = first_forbidden_file(&dependencies, &headers) {
            return Err(Error::ForbiddenFile { file });
        }
        Ok(Compiled {
            ptx: define_extern_variables(&output.stdout),
            warnings: output.stderr,
        })
    }

    /// Returns clang's options, in addition to those of every kernel. clang lists the files that it opens in
    /// `dep_file`.
    fn options(&self, clang: &Clang, dep_file: &Path) -> Vec<OsString> {
        let mut options: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| options.extend(words.iter().map(OsString::from));
        add(&clang.undefined_value_options());
        add(self.optimization.options());
        // Compile in clang's own process instead of starting another one.
        add(&["-fintegrated-cc1", "-fno-crash-diagnostics"]);
        // As nvcc 12 and 13 do by default. Only errors, among which warnings are hard to tell apart.
        add(&["-std=c++17", "-w"]);
        // Keep unused allocations, as nvcc does.
        add(&["-fno-builtin-malloc", "-fno-builtin-free"]);
        add(&["-Wno-builtin-macro-redefined"]);
        add(&["-U__has_include", "-U__has_include_next", "-U__has_embed"]);
        if !self.text.contains("_Pragma") {
            // Then `_Pragma` cannot be assembled by token pasting either.
            add(&["-U_Pragma"]);
        }
        add(&["-MD", "-MF"]);
        options.push(dep_file.into());
        options
    }

    /// Returns an error unless the compiler succeeded.
    fn check_status(&self, clang: &Clang, output: &ProcessOutput) -> Result<(), Error> {
        let terminated = |reason| Err(self.terminated(clang, reason));
        if let Some(message) = system_message(&output.stderr)
            && !output.status.success()
        {
            return Err(self.system_error(clang, message));
        }
        // clang exits with 1 on compile errors; after a crash it ends itself with a signal or a status as of
        // a shell.
        match (output.status.code(), signal(output.status)) {
            (Some(0), _) => Ok(()),
            (_, Some(_)) if is_from_outside(output.status) => {
                Err(self.system_error(clang, &output.status.to_string()))
            }
            (Some(1), _) => Err(Error::Text {
                compiler: clang.name(),
                file_name: self.name.to_owned(),
                message: output.stderr.clone(),
            }),
            (_, Some(CPU_TIME)) => terminated(Termination::CpuTimeExceeded),
            _ if is_out_of_memory(&output.stderr) => terminated(Termination::OutOfMemory),
            (Some(125..=127), _) => Err(Error::NotStarted {
                compiler: clang.name(),
                message: output.stderr.trim().to_owned(),
            }),
            _ => terminated(Termination::Crashed(crash_message(output))),
        }
    }

    fn system_error(&self, clang: &Clang, message: &str) -> Error {
        Error::System {
            compiler: clang.name(),
            file_name: self.name.to_owned(),
            message: message.to_owned(),
        }
    }

    fn terminated(&self, clang: &Clang, reason: Termination) -> Error {
        Error::Terminated {
            compiler: clang.name(),
            file_name: self.name.to_owned(),
            reason,
        }
    }
}

/// Returns the files that the compiler must be able to read, in addition to the system's libraries and the
/// source: its own installation, and these headers of the checkout with all files that they include.
///
/// # Errors
///
/// Fails if a header cannot be read.
pub fn required_files(
    clang: &Clang,
    tree: &Tree,
    headers: &[&str],
) -> Result<Vec<PathBuf>, kernel_build::Error> {
    let files = self::headers(tree, headers)?;
    Ok(required_with_headers(clang, tree, &files))
}

/// Returns clang's installation and these files of the checkout.
fn required_with_headers(clang: &Clang, tree: &Tree, files: &[String]) -> Vec<PathBuf> {
    let program = Path::new(clang.program());
    let canonical = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    // clang is in `bin`; its libraries and headers are in directories next to it.
    let prefix = canonical.parent().and_then(Path::parent);
    let lib_dirs = |prefix: &Path| ["lib", "lib64"].map(|folder| prefix.join(folder));
    let installed = prefix.map(lib_dirs).into_iter().flatten();
    installed
        .chain(files.iter().map(|file| tree.path(file)))
        .collect()
}

/// Returns these headers in `kernels` and all files that they include: `kernels/cuda_device.h`.
fn headers(tree: &Tree, names: &[&str]) -> Result<Vec<String>, kernel_build::Error> {
    let files = names.iter().map(|name| format!("kernels/{name}"));
    tree.include_closure(files.collect())
}

/// `SIGXCPU`
const CPU_TIME: i32 = 24;

/// The system's messages about missing resources.
const SYSTEM_MESSAGES: [&str; 7] = [
    "No space left on device",
    "Disk quota exceeded",
    "Input/output error",
    "Too many open files",
    "Resource temporarily unavailable",
    "Cannot allocate memory",
    "Read-only file system",
];

/// Returns the compiler's first message about a missing resource; `None` if it reports an error at a line of the source.
fn system_message(messages: &str) -> Option<&str> {
    let has_location = |line: &str| {
        let (before, _) = line
            .split_once(": error: ")
            .or(line.split_once(": fatal error: "))?;
        before.rsplit(':').next()?.parse::<u32>().ok()
    };
    if messages.lines().any(|line| has_location(line).is_some()) {
        return None;
    }
    let mut reports = messages
        .lines()
        .filter(|line| line.contains("error: ") || line.starts_with("LLVM ERROR: "));
    reports.find(|line| names_missing_resource(line))
}

/// Returns true if a process was ended by a signal that other processes send: `SIGHUP`, `SIGINT`, `SIGQUIT`, `SIGKILL`
/// or `SIGTERM`.
pub fn is_from_outside(status: ExitStatus) -> bool {
    signal(status).is_some_and(|signal| [1, 2, 3, 9, 15].contains(&signal))
}

/// Returns true if a compiler's message contains one of the system's about missing resources.
pub fn names_missing_resource(message: &str) -> bool {
    SYSTEM_MESSAGES.iter().any(|part| message.contains(part))
}

/// Returns the signal that ended a process; `None` if it exited.
#[cfg(unix)]
pub fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Returns `None`: signals do not end programs on this system.
#[cfg(not(unix))]
pub fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Returns the compiler's own message about a crash, or the exit status.
fn crash_message(output: &ProcessOutput) -> String {
    let mut lines = output.stderr.lines().map(str::trim);
    let message = lines.find_map(|line| {
        line.split_once("fatal error: ")
            .or(line.split_once("LLVM ERROR: "))
    });
    message.map_or_else(
        || output.status.to_string(),
        |(_, message)| message.to_owned(),
    )
}

/// Returns true if the compiler reports a failed memory allocation.
fn is_out_of_memory(messages: &str) -> bool {
    ["out of memory", "std::bad_alloc"]
        .iter()
        .any(|word| messages.contains(word))
}

/// Returns the first file in the compiler's dependency list that is not an allowed header. The list is a make
/// rule such as `-: kernels/cuda_device.h`, with backslashes at continued lines.
fn first_forbidden_file(list: &str, headers: &[String]) -> Option<String> {
    let list = list.replace("\\\r\n", " ").replace("\\\n", " ");
    let files = list.split_once(": ").map_or("", |(_, files)| files);
    files
        .split_ascii_whitespace()
        .map(|file| file.replace('\\', "/"))
        .find(|file| {
            // A name with a space is split into pieces, the first of which ends in the escaping backslash.
            let normalized = (!file.ends_with('/'))
                .then(|| normalize_path(file))
                .flatten();
            !normalized.is_some_and(|file| headers.contains(&file)) && file != "-"
        })
}

/// Defines variables that the PTX only declares, as nvcc does: in C++ `extern "C"` before a variable makes it a
/// declaration. Shared memory of unknown size must stay a declaration.
fn define_extern_variables(ptx: &str) -> String {
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
    fn only_allowed_headers_pass() {
        let headers = ["kernels/a.h", "kernels/b.h"].map(str::to_owned);
        for list in [
            "-: kernels/a.h\n",
            "-: \\\n  kernels/a.h \\\n  kernels/b.h\n",
            "-: kernels\\a.h \\\r\n kernels/b.h\r\n",
            "-: kernels/include/../a.h\n",
            "-:\n",
            "",
        ] {
            assert_eq!(first_forbidden_file(list, &headers), None, "{list}");
        }
        for (list, file) in [
            ("-: kernels/a.h /etc/passwd\n", "/etc/passwd"),
            ("-: kernels/c.h kernels/a.h\n", "kernels/c.h"),
            ("-: \\\n ../kernels/a.h\n", "../kernels/a.h"),
            ("-: kernels/../a.h\n", "kernels/../a.h"),
            ("-: kernels/x/../c.h\n", "kernels/x/../c.h"),
            ("-: kernels/a.h\\ b.h\n", "kernels/a.h/"),
        ] {
            assert_eq!(
                first_forbidden_file(list, &headers).as_deref(),
                Some(file),
                "{list}"
            );
        }
    }

    #[test]
    fn missing_resources_are_not_the_sources_fault() {
        let full = "error: unable to open output file 'opened-0': 'No space left on device'";
        assert_eq!(
            system_message(&format!("a.cu:1:2: warning: x\n{full}\n1 error generated.")),
            Some(full)
        );
        let full = "LLVM ERROR: IO failure on output stream: No space left on device";
        assert_eq!(system_message(full), Some(full));
        for other in [
            "a.cu:1:2: error: \"No space left on device\"",
            "a.cu:1:2: fatal error: x\n    \"error: No space left on device\";",
            "error: unable to open output file 'a': 'Permission denied'",
        ] {
            assert_eq!(system_message(other), None, "{other}");
        }
    }

    #[test]
    fn extern_variables_are_defined_and_other_lines_unchanged() {
        let ptx = ".extern .const .align 4 .b8 settings[16];\n.extern .global .align 4 .f32 x;\n\
                   .extern .shared .align 4 .b8 buffer[];\n.extern .const .align 4 .b8 open[];\n\
                   .extern .func (.param .b32 r) vprintf\n.visible .entry a()\n";
        let expected = ptx
            .replace(
                ".extern .const .align 4 .b8 settings",
                ".visible .const .align 4 .b8 settings",
            )
            .replace(".extern .global", ".visible .global");
        assert_eq!(define_extern_variables(ptx), expected);
    }
}
