//! Grading in a separate process, so that an endless loop, a crash or exhausted memory in a submission
//! affects only that process.
//!
//! The program starts itself again with the hidden command `worker`. The worker lowers its own limits, reads
//! a [`Job`] from standard input and replies with lines of JSON. Each line contains the job's token, so that
//! a kernel's `printf` cannot forge one. When its input closes, the parent is gone, and the worker exits. For
//! a Rust submission the worker compiles a program around it and sends requests to that program.

mod hosted;
mod supervise;

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::{env, thread};

use answers::panics::PanicRecorder;
use anyhow::{Context as _, Result};
use chapter::lang::Lang;
use kernel_build::Clang;
use serde::{Deserialize, Serialize};

pub use supervise::{supervise, supervise_until};

use crate::course::{Exercise, ExerciseFiles, Side};
use crate::data::Step;
use crate::error::format_error;
use crate::grade::{self, Grading, Record, ReferenceCosts, Subject, Submission, Verdict};
use crate::process::{Limits, on_gpu};

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
    /// The message.
    pub message: Message,
}

/// A message of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Message {
    /// A step starts, at a size.
    #[serde(rename = "at")]
    Progress {
        /// The step.
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
