//! The steps of grading, in order.

use std::sync::Arc;
use std::thread;

use anyhow::{Result, anyhow};
use chapter::lang::Lang;
use common::gpu::{Clock, GpuInfo};
use cuda_driver::Finding;

use super::compile::{self, Builds, CourseFiles};
use super::time::{self, Reference};
use super::trial::{self, Conditions, Trial};
use super::{
    Costs, Grading, ReferenceCosts, ReferenceTimes, Stop, Subject, Submission, Timed, Verdict,
    checks, counters, picture, signature,
};
use crate::course::Exercise;
use crate::data::Step;
use crate::error::open;
use crate::host::{Case, Host};

/// An empty module.
const NO_KERNEL: &str = ".version 6.4\n.target sm_52\n.address_size 64\n";

/// Runs the grading steps in order; stops at the first failure.
pub fn run_steps(
    exercise: &Exercise,
    subject: Subject,
    submission: &Submission,
    grading: &mut Grading,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    (grading.on_step)(Step::Compile, &[]);
    let lang = grading.lang;
    let (host, builds) = match subject {
        Subject::Kernel(host) => {
            let builds = compile::compile_submission(submission, grading)?;
            signature::verdict(exercise.start(), &builds.optimised)?;
            (host, builds)
        }
        Subject::Host { host, ptx } => {
            let optimised = match ptx.is_empty() {
                true => NO_KERNEL.to_owned(),
                false => ptx,
            };
            let builds = Builds {
                optimised,
                as_written: None,
            };
            (host, builds)
        }
    };
    let gpu = open(lang)?;
    verdict.device = device(&gpu.info, lang);
    let clock = gpu.info.time;
    let course_files = Arc::new(CourseFiles::new(exercise, grading));
    let seed = grading.seed;
    let trial = Trial::new(
        host,
        exercise,
        submission,
        &builds,
        &course_files,
        gpu,
        seed,
    )?;
    let files = (submission, &builds, &*course_files);
    match (clock, &builds.as_written) {
        (Clock::Modelled, Some(_)) => thread::scope(|scope| {
            let reference = Reference::start(scope, exercise.data(), &course_files, grading);
            on_simulator(host, exercise, files, reference, trial, grading, verdict)
        }),
        // A GPU provides no findings or counters, and the course's own kernel needs none.
        _ => on_gpu_or_host_side(host, exercise, files, trial, grading, verdict),
    }
}

/// Grades a kernel on the simulator.
fn on_simulator(
    host: &dyn Host,
    exercise: &Exercise,
    (submission, builds, course_files): (&Submission, &Builds, &CourseFiles),
    reference: Option<Reference>,
    mut trial: Trial,
    grading: &mut Grading,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    let data = exercise.data();
    let (seed, lang) = (grading.seed, grading.lang);
    let tests = trial::test_cases(data, seed);
    let [first, _, third, ..] = trial::fill_patterns(seed);

    // First run without optimization, so that every access is checked. A bug may show at a single size.
    let as_written = Conditions {
        as_written: true,
        ..Conditions::plain(first).checked()
    };
    let mut findings = Vec::new();
    for case in &tests {
        let mut new_findings = trial.run(case, as_written, grading)?;
        if new_findings.iter().any(checks::needs_confirmation) {
            let optimized = trial.run(case, Conditions::plain(first).checked(), grading)?;
            let confirmed = optimized.iter().any(checks::needs_confirmation);
            new_findings.retain(|finding| confirmed || !checks::needs_confirmation(finding));
        }
        findings.extend(at_case(case, new_findings));
    }
    (grading.on_step)(Step::Checks, &[]);
    checks::verdict(&findings, submission)?;

    let fills = trial::shuffled_fill_patterns(seed);
    // Then shuffle the order of blocks and warps, and change the contents of uninitialized memory.
    // One module is launched at all sizes, as in a program.
    for (index, case) in tests.iter().enumerate() {
        let shuffled = Conditions {
            shuffle_seed: Some(case.seed),
            again: index > 0,
            ..Conditions::plain(fills[index % fills.len()]).checked()
        };
        let new_findings = trial.run_again(case, shuffled, grading)?;
        findings.extend(at_case(case, new_findings));
    }
    checks::verdict(&findings, submission)?;
    // One run gives the results, findings, accesses and counters, so that a submission gains nothing by telling runs apart.
    let mut next_fill = fills.into_iter().cycle();
    let mut findings = Vec::new();
    let mut accesses = Vec::new();
    let mut judge = |case: &Case, again| {
        let judged = Conditions {
            counted: true,
            again,
            ..Conditions::plain(next_fill.next().unwrap_or(first)).checked()
        };
        let new_findings = trial.run(case, judged, grading)?;
        findings.extend(at_case(case, new_findings));
        let launches = trial.bench.take_launches();
        accesses.push(trial.check_accesses(case, &launches));
        Ok::<_, Stop>(launches)
    };
    let small = tests
        .last()
        .ok_or_else(|| anyhow!("an exercise without tests"))?;
    let Some(case) = trial::graded_case(data, seed) else {
        judge(small, false)?;
        checks::verdict(&findings, submission)?;
        return accesses.into_iter().collect();
    };
    let beyond = trial::case_beyond(data, &case, seed);
    let below = trial::case_below(data, &case, seed);
    let any = trial::any_case(data, &beyond);
    let is_again = |case: &Case| case.seed % 2 == 1;
    let launches = judge(&case, is_again(&case))?;
    let launches_beyond = judge(&beyond, is_again(&beyond))?;
    let launches_below = judge(&below, is_again(&below))?;
    // At this size, count the second launch of a module.
    judge(small, false)?;
    let launches_small = judge(small, true)?;
    let launches_any = judge(&any, is_again(&any))?;
    (grading.on_step)(Step::Checks, &case.size);
    checks::verdict(&findings, submission)?;
    // The order may matter at these sizes only.
    for case in [&case, &beyond] {
        let shuffled = Conditions {
            shuffle_seed: Some(case.seed),
            ..Conditions::plain(third)
        };
        trial.run_again(case, shuffled, grading)?;
    }
    let elongated = trial::elongated_cases(data, &beyond);
    let mut findings = Vec::new();
    for (index, (case, fill)) in elongated.iter().zip(fills).enumerate() {
        // The checks take longer than the kernel.
        let conditions = match index == seed as usize % elongated.len() {
            true => Conditions::plain(fill).checked(),
            false => Conditions::plain(fill),
        };
        let new_findings = trial.run(case, conditions, grading)?;
        findings.extend(at_case(case, new_findings));
    }
    checks::verdict(&findings, submission)?;
    accesses.into_iter().collect::<Result<(), _>>()?;
    (grading.on_step)(Step::Counters, &case.size);
    counters::check_constants(data, &builds.optimised, &case)?;
    if grading.lines {
        verdict.lines = counters::format_lines(&launches, submission, lang);
    }
    let result = counters::verdict(host, &trial.bench, data, &case, &launches, lang, verdict);
    if let Err(Stop::Failed(failure)) = result {
        let missed: Vec<_> = (data.targets.iter().zip(&verdict.targets))
            .filter_map(|(target, counted)| (!counted.reached).then_some(target))
            .collect();
        let solution = || course_files.solution();
        let run = (host, &mut trial.bench, &case);
        // A failure to draw the picture does not change the verdict.
        let drawn = picture::draw(&missed, run, &launches, (&builds.optimised, solution));
        verdict.picture = drawn.ok().flatten();
        let picture_text = |lang| match &verdict.picture {
            Some(picture) => crate::picture::text(picture, &submission.text, lang),
            None => String::new(),
        };
        return Err(Stop::Failed(failure.with_reasons(picture_text)));
    }
    result?;

    // Prediction exercises launch nothing, so there is nothing to time.
    let Some(reference) = reference else {
        return Ok(());
    };
    (grading.on_step)(Step::Time, &case.size);
    let costs = [
        &launches,
        &launches_beyond,
        &launches_below,
        &launches_small,
        &launches_any,
    ]
    .map(|launches| Costs::of(data, launches));
    verdict.costs = Some(costs.clone());
    let cases = [&case, &beyond, &below, small, &any];
    let ReferenceCosts { start_ms, solution } =
        reference.costs(host, &mut trial.bench, data, cases)?;
    counters::add_solution(data, &solution[0], verdict);
    let timed = |costs: &Costs, solution: &Costs, start_ms| {
        let reference = ReferenceTimes {
            start_ms,
            solution_ms: solution.milliseconds,
        };
        Timed::new(costs.milliseconds, reference, data.modelled.at_most).within_start()
    };
    let at_graded = timed(&costs[0], &solution[0], start_ms);
    time::verdict(at_graded, Clock::Modelled, &case, verdict)?;
    for at in 1..cases.len() {
        // The last two sizes are small or of other proportions.
        let is_rough = at > 2;
        (grading.on_step)(Step::Counters, &cases[at].size);
        let solution = [&solution[0], &solution[at]];
        counters::verdict_in_proportion(data, [&case, cases[at]], &costs[at], solution, is_rough)?;
    }
    match timed(&costs[1], &solution[1], None) {
        timed if timed.reached => Ok(()),
        timed => time::verdict(timed, Clock::Modelled, &beyond, verdict),
    }
}

/// Grades a kernel on a GPU by results and time, or a host side that is the submission.
fn on_gpu_or_host_side(
    host: &dyn Host,
    exercise: &Exercise,
    (submission, builds, course_files): (&Submission, &Builds, &CourseFiles),
    mut trial: Trial,
    grading: &mut Grading,
    verdict: &mut Verdict,
) -> Result<(), Stop> {
    let data = exercise.data();
    let seed = grading.seed;
    let [fill_pattern, ..] = trial::fill_patterns(seed);
    let default = Conditions::plain(fill_pattern);
    let mut findings = Vec::new();
    for case in trial::test_cases(data, seed) {
        let new_findings = trial.run(&case, default.checked(), grading)?;
        findings.extend(at_case(&case, new_findings));
    }
    if let Some(graded) = trial::graded_case(data, seed) {
        let beyond = trial::case_beyond(data, &graded, seed);
        for case in [graded, beyond] {
            trial.run(&case, default, grading)?;
        }
    }
    (grading.on_step)(Step::Checks, &[]);
    checks::verdict(&findings, submission)?;
    if trial.bench.gpu.info.time == Clock::Measured
        && let Some(time) = &data.time
    {
        let case = trial::timed_case(time, seed);
        // Check the results at this size too, so that a kernel is not fast because it skips work.
        trial.run(&case, default, grading)?;
        (grading.on_step)(Step::Time, &case.size);
        let submission = (submission, builds.optimised.as_str());
        let (submission_ms, reference_times) =
            time::measure(host, &mut trial.bench, course_files, submission, &case)?;
        let timed = Timed::new(submission_ms, reference_times, time.at_most);
        time::verdict(timed, Clock::Measured, &case, verdict)?;
    }
    Ok(())
}

/// Pairs findings with the case at which they were made.
fn at_case(case: &Case, findings: Vec<Finding>) -> impl Iterator<Item = (Case, Finding)> {
    let findings = findings.into_iter();
    findings.map(|finding| (case.clone(), finding))
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
