//! Running programs that were not compiled here. They load the driver library by its name and find the
//! simulator.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result, bail};
use chapter::{file, interrupt, rerun};
use common::error::note;
use common::gpu::{Clock, GpuInfo};
use telemetry::text::Order;
use telemetry::{EVENTS_VAR, EventLog, Summary, wire};

use crate::flags::Flags;
use crate::run::{
    check_output_paths, exit_status, probe_gpu, report, report_failure, set_simulated_device,
    text_options,
};
use crate::simulator_dir::{LIBRARY_PATH_VAR, SimulatorDir};
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
