//! Grading in a separate process, so that an endless loop, a crash or exhausted memory in a submission
//! affects only that process; and the supervision of this process, which is killed after the time limit.
//!
//! The program starts itself again with the hidden command `worker`. The worker lowers its own limits, reads
//! a [`Job`] from standard input and replies with lines of JSON. Each line contains the job's token, so that
//! a kernel's `printf` cannot forge one. When its input closes, the parent is gone, and the worker exits. For
//! a Rust submission the worker compiles a program around it and sends requests to that program.

mod hosted;

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use answers::protocol::PanicRecorder;
use anyhow::{Context as _, Result, bail};
use chapter::interrupt;
use chapter::lang::{Lang, Text, tr};
use kernel_build::Clang;
#[cfg(windows)]
use process_wrap::std::JobObject;
#[cfg(unix)]
use process_wrap::std::ProcessGroup;
use process_wrap::std::{ChildWrapper, CommandWrap};
use serde::{Deserialize, Serialize};

use crate::course::{Exercise, ExerciseFiles, Side};
use crate::data::Step;
use crate::error::format_error;
use crate::grade::{self, Failure, Grading, Record, ReferenceCosts, Subject, Submission, Verdict};
use crate::process::{Limits, Lines, OutputLine, explain_outside, explain_status, on_gpu};

/// Runs the hidden command `worker`: grades one job from standard input.
pub fn run() -> ExitCode {
    let mut text = String::new();
    let read = io::stdin().lock().read_line(&mut text);
    let Some(job) = read
        .ok()
        .and_then(|_| serde_json::from_str::<Job>(&text).ok())
    else {
        return ExitCode::FAILURE; // without a token we cannot authenticate a reply
    };
    let exercise = Exercise::new(job.exercise.clone());
    // Confine before spawning threads: existing threads would keep their privileges.
    let exercise = exercise.and_then(|exercise| {
        confine::close_inherited_files()?;
        confine(&job, &exercise)?;
        Ok(exercise)
    });
    let wait_for_parent = || {
        // Nothing more is written to the input, so this read returns when it closes.
        let _ = io::stdin().lock().read(&mut [0]);
        process::exit(1);
    };
    let run = || {
        let started = thread::Builder::new().spawn(wait_for_parent);
        started.context(job.lang.pick("cannot start a thread", "无法启动线程"))?;
        let exercise = exercise?;
        let verdict = match *exercise.side() {
            Side::Kernel(Some(host)) => grade_submission(&job, &exercise, Subject::Kernel(host)),
            Side::Kernel(None) => {
                let host = exercise.declarative_host();
                grade_submission(&job, &exercise, Subject::Kernel(&host))
            }
            Side::Host(grader) => hosted::run(&job, &exercise, grader),
        }?;
        anyhow::Ok(Record::new(exercise.name(), verdict, job.lang))
    };
    let message = match PanicRecorder::install().catch(run) {
        Ok(Ok(record)) => Message::Graded(Box::new(record)),
        Ok(Err(error)) => Message::InternalError(format_error(&error, job.lang)),
        Err(panic) => Message::InternalError(localize!(
            job.lang,
            "the grader panicked: {}",
            "评分程序发生 panic：{}";
            panic.message
        )),
    };
    send(&job.token, message);
    // Exit without waiting for threads or freeing memory: the result has been sent.
    process::exit(0)
}

/// Lowers this process's limits and, on the simulator, gives up all rights that the submission's kernel does
/// not need: the process can then open only the compiler's files, write only to its own folder, and has no
/// network. On a GPU it keeps the access to devices and memory that NVIDIA's driver needs; the compiler is
/// confined there too.
fn confine(job: &Job, exercise: &Exercise) -> Result<()> {
    let mut rules = job.limits.rules();
    if matches!(exercise.side(), Side::Host(_)) || on_gpu() {
        return Ok(confine::lower_limits(&rules)?);
    }
    let (program, version) = job.clang.clone();
    rules.execute = confine::system_libraries();
    rules
        .execute
        .extend([env::current_exe()?, PathBuf::from(&program)]);
    rules.read = grade::compiler_files(&Clang::from_parts(program, version), job.lang)?;
    rules.write = vec![scratch(job)?];
    // The compiler runs as a separate process.
    rules.processes = true;
    Ok(confine::confine_this_process(&rules)?)
}

fn scratch(job: &Job) -> Result<PathBuf> {
    job.scratch
        .clone()
        .context("cannot create a folder for temporary files")
}

fn grade_submission(job: &Job, exercise: &Exercise, subject: Subject) -> Result<Verdict> {
    let submission = Submission {
        display_name: job.display_name.clone(),
        text: job.text.clone(),
    };
    let mut grading = Grading {
        seed: job.seed,
        lang: job.lang,
        clang: clang(job),
        architecture: exercise.data().architecture,
        reference: job.reference.clone(),
        lines: job.lines,
        scratch: scratch(job)?,
        limits: job.limits,
        on_step: &mut |step, size| {
            let size = size.to_vec();
            send(&job.token, Message::Progress { step, size });
        },
    };
    grade::grade(exercise, subject, &submission, &mut grading)
}

/// Returns the compiler for kernels.
fn clang(job: &Job) -> Clang {
    let (program, version) = job.clang.clone();
    Clang::from_parts(program, version)
}

/// Sends a message to the parent. It starts with a line break, because the submission may have printed part
/// of a line.
fn send(token: &str, message: Message) {
    let token = token.to_owned();
    let Ok(line) = serde_json::to_string(&Line { token, message }) else {
        return;
    };
    let mut stdout = io::stdout().lock();
    // Ignore errors: if the parent is gone, our stdin closes and we exit.
    let _ = writeln!(stdout, "\n{line}").and_then(|()| stdout.flush());
}

/// A submission to grade.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// A secret included in every line of the worker, by which the parent recognizes them.
    pub token: String,
    /// The exercise's files.
    pub exercise: ExerciseFiles,
    /// The name of the submission's file in messages.
    pub display_name: String,
    /// The text of the submission.
    pub text: String,
    /// The seed of random sizes and inputs.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// The program and the version of the clang that compiles kernels.
    pub clang: (OsString, String),
    /// The modelled costs of the course's own files, if known.
    pub reference: Option<ReferenceCosts>,
    /// True if the report includes the submission's lines with their counters.
    pub lines: bool,
    /// The resource limits.
    pub limits: Limits,
    /// A folder for temporary files, deleted after grading.
    pub scratch: Option<PathBuf>,
}

/// Settings that the jobs of one run share.
#[derive(Clone, Debug)]
pub struct JobSettings {
    /// The seed of random sizes and inputs.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// The clang to compile kernels with.
    pub clang: Clang,
    /// The resource limits of each job.
    pub limits: Limits,
}

impl Job {
    /// Creates a job for a submission to this exercise, whose file is called `display_name`.
    pub fn new(
        exercise: &Exercise,
        display_name: String,
        text: String,
        settings: &JobSettings,
    ) -> Job {
        let clang = &settings.clang;
        // Strip the byte-order mark that some editors write.
        let text = match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        };
        Job {
            token: format!("{:032x}", u128::from_ne_bytes(random())),
            exercise: exercise.files().clone(),
            display_name,
            text,
            seed: settings.seed,
            lang: settings.lang,
            clang: (clang.program().to_owned(), clang.version().to_owned()),
            reference: None,
            lines: false,
            limits: settings.limits,
            scratch: None,
        }
    }
}

impl JobSettings {
    /// Returns a random seed with few digits, so that it is easy to retype.
    pub fn random_seed() -> u64 {
        u64::from_ne_bytes(random()) % 1_000_000
    }
}

/// Returns bytes of the system's entropy, which submissions cannot guess.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Every supported system has a source of entropy, without which no process is safe to grade in.
    getrandom::fill(&mut bytes).expect("the system provides random bytes");
    bytes
}

/// A line of a worker's output.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    /// The job's token.
    pub token: String,
    pub message: Message,
}

/// A message of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Message {
    /// A step starts, at a size.
    #[serde(rename = "at")]
    Progress {
        step: Step,
        /// The size, x first; empty if the step does not depend on one.
        size: Vec<u32>,
    },
    /// Grading is done.
    Graded(Box<Record>),
    /// Grading is impossible for a reason outside the submission.
    #[serde(rename = "broken")]
    InternalError(String),
}

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
