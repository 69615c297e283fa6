//! The parent of the program's process: starts it, waits for it and stops it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, process, thread};

use anyhow::{Context as _, Result};
use chapter::interrupt;
use common::gpu::{Clock, GpuInfo};
use telemetry::EVENTS_VAR;
use telemetry::failures::Judgement;
use telemetry::wire::{Event, EventWriter};

use crate::child;
use crate::flags::Flags;
#[cfg(target_os = "linux")]
use crate::nvtx;

/// The exit status of a program ended by a signal, minus the signal's number, as in a shell.
const SIGNAL_STATUS_BASE: i32 = 128;

/// The exit status of a program that exceeded its time limit, the same as that of `timeout`.
const TIMEOUT_STATUS: i32 = 124;

const SIGINT: i32 = 2;

/// The interval at which stop requests and the time limit are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The time that a program has to exit by itself after an interrupt from the keyboard, which it receives too,
/// before it gets SIGTERM; and the time after which it gets SIGKILL.
const TERMINATE_GRACE: Duration = Duration::from_millis(300);
const KILL_GRACE: Duration = Duration::from_secs(2);

/// A program to run in its own process.
pub struct Process<'a> {
    pub flags: &'a Flags,
    pub compiled: &'a Path,
    /// The file with the launch plan, if there is no host program.
    pub plan: Option<&'a Path>,
    pub gpu: &'a GpuInfo,
}

/// The exit of a program and its events.
pub struct Completed {
    pub exit: Exit,
    pub events: File,
}

/// The exit of a program.
pub struct Exit {
    status: ExitStatus,
    /// The time limit, if the program exceeded it.
    timed_out: Option<Duration>,
}

impl Process<'_> {
    /// Runs the program until it exits.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started.
    pub fn run(&self) -> Result<Completed> {
        let file = tempfile::NamedTempFile::new();
        let file = file.context("cannot create a temporary file")?;
        let events = file.reopen().context("cannot reopen a temporary file")?;
        let child = self.command(file.path())?.spawn();
        let child = child.context("cannot start the program")?;
        let exit = wait_with_limit(child, self.flags.time_limit, interrupt::is_shutting_down)?;
        // The keyboard interrupts both processes, but the program may end before this one notices.
        let interrupted = Instant::now();
        while exit.signal() == Some(SIGINT)
            && !interrupt::is_shutting_down()
            && interrupted.elapsed() < TERMINATE_GRACE
        {
            thread::sleep(POLL_INTERVAL);
        }
        Ok(Completed { exit, events })
    }

    fn command(&self, events: &Path) -> Result<Command> {
        let show = &self.flags.show;
        let program =
            env::current_exe().context("cannot determine the path of cuda-run's own executable")?;
        let mut command = Command::new(program);
        command.arg(child::SUBCOMMAND);
        command.arg("--compiled").arg(self.compiled);
        command.arg("--events").arg(events);
        command.arg("--name").arg(self.flags.process_name());
        if let Some(file) = self.plan {
            command.arg("--plan").arg(file);
        }
        for assignment in &self.flags.set {
            command.arg("--set").arg(assignment);
        }
        let outer_counts = outer_events().is_some() && env::var_os("CUDA_SIM_PROFILE").is_some();
        if show.needs_counters() || outer_counts {
            // On the simulator, launches with counters also have a modelled time.
            command.arg(match self.gpu.time {
                Clock::Measured => "--measure",
                Clock::Modelled => "--counts",
            });
        }
        if let Some(checks) = show.report.check {
            command.arg("--check").arg(checks.to_string());
        }
        command.arg("--").args(&self.flags.arguments);
        #[cfg(target_os = "linux")]
        if env::var_os(nvtx::TOOL_VARIABLE).is_none() {
            command.env(nvtx::TOOL_VARIABLE, nvtx::TOOL);
        }
        // The parent has already chosen and announced the backend.
        command.env(
            "CUDA_BACKEND",
            match self.gpu.time {
                Clock::Measured => "gpu",
                Clock::Modelled => "sim",
            },
        );
        if show.stdout_format().is_some() {
            command.stdout(Stdio::from(io::stderr()));
        }
        Ok(command)
    }
}

/// Returns the directory of events of the `cuda-run -- PROGRAM` that started this process directly or indirectly;
/// `None` if there is none.
pub fn outer_events() -> Option<PathBuf> {
    let directory = env::var_os(EVENTS_VAR).filter(|directory| !directory.is_empty())?;
    Some(PathBuf::from(directory)).filter(|directory| directory.is_dir())
}

/// Adds a program's events to the report of the outer `cuda-run -- PROGRAM`, if there is one. If the disk is full, that
/// report lacks them.
pub fn forward_events(name: &str, events: &[Event]) {
    let Some(directory) = outer_events() else {
        return;
    };
    let file = directory.join(process::id().to_string());
    if let Ok(writer) = EventWriter::create(&file, Judgement::Strict) {
        writer.write(&Event::Process(name.to_owned()));
        events.iter().for_each(|event| writer.write(event));
    }
}

/// Waits for a program, and stops it at its time limit. If `stop_requested` returns true, the program has
/// received the interrupt too, and is only stopped if it does not exit by itself.
///
/// # Errors
///
/// Fails if the program cannot be waited for.
pub fn wait_with_limit(
    mut child: Child,
    limit: Option<Duration>,
    stop_requested: impl Fn() -> bool,
) -> Result<Exit> {
    let id = child.id();
    let (sender, receiver) = channel();
    // Nothing joins this thread: if this program exits first, it is abandoned.
    thread::spawn(move || sender.send(child.wait()));
    let started = Instant::now();
    let mut stopping: Option<Instant> = None;
    let mut timed_out = None;
    let status = loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(status) => break status.context("cannot wait for the program")?,
            Err(RecvTimeoutError::Disconnected) => anyhow::bail!("cannot wait for the program"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let limit = limit.filter(|limit| started.elapsed() >= *limit);
        match stopping {
            None if stop_requested() => stopping = Some(Instant::now()),
            None if limit.is_some() => {
                timed_out = limit;
                stopping = Some(Instant::now());
                send_signal(id, StopSignal::Terminate);
            }
            None => {}
            Some(since) if since.elapsed() >= KILL_GRACE => send_signal(id, StopSignal::Kill),
            Some(since) if since.elapsed() >= TERMINATE_GRACE => {
                send_signal(id, StopSignal::Terminate)
            }
            Some(_) => {}
        }
    };
    Ok(Exit { status, timed_out })
}

/// The signal that stops a process.
#[derive(Clone, Copy)]
enum StopSignal {
    Terminate,
    Kill,
}

/// Sends a signal to a process that has not been waited for.
#[cfg(unix)]
fn send_signal(id: u32, stop_signal: StopSignal) {
    use rustix::process::{Pid, Signal, kill_process};

    let signal = match stop_signal {
        StopSignal::Terminate => Signal::TERM,
        StopSignal::Kill => Signal::KILL,
    };
    if let Some(process) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // An error means that the process has just exited by itself.
        let _ = kill_process(process, signal);
    }
}

#[cfg(not(unix))]
fn send_signal(_id: u32, _force: StopSignal) {}

impl Exit {
    /// Returns the exit status as a shell reports it.
    pub fn code(&self) -> i32 {
        if self.timed_out.is_some() {
            return TIMEOUT_STATUS;
        }
        let signal = self.signal().map(|signal| SIGNAL_STATUS_BASE + signal);
        self.status.code().or(signal).unwrap_or(1)
    }

    #[cfg(unix)]
    fn signal(&self) -> Option<i32> {
        use std::os::unix::process::ExitStatusExt as _;
        self.status.signal()
    }

    #[cfg(not(unix))]
    fn signal(&self) -> Option<i32> {
        None
    }

    /// Returns the reason for which the program did not exit by itself, or `None` if it did.
    pub fn reason(&self) -> Option<String> {
        if let Some(limit) = self.timed_out {
            return Some(format!(
                "the program was stopped at its time limit of {} s",
                limit.as_secs_f64()
            ));
        }
        let signal = self.signal()?;
        let name = match signal {
            SIGINT => " (SIGINT: interrupt from the keyboard)",
            4 => " (SIGILL: illegal instruction)",
            6 => " (SIGABRT: it called abort)",
            8 => " (SIGFPE: arithmetic error, such as an integer division by zero)",
            9 => " (SIGKILL)",
            11 => {
                " (SIGSEGV: invalid memory access on the host; the host cannot dereference a device pointer)"
            }
            13 => " (SIGPIPE: its output was closed)",
            15 => " (SIGTERM)",
            _ => "",
        };
        Some(format!("the program was killed by signal {signal}{name}"))
    }
}
