//! Grading, step by step. The first step that fails ends it, with a message that teaches.
//!
//! This runs in a process of its own for each answer, and within limits; see the module `worker`.

mod cases;
mod checks;
mod compile;
mod counters;
mod includes;
mod kinds;
mod launch;
mod right;
mod time;
mod tokens;
mod verdict;

use std::path::PathBuf;

use anyhow::Result;
use common::gpu::{Clock, GpuInfo};
use common::module;
use cuda_driver::Checks;
use kernel_build::Clang;

pub use compile::files as compiler_files;
pub use counters::{line, plain};
pub use time::line as time_line;
pub use verdict::{Counted, Failure, Timed, Verdict};

use crate::data::{Data, Step};
use crate::error::open;
use crate::exercise::Exercise;
use crate::host::{Bench, Case, Host};
use crate::lang::Lang;
use crate::worker::Limits;

/// An answer to an exercise.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What its file is called in messages.
    pub shown: String,
    /// Its text.
    pub text: String,
}

/// How to grade.
pub struct Grading<'a> {
    /// What random sizes and inputs are drawn from.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// What compiles kernels.
    pub clang: Clang,
    /// A folder for the compiler of the answer.
    pub scratch: PathBuf,
    /// What that compiler may use.
    pub limits: Limits,
    /// Told what is begun: a step, and at what size.
    pub at: &'a mut dyn FnMut(Step, &[u32]),
}

/// Why grading does not go on.
enum Stop {
    /// The answer failed.
    Failed(Failure),
    /// The course failed: no fault of the answer's.
    Broken(anyhow::Error),
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Stop::Broken(error)
    }
}

/// What every mistake is looked for with; memory is freed by the course's own side.
const CHECKS: Checks = Checks {
    leak: false,
    ..Checks::ALL
};

/// What is graded.
pub enum Subject<'a> {
    /// A kernel: the answer is CUDA C, the host side the course's.
    Kernel(&'a dyn Host),
    /// A host side that the answer is part of, with the course's kernel, if there is one.
    Host {
        /// The host side.
        host: &'a dyn Host,
        /// The kernel in CUDA C; empty where there is none.
        kernel: &'static str,
    },
}

/// Grades an answer.
///
/// # Errors
///
/// Where it cannot be graded, which says nothing of the answer: no compiler, no GPU.
pub fn grade(
    exercise: &Exercise,
    subject: Subject,
    answer: &Answer,
    grading: &mut Grading,
) -> Result<Verdict> {
    let mut verdict = Verdict::new(grading.seed);
    match steps(exercise, subject, answer, grading, &mut verdict) {
        Ok(()) => {}
        Err(Stop::Failed(failure)) => verdict.failure = Some(failure),
        Err(Stop::Broken(error)) => return Err(error),
    }
    Ok(verdict)
}

fn steps(
    exercise: &Exercise,
    subject: Subject,
    answer: &Answer,
    grading: &mut Grading,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    (grading.at)(Step::Compile, &[]);
    let lang = grading.lang;
    let (host, ptx) = match subject {
        Subject::Kernel(host) => (host, compile::compile(answer, grading)?),
        Subject::Host { host, kernel: "" } => (host, NO_KERNEL.to_owned()),
        Subject::Host { host, kernel } => (host, compile::ours(kernel, &grading.clang, lang)?),
    };
    run(host, exercise, answer, &ptx, grading, verdict)
}

/// A module with nothing in it.
const NO_KERNEL: &str = ".version 6.4\n.target sm_52\n.address_size 64\n";

/// The steps after compiling.
fn run(
    host: &dyn Host,
    exercise: &Exercise,
    answer: &Answer,
    ptx: &str,
    grading: &mut Grading,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    let lang = grading.lang;
    let data = exercise.data()?;
    cuda_driver::profile(true);
    cuda_driver::keep_launches();
    let gpu = open(lang)?;
    verdict.device = device(&gpu.info, lang);
    let module = module::load(ptx).map_err(|error| compile::not_loaded(&error, lang))?;
    let mut bench = Bench::new(module, gpu);

    let mut findings = Vec::new();
    for case in cases::tests(data, grading.seed) {
        cuda_driver::check(CHECKS);
        try_case(host, &bench, data, answer, &case, grading)?;
        let found = cuda_driver::take_findings();
        findings.extend(found.into_iter().map(|finding| (case.clone(), finding)));
    }
    cuda_driver::check(Checks::NONE);
    let graded = cases::graded(data, grading.seed);
    let mut launches = Vec::new();
    if let Some(case) = &graded {
        cuda_driver::take_launches();
        try_case(host, &bench, data, answer, case, grading)?;
        launches = cuda_driver::take_launches();
    }
    (grading.at)(Step::Checks, &[]);
    checks::verdict(&findings, answer, lang)?;
    if let Some(case) = &graded {
        (grading.at)(Step::Counters, &case.size);
        counters::verdict(host, &bench, data, case, &launches, lang, verdict)?;
    }
    // A modelled time is that of a model, and the counters have said where it comes from.
    if bench.gpu.info.time == Clock::Measured
        && let Some(time) = &data.time
    {
        let case = cases::timed(time, grading.seed);
        // A kernel that leaves out what nobody looks at is no fast one.
        try_case(host, &bench, data, answer, &case, grading)?;
        (grading.at)(Step::Time, &case.size);
        let times = time::take(host, &mut bench, exercise, answer, &case, grading)?;
        time::verdict(Timed::new(times, time.at_most), &case, lang, verdict)?;
    }
    Ok(())
}

/// What runs the answer, in words. That of a GPU begins with `GPU`.
fn device(info: &GpuInfo, lang: Lang) -> String {
    let GpuInfo {
        name,
        compute_capability,
        driver,
        ..
    } = info;
    match (lang, info.time) {
        (Lang::En, _) => info.to_string(),
        (Lang::Zh, Clock::Measured) => {
            format!("GPU：{name}，计算能力 {compute_capability}，驱动支持 CUDA {driver}")
        }
        (Lang::Zh, Clock::Modelled) => {
            format!("模拟器：模拟 {name}，计算能力 {compute_capability}，驱动支持 CUDA {driver}")
        }
    }
}

/// Runs the answer at one size and compares.
fn try_case(
    host: &dyn Host,
    bench: &Bench,
    data: &Data,
    answer: &Answer,
    case: &Case,
    grading: &mut Grading,
) -> Result<(), Stop> {
    (grading.at)(Step::Launch, &case.size);
    let outputs = launch::run(host, bench, answer, case, grading.lang)?;
    (grading.at)(Step::Right, &case.size);
    right::verdict(&outputs, data.tolerance, case, grading.lang)
}
