//! Finding and running a clang that compiles for NVIDIA GPUs.

use std::borrow::Cow;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::arch::{Arch, compile_options};
use crate::error::Error;
use crate::process::{Limits, ProcessOutput, RunError, run};
use crate::tree::{Tree, source_file};

/// The environment variable that selects a clang instead of the search.
pub(crate) const OVERRIDE: &str = "KERNEL_CLANG";

/// Programs to try: on the search path, the pinned version first; then the locations of Homebrew and of LLVM's
/// Windows installer, which are not on the search path.
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

/// A clang that compiles for NVIDIA GPUs.
#[derive(Debug, Clone)]
pub struct Clang {
    program: OsString,
    version: String,
}

impl Clang {
    /// Returns the clang selected by `KERNEL_CLANG`, or else the first usable one. The error lists the programs
    /// that were tried.
    pub fn find() -> Result<Self, String> {
        if let Some(program) = env::var_os(OVERRIDE) {
            return Self::try_program(&program)
                .map_err(|reason| format!("{OVERRIDE}={}: {reason}", program.display()));
        }
        let mut unusable = Vec::new();
        for program in CANDIDATES.map(OsStr::new) {
            match Self::try_program(program) {
                Ok(clang) => return Ok(clang),
                Err(UnusableReason::NoOutput(RunError::NotStarted(reason)))
                    if reason.kind() == ErrorKind::NotFound => {}
                Err(reason) => unusable.push(format!("{}: {reason}", program.display())),
            }
        }
        Err(match unusable.is_empty() {
            true => "no clang found on the search path".into(),
            false => unusable.join("; "),
        })
    }

    fn try_program(program: &OsStr) -> Result<Self, UnusableReason> {
        let query = |option| {
            let output = run(command(program).arg(option), String::new(), PROBE_LIMITS);
            let output = output.map_err(UnusableReason::NoOutput)?;
            Ok(output.stdout)
        };
        let text: String = query("--version")?;
        let version = version(&text).ok_or(UnusableReason::NotClang)?;
        if !query("--print-targets")?.contains("nvptx64") {
            return Err(UnusableReason::NoTarget(version));
        }
        let program = real_program(program, &text, &version);
        Ok(Self { program, version })
    }

    /// Creates a clang from values that [`Clang::find`] returned before, for instance in another process.
    pub fn from_parts(program: OsString, version: String) -> Self {
        Self { program, version }
    }

    /// Returns the program to start.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Returns the version, such as `14.0.6`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the options with which a program may pass undefined values, as it may with nvcc. By default clang
    /// assumes that no argument is undefined. It then drops the condition of the only assignment to a variable
    /// that all lanes pass to a shuffle, so that each lane, rather than the leader, adds to a counter.
    pub fn undefined_value_options(&self) -> [&'static str; 2] {
        let option = match self.version.starts_with("14.") {
            true => "-disable-noundef-analysis",
            false => "-no-enable-noundef-analysis",
        };
        ["-Xclang", option]
    }

    /// Returns the name and version as written in the stamp.
    pub fn name(&self) -> String {
        format!("clang {}", self.version)
    }

    /// Compiles kernel `name` to PTX for the GPUs in its name. The PTX is the same on every machine. Also
    /// returns the compiler's warnings.
    pub(crate) fn compile(&self, tree: &Tree, name: &str) -> Result<(String, String), Error> {
        let arch = Arch::from_kernel_name(name)?;
        let output = command(&self.program)
            .current_dir(tree.root())
            .args(compile_options(arch))
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
        Ok((normalize_ptx(&stdout(output), arch), message))
    }

    /// Compiles trusted source code with the checkout's headers. `architecture` is the oldest architecture that
    /// must run it, such as 80 for sm_80; the oldest supported one by default. Messages and line information
    /// name the source `file_name`.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Text`] and the compiler's message if the source does not compile.
    pub fn compile_text(
        &self,
        tree: &Tree,
        file_name: &str,
        text: &str,
        architecture: Option<u32>,
    ) -> Result<Compiled, Error> {
        let source = SourceText {
            name: file_name,
            text,
            arch: Arch::from_sm(architecture)?,
        };
        let text_error = |message| Error::Text {
            compiler: self.name(),
            file_name: file_name.to_owned(),
            message,
        };
        let command = command(&self.program);
        let options = self.undefined_value_options().map(OsString::from);
        let output = match compile_with(command, tree, &source, &options, TRUSTED_LIMITS) {
            Ok(output) => output,
            Err(RunError::NotStarted(reason)) => {
                return Err(Error::io(self.program.as_ref())(reason));
            }
            Err(reason) => return Err(text_error(reason.to_string())),
        };
        match output.status.success() {
            true => Ok(Compiled {
                ptx: output.stdout,
                warnings: output.stderr,
            }),
            // A compiler that was killed has not printed a reason.
            false if output.stderr.trim().is_empty() => Err(text_error(output.status.to_string())),
            false => Err(text_error(output.stderr)),
        }
    }
}

/// The limits for querying a clang's version. It takes hundredths of a second, but many times as long on a busy
/// machine.
const PROBE_LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    max_output: 64 << 10,
    kill_group: true,
};

/// The limits for compiling the checkout's own sources.
const TRUSTED_LIMITS: Limits = Limits {
    time: Duration::from_secs(600),
    max_output: 1 << 30,
    kill_group: false,
};

/// Source code that is not a kernel of the checkout.
pub struct SourceText<'a> {
    /// The name of the source in messages and in the PTX.
    pub name: &'a str,
    /// The source code.
    pub text: &'a str,
    /// The oldest architecture that must run it.
    pub arch: Arch,
}

/// Compiles source code with the checkout's headers by `command`, which starts a clang. `options` are added to
/// those of every kernel. The standard output is normalized PTX if clang succeeds.
///
/// # Errors
///
/// Fails if clang cannot be started or exceeds a limit.
pub fn compile_with(
    mut command: Command,
    tree: &Tree,
    source: &SourceText,
    options: &[OsString],
    limits: Limits,
) -> Result<ProcessOutput, RunError> {
    command
        .current_dir(tree.root())
        .args(compile_options(source.arch))
        .args(options)
        .arg("-");
    let input = with_line_directive(source.name, source.text);
    let output = run(&mut command, input, limits)?;
    Ok(ProcessOutput {
        stdout: normalize_ptx(&output.stdout, source.arch),
        ..output
    })
}

/// Prepends a line directive that names the source `file_name`.
fn with_line_directive(file_name: &str, text: &str) -> String {
    format!("#line 1 \"{}\"\n{text}", escape_file_name(file_name))
}

/// Escapes a file name for a `#line` directive.
fn escape_file_name(name: &str) -> String {
    name.replace('\\', "/").replace('"', "\\\"")
}

/// A compiled source.
#[derive(Debug, Clone)]
pub struct Compiled {
    pub ptx: String,
    /// The compiler's warnings.
    pub warnings: String,
}

/// The reason for which a program is not usable as clang.
#[derive(Debug, thiserror::Error)]
enum UnusableReason {
    #[error("{0}")]
    NoOutput(RunError),
    #[error("not a clang compiler")]
    NotClang,
    #[error("clang {0} was built without the NVPTX target (like Apple's)")]
    NoTarget(String),
}

/// Creates a command without the variables that add directories to the header search path.
fn command(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    for variable in ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"] {
        command.env_remove(variable);
    }
    command
}

/// Returns the path of the compiler itself. The program may be a script, or a link to one that searches for the
/// compiler; both start another process, which the sandbox of untrusted compilations forbids.
fn real_program(program: &OsStr, text: &str, version: &str) -> OsString {
    let mut lines = text.lines();
    let Some(folder) = lines.find_map(|line| line.strip_prefix("InstalledDir: ")) else {
        return program.to_owned();
    };
    let major = version.split('.').next().unwrap_or_default();
    let program_name = Path::new(program).file_name().unwrap_or_default();
    let names = [
        program_name.to_owned(),
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

/// Parses the version in the output of `clang --version`.
fn version(text: &str) -> Option<String> {
    let rest = text.split_once("clang version ")?.1;
    let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit());
    let version = &rest[..end.unwrap_or(rest.len())];
    (!version.is_empty()).then(|| version.to_owned())
}

/// Works around a bug of older clang versions, and removes what may differ between machines: `./` and
/// backslashes in file names, empty debug sections, and trailing spaces. Replaces the header by that of
/// `arch`.
fn normalize_ptx(ptx: &str, arch: Arch) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in fix_bit_fields(ptx).lines().map(str::trim_end) {
        let trimmed = line.trim_start();
        if trimmed.starts_with(".section") && trimmed.ends_with('}') {
            continue;
        }
        if trimmed.starts_with(".file") {
            let line = line.replace(r"\\", "/").replace('\\', "/");
            text.push_str(&line.replace("\"./", "\""));
        } else if let Some(header) = arch.header_line(trimmed) {
            text.push_str(&header);
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

/// Comments that enclose inline assembly, whose instructions are intended as written.
const ASM_START: &str = "// begin inline asm";
const ASM_END: &str = "// end inline asm";

/// Replaces each bit field extract that reaches beyond its register by a shift and a mask, to work around a code
/// generation bug of older clang versions (14 has it, 19 does not).
///
/// LLVM represents `x < 0 ? 7 : 0` as an arithmetic shift by 63 and the mask 7. These versions emit it as
/// `bfe.u64 x, 63, 3`, which extracts two bits from beyond the register. `bfe.u` yields zeros there (PTX ISA,
/// section bfe), whereas the shift yields the sign, so that the result would be 1.
pub fn fix_bit_fields(ptx: &str) -> Cow<'_, str> {
    let mut in_inline_asm = false;
    let mut fixed: Option<String> = None;
    let mut next_start = 0;
    for line in ptx.split_inclusive('\n') {
        let line_start = next_start;
        next_start += line.len();
        match line.trim() {
            ASM_START => in_inline_asm = true,
            ASM_END => in_inline_asm = false,
            _ => {}
        }
        match shift_and_mask(line).filter(|_| !in_inline_asm) {
            Some(replacement_text) => {
                *fixed.get_or_insert_with(|| ptx[..line_start].to_owned()) += &replacement_text
            }
            None => fixed.iter_mut().for_each(|text| *text += line),
        }
    }
    fixed.map_or(Cow::Borrowed(ptx), Cow::Owned)
}

/// Returns the replacement if the line is an unsigned extract that reaches beyond its register.
fn shift_and_mask(line: &str) -> Option<String> {
    let arguments = line.trim().strip_prefix("bfe.u")?.strip_suffix(';')?;
    let (bits, operands) = arguments.split_once(char::is_whitespace)?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let [destination, source, position, length] = operands[..] else {
        return None;
    };
    let parse = |text: &str| text.parse::<u32>().ok();
    let (width, position, length) = (parse(bits)?, parse(position)?, parse(length)?);
    if position >= width || length >= width || position + length <= width {
        return None;
    }
    let mask = (1_u64 << length) - 1;
    Some(format!(
        "\tshr.s{width} \t{destination}, {source}, {position};\n\tand.b{width} \t{destination}, {destination}, {mask};\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_all_vendors_are_parsed() {
        let read = |text| version(text).unwrap_or_default();
        assert_eq!(read("Debian clang version 14.0.6\nTarget: x"), "14.0.6");
        assert_eq!(read("clang version 19.1.7 (Fedora 19.1.7-1)"), "19.1.7");
        assert_eq!(read("Ubuntu clang version 18.1.3 (1ubuntu1)"), "18.1.3");
        assert_eq!(read("Apple clang version 16.0.0"), "16.0.0");
        assert_eq!(version("gcc (Debian 12.2.0) 12.2.0"), None);
        assert_eq!(version("clang version unknown"), None);
    }

    #[test]
    fn file_names_in_line_directives_are_escaped() {
        assert_eq!(escape_file_name("answers/a.cu"), "answers/a.cu");
        assert_eq!(escape_file_name("answers\\a\".cu"), "answers/a\\\".cu");
    }

    #[test]
    fn normalized_ptx_has_uniform_file_names_and_no_empty_sections() {
        let ptx = "ret; \r\n\t.section\t.debug_loc\t{\t}\n\t.file\t1 \"./kernels/a.cu\"";
        let file = "\t.file\t1 \"kernels/a.cu\"\n";
        assert_eq!(normalize_ptx(ptx, Arch::OLDEST), format!("ret;\n{file}"));
        let windows = "\t.file\t1 \"kernels\\\\a.cu\"\n";
        assert_eq!(normalize_ptx(windows, Arch::OLDEST), file);
    }

    #[test]
    fn bits_beyond_the_register_are_the_sign() {
        let ptx = "\tshl.b64 \t%rd8, %rd7, 1;\n\tbfe.u64 \t%rd9, %rd7, 63, 3;\n\tret;\n";
        let fixed = "\tshl.b64 \t%rd8, %rd7, 1;\n\tshr.s64 \t%rd9, %rd7, 63;\n\
                      \tand.b64 \t%rd9, %rd9, 7;\n\tret;\n";
        assert_eq!(fix_bit_fields(ptx), fixed);
        let ptx = "\tbfe.u32 \t%r2, %r1, 28, 16;";
        let fixed = "\tshr.s32 \t%r2, %r1, 28;\n\tand.b32 \t%r2, %r2, 65535;\n";
        assert_eq!(fix_bit_fields(ptx), fixed);
    }

    #[test]
    fn other_instructions_are_unchanged() {
        for ptx in [
            "\tbfe.u64 \t%rd9, %rd7, 61, 3;\n",
            "\tbfe.u32 \t%r2, %r1, %r3, 8;\n",
            "\tbfe.s64 \t%rd9, %rd7, 63, 3;\n",
            "\t// begin inline asm\n\tbfe.u32 %r2, %r1, 31, 3;\n\t// end inline asm\n",
        ] {
            assert!(matches!(fix_bit_fields(ptx), Cow::Borrowed(unchanged) if unchanged == ptx));
        }
    }
}
