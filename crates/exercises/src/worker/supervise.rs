//! Supervision of a worker: starts it, receives its messages, and kills it after the time limit.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use anyhow::{Context as _, Result, bail};
use chapter::interrupt;
use chapter::lang::{Lang, Text, tr};
#[cfg(windows)]
use process_wrap::std::JobObject;
#[cfg(unix)]
use process_wrap::std::ProcessGroup;
use process_wrap::std::{ChildWrapper, CommandWrap};

use super::{Job, Line, Message};
use crate::data::Step;
use crate::grade::{Failure, Record, Verdict};
use crate::process::{Limits, Lines, OutputLine, explain_outside, explain_status};

/// The interval at which the supervisor checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The number of attempts to remove a folder.
const REMOVE_ATTEMPTS: u32 = 40;
/// The delay between attempts to remove a folder.
const REMOVE_DELAY: Duration = Duration::from_millis(25);

/// Capacity of the channel of output lines; a full channel blocks the worker.
const CHANNEL_CAPACITY: usize = 64;

/// Runs a job in a separate process.
///
/// # Errors
///
/// Fails if the submission cannot be graded for reasons outside it.
pub fn supervise(job: Job) -> Result<Record> {
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
) -> Result<Option<Record>> {
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
                let record = explain_exit(&mut *worker.0, job, &last_step, deadline)?;
                break Some(Message::Graded(Box::new(record)));
            }
        }
    };
    drop((worker, stdin));
    let record = match message {
        Some(Message::Graded(record)) => *record,
        Some(Message::InternalError(reason)) => bail!(reason),
        Some(Message::Progress { .. }) => bail!("the worker ended without a verdict"),
        None => failed(
            job,
            &last_step,
            Text::from_fn(|lang| too_long(job.limits.seconds, lang)),
        ),
    };
    let printed = printed.trim().to_owned();
    Ok(Some(Record { printed, ..record }))
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

/// Reads the output of the worker with this token.
fn messages<R: BufRead>(from: R, token: String) -> Lines<R, Message> {
    Lines::new(from, move |line| {
        let line: Line = serde_json::from_slice(line).ok()?;
        (line.token == token).then_some(line.message)
    })
}

/// Spawns a thread that receives the worker's output lines.
fn listen(worker: &mut dyn ChildWrapper, token: &str) -> Result<Receiver<OutputLine<Message>>> {
    let stdout = worker.stdout().take().context("a worker without output")?;
    let token = token.to_owned();
    let (to, output_lines) = sync_channel(CHANNEL_CAPACITY);
    let listen = move || {
        let lines = messages(BufReader::new(stdout), token);
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

/// Returns the record of a submission whose worker ended without one.
fn explain_exit(
    worker: &mut dyn ChildWrapper,
    job: &Job,
    last_step: &(Step, Vec<u32>),
    deadline: Instant,
) -> Result<Record> {
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
        Some(status) if untrusted::is_from_outside(status) => {
            bail!(explain_outside(status, job.lang))
        }
        Some(status) => Text::from_fn(|lang| explain_status(status, &job.limits, lang)),
    };
    Ok(failed(job, last_step, reason))
}

fn failed(job: &Job, (step, size): &(Step, Vec<u32>), message: Text) -> Record {
    let verdict = Verdict::new(job.seed).failed(Failure {
        step: *step,
        kind: None,
        size: size.clone(),
        message,
    });
    Record::new(job.exercise.name(), verdict, job.lang)
}

fn too_long(seconds: u64, lang: Lang) -> String {
    localize!(
        lang,
        "It was killed after {} seconds. Look for an endless loop.",
        "运行 {} 秒后被终止。请检查是否有无限循环。";
        seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_need_the_token() {
        let line = |token: &str| format!(r#"{{"token":"{token}","message":{{"broken":"why"}}}}"#);
        let text = format!("hello\n{}\n{}\n", line("guessed"), line("secret"));
        let lines: Vec<_> = messages(text.as_bytes(), "secret".to_owned()).collect();
        assert!(matches!(&lines[0], OutputLine::Printed(text) if text == "hello\n"));
        assert!(matches!(&lines[1], OutputLine::Printed(text) if text.contains("guessed")));
        assert!(
            matches!(&lines[2], OutputLine::Message(Message::InternalError(reason)) if reason == "why")
        );
        assert_eq!(lines.len(), 3);
    }
}
