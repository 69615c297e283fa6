//! Runs of a submission at one size under given conditions.

use std::cell::OnceCell;

use common::{Gpu, module};
use cuda_driver::{Checks, Finding, LaunchRecord, Traced, Tracing};

use super::compile::Builds;
use super::patterns::{Known, Run};
use super::{
    Answer, Failure, Grading, Stop, cases, checks, compile, contested, launch, right, writers,
};
use crate::data::{Data, Kind, Step, Text};
use crate::exercise::Exercise;
use crate::host::{Bench, Case, Host, Output, Place, Ran};
use crate::lang::Lang;

/// The checks of a submission. Leaks are excluded, because the course's host side frees the memory.
const CHECKS: Checks = Checks {
    leak: false,
    host: false,
    ..Checks::ALL
};

/// The conditions of a run. A correct kernel gives the same results under all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// True for unoptimized code, with every load and store where it is written.
    pub as_written: bool,
    /// True if the simulator's checks are on.
    pub checked: bool,
    /// True if counters are collected and the blocks sampled for the modelled time are chosen at random.
    pub counted: bool,
    /// The seed of a shuffled order of blocks and warps; `None` for the default order.
    pub order: Option<u64>,
    /// The fill pattern of uninitialized memory.
    pub unwritten: u32,
}

impl Conditions {
    /// Returns conditions with optimized code, the default order and no checks.
    pub fn plain(unwritten: u32) -> Conditions {
        Conditions {
            as_written: false,
            checked: false,
            counted: false,
            order: None,
            unwritten,
        }
    }

    /// Turns the checks on.
    pub fn checked(self) -> Conditions {
        Conditions {
            checked: true,
            ..self
        }
    }
}

/// A submission on a GPU or simulator, with the data to judge it by.
pub struct Trial<'a> {
    /// The grader's host side.
    host: &'a dyn Host,
    /// The exercise's name.
    exercise: &'a str,
    /// The exercise's data.
    data: &'a Data,
    /// The submission.
    answer: &'a Answer,
    /// The submission's PTX.
    builds: &'a Builds,
    /// The GPU or simulator.
    pub bench: Bench,
    /// The seed of the grading.
    seed: u64,
}

impl<'a> Trial<'a> {
    /// Loads the submission on this GPU.
    pub fn new(
        host: &'a dyn Host,
        exercise: &'a Exercise,
        answer: &'a Answer,
        builds: &'a Builds,
        gpu: Gpu,
        grading: &Grading,
    ) -> Result<Trial<'a>, Stop> {
        let lang = grading.lang;
        let module = module::load(&builds.optimised);
        let module = module.map_err(|error| compile::not_loaded(&error))?;
        let (clang, start) = (grading.clang.clone(), exercise.start);
        let architecture = grading.architecture;
        let ours = move || {
            let [ptx] = compile::ours([start], architecture, &clang, lang)?;
            module::load(&ptx)
        };
        let (clang, text) = (grading.clang.clone(), exercise.solution);
        // Compile the solution only once, however often it runs.
        let compiled = OnceCell::new();
        let solution = move || {
            let ptx = match compiled.get() {
                Some(ptx) => ptx,
                None => {
                    let [ptx] = compile::ours([text], architecture, &clang, lang)?;
                    compiled.get_or_init(|| ptx)
                }
            };
            module::load(ptx)
        };
        Ok(Trial {
            host,
            exercise: exercise.name,
            data: exercise.data()?,
            answer,
            builds,
            bench: Bench::new(module, gpu)
                .with_ours(ours)
                .with_solution(solution),
            seed: grading.seed,
        })
    }

    /// Runs the submission and checks its output. Returns the findings if the output is correct; otherwise
    /// the findings explain the failure.
    pub fn run(
        &mut self,
        case: &Case,
        conditions: Conditions,
        grading: &mut Grading,
    ) -> Result<Vec<Finding>, Stop> {
        let (came, findings) = self.attempt(case, conditions, grading);
        match came {
            Ok(()) => Ok(findings),
            Err(Stop::Failed(failure)) if failure.step == Step::Right => {
                let findings = match conditions.checked {
                    true => findings,
                    // Run again with checks to find the cause.
                    false => self.attempt(case, conditions.checked(), grading).1,
                };
                Err(Stop::Failed(match findings.is_empty() {
                    // There is no finding, so look for patterns in the wrong results and for the thread that
                    // wrote the first one.
                    true => self.patterns(case, conditions.as_written, grading, failure),
                    false => failure.because(|lang| checks::reasons(&findings, self.answer, lang)),
                }))
            }
            Err(stop) => Err(stop),
        }
    }

    /// Runs a submission whose results were correct under other conditions. If they are wrong now, the
    /// failure explains which condition they depend on.
    pub fn run_again(
        &mut self,
        case: &Case,
        conditions: Conditions,
        grading: &mut Grading,
    ) -> Result<Vec<Finding>, Stop> {
        let (came, findings) = self.attempt(case, conditions, grading);
        let Err(Stop::Failed(failure)) = came else {
            return came.map(|()| findings);
        };
        let usual = Conditions {
            order: None,
            ..conditions.checked()
        };
        let (in_order, findings) = self.attempt(case, usual, grading);
        let depends = match in_order {
            Ok(()) => other_order,
            Err(_) => other_garbage,
        };
        let message = Text::both(|lang| depends(failure.message.of(lang), lang));
        let reasons = |lang| checks::reasons(&findings, self.answer, lang);
        Err(Stop::Failed(
            Failure { message, ..failure }.because(reasons),
        ))
    }

    /// Runs the submission once. Returns the verdict on its results and the findings.
    fn attempt(
        &mut self,
        case: &Case,
        conditions: Conditions,
        grading: &mut Grading,
    ) -> (Result<(), Stop>, Vec<Finding>) {
        let Conditions {
            as_written,
            checked,
            counted,
            order,
            unwritten,
        } = conditions;
        let predicts = self.data.kind == Kind::Predict;
        cuda_driver::check(if checked { CHECKS } else { Checks::NONE });
        cuda_driver::profile(counted || predicts);
        cuda_driver::watch_blocks(counted.then_some(self.seed));
        cuda_driver::shuffle(order);
        cuda_driver::poison(Some(unwritten));
        let came = self.load(as_written).and_then(|()| {
            (grading.at)(Step::Launch, &case.size);
            let outputs = launch::run(self.host, &self.bench, self.answer, case)?;
            (grading.at)(Step::Right, &case.size);
            right::verdict(&outputs, self.data.tolerance, case)
        });
        let mut findings = cuda_driver::take_findings();
        if contested::is_any(&findings) {
            // If this fails, the race is still reported, with approximate lines.
            let _ = self.give_lines(case, as_written, &mut findings);
        }
        (came, findings)
    }

    /// Runs the submission once more to find the lines of races between blocks.
    fn give_lines(
        &mut self,
        case: &Case,
        as_written: bool,
        findings: &mut [Finding],
    ) -> Result<(), Stop> {
        if let Some(each) = self.each_access(case, as_written)? {
            contested::give_lines(findings, &each.traces, &each.launches);
        }
        Ok(())
    }

    /// Adds the patterns in wrong results, and the thread that wrote the first wrong element, to a failure.
    fn patterns(
        &mut self,
        case: &Case,
        as_written: bool,
        grading: &Grading,
        failure: Failure,
    ) -> Failure {
        let Ok(Some(each)) = self.each_access(case, as_written) else {
            return failure;
        };
        let (tolerance, answer) = (self.data.tolerance, self.answer);
        let writer = Text::both(|lang| {
            let (launches, traces) = (&each.launches, &each.traces);
            writers::of_first_wrong(&each.outputs, tolerance, launches, traces, answer, lang)
                .unwrap_or_default()
        });
        let known = Known {
            exercise: self.exercise,
            host: self.host,
            runs: self.at_all_sizes(case, each.outputs, as_written, grading.seed),
            tolerance,
            variables: each.variables,
            traces: each.traces,
        };
        let failure = failure.because(|lang| known.said(lang));
        failure.because(|lang| writer.of(lang).to_owned())
    }

    /// Returns the outputs at this size followed by those at the other sizes of the tests, until a run fails.
    fn at_all_sizes(
        &mut self,
        case: &Case,
        outputs: Vec<Output>,
        as_written: bool,
        seed: u64,
    ) -> Vec<Run> {
        let case = case.clone();
        let mut runs = vec![Run { case, outputs }];
        let others = cases::tests(self.data, seed);
        for case in others {
            if case == runs[0].case {
                continue;
            }
            let ran = self
                .load(as_written)
                .and_then(|()| launch::run(self.host, &self.bench, self.answer, &case));
            let Ok(outputs) = ran else {
                break;
            };
            runs.push(Run { case, outputs });
        }
        runs
    }

    /// Runs the submission once more and traces every access; `None` if there are too many threads.
    fn each_access(&mut self, case: &Case, as_written: bool) -> Result<Option<Each>, Stop> {
        let launches = self.bench.take_launches();
        let threads = |launch: &LaunchRecord| {
            let all = launch.grid.iter().chain(&launch.block);
            all.map(|&number| u64::from(number)).product::<u64>()
        };
        let all = launches.iter().map(threads).sum::<u64>();
        if !(1..=contested::THREADS).contains(&all) {
            self.bench.put_back(launches);
            return Ok(None);
        }
        cuda_driver::check(Checks::NONE);
        cuda_driver::shuffle(None);
        self.load(as_written)?;
        cuda_driver::trace(Some(Tracing::Each));
        let ran = self.bench.run(self.host, case);
        cuda_driver::trace(None);
        let traces = self.bench.take_traces();
        self.bench.put_back(launches.clone());
        let Ran {
            outputs, variables, ..
        } = ran?;
        Ok(Some(Each {
            launches,
            traces,
            outputs,
            variables,
        }))
    }

    /// Loads the submission again, which resets its variables.
    fn load(&mut self, as_written: bool) -> Result<(), Stop> {
        let ptx = match &self.builds.as_written {
            Some(ptx) if as_written => ptx,
            _ => &self.builds.optimised,
        };
        let module = module::load(ptx);
        self.bench
            .replace(module.map_err(|error| compile::not_loaded(&error))?);
        Ok(())
    }
}

/// The access traces of one run.
struct Each {
    launches: Vec<LaunchRecord>,
    traces: Vec<(String, Vec<Traced>)>,
    outputs: Vec<Output>,
    variables: Vec<Place>,
}

/// Explains results that are correct in one order of blocks and warps but not in another.
fn other_order(what: &str, lang: Lang) -> String {
    say!(
        lang,
        "The results were right in one order of the blocks and warps, and in another they are not, and \
         nobody can foretell in which order they run:\n\n{}\n\nUpdates are lost where threads read a place, \
         change the value and write it back, and others do so in between: that takes an atomic operation. \
         And who reads what other threads of the block wrote needs a `__syncthreads()` in between.",
        "线程块和线程束按一种顺序执行时结果正确，换一种顺序就不对，而实际按什么顺序执行是无法预知的：\n\n{}\n\n\
         如果线程先读一个位置、修改后再写回，而其他线程在此期间也这样做，更新就会丢失：这里需要原子操作。\
         要读取本线程块中其他线程写入的数据，中间需要一次 `__syncthreads()`。";
        what
    )
}

/// Explains results that depend on uninitialized memory.
fn other_garbage(what: &str, lang: Lang) -> String {
    say!(
        lang,
        "The results depend on what memory holds that nobody has written. They were right with one content \
         of it, and with another they are not:\n\n{}",
        "结果依赖于从未写入过的内存里恰好有什么。其中的内容是一种时结果正确，换一种就不对：\n\n{}";
        what
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_results_depend_on_is_said_around_what_is_wrong() {
        for lang in [Lang::En, Lang::Zh] {
            for said in [other_order("[3] 7", lang), other_garbage("[3] 7", lang)] {
                assert!(said.contains("\n\n[3] 7"), "{said}");
                assert!(!said.contains("  "), "{said}");
            }
        }
    }
}
