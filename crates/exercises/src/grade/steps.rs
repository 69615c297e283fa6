//! The steps of grading, in order.

use std::thread;

use anyhow::Result;
use common::gpu::{Clock, GpuInfo};

use super::compile::{self, Builds};
use super::modelled::{self, Beside};
use super::trial::{Conditions, Trial};
use super::{
    Answer, Grading, Stop, Subject, Timed, Verdict, cases, checks, constants, counters, lines,
    picture, signature, time,
};
use crate::data::Step;
use crate::error::open;
use crate::exercise::Exercise;
use crate::host::Host;
use crate::lang::Lang;

/// An empty module.
const NO_KERNEL: &str = ".version 6.4\n.target sm_52\n.address_size 64\n";

/// Runs the grading steps in order; stops at the first failure.
pub fn all(
    exercise: &Exercise,
    subject: Subject,
    answer: &Answer,
    grading: &mut Grading,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    (grading.at)(Step::Compile, &[]);
    let lang = grading.lang;
    let (host, builds) = match subject {
        Subject::Kernel(host) => {
            let builds = compile::builds(answer, grading)?;
            signature::verdict(exercise.start, &builds.optimised)?;
            (host, builds)
        }
        Subject::Host { host, ptx } => {
            let optimised = match ptx.is_empty() {
                true => NO_KERNEL.to_owned(),
                false => ptx,
            };
            let as_written = None;
            (
                host,
                Builds {
                    optimised,
                    as_written,
                },
            )
        }
    };
    cuda_driver::keep_launches();
    let gpu = open(lang)?;
    verdict.device = device(&gpu.info, lang);
    let clock = gpu.info.time;
    let trial = Trial::new(host, exercise, answer, &builds, gpu, grading)?;
    match (clock, &builds.as_written) {
        (Clock::Modelled, Some(_)) => thread::scope(|scope| {
            let beside = Beside::begin(scope, exercise, grading)?;
            let files = (answer, &builds);
            on_simulator(host, exercise, files, beside, trial, grading, verdict)
        }),
        // A GPU provides no findings or counters, and the course's own kernel needs none.
        _ => elsewhere(host, exercise, (answer, &builds), trial, grading, verdict),
    }
}

/// Grades a kernel on the simulator.
fn on_simulator(
    host: &dyn Host,
    exercise: &Exercise,
    (answer, builds): (&Answer, &Builds),
    beside: Option<Beside>,
    mut trial: Trial,
    grading: &mut Grading,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    let data = exercise.data()?;
    let (seed, lang) = (grading.seed, grading.lang);
    let tests = cases::tests(data, seed);
    let [one, another, third] = cases::unwritten(seed);

    // First run without optimization, so that every access is checked. A bug may show at a single size.
    let as_written = Conditions {
        as_written: true,
        ..Conditions::plain(one).checked()
    };
    let mut findings = Vec::new();
    for case in &tests {
        let found = trial.run(case, as_written, grading)?;
        findings.extend(found.into_iter().map(|finding| (case.clone(), finding)));
    }
    (grading.at)(Step::Checks, &[]);
    checks::verdict(&findings, answer)?;

    // Then shuffle the order of blocks and warps, and change the contents of uninitialized memory.
    for case in &tests {
        let shuffled = Conditions {
            order: Some(case.seed),
            ..Conditions::plain(another)
        };
        trial.run_again(case, shuffled, grading)?;
    }

    let Some(case) = cases::graded(data, seed) else {
        return Ok(());
    };
    let counted = Conditions {
        counted: true,
        ..Conditions::plain(one)
    };
    trial.run(&case, counted, grading)?;
    let launches = trial.bench.take_launches();
    let found = trial.run_again(&case, Conditions::plain(third).checked(), grading)?;
    let mut findings: Vec<_> = found.into_iter().map(|it| (case.clone(), it)).collect();
    if let Some(beyond) = cases::beyond(data, seed) {
        let found = trial.run(&beyond, Conditions::plain(another).checked(), grading)?;
        findings.extend(found.into_iter().map(|it| (beyond.clone(), it)));
    }
    (grading.at)(Step::Checks, &case.size);
    checks::verdict(&findings, answer)?;
    (grading.at)(Step::Counters, &case.size);
    constants::verdict(data, &builds.optimised, &case)?;
    if grading.lines {
        verdict.lines = lines::listed(&launches, answer, lang);
    }
    let counted = counters::verdict(host, &trial.bench, data, &case, &launches, lang, verdict);
    if let Err(Stop::Failed(failure)) = counted {
        let missed: Vec<_> = (data.targets.iter().zip(&verdict.targets))
            .filter_map(|(target, counted)| (!counted.reached).then_some(target))
            .collect();
        let solution = || match beside {
            Some(beside) => beside.solution(exercise, grading),
            None => anyhow::bail!("who predicts has launched nothing"),
        };
        let run = (host, &mut trial.bench, &case);
        // A failure to draw the picture does not change the verdict.
        let drawn = picture::of(&missed, run, &launches, (&builds.optimised, solution));
        verdict.picture = drawn.ok().flatten();
        let drawn = |lang| match &verdict.picture {
            Some(drawn) => crate::picture::text(drawn, &answer.text, lang),
            None => String::new(),
        };
        return Err(Stop::Failed(failure.because(drawn)));
    }
    counted?;

    // Prediction exercises launch nothing, so there is nothing to time.
    let Some(beside) = beside else {
        return Ok(());
    };
    (grading.at)(Step::Time, &case.size);
    let (ours, solution) = beside.times(host, &mut trial.bench, &case, seed)?;
    if !solution.is_empty() {
        counters::beside(data, &solution, verdict, lang);
    }
    let own = modelled::milliseconds(&launches);
    let timed = Timed::new(own, ours, data.modelled.at_most).within_start();
    time::verdict(timed, Clock::Modelled, &case, verdict)
}

/// Grades a kernel on a GPU by results and time, or a host side that is the submission.
fn elsewhere(
    host: &dyn Host,
    exercise: &Exercise,
    (answer, builds): (&Answer, &Builds),
    mut trial: Trial,
    grading: &mut Grading,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    let data = exercise.data()?;
    let seed = grading.seed;
    let [unwritten, ..] = cases::unwritten(seed);
    let usual = Conditions::plain(unwritten);
    let mut findings = Vec::new();
    for case in cases::tests(data, seed) {
        let found = trial.run(&case, usual.checked(), grading)?;
        findings.extend(found.into_iter().map(|finding| (case.clone(), finding)));
    }
    let larger = [cases::graded(data, seed), cases::beyond(data, seed)];
    for case in larger.iter().flatten() {
        trial.run(case, usual, grading)?;
    }
    (grading.at)(Step::Checks, &[]);
    checks::verdict(&findings, answer)?;
    if trial.bench.gpu.info.time == Clock::Measured
        && let Some(time) = &data.time
    {
        let case = cases::timed(time, seed);
        // Check the results at this size too, so that a kernel is not fast because it skips work.
        trial.run(&case, usual, grading)?;
        (grading.at)(Step::Time, &case.size);
        let answer = (answer, builds.optimised.as_str());
        let (own, ours) = time::take(host, &mut trial.bench, exercise, answer, &case, grading)?;
        let timed = Timed::new(own, ours, time.at_most);
        time::verdict(timed, Clock::Measured, &case, verdict)?;
    }
    Ok(())
}

/// Describes the device that runs the submission. The description of a GPU starts with `GPU`.
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
