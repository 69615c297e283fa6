//! Grading in a process of its own: what an answer does there, an endless loop, a crash, all of the
//! memory, costs nothing but that process.
//!
//! The program starts itself again with the hidden command `worker`. That one lowers its own limits,
//! reads a [`Job`] from its standard input and answers in lines of JSON, each with the job's token, so
//! that no kernel's `printf` can be taken for one. When its input closes, whoever started it is gone, and
//! it ends. Around an answer in Rust it compiles a program, and hands the job on to that.

mod hosted;
mod job;
mod lines;
mod panics;
mod supervise;

use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, process, thread};

use anyhow::{Context as _, Result};
use kernel_build::Clang;

pub use job::{Job, Limits, Terms};
pub use supervise::{Graded, supervise, supervise_until};

use crate::course;
use crate::error::in_words;
use crate::exercise::{Exercise, Side};
use crate::grade::{self, Answer, Grading, Subject, Verdict};
use crate::host::Host;
use job::{Line, Message};

/// Whether a GPU grades, which it does where `CUDA_BACKEND=gpu` asks for it.
pub fn on_gpu() -> bool {
    std::env::var_os("CUDA_BACKEND").is_some_and(|backend| backend == "gpu")
}

/// The hidden command: one job, from standard input.
pub fn work() -> ExitCode {
    serve(|job, exercise| match &exercise.side {
        Side::Kernel(host) => Ok(Done::Verdict(graded(
            job,
            exercise,
            Subject::Kernel(*host),
        )?)),
        Side::Host { main, .. } => hosted::run(job, main),
    })
}

/// The `main` of the program that is compiled around an answer in Rust: one job, from standard input,
/// graded with this host side.
pub fn main(host: &dyn Host) -> ExitCode {
    serve(|job, exercise| {
        let kernel = match exercise.side {
            Side::Host { kernel, .. } => kernel,
            Side::Kernel(_) => "",
        };
        let subject = Subject::Host { host, kernel };
        Ok(Done::Verdict(graded(job, exercise, subject)?))
    })
}

/// How a job ended.
enum Done {
    /// With a verdict.
    Verdict(Verdict),
    /// In a process that said all there was to say, and ended with this code.
    Elsewhere(i32),
}

/// Reads the job, does it, and says what came of it.
fn serve(work: impl FnOnce(&Job, &'static Exercise) -> Result<Done>) -> ExitCode {
    let mut text = String::new();
    let read = io::stdin().lock().read_line(&mut text);
    let Some(job) = read
        .ok()
        .and_then(|_| serde_json::from_str::<Job>(&text).ok())
    else {
        return ExitCode::FAILURE; // nobody to tell, for want of a token
    };
    // Before it has another thread, which would keep its rights.
    let confined = confine(&job);
    thread::spawn(|| {
        // Nothing more is written there: this returns when it closes.
        let _ = io::stdin().lock().read(&mut [0]);
        process::exit(1);
    });
    let begin = || {
        confined?;
        let exercise = course::find(&job.exercise).context("there is no such exercise")?;
        work(&job, exercise)
    };
    let message = match begin() {
        Ok(Done::Verdict(verdict)) => Message::Verdict(verdict),
        Ok(Done::Elsewhere(code)) => process::exit(code),
        Err(error) => Message::Broken(in_words(&error, job.lang)),
    };
    say(&job.token, message);
    // Memory and threads go with the process; what has been said is all that counts.
    process::exit(0)
}

/// Lowers this process's limits, and on the simulator gives up what an answer's kernel does not need: then
/// it opens what its compiler opens, writes to its folder alone, and has no network. On a GPU it keeps the
/// rights that NVIDIA's driver takes, to devices and to memory; the compiler is confined there too.
fn confine(job: &Job) -> Result<()> {
    let mut rules = job.limits.rules();
    let exercise = course::find(&job.exercise).context("there is no such exercise")?;
    if matches!(exercise.side, Side::Host { .. }) || on_gpu() {
        return Ok(confine::lower_limits(&rules)?);
    }
    let (program, version) = job.clang.clone();
    rules.execute = confine::system_libraries();
    rules
        .execute
        .extend([env::current_exe()?, PathBuf::from(&program)]);
    rules.read = grade::compiler_files(&Clang::found(program, version), job.lang)?;
    rules.write = vec![scratch(job)?];
    // The compiler is a process of its own.
    rules.processes = true;
    Ok(confine::this_process(&rules)?)
}

fn scratch(job: &Job) -> Result<PathBuf> {
    job.scratch.clone().context("no folder for temporary files")
}

fn graded(job: &Job, exercise: &Exercise, subject: Subject) -> Result<Verdict> {
    let answer = Answer {
        shown: job.shown.clone(),
        text: job.text.clone(),
    };
    let (program, version) = job.clang.clone();
    let mut grading = Grading {
        seed: job.seed,
        lang: job.lang,
        clang: Clang::found(program, version),
        scratch: scratch(job)?,
        limits: job.limits,
        at: &mut |step, size| {
            let size = size.to_vec();
            say(&job.token, Message::At { step, size });
        },
    };
    panics::caught(job, || {
        grade::grade(exercise, subject, &answer, &mut grading)
    })
}

/// A line for whoever supervises, on a line of its own whatever was printed before.
fn say(token: &str, message: Message) {
    let token = token.to_owned();
    let Ok(line) = serde_json::to_string(&Line { token, message }) else {
        return;
    };
    let mut stdout = io::stdout().lock();
    // That nobody reads it shows where its input closes.
    let _ = writeln!(stdout, "\n{line}").and_then(|()| stdout.flush());
}
