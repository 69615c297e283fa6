//! The flags.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chapter::flags::Detail;
use chapter::plot::Destination;
use clap::{Args, Parser};
use cuda_driver::{Checks, MAX_DEVICES};

/// Compiles a CUDA program with clang, without NVIDIA's toolkit, and runs it: on the GPU where there is
/// one, else on the simulator. A summary of its kernels comes on standard error when it has ended
///
/// Without files, what is behind -- is any program that loads CUDA's driver (libcuda.so.1) itself: it finds the
/// simulator in its place. CUDA_BACKEND=gpu has it run on NVIDIA's driver instead, as it would without this
/// command.
///
/// What nvcc takes besides (-gencode, -Xcompiler, --use_fast_math, …) is understood, or refused with the
/// reason. Compiled programs are kept in the folder that CUDA_RUN_CACHE names, or else in the user's
/// folder for such files.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "cuda-run",
    override_usage = "cuda-run [FLAGS] FILE… [-- THE PROGRAM'S ARGUMENTS]\n       \
                      cuda-run [FLAGS] -- ANY PROGRAM AND ITS ARGUMENTS"
)]
pub struct Flags {
    /// The program: .cu, .cpp and .c files. One .cu file without a main but with a description of
    /// launches is run by that description (docs/records/launch-plan.md)
    #[arg(required_unless_present = "arguments", value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub show: Show,

    #[command(flatten)]
    pub compile: Compile,

    /// Launch as this file describes: in place of a comment in the kernel's file, a .toml file with the
    /// description alone
    #[arg(long, value_name = "FILE", requires = "files")]
    pub plan: Option<PathBuf>,

    /// Give a number of the description another value
    #[arg(long, value_name = "NAME=VALUE", requires = "files")]
    pub set: Vec<String>,

    /// The GPU that the simulator models: h200, rtx3090, gtx970, p2000 or gtx280 (as CUDA_SIM_DEVICE)
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_DEVICES)),
        help = format!("How many of that GPU the simulated machine has, 1 to {MAX_DEVICES} (as CUDA_SIM_DEVICES)"),
    )]
    pub devices: Option<u32>,

    /// End the program after so many seconds, with exit status 124. Without it, it may run for ever;
    /// CUDA_SIM_TIME_LIMIT is the limit of one launch
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,

    /// Write which functions of the driver the program called and how often, what the simulator does not
    /// do of them, and which modules were refused and why. For any program behind --
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub log: Option<PathBuf>,

    /// What the program itself is given; without files, the program and what it is given
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

/// What is shown of the program's launches.
#[derive(Args, Clone, Debug)]
pub struct Show {
    /// Write one JSON record, to FILE or to standard output; what the program prints there then goes to
    /// standard error. In place of the summary
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// Print what each kernel does to the memory system, and what to change first; with lines, the
    /// source as well. On a GPU, how long its launches take, and the command by which NVIDIA's profiler
    /// tells the rest
    #[arg(
        long,
        value_name = "DETAIL",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "summary"
    )]
    pub profile: Option<Detail>,

    /// Look for mistakes in the kernels while they run: mem, init, race, sync, leak and host, a list of
    /// them, or all. On a GPU, the commands by which NVIDIA's tool does
    #[arg(
        long,
        value_name = "LIST",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    pub check: Option<Checks>,

    /// Draw times, requests and a roofline into NAME.svg and NAME.png
    #[arg(long, value_name = "NAME", value_parser = destination)]
    pub plot: Option<Destination>,

    /// No summary
    #[arg(long, conflicts_with_all = ["json", "profile"])]
    pub quiet: bool,
}

/// How the program is compiled.
#[derive(Args, Clone, Debug, Default)]
#[group(id = "compile", requires = "files", multiple = true)]
pub struct Compile {
    /// A folder to look for headers in
    #[arg(short = 'I', value_name = "FOLDER")]
    pub include: Vec<PathBuf>,

    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,

    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,

    /// How far the host's code is optimised; the kernels' always is in full
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = ["0", "1", "2", "3", "s", "z", "fast", "g"])]
    pub optimise: String,

    /// The C++ standard
    #[arg(long = "std", value_name = "STANDARD", default_value = "c++17")]
    pub standard: String,

    /// The GPU that kernels are compiled for, as sm_70; without it the newest that clang knows and the
    /// GPU is
    #[arg(long, value_name = "SM")]
    pub arch: Option<String>,

    /// Link the kernels of all files, which then call functions and use variables of other files, as
    /// nvcc's -rdc=true
    #[arg(long)]
    pub link_kernels: bool,

    /// A library to link to
    #[arg(short = 'l', value_name = "LIBRARY")]
    pub library: Vec<String>,

    /// A folder to look for libraries in
    #[arg(short = 'L', value_name = "FOLDER")]
    pub library_folder: Vec<PathBuf>,

    /// A word for the host's compiler
    #[arg(
        long = "host-option",
        value_name = "WORD",
        allow_hyphen_values = true,
        hide = true
    )]
    pub host: Vec<String>,

    /// A word for the linker
    #[arg(
        long = "link-option",
        value_name = "WORD",
        allow_hyphen_values = true,
        hide = true
    )]
    pub link: Vec<String>,

    /// A word for the compiler of kernels
    #[arg(
        long = "device-option",
        value_name = "WORD",
        allow_hyphen_values = true,
        hide = true
    )]
    pub kernels: Vec<String>,
}

impl Show {
    /// Whether launches have to be counted in full.
    pub fn counts(&self) -> bool {
        self.json.is_some() || self.profile.is_some() || self.plot.is_some()
    }

    /// Whether the record goes to standard output.
    pub fn json_to_stdout(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }
}

/// Where `--plot` draws, if it can.
fn destination(name: &str) -> Result<Destination, String> {
    Destination::new(Path::new(name)).map_err(|error| format!("{error:#}"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let limit = limit.filter(|limit| !limit.is_zero());
    limit.ok_or_else(|| "a number of seconds above 0 is needed".to_owned())
}
