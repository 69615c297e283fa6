//! The program's process, seen from outside: started, waited for, ended.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context as _, Result};
use chapter::interrupt;
use common::gpu::{Clock, GpuInfo};

use crate::flags::Flags;
use crate::inside;
use crate::run::process_name;

/// What a shell adds to the number of a signal that ended a program.
const SIGNALLED: i32 = 128;

/// The exit status of a program that took too long: that of the command timeout.
const LATE: i32 = 124;

/// How often to look whether this program is to end.
const LOOK: Duration = Duration::from_millis(20);

/// What an interrupt from the keyboard reaches as well has so long to end by itself; and then so long
/// after it was asked to.
const PATIENCE: Duration = Duration::from_millis(300);
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// A program to run.
pub struct Process<'a> {
    pub flags: &'a Flags,
    pub compiled: &'a Path,
    /// The file with a description, where there is no host program.
    pub described: Option<&'a Path>,
    pub gpu: &'a GpuInfo,
}

/// How it ended, and what it told.
pub struct Ended {
    pub end: End,
    pub told: File,
}

/// How a program ended.
pub struct End {
    status: ExitStatus,
    /// It was ended at its time limit.
    late: Option<Duration>,
}

impl Process<'_> {
    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// Where it cannot be started.
    pub fn run(&self) -> Result<Ended> {
        let file = tempfile::NamedTempFile::new();
        let file = file.context("cannot make a temporary file")?;
        let told = file
            .reopen()
            .context("cannot open a temporary file again")?;
        let child = self.command(file.path())?.spawn();
        let child = child.context("cannot start the program")?;
        let end = until_it_ends(child, self.flags.time_limit, interrupt::ending)?;
        Ok(Ended { end, told })
    }

    fn command(&self, told: &Path) -> Result<Command> {
        let show = &self.flags.show;
        let own = env::current_exe().context("cannot find this program itself")?;
        let mut command = Command::new(own);
        command.arg(inside::NAME);
        command.arg("--compiled").arg(self.compiled);
        command.arg("--told").arg(told);
        command.arg("--name").arg(process_name(self.flags));
        if let Some(file) = self.described {
            command.arg("--described").arg(file);
        }
        for set in &self.flags.set {
            command.arg("--set").arg(set);
        }
        if show.counts() {
            // On the simulator what is counted has a modelled time with it.
            command.arg(match self.gpu.time {
                Clock::Measured => "--measure",
                Clock::Modelled => "--counts",
            });
        }
        if let Some(checks) = show.check {
            command.arg("--check").arg(checks.to_string());
        }
        command.arg("--").args(&self.flags.arguments);
        // Who answers has been chosen, and has been told.
        command.env(
            "CUDA_BACKEND",
            match self.gpu.time {
                Clock::Measured => "gpu",
                Clock::Modelled => "sim",
            },
        );
        if show.json_to_stdout() {
            command.stdout(Stdio::from(io::stderr()));
        }
        Ok(command)
    }
}

/// Waits for a program, and ends it: at its limit, or where somebody has `asked` for that, which has reached
/// it already.
///
/// # Errors
///
/// Where it cannot be waited for.
pub fn until_it_ends(
    mut child: Child,
    limit: Option<Duration>,
    asked: impl Fn() -> bool,
) -> Result<End> {
    let id = child.id();
    let (to, ended) = channel();
    // Nobody waits for this thread where this program ends before.
    thread::spawn(move || to.send(child.wait()));
    let begun = Instant::now();
    let mut ending: Option<Instant> = None;
    let mut late = None;
    let status = loop {
        match ended.recv_timeout(LOOK) {
            Ok(status) => break status.context("cannot wait for the program")?,
            Err(RecvTimeoutError::Disconnected) => anyhow::bail!("cannot wait for the program"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let limit = limit.filter(|limit| begun.elapsed() >= *limit);
        match ending {
            None if asked() => ending = Some(Instant::now()),
            None if limit.is_some() => {
                late = limit;
                ending = Some(Instant::now());
                end(id, Force::Ask);
            }
            None => {}
            Some(since) if since.elapsed() >= LAST_PATIENCE => end(id, Force::Kill),
            Some(since) if since.elapsed() >= PATIENCE => end(id, Force::Ask),
            Some(_) => {}
        }
    };
    Ok(End { status, late })
}

/// How a process is ended.
#[derive(Clone, Copy)]
enum Force {
    Ask,
    Kill,
}

/// Ends a process that has not been waited for.
#[cfg(unix)]
fn end(id: u32, force: Force) {
    use rustix::process::{Pid, Signal, kill_process};

    let signal = match force {
        Force::Ask => Signal::TERM,
        Force::Kill => Signal::KILL,
    };
    if let Some(process) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // One that has just ended by itself needs no more.
        let _ = kill_process(process, signal);
    }
}

#[cfg(not(unix))]
fn end(_id: u32, _force: Force) {}

impl End {
    /// Its exit status, as a shell has it.
    pub fn code(&self) -> i32 {
        if self.late.is_some() {
            return LATE;
        }
        let signal = self.signal().map(|signal| SIGNALLED + signal);
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

    /// Why it did not end by itself; none where it did.
    pub fn why(&self) -> Option<String> {
        if let Some(limit) = self.late {
            return Some(format!(
                "the program was ended after {} s, its time limit",
                limit.as_secs_f64()
            ));
        }
        let signal = self.signal()?;
        let name = match signal {
            2 => " (SIGINT, an interrupt from the keyboard)",
            4 => " (SIGILL, an instruction that there is not)",
            6 => " (SIGABRT, it gave up itself)",
            8 => " (SIGFPE, a division by zero, for one)",
            9 => " (SIGKILL)",
            11 => {
                " (SIGSEGV, an access outside of the host's memory; a pointer to the device's memory is none of \
                   the host's)"
            }
            13 => " (SIGPIPE, nobody reads what it prints)",
            15 => " (SIGTERM)",
            _ => "",
        };
        Some(format!("the program was ended by signal {signal}{name}"))
    }
}
