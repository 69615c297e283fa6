//! Supervision of a worker: starts it, receives its messages, and kills it after the time limit.

use std::io::{BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use anyhow::{Context as _, Result, bail};
use chapter::interrupt;
#[cfg(windows)]
use process_wrap::std::JobObject;
#[cfg(unix)]
use process_wrap::std::ProcessGroup;
use process_wrap::std::{ChildWrapper, CommandWrap};

use super::job::{Job, Limits, Message};
use super::lines::{Lines, OutputLine};
use crate::data::{Step, Text};
use crate::grade::{Failure, Verdict};
use crate::lang::{Lang, tr};

/// The interval at which the supervisor checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The number of attempts to remove a folder.
const REMOVE_ATTEMPTS: u32 = 40;
/// The delay between attempts to remove a folder.
const REMOVE_DELAY: Duration = Duration::from_millis(25);

/// Capacity of the channel of output lines; a full channel blocks the worker.
const CHANNEL_CAPACITY: usize = 64;

/// The result of a job.
#[derive(Clone, Debug)]
pub struct Graded {
    /// The verdict.
    pub verdict: Verdict,
    /// The beginning of the kernels' output.
    pub printed: String,
}

/// Runs a job in a separate process.
///
/// # Errors
///
/// Fails if the submission cannot be graded for reasons outside it.
pub fn supervise(job: Job) -> Result<Graded> {
    let graded = supervise_until(job, &AtomicBool::new(false), |_, _| {})?;
    graded.context("grading is never stopped early")
}

/// Runs a job in a separate process, calling `on_step` with each step and size. Returns `None` if `stop`
/// becomes true before the end, which kills the worker.
///
/// # Errors
///
/// Fails as [`supervise`] does.
pub fn supervise_until(
    mut job: Job,
    stop: &AtomicBool,
    mut on_step: impl FnMut(Step, &[u32]),
) -> Result<Option<Graded>> {
    // Delay the program's exit until the worker and its folder are gone.
    let guard = interrupt::cleanup_guard();
    let scratch = Scratch::new()?;
    job.scratch = Some(scratch.0.clone());
    let job = &job;
    let text = serde_json::to_string(job)?;
    let mut worker = Worker(start(&job.limits, &scratch.0)?);
    let deadline = Instant::now() + job.limits.time();
    let output_lines = listen(&mut *worker.0, &job.token)?;
    let mut stdin = worker.0.stdin().take().context("a worker without input")?;
    // Ignore write errors: a worker that exits early reports the reason, or its exit status does.
    let _ = writeln!(stdin, "{text}").and_then(|()| stdin.flush());

    let mut printed = String::new();
    let mut last_step = (Step::Compile, Vec::new());
    let message = loop {
        if interrupt::is_shutting_down() {
            drop((worker, scratch, guard));
            interrupt::wait_for_exit();
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            break None;
        }
        match output_lines.recv_timeout(remaining.min(POLL_INTERVAL)) {
            Ok(OutputLine::Message(Message::Progress { step, size })) => {
                on_step(step, &size);
                last_step = (step, size);
            }
            Ok(OutputLine::Message(message)) => break Some(message),
            Ok(OutputLine::Printed(text)) => printed.push_str(&text),
            Err(RecvTimeoutError::Timeout) => {}
            // The worker exited or closed its output; both mean that no verdict will follow.
            Err(RecvTimeoutError::Disconnected) => {
                let verdict = explain_exit(&mut *worker.0, job, &last_step, deadline)?;
                break Some(Message::Verdict(Box::new(verdict)));
            }
        }
    };
    drop((worker, stdin));
    let verdict = match message {
        Some(Message::Verdict(verdict)) => *verdict,
        Some(Message::InternalError(reason)) => bail!(reason),
        Some(Message::Progress { .. }) => bail!("the worker ended without a verdict"),
        None => failed(
            job,
            &last_step,
            Text::from_fn(|lang| too_long(job.limits.seconds, lang)),
        ),
    };
    let printed = printed.trim().to_owned();
    Ok(Some(Graded { verdict, printed }))
}

/// A worker process, killed with all its descendants when this value is dropped.
struct Worker(Box<dyn ChildWrapper>);

impl Drop for Worker {
    fn drop(&mut self) {
        // Ignore the error for a worker that has already exited.
        let _ = self.0.kill();
    }
}

/// A temporary folder for a worker and its compilers, removed when this value is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        let folder = tempfile::tempdir()
            .context(tr("cannot create a temporary folder", "无法创建临时文件夹"))?;
        Ok(Scratch(folder.keep()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Retry, because a dying process of the group may still create a file.
        for _ in 0..REMOVE_ATTEMPTS {
            match fs::remove_dir_all(&self.0) {
                Err(error) if error.kind() != ErrorKind::NotFound => thread::sleep(REMOVE_DELAY),
                _ => return,
            }
        }
    }
}

/// Starts this program as a worker in its own process group, with temporary files in `scratch`.
fn start(limits: &Limits, scratch: &Path) -> Result<Box<dyn ChildWrapper>> {
    let program = env::current_exe().context(tr(
        "cannot find this program's own file",
        "程序找不到自身的文件",
    ))?;
    let mut command = Command::new(program);
    command
        .arg("worker")
        .env("CUDA_SIM_TIME_LIMIT", limits.launch_seconds.to_string())
        // Run blocks one after the other, so that interactions between blocks are reproducible.
        .env("RAYON_NUM_THREADS", "1")
        .envs(["TMPDIR", "TMP", "TEMP"].map(|variable| (variable, scratch)))
        .env_remove("CUDA_SIM_CHECK")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // Counters and checks need the simulator, so use a GPU only if it is requested explicitly.
    if env::var_os("CUDA_BACKEND").is_none_or(|backend| backend.is_empty()) {
        command.env("CUDA_BACKEND", "sim");
    }
    let mut command = CommandWrap::from(command);
    #[cfg(unix)]
    command.wrap(ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(JobObject);
    command.spawn().context(tr(
        "cannot start a process for the grading",
        "无法启动评分进程",
    ))
}

/// Spawns a thread that receives the worker's output lines.
fn listen(worker: &mut dyn ChildWrapper, token: &str) -> Result<Receiver<OutputLine>> {
    let stdout = worker.stdout().take().context("a worker without output")?;
    let token = token.to_owned();
    let (to, output_lines) = sync_channel(CHANNEL_CAPACITY);
    let listen = move || {
        let lines = Lines::new(BufReader::new(stdout), token);
        for line in lines {
            if to.send(line).is_err() {
                break;
            }
        }
    };
    let started = thread::Builder::new().spawn(listen);
    started.context(tr("cannot start a thread", "无法启动线程"))?;
    Ok(output_lines)
}

/// Returns the verdict on a submission whose worker ended without one.
fn explain_exit(
    worker: &mut dyn ChildWrapper,
    job: &Job,
    last_step: &(Step, Vec<u32>),
    deadline: Instant,
) -> Result<Verdict> {
    // The output is closed; a worker that is still running at the deadline would never exit.
    let status = loop {
        match worker.try_wait()? {
            Some(status) => break Some(status),
            None if Instant::now() >= deadline => break None,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let reason = match status {
        None => Text::from_fn(|lang| too_long(job.limits.seconds, lang)),
        // No submission runs in the worker itself, so the signal came from outside.
        Some(status) if is_from_outside(status) => bail!(localize!(
            job.lang,
            "the grading process was killed from outside ({}), for example because memory ran out: \
             grade again",
            "评分进程被外部终止（{}），例如因为内存耗尽：请重新评分";
            status
        )),
        Some(status) => Text::from_fn(|lang| explain_status(status, &job.limits, lang)),
    };
    Ok(failed(job, last_step, reason))
}

fn failed(job: &Job, (step, size): &(Step, Vec<u32>), message: Text) -> Verdict {
    let mut verdict = Verdict::new(job.seed);
    verdict.failure = Some(Failure {
        step: *step,
        kind: None,
        size: size.clone(),
        message,
    });
    verdict
}

fn too_long(seconds: u64, lang: Lang) -> String {
    localize!(
        lang,
        "It was killed after {} seconds. Look for an endless loop.",
        "运行 {} 秒后被终止。请检查是否有无限循环。";
        seconds
    )
}

/// Explains the end of a process.
pub fn explain_status(status: ExitStatus, limits: &Limits, lang: Lang) -> String {
    match signal(status) {
        Some(signal) if signal == SIGXCPU => localize!(
            lang,
            "It was killed after {} seconds of CPU time. Look for an endless loop.",
            "用去 {} 秒 CPU 时间后被终止。请检查是否有无限循环。";
            limits.cpu_seconds
        ),
        Some(signal) if signal == SIGABRT => localize!(
            lang,
            "It was killed because it needed more than {} GB of memory. Check the lengths of its \
             arrays.",
            "需要的内存超过 {} GB，被终止。请检查各数组的长度。";
            limits.memory >> 30
        ),
        Some(signal) => localize!(
            lang,
            "It crashed (signal {}), or the system killed it, for example because memory ran out.",
            "它崩溃了（信号 {}），或者被系统终止，例如因为内存耗尽。";
            signal
        ),
        None => localize!(
            lang,
            "It exited ({}) before it was graded: a submission must not end the program.",
            "评分尚未完成它就退出了（{}）：答案不可以结束程序。";
            code(status, lang)
        ),
    }
}

/// Returns true if a signal ended the process.
pub fn is_signal(status: ExitStatus) -> bool {
    signal(status).is_some()
}

/// Formats the exit code.
fn code(status: ExitStatus, lang: Lang) -> String {
    match (status.code(), lang) {
        (Some(code), Lang::Zh) => format!("退出码 {code}"),
        _ => status.to_string(),
    }
}

/// `SIGXCPU`
const SIGXCPU: i32 = 24;
/// `SIGABRT`, with which a Rust program ends when an allocation fails.
const SIGABRT: i32 = 6;

/// Returns true if the worker was ended by a signal that other processes send: SIGHUP, SIGINT, SIGQUIT,
/// SIGKILL or SIGTERM.
#[cfg(unix)]
fn is_from_outside(status: ExitStatus) -> bool {
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    signal.is_some_and(|signal| [1, 2, 3, 9, 15].contains(&signal))
}

#[cfg(not(unix))]
fn is_from_outside(_status: ExitStatus) -> bool {
    false
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
