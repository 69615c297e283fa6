//! Running an answer at one size, under conditions.

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

/// What every mistake is looked for with; memory is freed by the course's own side.
const CHECKS: Checks = Checks {
    leak: false,
    host: false,
    ..Checks::ALL
};

/// How a kernel is run. A right one gives the same results in all of these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// With every load and store where it is written, or optimised.
    pub as_written: bool,
    /// Whether mistakes are looked for.
    pub checked: bool,
    /// Whether everything is counted, and blocks that nobody can foretell are looked at for the time.
    pub counted: bool,
    /// An order of blocks and warps that nobody can foretell; none for the usual one.
    pub order: Option<u64>,
    /// What memory holds that nobody has written.
    pub unwritten: u32,
}

impl Conditions {
    /// Optimised, in the usual order, with nothing looked for.
    pub fn plain(unwritten: u32) -> Conditions {
        Conditions {
            as_written: false,
            checked: false,
            counted: false,
            order: None,
            unwritten,
        }
    }

    /// The same, and mistakes are looked for.
    pub fn checked(self) -> Conditions {
        Conditions {
            checked: true,
            ..self
        }
    }
}

/// An answer on a GPU or simulator, and what it is compared by.
pub struct Trial<'a> {
    /// The course's side.
    host: &'a dyn Host,
    /// The exercise's name.
    exercise: &'a str,
    /// Its data.
    data: &'a Data,
    /// The answer.
    answer: &'a Answer,
    /// What was made of it.
    builds: &'a Builds,
    /// The GPU or simulator.
    pub bench: Bench,
    /// What orders are drawn from.
    seed: u64,
}

impl<'a> Trial<'a> {
    /// One on this GPU.
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
        // It is compiled once, however often it runs.
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

    /// Runs the answer and compares its results: what was found of mistakes in spite of right results.
    /// Where results are wrong it is told as the reason.
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
                    // Once more, to find out why.
                    false => self.attempt(case, conditions.checked(), grading).1,
                };
                Err(Stop::Failed(match findings.is_empty() {
                    // Nothing that is a mistake by itself: then it helps to know where else it is wrong, and to
                    // follow one thread.
                    true => self.patterns(case, conditions.as_written, grading, failure),
                    false => failure.because(|lang| checks::reasons(&findings, self.answer, lang)),
                }))
            }
            Err(stop) => Err(stop),
        }
    }

    /// The same for results that were right under other conditions: where they are wrong now, it is
    /// said what they depend on.
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

    /// Runs the answer once: whether its results are right, and what was found of mistakes.
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
            // Without it the race is told all the same, with lines that are near.
            let _ = self.give_lines(case, as_written, &mut findings);
        }
        (came, findings)
    }

    /// Runs the answer once more for the lines of races between blocks.
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

    /// The failure with what its wrong results have in common, and who wrote the first of them.
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

    /// What came out at this size, and what comes out at all others of the tests, until the answer fails to run.
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

    /// Runs the answer once more, and tells of each access; none where there are too many.
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

    /// Loads the answer anew, so that nothing is there of what an earlier run left in its variables.
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

/// What a run tells of that tells of each access.
struct Each {
    launches: Vec<LaunchRecord>,
    traces: Vec<(String, Vec<Traced>)>,
    outputs: Vec<Output>,
    variables: Vec<Place>,
}

/// What is said where results are right in one order and not in another.
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

/// What is said where results change with memory that nobody has written.
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
