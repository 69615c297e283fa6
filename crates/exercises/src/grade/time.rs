//! The step `time`: a kernel's time compared with those of the start file and the solution. On a GPU all
//! three are measured one after the other; on the simulator the times come from its model.

use std::sync::Arc;
use std::thread::Scope;

use anyhow::Result;
use chapter::lang::{Lang, Text};
use chapter::number::significant;
use common::gpu::Clock;
use common::module;
use cuda_driver::{Checks, LaunchRecord};

use super::compile::CourseFiles;
use super::verdict::SIZES;
use super::{
    Costs, Grading, ReferenceCosts, ReferenceTimes, Stop, Submission, Timed, Verdict, counters,
    launch,
};
use crate::data::{Data, Kind, Step};
use crate::host::{Bench, Case, Host};

/// Samples per kernel, each with enough launches to take some milliseconds.
const SAMPLES: u32 = 15;

/// Measures the start file, the solution and the submission on a GPU. The bench holds the submission's module
/// again afterwards.
pub fn measure(
    host: &dyn Host,
    bench: &mut Bench,
    files: &CourseFiles,
    (submission, ptx): (&Submission, &str),
    case: &Case,
) -> Result<(f64, ReferenceTimes), Stop> {
    let mut times = [0.0; 2];
    for (time, ptx) in times.iter_mut().zip([files.start()?, files.solution()?]) {
        bench.replace_submission(module::load(&ptx)?);
        *time = bench.milliseconds(host, case, SAMPLES)?;
    }
    let [start_ms, solution_ms] = times;
    bench.replace_submission(module::load(ptx)?);
    let submission_ms = bench.milliseconds(host, case, SAMPLES);
    let submission_ms = submission_ms.map_err(|error| {
        let message = launch::explain_failure(&error, bench, submission).0;
        Stop::at_size(Step::Time, case, message)
    })?;
    let reference_times = ReferenceTimes {
        start_ms: Some(start_ms),
        solution_ms,
    };
    Ok((submission_ms, reference_times))
}

/// Fails if the submission is too slow.
pub fn verdict(timed: Timed, clock: Clock, case: &Case, verdict: &mut Verdict) -> Result<(), Stop> {
    let timed = verdict.time.insert(timed);
    if timed.reached {
        return Ok(());
    }
    let message = Text::from_fn(|lang| explain(timed, clock, lang));
    Err(Stop::at_size(Step::Time, case, message))
}

/// Explains a time that is too long.
fn explain(timed: &Timed, clock: Clock, lang: Lang) -> String {
    let times = format_times(timed, lang);
    match clock {
        Clock::Measured => localize!(
            lang,
            "The results are correct. Now look at the time:\n\n{}\n\nTo see where the time goes, \
             look at the counters: unset CUDA_BACKEND and check again.",
            "结果正确。接下来看用时：\n\n{}\n\n要了解时间花在哪里，请看计数器：取消 CUDA_BACKEND \
             的设置，再评一次分。";
            times
        ),
        Clock::Modelled => localize!(
            lang,
            "The results are correct. Now look at the time without launching, as modelled by the \
             simulator:\n\n{}\n\nUsual causes: one thread, one warp of a block or one block does the work \
             of many; threads of a warp take different branches; threads wait for barriers, fences or \
             loads that depend on each other; the kernel prints; or instructions and local arrays that \
             the solution does without. `--counters` shows what your kernel does.",
            "结果正确。接下来看用时（不含启动开销，由模拟器的模型得出）：\n\n{}\n\n常见的原因：一个线程、块中的一个\
             线程束或一个线程块做了许多个的工作；同一线程束的线程走了不同的分支；线程要等待同步屏障、\
             内存栅栏或彼此依赖的读取；核函数用 printf 输出；或者用了参考答案不需要的指令和局部数组。`--counters` 会列出核函数的访存行为。";
            times
        ),
    }
}

impl Timed {
    /// Compares the submission's time in milliseconds with the solution's, which it may exceed by the factor
    /// `at_most`.
    pub fn new(submission_ms: f64, reference_times: ReferenceTimes, at_most: f64) -> Timed {
        let ReferenceTimes {
            start_ms,
            solution_ms,
        } = reference_times;
        let ratio = submission_ms / solution_ms;
        Timed {
            submission_ms,
            start_ms,
            solution_ms,
            ratio,
            at_most,
            // False if no time passed or a time is NaN.
            reached: ratio <= at_most,
        }
    }

    /// Also requires that the time does not exceed the start file's, if that is known and much longer than
    /// the solution's.
    pub fn within_start(self) -> Timed {
        // Modelled times are sums of floats, so allow for rounding.
        const ROUNDING: f64 = 1.0 + 1e-9;
        // Closer times can be those of equally good kernels of which the compiler unrolls only one.
        const MIN_RATIO: f64 = 2.5;
        let limit = self
            .start_ms
            .filter(|start| *start > MIN_RATIO * self.solution_ms);
        let reached =
            self.reached && limit.is_none_or(|start| self.submission_ms <= ROUNDING * start);
        Timed { reached, ..self }
    }
}

/// Formats the times and the limit in one line.
pub fn format_times(timed: &Timed, lang: Lang) -> String {
    let [submission, solution] = [timed.submission_ms, timed.solution_ms].map(microseconds);
    let ratio = format_ratio(timed);
    let Some(start) = timed.start_ms.map(microseconds) else {
        return localize!(
            lang,
            "your kernel takes {} µs, the solution {} µs: {} times the solution's time, required: \
             at most {}",
            "你的核函数用时 {} µs；参考答案 {} µs：是参考答案的 {} 倍，要求：至多 {} 倍";
            submission, solution, ratio, timed.at_most
        );
    };
    let line = localize!(
        lang,
        "your kernel takes {} µs; the start file {} µs, the solution {} µs: {} times the \
         solution's time, required: at most {}",
        "你的核函数用时 {} µs；初始文件 {} µs，参考答案 {} µs：是参考答案的 {} 倍，要求：至多 {} 倍";
        submission, start, solution, ratio, timed.at_most
    );
    match timed.reached || timed.ratio > timed.at_most {
        true => line,
        false => localize!(
            lang,
            "{}, and no more than the start file",
            "{}，并且不超过初始文件";
            line
        ),
    }
}

/// Formats the ratio of the times, with enough digits that a ratio above the limit reads so.
fn format_ratio(timed: &Timed) -> String {
    let format = |digits| format!("{:.digits$}", timed.ratio);
    let is_above = |text: &String| text.parse().is_ok_and(|ratio: f64| ratio > timed.at_most);
    let mut digits = 2..12;
    match timed.ratio > timed.at_most {
        true => digits.map(format).find(is_above),
        false => digits.next().map(format),
    }
    .unwrap_or_else(|| timed.ratio.to_string())
}

fn microseconds(milliseconds: f64) -> String {
    significant(1e3 * milliseconds)
}

/// The costs of the course's own files, or the files to measure them with.
pub enum Reference {
    /// The costs are already known.
    Costs(ReferenceCosts),
    /// The files, the start file only if its results are correct, without which its time is meaningless.
    Files {
        files: Arc<CourseFiles>,
        has_start: bool,
    },
}

impl Reference {
    /// Starts to compile the files if needed; `None` for predictions, which launch nothing that could be timed.
    pub fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        data: &Data,
        files: &Arc<CourseFiles>,
        grading: &Grading,
    ) -> Option<Reference> {
        if data.kind == Kind::Predict {
            return None;
        }
        if let Some(costs) = &grading.reference {
            return Some(Reference::Costs(costs.clone()));
        }
        let has_start = data.rejected_at == Step::Counters;
        // Errors are reported when the PTX is needed.
        if has_start {
            let files = Arc::clone(files);
            scope.spawn(move || files.start().is_ok());
        }
        let compiled = Arc::clone(files);
        scope.spawn(move || compiled.solution().is_ok());
        Some(Reference::Files {
            files: Arc::clone(files),
            has_start,
        })
    }

    /// Measures the costs at each size, if they are not known.
    pub fn costs(
        self,
        host: &dyn Host,
        bench: &mut Bench,
        data: &Data,
        cases: [&Case; SIZES],
    ) -> Result<ReferenceCosts> {
        let (files, has_start) = match self {
            Reference::Costs(costs) => return Ok(costs),
            Reference::Files { files, has_start } => (files, has_start),
        };
        cuda_driver::check(Checks::NONE);
        cuda_driver::shuffle(None);
        let mut launches = |ptx: &str, case: &Case, counted: bool| {
            cuda_driver::profile(counted);
            cuda_driver::set_sample_seed(counted.then_some(cases[0].seed));
            bench.replace_submission(module::load(ptx)?);
            bench.run(host, case)?;
            anyhow::Ok(bench.take_launches())
        };
        // A start file does the same work in all blocks. Sample the solution's blocks as for a submission.
        let start = has_start.then(|| launches(&files.start()?, cases[0], false));
        let start_ms = start.transpose()?.map(|start| busy_milliseconds(&start));
        let ptx = files.solution()?;
        let mut solution: [Costs; SIZES] = Default::default();
        for (costs, case) in solution.iter_mut().zip(cases) {
            *costs = Costs::of(data, &launches(&ptx, case, true)?);
        }
        Ok(ReferenceCosts { start_ms, solution })
    }
}

impl Costs {
    /// Returns the costs of these launches.
    pub fn of(data: &Data, launches: &[LaunchRecord]) -> Costs {
        Costs {
            milliseconds: busy_milliseconds(launches),
            counters: counters::of_targets(data, launches),
        }
    }
}

/// Returns the modelled time of all launches in milliseconds, without that of launching.
fn busy_milliseconds(launches: &[LaunchRecord]) -> f64 {
    let times = launches
        .iter()
        .map(|launch| launch.time.busy_milliseconds());
    times.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(start_ms: Option<f64>, solution_ms: f64) -> ReferenceTimes {
        ReferenceTimes {
            start_ms,
            solution_ms,
        }
    }

    #[test]
    fn the_start_files_time_is_a_limit_if_far_from_the_solutions() {
        let timed = |submission_ms, start| {
            Timed::new(submission_ms, reference(start, 0.1), 8.0).within_start()
        };
        assert!(timed(0.3, Some(0.3)).reached && timed(0.31, None).reached);
        // A start file that is close to the solution sets no limit.
        assert!(timed(0.5, Some(0.2)).reached && !timed(0.81, Some(0.2)).reached);
        let slower = timed(0.31, Some(0.3));
        assert!(!slower.reached);
        let message = format_times(&slower, Lang::En);
        assert!(
            message.ends_with("at most 8, and no more than the start file"),
            "{message}"
        );
        let message = format_times(&timed(0.9, None), Lang::En);
        assert_eq!(
            message,
            "your kernel takes 900 µs, the solution 100 µs: 9.00 times the solution's time, \
             required: at most 8"
        );
        assert!(!timed(f64::NAN, Some(0.12)).reached);
    }

    #[test]
    fn times_are_compared_with_the_solutions() {
        let reached = |submission_ms, solution| {
            Timed::new(submission_ms, reference(Some(1.0), solution), 1.5).reached
        };
        assert!(reached(0.1, 0.1) && reached(0.15, 0.1) && reached(0.01, 0.1));
        assert!(!reached(0.151, 0.1) && !reached(1.0, 0.1));
        // Without a measured time nothing counts as fast.
        assert!(!reached(0.0, 0.0) && !reached(f64::NAN, 0.1) && !reached(0.1, 0.0));
    }

    #[test]
    fn a_ratio_above_the_limit_reads_so() {
        let message = |submission_ms| {
            let timed = Timed::new(submission_ms, reference(None, 0.1), 1.5);
            format_times(&timed, Lang::En)
        };
        for (submission_ms, ratio) in [
            (0.1503, "1.503 times"),
            (0.15004, "1.5004 times"),
            (0.151, "1.51 times"),
            (0.14999, "1.50 times"),
            (f64::INFINITY, "inf times"),
        ] {
            let message = message(submission_ms);
            assert!(message.contains(&format!(": {ratio}")), "{message}");
        }
    }

    #[test]
    fn all_three_times_are_reported() {
        let timed = Timed::new(0.0123, reference(Some(0.0984), 0.0119), 1.5);
        assert_eq!(
            format_times(&timed, Lang::En),
            "your kernel takes 12.3 µs; the start file 98.4 µs, the solution 11.9 µs: 1.03 times \
             the solution's time, required: at most 1.5"
        );
        let message = format_times(&timed, Lang::Zh);
        for part in ["12.3 µs", "98.4 µs", "11.9 µs", "1.03 倍", "至多 1.5 倍"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn slow_submissions_get_advice() {
        let case = Case {
            size: vec![4096],
            seed: 1,
        };
        let stop_for = |submission_ms, clock| {
            let mut result = Verdict::new(1);
            let timed = Timed::new(submission_ms, reference(Some(0.9), 0.1), 2.0);
            let stop = verdict(timed, clock, &case, &mut result);
            assert_eq!(
                result.time.map(|time| time.submission_ms),
                Some(submission_ms)
            );
            stop.err()
        };
        assert!(stop_for(0.2, Clock::Measured).is_none());
        for (lang, limit) in [(Lang::En, "at most 2\n"), (Lang::Zh, "至多 2 倍\n")] {
            for (clock, next_step) in [
                (Clock::Measured, "CUDA_BACKEND"),
                (Clock::Modelled, "--counters"),
            ] {
                let Some(Stop::Failed(failure)) = stop_for(0.21, clock) else {
                    panic!("it is too slow");
                };
                assert_eq!((failure.step, &failure.size), (Step::Time, &case.size));
                let message = failure.message.get(lang);
                assert!(message.contains(limit), "{message}");
                assert!(message.contains(next_step), "{message}");
            }
        }
    }
}
