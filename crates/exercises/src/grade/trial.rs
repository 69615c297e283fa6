//! Runs of a submission under given conditions, and the cases of a grading: sizes and seeds of inputs.

use std::sync::Arc;

use chapter::lang::{Lang, Text};
use common::{Gpu, module};
use cuda_driver::{AccessKind, Checks, Finding, LaunchRecord, Traced, Tracing};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::accesses::FoundAccess;
use super::compile::{self, Builds, CourseFiles};
use super::patterns::{Evidence, Run};
use super::{
    Failure, FailureKind, Grading, Stop, Submission, accesses, checks, launch, results, tokens,
};
use crate::course::Exercise;
use crate::data::{Data, Kind, SizeRange, Step, Time};
use crate::host::{Bench, Case, Host, InputLocation, Output, RunResult};

/// The checks of a submission. Those of the host's calls are excluded, because most submissions leave the host side to the
/// course.
const CHECKS: Checks = Checks {
    leak: false,
    host: false,
    stream: false,
    ..Checks::ALL
};

/// The conditions of a run. A correct kernel gives the same results under all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// True for unoptimized code, with every load and store where it is written.
    pub as_written: bool,
    /// True if the simulator's checks are on.
    pub checked: bool,
    /// True if counters are collected, accesses are traced for [`Trial::check_accesses`], and the blocks sampled for the
    /// modelled time are chosen at random.
    pub counted: bool,
    /// The seed of a shuffled order of blocks and warps; `None` for the default order.
    pub shuffle_seed: Option<u64>,
    /// The fill pattern of uninitialized memory.
    pub fill_pattern: u32,
    /// True if the module that the last run loaded is launched again, whose variables keep their values.
    pub again: bool,
}

impl Conditions {
    /// Returns conditions with optimized code, the default order and no checks.
    pub fn plain(fill_pattern: u32) -> Conditions {
        Conditions {
            as_written: false,
            checked: false,
            counted: false,
            shuffle_seed: None,
            fill_pattern,
            again: false,
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
    /// The exercise's data.
    data: &'a Data,
    submission: &'a Submission,
    /// The submission's PTX.
    builds: &'a Builds,
    /// The GPU or simulator.
    pub bench: Bench,
    /// The locations of the inputs of the last successful run.
    inputs: Vec<InputLocation>,
    /// The seed of the grading.
    seed: u64,
}

impl<'a> Trial<'a> {
    /// Loads the submission on this GPU.
    pub fn new(
        host: &'a dyn Host,
        exercise: &'a Exercise,
        submission: &'a Submission,
        builds: &'a Builds,
        course_files: &Arc<CourseFiles>,
        gpu: Gpu,
        seed: u64,
    ) -> Result<Trial<'a>, Stop> {
        let module = module::load(&builds.optimised);
        let module = module.map_err(|error| compile::not_loaded(&error))?;
        let files = Arc::clone(course_files);
        let start_code = move || module::load(&files.start()?);
        let files = Arc::clone(course_files);
        let solution = move || module::load(&files.solution()?);
        Ok(Trial {
            host,
            data: exercise.data(),
            submission,
            builds,
            bench: Bench::new(module, gpu)
                .with_start_code(start_code)
                .with_solution(solution),
            inputs: Vec::new(),
            seed,
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
        let (verdict, findings) = self.attempt(case, conditions, grading);
        match verdict {
            Ok(()) => Ok(findings),
            Err(Stop::Failed(failure)) if failure.step == Step::Right => {
                if self.is_correct_at_first(case, conditions, grading) {
                    return Err(wrong_again(failure));
                }
                let findings = match conditions.checked {
                    true => findings,
                    // Run again with checks to find the cause.
                    false => self.attempt(case, conditions.checked(), grading).1,
                };
                Err(Stop::Failed(match findings.is_empty() {
                    // There is no finding, so look for patterns in the wrong results and for the thread that
                    // wrote the first one.
                    true => {
                        self.explain_wrong_results(case, conditions.as_written, grading, failure)
                    }
                    false => failure
                        .with_reasons(|lang| checks::explain(&findings, self.submission, lang)),
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
        let (verdict, findings) = self.attempt(case, conditions, grading);
        let failure = match verdict {
            Err(Stop::Failed(failure)) if failure.kind != Some(FailureKind::Missing) => failure,
            verdict => return verdict.map(|()| findings),
        };
        if self.is_correct_at_first(case, conditions, grading) {
            return Err(wrong_again(failure));
        }
        let default = Conditions {
            shuffle_seed: None,
            again: false,
            ..conditions.checked()
        };
        let (default_verdict, findings) = self.attempt(case, default, grading);
        // The results were correct with these contents of uninitialized memory, unless the code was unoptimized.
        let [first, ..] = fill_patterns(self.seed);
        let advice = order_advice(&self.submission.text);
        let explain: fn(&str, Lang) -> String = match default_verdict {
            Ok(()) if findings.is_empty() && advice.is_some() => explain_order,
            Ok(()) => explain_lost_updates,
            // The runs after one that was stopped tell nothing.
            Err(_) if failure.kind == Some(FailureKind::Stopped) => explain_nothing,
            Err(_) => match self.attempt(case, Conditions::plain(first), grading).0 {
                Ok(()) => explain_uninitialized,
                Err(_) => explain_optimized,
            },
        };
        let message = Text::from_fn(|lang| explain(failure.message.get(lang), lang));
        let reasons = |lang| {
            let found = checks::explain(&findings, self.submission, lang);
            match advice {
                Some(advice) if found.is_empty() => advice(lang).to_owned(),
                _ => found,
            }
        };
        Err(Stop::Failed(
            Failure { message, ..failure }.with_reasons(reasons),
        ))
    }

    /// Returns true if a run that launched a module again would have had correct results as the first of its module.
    fn is_correct_at_first(
        &mut self,
        case: &Case,
        conditions: Conditions,
        grading: &mut Grading,
    ) -> bool {
        let first = Conditions {
            again: false,
            ..conditions
        };
        conditions.again && self.attempt(case, first, grading).0.is_ok()
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
            shuffle_seed,
            fill_pattern,
            again,
        } = conditions;
        let predicts = self.data.kind == Kind::Predict;
        cuda_driver::check(if checked { CHECKS } else { Checks::NONE });
        cuda_driver::profile(counted || predicts);
        cuda_driver::set_sample_seed(counted.then_some(self.seed));
        cuda_driver::shuffle(shuffle_seed);
        cuda_driver::poison(Some(fill_pattern));
        let loaded = match again {
            true => Ok(()),
            false => self.load(as_written),
        };
        cuda_driver::trace(counted.then_some(Tracing::All));
        let verdict = loaded.and_then(|()| {
            (grading.on_step)(Step::Launch, &case.size);
            let run = launch::run(self.host, &self.bench, self.submission, case)?;
            self.inputs = run.inputs;
            (grading.on_step)(Step::Right, &case.size);
            results::verdict(&run.outputs, self.data.tolerance, case)
        });
        cuda_driver::trace(None);
        let mut findings = cuda_driver::take_findings();
        // Run the submission once more to find the lines of races between blocks. If this fails, the race is still
        // reported, with approximate lines.
        if accesses::has_block_race(&findings)
            && let Ok(Some(run)) = self.trace_last_run(case, as_written)
        {
            accesses::set_race_lines(&mut findings, &run.traces, &run.launches);
        }
        (verdict, findings)
    }

    /// Adds the patterns in wrong results, and the thread that wrote the first wrong element, to a failure.
    fn explain_wrong_results(
        &mut self,
        case: &Case,
        as_written: bool,
        grading: &Grading,
        failure: Failure,
    ) -> Failure {
        let text = &self.submission.text;
        let absent = self.bench.submission.absent_variables().into_iter();
        let mut hidden =
            absent.filter_map(|name| Some((tokens::hidden_variable(text, &name)?, name)));
        let failure = match hidden.next() {
            Some((cause, name)) => {
                let message = launch::explain_hidden(&name, cause);
                failure.with_reasons(|lang| message.get(lang).to_owned())
            }
            None => failure,
        };
        let Ok(Some(run)) = self.trace_last_run(case, as_written) else {
            return failure;
        };
        let (tolerance, submission) = (self.data.tolerance, self.submission);
        let writer = Text::from_fn(|lang| {
            let (launches, traces) = (&run.launches, &run.traces);
            let outputs = &run.outputs;
            accesses::describe_first_wrong(outputs, tolerance, launches, traces, submission, lang)
                .unwrap_or_default()
        });
        let evidence = Evidence {
            sizes: &self.data.sizes,
            host: self.host,
            runs: self.run_all_sizes(case, run.outputs, as_written, grading.seed),
            tolerance,
            inputs: run.inputs,
            traces: run.traces,
        };
        let failure = failure.with_reasons(|lang| evidence.describe(lang));
        failure.with_reasons(|lang| writer.get(lang).to_owned())
    }

    /// Checks the traced accesses of the last run, which was counted: none may write to an input, even if the value is
    /// restored, or read through the read-only path what another thread writes; and asynchronous copies must be ahead of
    /// their use where the exercise requires it.
    pub fn check_accesses(&self, case: &Case, launches: &[LaunchRecord]) -> Result<(), Stop> {
        let (traces, submission) = (&self.bench.take_traces(), self.submission);
        if let Some((name, found)) = accesses::first_store_to(&self.inputs, launches, traces) {
            type Explain = fn(&str, &str, Lang) -> String;
            let (step, explain): (Step, Explain) = match found.access.kind {
                AccessKind::Store => (Step::Right, explain_written_input),
                _ => (Step::Checks, explain_atomic_on_input),
            };
            let message =
                Text::from_fn(|lang| explain(name, &found.format(submission, lang), lang));
            return Err(Stop::at_size(step, case, message));
        }
        let stop = |found: &FoundAccess, explain: fn(&str, Lang) -> String| {
            let message = Text::from_fn(|lang| explain(&found.format(submission, lang), lang));
            Err(Stop::at_size(Step::Checks, case, message))
        };
        if let Some(found) = accesses::first_stale_read(&self.inputs, launches, traces) {
            return stop(&found, explain_stale_read);
        }
        if let Some(name) = &self.data.copied_ahead {
            let mut inputs = self.inputs.iter();
            let input = inputs.find(|input| input.name == *name);
            let late = input
                .and_then(|input| accesses::first_late_copy(input, case.n(), launches, traces));
            if let Some(found) = late {
                return stop(&found, explain_late_copy);
            }
            if let Some(found) = accesses::first_use_without_copy(case.n(), launches, traces) {
                return stop(&found, explain_use_without_copy);
            }
        }
        Ok(())
    }

    /// Returns the outputs at this size followed by those at the other sizes of the tests, until a run fails.
    fn run_all_sizes(
        &mut self,
        case: &Case,
        outputs: Vec<Output>,
        as_written: bool,
        seed: u64,
    ) -> Vec<Run> {
        let case = case.clone();
        let mut runs = vec![Run { case, outputs }];
        let others = test_cases(self.data, seed);
        for case in others {
            if case == runs[0].case {
                continue;
            }
            let result = self
                .load(as_written)
                .and_then(|()| launch::run(self.host, &self.bench, self.submission, &case));
            let Ok(RunResult { outputs, .. }) = result else {
                break;
            };
            runs.push(Run { case, outputs });
        }
        runs
    }

    /// Repeats the last run and traces every access; `None` if there are too many threads.
    fn trace_last_run(&mut self, case: &Case, as_written: bool) -> Result<Option<Traces>, Stop> {
        let launches = self.bench.take_launches();
        let threads = |launch: &LaunchRecord| {
            let extents = launch.grid.iter().chain(&launch.block);
            extents.map(|&number| u64::from(number)).product::<u64>()
        };
        let thread_count = launches.iter().map(threads).sum::<u64>();
        if !(1..=accesses::MAX_THREADS).contains(&thread_count) {
            self.bench.restore_launches(launches);
            return Ok(None);
        }
        let run = self.trace_accesses(case, as_written);
        self.bench.restore_launches(launches);
        run.map(Some)
    }

    /// Runs the submission once and traces every access.
    fn trace_accesses(&mut self, case: &Case, as_written: bool) -> Result<Traces, Stop> {
        cuda_driver::check(Checks::NONE);
        cuda_driver::shuffle(None);
        self.load(as_written)?;
        cuda_driver::trace(Some(Tracing::All));
        let result = self.bench.run(self.host, case);
        cuda_driver::trace(None);
        let RunResult {
            outputs, inputs, ..
        } = result?;
        Ok(Traces {
            launches: self.bench.take_launches(),
            traces: self.bench.take_traces(),
            outputs,
            inputs,
        })
    }

    /// Loads the submission again, which resets its variables.
    fn load(&mut self, as_written: bool) -> Result<(), Stop> {
        let ptx = match &self.builds.as_written {
            Some(ptx) if as_written => ptx,
            _ => &self.builds.optimised,
        };
        let module = module::load(ptx);
        self.bench
            .replace_submission(module.map_err(|error| compile::not_loaded(&error))?);
        Ok(())
    }
}

/// The access traces of one run.
struct Traces {
    launches: Vec<LaunchRecord>,
    traces: Vec<(String, Vec<Traced>)>,
    outputs: Vec<Output>,
    inputs: Vec<InputLocation>,
}

/// Explains results that are correct in one order of blocks and warps but not in another.
fn explain_order(message: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results are correct in one order of blocks and warps but wrong in another, and the \
         order is unpredictable:\n\n{}",
        "线程块和线程束按一种顺序执行时结果正确，按另一种顺序则错误，而执行顺序是不确定的：\n\n{}";
        message
    )
}

/// Leaves a message as it is.
fn explain_nothing(message: &str, _: Lang) -> String {
    message.to_owned()
}

/// Explains results that depend on the order, probably because of lost updates.
fn explain_lost_updates(message: &str, lang: Lang) -> String {
    localize!(
        lang,
        "{}\n\nUpdates are lost if threads read a location, change the \
         value and write it back while other threads do the same: use an atomic operation. Reading \
         data that other threads of the block wrote needs a `__syncthreads()` in between.",
        "{}\n\n如果线程先读一个位置、修改后再写回，而其他线程在此期间也这样做，更新就会丢失：\
         这里需要原子操作。要读取本线程块中其他线程写入的数据，中间需要一次 `__syncthreads()`。";
        explain_order(message, lang)
    )
}

/// Returns the explanation of results that depend on the order by a function that a submission's text calls; `None` if it
/// calls none.
fn order_advice(text: &str) -> Option<fn(Lang) -> &'static str> {
    /// The functions of CUDA 8 without `_sync`.
    const LEGACY: [&str; 7] = [
        "__shfl(",
        "__shfl_up(",
        "__shfl_down(",
        "__shfl_xor(",
        "__ballot(",
        "__any(",
        "__all(",
    ];
    if ["__activemask", "coalesced_threads"]
        .iter()
        .any(|name| text.contains(name))
    {
        return Some(explain_active_mask);
    }
    let is_legacy = LEGACY.iter().any(|name| text.contains(name));
    is_legacy.then_some(explain_legacy_functions as fn(Lang) -> &'static str)
}

/// Explains that the warp functions of CUDA 8 do not wait for the lanes that take part.
fn explain_legacy_functions(lang: Lang) -> &'static str {
    lang.pick(
        "`__shfl_down`, `__ballot` and the like do not wait for the other threads of the warp, and do not exist for GPUs \
         since Volta. Use `__shfl_down_sync(0xffffffff, …)`, `__ballot_sync(0xffffffff, …)`.",
        "`__shfl_down`、`__ballot` 等函数不会等待线程束中的其他线程，Volta 及以后的 GPU 已不再提供。请改用 \
         `__shfl_down_sync(0xffffffff, …)`、`__ballot_sync(0xffffffff, …)`。",
    )
}

/// Explains a likely reason for results that depend on the order.
fn explain_active_mask(lang: Lang) -> &'static str {
    lang.pick(
        "`__activemask()` and `coalesced_threads()` return the threads that happen to execute them together, which need \
         not be the whole warp, even without branches. Name the threads that take part: the mask `0xffffffff` or \
         `tiled_partition<32>` for all, and let threads past the end take part too.",
        "`__activemask()` 和 `coalesced_threads()` 返回的是恰好一起执行它的线程，即使没有分支，也不一定是整个线程束。\
         请写明参与的线程：全体用掩码 `0xffffffff` 或 `tiled_partition<32>`，并让超出末尾的线程也参与。",
    )
}

/// Explains results that depend on uninitialized memory.
fn explain_uninitialized(message: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results depend on uninitialized memory. They are correct with one content and wrong \
         with another:\n\n{}",
        "结果依赖于未初始化的内存。其内容为一种时结果正确，为另一种时错误：\n\n{}";
        message
    )
}

/// Adds the explanation of results that are correct in the first launch of a module only.
fn wrong_again(failure: Failure) -> Stop {
    let message = Text::from_fn(|lang| explain_again(failure.message.get(lang), lang));
    Stop::Failed(Failure { message, ..failure })
}

/// Explains results that are correct in the first launch of a module only.
fn explain_again(message: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results are correct when the program launches the kernel for the first time, and wrong when it \
         launches it again:\n\n{}\n\nVariables outside of functions keep their values from one launch to the \
         next. The last block can reset them.",
        "程序第一次启动核函数时结果正确，再次启动时则错误：\n\n{}\n\n函数之外的变量从一次启动到下一次启动保持原值。\
         可以由最后一个线程块把它们复位。";
        message
    )
}

/// Explains a write to an input that leaves no trace in the results.
fn explain_written_input(name: &str, line: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results are correct, but the kernel writes to its input `{}` and restores the values:\n\n{}\n\nOther \
         kernels may read the input meanwhile. Use an output, shared memory or registers.",
        "结果正确，但核函数写入了输入 `{}`，之后又恢复了原值：\n\n{}\n\n在此期间，别的核函数可能会读到它。请改用输出、\
         共享内存或寄存器。";
        name, line
    )
}

/// Explains an atomic operation on an input that leaves no trace in the results.
fn explain_atomic_on_input(name: &str, line: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results are correct, but the kernel performs an atomic operation on its input `{}`, which also \
         writes:\n\n{}\n\nRead inputs with ordinary loads.",
        "结果正确，但核函数对输入 `{}` 做了原子操作，这同时也是写入：\n\n{}\n\n请用普通的读取来读输入。";
        name, line
    )
}

/// Explains a read-only load of data that another thread writes.
fn explain_stale_read(line: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results are correct only by chance: this read-only load reads data that another thread of the same launch \
         writes, and may return an old value.\n\n{}\n\n`__ldg` is for data that no thread writes while the kernel \
         runs: use an ordinary load.",
        "结果正确只是碰巧：这次只读加载所读的数据由同一次启动中的另一个线程写入，读到的可能是旧值。\n\n{}\n\n\
         `__ldg` 只能用于核函数运行期间没有线程写入的数据：请用普通的读取。";
        line
    )
}

/// Explains an asynchronous copy that is not ahead of its use.
fn explain_late_copy(line: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results are correct, but no copy is in flight while a tile is used: this copy starts only after \
         the tile before has been used.\n\n{}\n\nStart the copy of the next tile before you use this one.",
        "结果正确，但使用一块数据时没有复制在进行：这次复制要等前一块用完才开始。\n\n{}\n\n请在使用这一块之前，\
         先开始复制下一块。";
        line
    )
}

/// Explains a use of a tile while no asynchronous copy is in flight.
fn explain_use_without_copy(line: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results are correct, but no copy is in flight while this tile is used:\n\n{}\n\nWait for the copy of \
         this tile alone, for example with `__pipeline_wait_prior(1)`, and leave the copy of the next tile in flight.",
        "结果正确，但使用这一块数据时没有复制在进行：\n\n{}\n\n请只等待这一块的复制，例如用 \
         `__pipeline_wait_prior(1)`，让下一块的复制继续进行。";
        line
    )
}

/// Explains results that are correct for unoptimized code only.
fn explain_optimized(message: &str, lang: Lang) -> String {
    localize!(
        lang,
        "The results are correct without the compiler's optimizations and wrong with them:\n\n{}\n\nThe \
         compiler may assume that nothing undefined happens, such as an overflow of an `int`, a missing `return` \
         or the execution of `__builtin_unreachable()`.",
        "不优化时结果正确，经编译器优化后则错误：\n\n{}\n\n编译器可以假定未定义行为不会发生，例如 `int` 溢出、缺少 \
         `return`，或者执行到 `__builtin_unreachable()`。";
        message
    )
}

/// Returns the fixed sizes of the tests, then those drawn from the seed.
pub fn test_cases(data: &Data, seed: u64) -> Vec<Case> {
    let mut random = Pcg32::seed_from_u64(seed);
    let range = &data.sizes.random;
    let drawn = (0..range.count).map(|index| {
        let numbers = range.from.iter().zip(&range.to);
        let numbers = numbers.map(|(&from, &to)| match index % 2 {
            0 => draw(&mut random, from, to),
            _ => draw_magnitude(&mut random, from, to),
        });
        numbers.collect::<Vec<u32>>()
    });
    let drawn: Vec<Vec<u32>> = drawn.collect();
    let sizes = data.sizes.tests.iter().cloned().chain(drawn);
    let inputs = sizes.map(|size| (size, random.next_u64()));
    inputs.map(|(size, seed)| Case { size, seed }).collect()
}

/// Returns the case at which counters are measured, if there is one.
pub fn graded_case(data: &Data, seed: u64) -> Option<Case> {
    let size = data.sizes.graded.clone()?;
    Some(Case { size, seed })
}

/// Draws one size beyond the graded one from the seed, which no submission can know in advance.
pub fn case_beyond(data: &Data, graded: &Case, seed: u64) -> Case {
    let SizeRange { from, to } = data.sizes.beyond(&graded.size);
    let mut random = Pcg32::seed_from_u64(!seed);
    let numbers = from.iter().zip(&to);
    let size = numbers.map(|(&from, &to)| draw(&mut random, from, to));
    let size = size.collect();
    let seed = random.next_u64();
    Case { size, seed }
}

/// Draws one size of any magnitude up to that beyond the graded one, and of other proportions, at which counters are roughly
/// in proportion to the solution's. Its numbers are multiples of powers of two, so that blocks and tiles of any usual size
/// divide them.
pub fn any_case(data: &Data, beyond: &Case) -> Case {
    let mut random = Pcg32::seed_from_u64(beyond.seed);
    let size = data.sizes.draw_any(&beyond.size, || uniform(&mut random));
    let seed = random.next_u64();
    Case { size, seed }
}

/// Draws one size below the graded one, at which counters are in proportion to the solution's as well.
pub fn case_below(data: &Data, graded: &Case, seed: u64) -> Case {
    let mut random = Pcg32::seed_from_u64(seed.rotate_left(16));
    let size = data.sizes.draw_below(&graded.size, || uniform(&mut random));
    let seed = random.next_u64();
    Case { size, seed }
}

/// Draws sizes with one large number, at which only results are checked.
pub fn elongated_cases(data: &Data, beyond: &Case) -> Vec<Case> {
    let mut random = Pcg32::seed_from_u64(!beyond.seed);
    let sizes = data
        .sizes
        .draw_elongated(&beyond.size, || uniform(&mut random));
    let cases = sizes.into_iter().map(|size| Case {
        size,
        seed: random.next_u64(),
    });
    cases.collect()
}

/// Draws a number from 0 to 1.
fn uniform(random: &mut Pcg32) -> f64 {
    f64::from(random.next_u32()) / f64::from(u32::MAX)
}

/// The number of fill patterns of uninitialized memory.
const FILLS: usize = 5;

/// Returns the fill patterns of uninitialized memory: NaN, a very large negative float and a very large positive float,
/// which have different signs as integers too; then a small integer and 0, as uninitialized memory often contains.
pub fn fill_patterns(seed: u64) -> [u32; FILLS] {
    let mut random = Pcg32::seed_from_u64(seed.rotate_left(32));
    let large =
        [0x7FC0_0000, 0xFE00_0000, 0x7E00_0000].map(|prefix| prefix | (random.next_u32() >> 10));
    let [nan, negative, positive] = large;
    [nan, negative, positive, 1 + (random.next_u32() >> 22), 0]
}

/// Returns the fill patterns in random order, so that a submission cannot infer from one what a run is for.
pub fn shuffled_fill_patterns(seed: u64) -> [u32; FILLS] {
    let mut random = Pcg32::seed_from_u64(!seed);
    let mut patterns = fill_patterns(seed);
    for last in (1..FILLS as u32).rev() {
        patterns.swap(last as usize, draw(&mut random, 0, last) as usize);
    }
    patterns
}

/// Returns the case at which a submission is timed.
pub fn timed_case(time: &Time, seed: u64) -> Case {
    let size = time.size.clone();
    Case { size, seed }
}

/// Draws a number from `from` to `to`, both included, all of whose magnitudes are equally likely.
fn draw_magnitude(random: &mut Pcg32, from: u32, to: u32) -> u32 {
    let [low, high] = [from, to].map(|number| f64::from(number.max(1)).ln());
    let drawn = (low + (high - low) * uniform(random)).exp().round() as u32;
    drawn.clamp(from, to)
}

/// Draws a number from `from` to `to`, both included.
fn draw(random: &mut Pcg32, from: u32, to: u32) -> u32 {
    let count = u64::from(to - from) + 1;
    from + ((u64::from(random.next_u32()) * count) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::Course;
    use crate::data::element_count;

    #[test]
    fn explanations_contain_the_wrong_results() {
        for lang in [Lang::En, Lang::Zh] {
            for text in [
                explain_lost_updates("[3] 7", lang),
                explain_uninitialized("[3] 7", lang),
                explain_optimized("[3] 7", lang),
                explain_again("[3] 7", lang),
            ] {
                assert!(text.contains("\n\n[3] 7"), "{text}");
                assert!(!text.contains("  "), "{text}");
            }
        }
    }

    #[test]
    fn all_numbers_of_a_range_are_drawn() {
        let mut random = Pcg32::seed_from_u64(3);
        let mut seen = [0; 3];
        for _ in 0..300 {
            seen[draw(&mut random, 5, 7) as usize - 5] += 1;
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
        assert_eq!(draw(&mut random, 9, 9), 9);
        let small = (0..300).filter(|_| draw_magnitude(&mut random, 2, 5000) < 100);
        assert!((100..200).contains(&small.count()));
        assert_eq!(draw_magnitude(&mut random, 9, 9), 9);
        draw(&mut random, 0, u32::MAX);
    }

    #[test]
    fn drawn_sizes_are_within_the_limits_of_the_statements() {
        let course = Course::built_in().unwrap();
        for (name, elements) in [
            ("08", 250_000),
            ("09", 250_000),
            ("11", 700_000),
            ("12", 700_000),
            ("19", 250_000),
            ("20", 250_000),
            ("27", 250_000),
            ("33", 250_000),
        ] {
            let data = course.find(name).unwrap().data();
            for seed in 0..200 {
                let graded = graded_case(data, seed).unwrap();
                let beyond = case_beyond(data, &graded, seed);
                let mut cases = elongated_cases(data, &beyond);
                cases.extend([any_case(data, &beyond), case_below(data, &graded, seed)]);
                cases.extend([graded, beyond]);
                cases.extend(test_cases(data, seed));
                for Case { size, .. } in cases {
                    let is_within = size.iter().zip(&data.sizes.at_most).all(|(a, b)| a <= b);
                    assert!(
                        is_within && element_count(&size) <= elements,
                        "{name}: {size:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn fill_patterns_differ_widely() {
        for seed in 0..100 {
            let patterns = fill_patterns(seed);
            let floats = patterns.map(f32::from_bits);
            assert!(
                floats[0].is_nan() && floats[1] < -1e37 && floats[2] > 1e37,
                "{floats:?}"
            );
            let mut shuffled = shuffled_fill_patterns(seed);
            shuffled.sort_unstable();
            let [nan, negative, positive, small, zero] = patterns;
            assert_eq!(shuffled, [zero, small, positive, nan, negative]);
        }
        assert_ne!(fill_patterns(1), fill_patterns(2));
    }
}
