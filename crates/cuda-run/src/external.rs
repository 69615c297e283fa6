//! Running programs that were not compiled here, and the files that they find instead of NVIDIA's: the driver library, under
//! the names by which programs load it, and a stand-in for the assembler. `cuda-run -- PROGRAM` sets the variables that make
//! programs use them.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chapter::{file, interrupt, rerun};
use common::error::{describe, note};
use common::gpu::{Clock, GpuInfo};
use telemetry::text::Order;
use telemetry::{EVENTS_VAR, EventLog, Summary, wire};
use tempfile::TempDir;

use crate::flags::Flags;
use crate::nvidia_smi;
use crate::run::{
    check_output_paths, exit_status, probe_gpu, report, report_failure, set_simulated_device,
    text_options,
};
use crate::supervise::{Exit, outer_events, wait_with_limit};

/// Runs the program and reports what its kernels did. Returns its exit status.
///
/// # Errors
///
/// Fails if the program cannot be run.
pub fn run(flags: &Flags) -> Result<i32> {
    if !cfg!(target_os = "linux") {
        bail!(
            "`cuda-run -- PROGRAM` is supported only on Linux, where LD_LIBRARY_PATH selects the libcuda.so.1 that \
             the program loads"
        );
    }
    check_output_paths(flags)?;
    let flags = &with_checks(flags);
    let mut gpu = None;
    let (exit, processes) =
        start(flags, &mut gpu).inspect_err(|error| report_failure(flags, gpu.as_ref(), error))?;
    let gpu = gpu.context("no GPU was opened")?;
    let summary = processes.combined();
    report(flags, &gpu, (&exit, &summary), &processes.text(flags, &gpu))?;
    Ok(exit_status(flags, &exit, &summary))
}

/// Runs the program, on the GPU that is returned in `opened`.
fn start(flags: &Flags, opened: &mut Option<GpuInfo>) -> Result<(Exit, Processes)> {
    set_simulated_device(flags);
    if std::env::var_os("CUDA_BACKEND").is_none_or(|backend| backend.is_empty()) {
        // SAFETY: no other thread has been started that could read the environment.
        unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    }
    let stop_requested = interrupt::leave_to_child()?;
    let gpu = &*opened.insert(probe_gpu()?);
    if !flags.show.quiet {
        note(gpu);
    }
    let simulated = gpu.time == Clock::Modelled;
    if !simulated {
        note(
            "CUDA_BACKEND=gpu: the program runs on NVIDIA's driver, so cuda-run cannot report on its kernels",
        );
    }
    let directory = SimulatorDir::new()?;
    let mut command = command(flags)?;
    if simulated {
        simulate(&mut command, &directory, flags)?;
    }
    let child = command.spawn().with_context(|| {
        format!(
            "cannot start {}",
            Path::new(command.get_program()).display()
        )
    })?;
    let exit = wait_with_limit(child, flags.time_limit, || {
        stop_requested.load(Ordering::Relaxed)
    })?;
    let processes = Processes::read(&directory, &exit)?;
    if let Some(file) = &flags.log {
        processes.write_log(file)?;
    }
    Ok((exit, processes))
}

/// Adds the checks requested by `CUDA_SIM_CHECK` if the command line requests none, and removes leaks from the default
/// checks: libraries keep memory until the program exits.
fn with_checks(flags: &Flags) -> Flags {
    let mut flags = flags.clone();
    let requested = std::env::var("CUDA_SIM_CHECK").ok();
    let check = &mut flags.show.report.check;
    *check = check.or_else(|| requested?.parse().ok());
    if flags.default_checks
        && let Some(checks) = check
    {
        checks.leak = false;
    }
    flags
}

/// Creates the command as the user would run it.
fn command(flags: &Flags) -> Result<Command> {
    let (program, arguments) = flags.arguments.split_first().context("no program given")?;
    let mut command = Command::new(program);
    command.args(arguments);
    if flags.show.stdout_format().is_some() {
        command.stdout(Stdio::from(io::stderr()));
    }
    Ok(command)
}

/// Makes the program find the simulator, and the simulator write its events.
fn simulate(command: &mut Command, directory: &SimulatorDir, flags: &Flags) -> Result<()> {
    command.env(LIBRARY_PATH_VAR, directory.library_path()?);
    command.env("PATH", directory.command_path()?);
    command.env(EVENTS_VAR, directory.event_dir()?);
    // tinygrad searches only the first directory and the system's; Triton links to the library in the second
    // and assembles PTX with the third; Mojo assembles it with the fourth. A variable set by the user is
    // kept.
    for (name, value) in [
        ("CUDA_PATH", directory.library_dir()?),
        ("TRITON_LIBCUDA_PATH", directory.library_dir()?),
        ("TRITON_PTXAS_PATH", directory.ptxas_path()?),
        ("MODULAR_NVPTX_COMPILER_PATH", directory.ptxas_path()?),
    ] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    if flags.show.needs_counters() {
        command.env("CUDA_SIM_PROFILE", "summary");
    } else if outer_events().is_none() {
        command.env_remove("CUDA_SIM_PROFILE");
    }
    if let Some(checks) = flags.show.report.check {
        command.env("CUDA_SIM_CHECK", checks.to_string());
    }
    Ok(())
}

/// The reports of the program's processes that wrote events.
struct Processes {
    summaries: Vec<(u32, Summary)>,
    combined: EventLog,
    /// True if any process has started CUDA.
    uses_cuda: bool,
}

impl Processes {
    /// Reads the events. If the program has failed, it has probably noticed the errors of its calls.
    fn read(directory: &SimulatorDir, exit: &Exit) -> Result<Self> {
        let files =
            fs::read_dir(directory.event_dir()?).context("cannot read the program's events")?;
        let ids = files
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut ids: Vec<u32> = ids.collect();
        ids.sort_unstable();
        let mut summaries = Vec::new();
        let mut combined = EventLog::default();
        for &id in &ids {
            let path = directory.event_dir()?.join(id.to_string());
            // If the disk is full, the outer report lacks the events.
            if let Some(outer) = outer_events() {
                let _ = fs::copy(&path, outer.join(id.to_string()));
            }
            let file = File::open(path).context("cannot read the program's events")?;
            let events = wire::read(&file).inspect(|event| combined.add(event.clone()));
            let mut log = events.collect::<EventLog>();
            if exit.code() != 0 {
                log.forgive();
                combined.forgive();
            }
            summaries.push((id, log.summary("cuMemFree")));
        }
        Ok(Processes {
            summaries,
            combined,
            uses_cuda: !ids.is_empty(),
        })
    }

    fn combined(&self) -> Summary {
        self.combined.summary("cuMemFree")
    }

    /// Formats the report of each process.
    fn text(&self, flags: &Flags, gpu: &GpuInfo) -> String {
        let options = text_options(flags, Order::Time, rerun::quoted(&flags.arguments));
        if gpu.time == Clock::Measured {
            return Summary::default().text(&options, gpu);
        }
        if !self.uses_cuda {
            return "No process of the program loaded libcuda.so.1 and initialized CUDA."
                .to_owned();
        }
        let busy: Vec<_> = self
            .summaries
            .iter()
            .filter(|(_, summary)| !summary.is_idle())
            .collect();
        match &busy[..] {
            [] => self.combined().text(&options, gpu),
            [(_, summary)] => summary.text(&options, gpu),
            busy => {
                let texts = busy.iter().map(|(id, summary)| {
                    format!(
                        "{}:\n\n{}",
                        process_label(*id, summary),
                        summary.text(&options, gpu)
                    )
                });
                texts.collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    /// Writes the log.
    fn write_log(&self, path: &Path) -> Result<()> {
        let texts = self
            .summaries
            .iter()
            .map(|(id, summary)| summary.log(&process_label(*id, summary)));
        let text: String = texts.collect();
        file::write(path, |writer| writer.write_all(text.as_bytes()))
            .context("cannot write the log")?;
        Ok(())
    }
}

fn process_label(id: u32, summary: &Summary) -> String {
    format!("process {id}, {}", summary.program)
}

/// The file name that cargo gives the library of the crate `libcuda`.
const LIBRARY: &str = "libwarpbook_cuda.so";

/// The names by which programs load the library. They are linked to the first; some that load it at run time look for
/// the second. The library also implements NVML, and gpuocelot's function `ptx_run`.
const LIBRARY_NAMES: [&str; 4] = [
    "libcuda.so.1",
    "libcuda.so",
    "libnvidia-ml.so.1",
    "libgpuocelot.so",
];

/// The variable with the directories that the dynamic linker searches first.
const LIBRARY_PATH_VAR: &str = "LD_LIBRARY_PATH";

/// A temporary directory with the driver library, the `ptxas` stand-in, and the events of the program's
/// processes. It is deleted on drop.
pub struct SimulatorDir(TempDir);

impl SimulatorDir {
    /// Creates the directory.
    ///
    /// # Errors
    ///
    /// Fails if the library does not exist or the directory cannot be created.
    pub fn new() -> Result<Self> {
        let library = find_library()?;
        let directory = tempfile::Builder::new().prefix("cuda-run-").tempdir();
        let directory = SimulatorDir(directory.context("cannot create a temporary directory")?);
        for name in LIBRARY_NAMES {
            link(&library, &directory.library_dir()?.join(name))?;
        }
        let executable =
            env::current_exe().context("cannot determine the path of cuda-run's own executable")?;
        link(&executable, &directory.ptxas_path()?)?;
        link(
            &executable,
            &directory.command_dir()?.join(nvidia_smi::NAME),
        )?;
        directory.event_dir()?;
        Ok(directory)
    }

    /// Returns the directory with the libraries.
    pub fn library_dir(&self) -> Result<PathBuf> {
        self.subdirectory("lib")
    }

    /// Returns the path of the stand-in for NVIDIA's assembler, which is this program under another name.
    pub fn ptxas_path(&self) -> Result<PathBuf> {
        Ok(self.subdirectory("bin")?.join(PTXAS))
    }

    /// Returns the directory of commands for the program's PATH.
    fn command_dir(&self) -> Result<PathBuf> {
        self.subdirectory("commands")
    }

    /// Returns the directory for the processes' event files.
    pub fn event_dir(&self) -> Result<PathBuf> {
        self.subdirectory("events")
    }

    fn subdirectory(&self, name: &str) -> Result<PathBuf> {
        let subdirectory = self.0.path().join(name);
        std::fs::create_dir_all(&subdirectory).context("cannot create a temporary directory")?;
        Ok(subdirectory)
    }

    /// Returns the value of [`LIBRARY_PATH_VAR`] with this directory first.
    ///
    /// # Errors
    ///
    /// Fails if the path of the temporary directory contains a colon.
    pub fn library_path(&self) -> Result<OsString> {
        prepend(self.library_dir()?, LIBRARY_PATH_VAR)
    }

    /// Returns the value of `PATH` with the directory of commands first.
    ///
    /// # Errors
    ///
    /// Fails if the path of the temporary directory contains a colon.
    pub fn command_path(&self) -> Result<OsString> {
        prepend(self.command_dir()?, "PATH")
    }
}

/// Returns the value of a variable that lists directories, with `directory` first.
fn prepend(directory: PathBuf, variable: &str) -> Result<OsString> {
    let existing = env::var_os(variable).filter(|paths| !paths.is_empty());
    let existing: Vec<PathBuf> = existing.iter().flat_map(env::split_paths).collect();
    env::join_paths(std::iter::once(directory).chain(existing))
        .with_context(|| format!("cannot add the temporary directory to {variable}"))
}

/// Finds the library that was built or installed with this program.
fn find_library() -> Result<PathBuf> {
    if let Some(prefix) = file::prefix() {
        let library = prefix.join("lib").join(LIBRARY_NAMES[0]);
        ensure!(
            library.is_file(),
            "{} not found: this installation of Warpbook is incomplete",
            library.display()
        );
        return Ok(library);
    }
    let executable =
        env::current_exe().context("cannot determine the path of cuda-run's own executable")?;
    let directory = executable.parent().unwrap_or(Path::new(""));
    // cargo puts dependencies of this program into the first directory, and libraries built explicitly into
    // both.
    let mut candidates = [
        directory.join("deps").join(LIBRARY),
        directory.join(LIBRARY),
    ]
    .into_iter();
    candidates
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| {
            anyhow!(
                "{LIBRARY} not found next to cuda-run in {}; build it with `cargo build -p libcuda`",
                directory.display()
            )
        })
}

#[cfg(unix)]
fn link(library: &Path, name: &Path) -> Result<()> {
    std::os::unix::fs::symlink(library, name)
        .context("cannot create a symbolic link to the library")
}

#[cfg(not(unix))]
fn link(_library: &Path, _name: &Path) -> Result<()> {
    anyhow::bail!("symbolic links to libraries are supported only on Unix")
}

/// The name under which this program acts as the assembler.
const PTXAS: &str = "ptxas";

/// The version output. Triton parses the release; CUDA 12.8 is the last that it accepts for GPUs before
/// Blackwell.
const VERSION: &str = "ptxas: Warpbook's stand-in for NVIDIA's assembler, which passes PTX through\n\
                       Cuda compilation tools, release 12.8, V12.8.0";

/// Flags whose value is the next argument unless it follows `=`.
const WITH_VALUE: [&str; 10] = [
    "-o",
    "--output-file",
    "-arch",
    "--gpu-name",
    "-O",
    "--opt-level",
    "-m",
    "--machine",
    "-maxrregcount",
    "--maxrregcount",
];

/// Returns true if this program was called as the assembler, for programs that assemble PTX before they load it.
pub fn is_called_as_ptxas(words: &[OsString]) -> bool {
    let name = words.first().map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name == PTXAS)
}

/// Runs the stand-in for NVIDIA's assembler and returns the exit status. It passes the PTX through unchanged, because
/// the simulator loads PTX.
pub fn ptxas_main(words: &[OsString]) -> i32 {
    match assemble(&words[1..]) {
        Ok(()) => 0,
        Err(error) => {
            note(format_args!("ptxas: error: {}", describe(&error)));
            1
        }
    }
}

fn assemble(words: &[OsString]) -> Result<()> {
    let mut from = None;
    let mut to = PathBuf::from("elf.o");
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (flag, joined) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (&*text, None),
        };
        match flag {
            "--version" | "-V" => {
                println!("{VERSION}");
                return Ok(());
            }
            "-o" | "--output-file" => {
                let next = || words.next().map(|next| next.to_string_lossy().into_owned());
                to = joined
                    .or_else(next)
                    .context("-o requires a file name")?
                    .into();
            }
            // All other flags affect only the machine code, which is not generated.
            flag if WITH_VALUE.contains(&flag) && joined.is_none() => {
                words
                    .next()
                    .with_context(|| format!("{flag} requires a value"))?;
            }
            flag if flag.starts_with('-') && flag.len() > 1 => {}
            _ if from.is_some() => bail!("only one input file is supported"),
            _ => from = Some(PathBuf::from(word)),
        }
    }
    let from = from.context("no input file given")?;
    let ptx =
        fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
    let is_ptx = ptx
        .lines()
        .any(|line| line.trim_start().starts_with(".version"));
    ensure!(
        is_ptx,
        "{} is not PTX: it has no .version directive",
        from.display()
    );
    fs::write(&to, ptx).with_context(|| format!("cannot write {}", to.display()))
}
