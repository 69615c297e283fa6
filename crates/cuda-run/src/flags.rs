//! The command line flags. The doc comments of the fields are the help text.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chapter::flags::ReportFlags;
use clap::{Args, Parser, ValueEnum};
use cuda_driver::MAX_DEVICES;
use telemetry::Api;

/// The end of the help text.
const EXIT_STATUS: &str = "\
Exit status, by the first line that applies:
  2      the command line is invalid
  1      the program cannot be compiled or run
  130    Ctrl-C interrupted a program that was compiled from FILE
  124    the program reached its time limit
  128+N  signal N ended the program, such as 139 after SIGSEGV
  other  the program's own exit status, if it is not 0, even if a check found an error
  1      a check found an error, or with --check a call failed, whose error the program ignored (unless --api=none),
         a launch failed, or a kernel does not load; or a result differs from the launch plan; or with
         --require-kernels the program launched no kernel
  0      otherwise; warnings and notes never change the exit status";

/// Compiles a CUDA program with clang, without NVIDIA's CUDA Toolkit, and runs it on the GPU, or on the
/// simulator if there is no GPU. A report on its kernels is printed to standard error when it has exited
///
/// Without files, the arguments after -- are any program that loads the CUDA driver (libcuda.so.1) itself. It
/// runs on the simulator instead of NVIDIA's driver; CUDA_BACKEND=gpu makes it run on NVIDIA's driver, as it
/// would without this command.
///
/// nvcc's other flags (-gencode, -Xcompiler, --use_fast_math, …) are translated, or rejected with the reason.
/// Compiled programs are cached in the directory CUDA_RUN_CACHE, by default in the user's cache directory.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "cuda-run",
    version,
    override_usage = "cuda-run [FLAGS] FILE… [-- PROGRAM ARGUMENTS]\n       \
                      cuda-run [FLAGS] -- PROGRAM [ARGUMENTS]",
    after_help = EXIT_STATUS
)]
pub struct Flags {
    /// The program's source files: .cu, .cpp and .c. A single .cu file without a main but with a launch plan
    /// is run by that plan (docs/records/launch-plan.md)
    #[arg(required_unless_present = "arguments", value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub show: OutputFlags,

    #[command(flatten)]
    pub compile: CompileFlags,

    /// Launch the kernel by the launch plan in this .toml file instead of the plan in a comment of the
    /// kernel's file
    #[arg(long, value_name = "FILE", requires = "files")]
    pub plan: Option<PathBuf>,

    /// Override a number of the launch plan
    #[arg(long, value_name = "NAME=VALUE", requires = "files")]
    pub set: Vec<String>,

    /// The GPU that the simulator models: h200, rtx3090, gtx970, p2000 or gtx280 (same as CUDA_SIM_DEVICE)
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_DEVICES)),
        help = format!("The number of simulated GPUs, 1 to {MAX_DEVICES} (same as CUDA_SIM_DEVICES)"),
    )]
    pub devices: Option<u32>,

    /// Stop the program after this many seconds, with exit status 124. By default there is no limit;
    /// CUDA_SIM_TIME_LIMIT limits a single launch
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub time_limit: Option<Duration>,

    /// Fail if the program launched no kernel on the simulator, for CI: a program that does not find the simulator
    /// passes all checks
    #[arg(long)]
    pub require_kernels: bool,

    /// Write a log of the driver functions that the program called, with counts, of the functions that the
    /// simulator does not support, and of rejected modules with the reasons. Only for programs after --
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub log: Option<PathBuf>,

    /// The program's arguments; without files, the program and its arguments
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,

    /// True if `--check` has no list.
    #[arg(skip)]
    pub default_checks: bool,
}

/// The output of the command.
#[derive(Args, Clone, Debug)]
#[command(
    mut_arg("profile", |arg| arg.help(
        "Report what each kernel does to the memory system and what to change first; with lines, also for each line \
         of the source. On a GPU, time the launches and print the Nsight Compute command that counts the rest"
    )),
    mut_arg("check", |arg| arg.help(
        "Check the kernels for errors while they run: mem, init, race, sync, leak, host and stream, a list of them, or \
         all; and, on request, for input that nothing reads: unused (such as all,unused). Without a list: all; for \
         programs after --, all but leak, because libraries keep memory until the program exits. On a GPU, print the \
         equivalent compute-sanitizer commands"
    ))
)]
pub struct OutputFlags {
    /// The format of the report. Text goes to standard error. All others contain the same problems and go to standard
    /// output; the program's own standard output then goes to standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub format: Format,

    /// Write a JSON record (docs/records/cuda-run.schema.json) to FILE in addition to the report; without FILE the same
    /// as --format json. After a blank, the name of FILE must end with .json
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// Write the problems in SARIF 2.1.0 to FILE in addition to the report, for code scanning; - is the same as
    /// --format sarif
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// Write a test report in JUnit's XML to FILE in addition to the report: a test case for each kernel and check; - is
    /// the same as --format junit
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    #[command(flatten)]
    pub report: ReportFlags,

    /// The failed CUDA calls to report: those whose errors the program ignored, all, or none. With --check, an
    /// ignored error is an error
    #[arg(long, value_name = "CALLS", value_enum, default_value = "ignored")]
    pub api: FailedCalls,

    /// Do not print the report in text, unless a check fails: then print what it found
    #[arg(long, conflicts_with = "profile")]
    pub quiet: bool,
}

/// A format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table of the kernels, the profile, and the problems
    Text,
    /// A JSON record (docs/records/cuda-run.schema.json)
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit's XML, for test reports
    Junit,
    /// Workflow commands of GitHub Actions, which annotate the lines of a pull request
    Github,
}

/// The failed calls to report.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FailedCalls {
    Ignored,
    All,
    None,
}

/// Options of the compilation.
#[derive(Args, Clone, Debug, Default)]
#[group(id = "compile", requires = "files", multiple = true)]
pub struct CompileFlags {
    /// Add a directory to search for headers
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,

    /// Use CCCL (Thrust, CUB and libcu++) from this directory, a checkout of its repository or a directory of its
    /// headers, instead of Debian's version in /usr/include
    #[arg(long, value_name = "DIR")]
    pub cccl: Option<PathBuf>,

    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,

    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,

    /// Optimization level of the host code; kernels are always fully optimized
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = ["0", "1", "2", "3", "s", "z", "fast", "g"])]
    pub optimization: String,

    /// The C++ standard
    #[arg(long = "std", value_name = "STANDARD", default_value = "c++17")]
    pub standard: String,

    /// The GPU architecture to compile kernels for, such as sm_70; by default the newest that both clang and
    /// the GPU support
    #[arg(long, value_name = "SM")]
    pub arch: Option<String>,

    /// Link the kernels of all files, so that they can use functions and variables of other files (nvcc's
    /// -rdc=true)
    #[arg(long)]
    pub link_kernels: bool,

    /// Link to a library
    #[arg(short = 'l', value_name = "LIBRARY")]
    pub library: Vec<String>,

    /// Add a directory to search for libraries
    #[arg(short = 'L', value_name = "DIR")]
    pub library_dir: Vec<PathBuf>,

    /// An argument for the host compiler
    #[arg(
        long = "host-option",
        value_name = "WORD",
        allow_hyphen_values = true,
        hide = true
    )]
    pub host: Vec<String>,

    /// An argument for the linker
    #[arg(
        long = "link-option",
        value_name = "WORD",
        allow_hyphen_values = true,
        hide = true
    )]
    pub link: Vec<String>,

    /// An argument for the device compiler
    #[arg(
        long = "device-option",
        value_name = "WORD",
        allow_hyphen_values = true,
        hide = true
    )]
    pub kernels: Vec<String>,
}

impl Flags {
    /// Parses the command line. Exits if it is invalid.
    pub fn parse_args(args: Vec<OsString>) -> Flags {
        let mut own = args.iter().take_while(|arg| *arg != "--");
        let default_checks = own.any(|arg| arg == "--check");
        Flags {
            default_checks,
            ..Flags::parse_from(args)
        }
    }

    /// Returns the name of the program: its first file without the extension, or the external program.
    pub fn process_name(&self) -> String {
        match (self.files.first(), self.arguments.first()) {
            (Some(file), _) => file.with_extension("").display().to_string(),
            (None, Some(program)) => program.to_string_lossy().into_owned(),
            (None, None) => String::new(),
        }
    }
}

impl OutputFlags {
    /// Returns the failed calls to report.
    pub fn api(&self) -> Api {
        match self.api {
            FailedCalls::Ignored => Api::Ignored,
            FailedCalls::All => Api::All,
            FailedCalls::None => Api::None,
        }
    }

    /// Returns true if launches must be counted in full.
    pub fn needs_counters(&self) -> bool {
        self.format == Format::Json || self.json.is_some() || self.report.needs_counters()
    }

    /// Returns the formats that are written to standard output, with their flags.
    fn on_stdout(&self) -> impl Iterator<Item = (Format, String)> {
        let format = (self.format != Format::Text).then(|| {
            let name = self.format.to_possible_value();
            let name = name.map_or_else(String::new, |value| value.get_name().to_owned());
            (self.format, format!("--format {name}"))
        });
        let files = self.outputs().filter(|(.., file)| is_stdout(file));
        format
            .into_iter()
            .chain(files.map(|(format, flag, _)| (format, flag.to_owned())))
    }

    /// Returns the format that is written to standard output instead of the report in text.
    pub fn stdout_format(&self) -> Option<Format> {
        self.on_stdout().next().map(|(format, _)| format)
    }

    /// Returns the formats that are written to files, with their flags.
    pub fn files(&self) -> impl Iterator<Item = (Format, &'static str, &Path)> {
        self.outputs().filter(|(.., file)| !is_stdout(file))
    }

    fn outputs(&self) -> impl Iterator<Item = (Format, &'static str, &Path)> {
        let outputs = [
            (Format::Json, "--json", &self.json),
            (Format::Sarif, "--sarif", &self.sarif),
            (Format::Junit, "--junit", &self.junit),
        ];
        outputs
            .into_iter()
            .filter_map(|(format, flag, file)| Some((format, flag, file.as_deref()?)))
    }

    /// Checks that no two formats are written to the same place.
    ///
    /// # Errors
    ///
    /// Fails if two are, with their flags.
    pub fn check_destinations(&self) -> Result<(), String> {
        let on_stdout: Vec<(Format, String)> = self.on_stdout().collect();
        if let [(format, flag), (other, other_flag), ..] = &on_stdout[..]
            && format != other
        {
            return Err(format!(
                "{flag} and {other_flag} both write to standard output"
            ));
        }
        let files: Vec<_> = self.files().collect();
        for (index, (_, flag, file)) in files.iter().enumerate() {
            let same = files[..index].iter().find(|(.., other)| other == file);
            if let Some((_, other, _)) = same {
                return Err(format!(
                    "{other} and {flag} both write to {}",
                    file.display()
                ));
            }
        }
        Ok(())
    }
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let limit = limit.filter(|limit| !limit.is_zero());
    limit.ok_or_else(|| "expected a positive number of seconds".to_owned())
}
