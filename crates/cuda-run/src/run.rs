//! Compiling and running a program, from the command line to the report.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, anyhow, bail, ensure};
use chapter::file::{self, AtomicFile};
use chapter::{interrupt, rerun};
use common::Gpu;
use common::error::{describe, note};
use common::gpu::GpuInfo;
use cuda_driver::CallSite;
use launch_plan::plan;
use telemetry::record::Run;
use telemetry::text::{Order, TextOptions};
use telemetry::wire::{self, Event};
use telemetry::{EventLog, Level, Problem, Summary};

use crate::compile::{Compiler, Goal, SourceError, explain_undefined, undefined_symbol};
use crate::flags::Flags;
use crate::formats::Report;
use crate::plan::PlanFile;
use crate::supervise::{Exit, Process, forward_events};

/// Exit status if the program cannot be compiled or run.
pub const FAILURE: i32 = 1;

/// Exit status if a check found an error but the program itself succeeded.
const FINDINGS_STATUS: i32 = 1;

/// Compiles the program, runs it and reports what its kernels did. Returns its exit status.
///
/// # Errors
///
/// Fails if the program cannot be compiled or run.
pub fn run(flags: &Flags) -> Result<i32> {
    check_output_paths(flags)?;
    let _tidy = interrupt::cleanup_guard();
    let mut gpu = None;
    let (exit, summary) = compile_and_run(flags, &mut gpu)
        .inspect_err(|error| report_failure(flags, gpu.as_ref(), error))?;
    let gpu = gpu.context("no GPU was opened")?;
    let rerun_command = rerun::plain_command(std::env::args_os());
    let options = text_options(flags, Order::FirstLaunch, rerun_command);
    let text = summary.text(&options, &gpu);
    report(flags, &gpu, (&exit, &summary), &text)?;
    Ok(exit_status(flags, &exit, &summary))
}

/// Compiles and runs the program, on the GPU that is returned in `opened`.
fn compile_and_run(flags: &Flags, opened: &mut Option<GpuInfo>) -> Result<(Exit, Summary)> {
    let plan = find_plan(flags)?;
    if plan.is_none() && !cfg!(unix) {
        bail!("cuda-run compiles programs only on Linux and macOS; on Windows, use WSL");
    }
    set_simulated_device(flags);
    if flags.show.quiet {
        cuda_driver::select_quietly();
    }
    let gpu = &*opened.insert(probe_gpu()?);
    if !flags.show.quiet {
        note(gpu);
    }
    let compiler = Compiler::find(&flags.compile, gpu.compute_capability)?;
    let compiled = compiler.compile(
        &flags.files,
        match plan {
            Some(_) => Goal::Ptx,
            None => Goal::Library,
        },
    );
    if interrupt::is_shutting_down() {
        bail!("interrupted");
    }
    let compiled = compiled?;
    if !compiled.diagnostics.is_empty() {
        let _ = io::stderr().write_all(compiled.diagnostics.as_bytes());
    }
    let process = Process {
        flags,
        compiled: &compiled.file,
        plan: plan.as_deref(),
        gpu,
    };
    let completed = process.run()?;
    let events: Vec<Event> = wire::read(&completed.events).collect();
    forward_events(&flags.process_name(), &events);
    let summary = EventLog::from_iter(events).summary("cudaFree");
    if let Some(reason) = &summary.load_error {
        return Err(explain_load_error(&compiler, &flags.files, reason));
    }
    Ok((completed.exit, summary))
}

/// Returns the exit status of cuda-run for a program's exit and report.
pub fn exit_status(flags: &Flags, exit: &Exit, summary: &Summary) -> i32 {
    let checked = flags.show.report.check.is_some();
    match exit.code() {
        0 if summary.fails(checked, flags.show.api()) => FINDINGS_STATUS,
        0 if lacks_kernels(flags, summary) => FAILURE,
        code => code,
    }
}

/// Returns true if the program should have launched a kernel and has not.
fn lacks_kernels(flags: &Flags, summary: &Summary) -> bool {
    flags.require_kernels && summary.kernels.is_empty() && summary.measured.is_empty()
}

/// Returns the contents of the text report.
pub fn text_options(flags: &Flags, order: Order, rerun_command: String) -> TextOptions {
    TextOptions {
        profile: flags.show.report.profile,
        check: flags.show.report.check,
        api: flags.show.api(),
        order,
        rerun_command,
    }
}

/// Writes the report: `text`, or another format on standard output; and the requested files.
pub fn report(
    flags: &Flags,
    gpu: &GpuInfo,
    (exit, summary): (&Exit, &Summary),
    text: &str,
) -> Result<()> {
    let show = &flags.show;
    let checks = show.report.check;
    let reason = exit.reason();
    if let Some(reason) = &reason {
        note(format_args!("\n{reason}"));
    }
    if exit.code() == 0 && lacks_kernels(flags, summary) {
        note(
            "\nerror: the program launched no kernel, which --require-kernels requires. Likely cause: it does not \
             load libcuda.so.1, or its tests were skipped",
        );
    }
    let stdout_format = show.stdout_format();
    if stdout_format.is_none() && !show.quiet {
        note(format_args!("\n{text}"));
    } else if let Some(checks) = checks
        && let Some(text) = summary.failed_checks(checks, show.api())
    {
        note(format_args!("\n{text}"));
    }
    let problems = summary.problems(checks.is_some(), show.api(), reason.as_deref());
    write_formats(&Report {
        flags,
        gpu: Some(gpu),
        summary,
        problems: &problems,
        status: exit_status(flags, exit, summary),
        run: &run_record(flags, Some(exit)),
    })?;
    if let Some(plot) = &show.report.plot
        && !interrupt::is_shutting_down()
    {
        let [svg, png] = plot.save(&summary.figure(&flags.process_name(), gpu))?;
        note(format_args!(
            "\nThe plot: {}, {}",
            svg.display(),
            png.display()
        ));
    }
    Ok(())
}

/// Writes the machine-readable formats for a program that was not run. The error itself is printed later.
pub fn report_failure(flags: &Flags, gpu: Option<&GpuInfo>, error: &Error) {
    if interrupt::is_shutting_down() {
        return;
    }
    let problems = match error.downcast_ref::<SourceError>() {
        Some(error) => error.problems.clone(),
        None => vec![Problem::new(
            "not-run",
            "run",
            Level::Error,
            &describe(error),
        )],
    };
    let written = write_formats(&Report {
        flags,
        gpu,
        summary: &Summary::default(),
        problems: &problems,
        status: FAILURE,
        run: &run_record(flags, None),
    });
    if let Err(error) = written {
        note(format_args!("error: {}", describe(&error)));
    }
}

/// Writes the requested formats, to files and to standard output.
fn write_formats(report: &Report) -> Result<()> {
    let show = &report.flags.show;
    for (format, flag, file) in show.files() {
        let text = report.format(format)?;
        write_file(file, &text)
            .with_context(|| format!("{flag}: cannot write {}", file.display()))?;
    }
    if let Some(format) = show.stdout_format() {
        let text = report.format(format)?;
        let written = io::stdout().write_all(text.as_bytes());
        written.context("cannot write the report to standard output")?;
    }
    Ok(())
}

/// Writes a file atomically, even after an interrupt, for which the exit waits until the report is complete.
fn write_file(path: &Path, text: &str) -> io::Result<()> {
    AtomicFile::new(path, |writer| writer.write_all(text.as_bytes()))?.persist()
}

/// Describes the run for the record. `exit` is `None` if the program was not run.
fn run_record(flags: &Flags, exit: Option<&Exit>) -> Run {
    let files = flags.files.iter().map(|file| file.display().to_string());
    let args = flags.arguments.iter();
    let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
    let program = if flags.files.is_empty() {
        args.next().into_iter().collect()
    } else {
        files.collect()
    };
    Run {
        program,
        arguments: args.collect(),
        status: exit.map(Exit::code),
        ended: exit.and_then(Exit::reason),
    }
}

/// Returns the file with the launch plan, or `None` for a program. Checks the plan before anything is
/// compiled.
fn find_plan(flags: &Flags) -> Result<Option<PathBuf>> {
    let file = match (&flags.plan, &flags.files[..]) {
        (Some(plan), [_]) => plan,
        (Some(_), _) => bail!("--plan launches the kernels of one .cu file"),
        (None, [file]) if has_plan_only(file) => file,
        (None, _) if !flags.set.is_empty() => {
            bail!("--set overrides a number of a launch plan, but there is none")
        }
        (None, _) => return Ok(None),
    };
    ensure!(
        flags.arguments.is_empty(),
        "a kernel launched by a launch plan takes no arguments after --; --set NAME=VALUE \
         overrides a number of the plan"
    );
    PlanFile::open(file, &flags.set)?.resolve()?;
    Ok(Some(file.clone()))
}

/// Returns true if a file contains a launch plan but no `main`.
fn has_plan_only(file: &Path) -> bool {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let has_main = text.match_indices("main").any(|(offset, keyword)| {
        let previous = text[..offset].chars().next_back();
        let is_identifier_part = previous.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_identifier_part && text[offset + keyword.len()..].trim_start().starts_with('(')
    });
    !has_main && !matches!(plan::find(&text), Ok(None))
}

/// Checks that all output files can be written, before anything is run.
pub fn check_output_paths(flags: &Flags) -> Result<()> {
    flags.show.check_destinations().map_err(Error::msg)?;
    let log = flags.log.as_deref().map(|log| ("--log", log));
    for (flag, file) in flags
        .show
        .files()
        .map(|(_, flag, file)| (flag, file))
        .chain(log)
    {
        file::require_folder(&format!("{flag}={}", file.display()), file)?;
    }
    Ok(())
}

/// Opens and closes the GPU or the simulator, which prints its name. The program's process opens it again.
pub fn probe_gpu() -> Result<GpuInfo> {
    Ok(Gpu::open()?.info)
}

/// Selects the simulated GPU and the number of GPUs, for this process and the program's.
pub fn set_simulated_device(flags: &Flags) {
    let count = flags.devices.map(|count| count.to_string());
    for (variable, value) in [
        ("CUDA_SIM_DEVICE", flags.device.as_ref()),
        ("CUDA_SIM_DEVICES", count.as_ref()),
    ] {
        if let Some(value) = value {
            // SAFETY: the only other thread handles signals and does not read the environment.
            unsafe { std::env::set_var(variable, value) };
        }
    }
}

/// Explains why a program does not load. `reason` is the dynamic linker's message.
fn explain_load_error(compiler: &Compiler, files: &[PathBuf], reason: &str) -> Error {
    if reason == "main" {
        return anyhow!(
            "none of the files {} defines main. To run a kernel without a host program, \
             add a launch plan to the kernel's file: docs/records/launch-plan.md",
            file_list(files)
        );
    }
    let mut unresolved = compiler.unresolved_functions(files);
    unresolved.retain(|function| !is_defined(&function.name));
    if unresolved.is_empty() {
        return anyhow!("cannot load the program: {reason}");
    }
    let lines = unresolved.iter().map(|function| {
        let call_site = match &function.location {
            None => String::new(),
            Some(CallSite { file, line }) => format!(" (called in {file}:{line})"),
        };
        format!(
            "{}{call_site} {}",
            function.name,
            explain_undefined(&function.name)
        )
    });
    let lines: Vec<String> = lines.collect();
    let text = format!(
        "cannot load the program: undefined functions:\n{}",
        lines.join("\n")
    );
    let problems = unresolved.into_iter().map(|function| {
        undefined_symbol(
            &function.name,
            &explain_undefined(&function.name),
            function.location,
        )
    });
    let problems = problems.collect();
    SourceError { text, problems }.into()
}

fn file_list(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    names.join(", ")
}

/// Returns true if this process defines a function with this name.
#[cfg(unix)]
fn is_defined(name: &str) -> bool {
    use libloading::os::unix::Library;
    // SAFETY: the symbol's address is only tested for existence; the function is never called.
    unsafe { Library::this().get::<unsafe extern "C" fn()>(name) }.is_ok()
}

#[cfg(not(unix))]
fn is_defined(_name: &str) -> bool {
    false
}
