//! The step `time`: a kernel's time compared with those of the start file and the solution. On a GPU all
//! three are measured one after the other; on the simulator the times come from its model.

use anyhow::Result;
use chapter::number::plain;
use common::gpu::Clock;
use common::module;
use serde::{Deserialize, Serialize};

use super::{Answer, Failure, Grading, Stop, Timed, Verdict, compile, launch};
use crate::data::{Step, Text};
use crate::exercise::Exercise;
use crate::host::{Bench, Case, Host};
use crate::lang::Lang;

/// Samples per kernel, each with enough launches to take some milliseconds.
const SAMPLES: u32 = 15;

/// The times of the course's own files in milliseconds, from the run in which a submission is compared with
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ours {
    /// The start file's time, if its results are correct.
    pub start_ms: Option<f64>,
    /// The solution's time.
    pub solution_ms: f64,
}

/// Measures the start file, the solution and the submission on a GPU. The bench holds the submission's module
/// again afterwards.
pub fn take(
    host: &dyn Host,
    bench: &mut Bench,
    exercise: &Exercise,
    (answer, ptx): (&Answer, &str),
    case: &Case,
    grading: &Grading,
) -> Result<(f64, Ours), Stop> {
    let ours = compile::ours(
        [exercise.start, exercise.solution],
        grading.architecture,
        &grading.clang,
        grading.lang,
    )?;
    let mut times = [0.0; 2];
    for (time, ptx) in times.iter_mut().zip(&ours) {
        bench.replace(module::load(ptx)?);
        *time = bench.milliseconds(host, case, SAMPLES)?;
    }
    let [start_ms, solution_ms] = times;
    bench.replace(module::load(ptx)?);
    let own = bench.milliseconds(host, case, SAMPLES);
    let own = own.map_err(|error| {
        Stop::Failed(Failure {
            step: Step::Time,
            kind: None,
            size: case.size.clone(),
            message: launch::why(&error, answer).0,
        })
    })?;
    let ours = Ours {
        start_ms: Some(start_ms),
        solution_ms,
    };
    Ok((own, ours))
}

/// Fails if the submission is too slow.
pub fn verdict(timed: Timed, clock: Clock, case: &Case, verdict: &mut Verdict) -> Result<(), Stop> {
    let timed = verdict.time.insert(timed);
    if timed.reached {
        return Ok(());
    }
    let message = Text::both(|lang| in_words(timed, clock, lang));
    Err(Stop::Failed(Failure {
        step: Step::Time,
        kind: None,
        size: case.size.clone(),
        message,
    }))
}

/// Explains a time that is too long.
fn in_words(timed: &Timed, clock: Clock, lang: Lang) -> String {
    let said = line(timed, lang);
    match clock {
        Clock::Measured => say!(
            lang,
            "The results are right. Now look at how long they take:\n\n{}\n\nWhere the time goes, the \
             counters say: unset CUDA_BACKEND, and check again.",
            "结果正确。接下来看用时：\n\n{}\n\n时间花在哪里，计数器会告诉你：请取消 CUDA_BACKEND 的设置，\
             再评一次分。";
            said
        ),
        Clock::Modelled => say!(
            lang,
            "The results are right. Now look at how long they take, by the simulator's model of a GPU:\n\n\
             {}\n\nA GPU is fast where many threads work at the same time, and idle where one thread, one \
             warp or one block does it all. `--counters` shows what your kernel does.",
            "结果正确。接下来看用时，这是模拟器按 GPU 的模型算出来的：\n\n{}\n\n许多线程同时工作时 GPU 才快；\
             如果全部由一个线程、一个线程束或一个线程块来做，它大部分都闲着。`--counters` 会列出核函数做了什么。";
            said
        ),
    }
}

impl Timed {
    /// Compares the submission's time in milliseconds with the solution's, which it may exceed by the factor
    /// `at_most`.
    pub fn new(answer_ms: f64, ours: Ours, at_most: f64) -> Timed {
        let Ours {
            start_ms,
            solution_ms,
        } = ours;
        let ratio = answer_ms / solution_ms;
        Timed {
            answer_ms,
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
        const SAME: f64 = 1.0 + 1e-9;
        // Closer times can be those of equally good kernels of which the compiler unrolls only one.
        const FAR: f64 = 2.0;
        let limit = self
            .start_ms
            .filter(|start| *start > FAR * self.solution_ms);
        let reached = self.reached && limit.is_none_or(|start| self.answer_ms <= SAME * start);
        Timed { reached, ..self }
    }
}

/// Formats the times and the limit in one line.
pub fn line(timed: &Timed, lang: Lang) -> String {
    let [own, solution] = [timed.answer_ms, timed.solution_ms].map(microseconds);
    let ratio = format!("{:.2}", timed.ratio);
    let Some(start) = timed.start_ms.map(microseconds) else {
        return say!(
            lang,
            "your kernel takes {} µs, the solution {} µs: {} times the solution's time, asked: at most {}",
            "你的核函数用时 {} µs；参考答案 {} µs：是参考答案的 {} 倍，要求：至多 {} 倍";
            own, solution, ratio, timed.at_most
        );
    };
    let line = say!(
        lang,
        "your kernel takes {} µs; the one you began with {} µs, the solution {} µs: {} times the \
         solution's time, asked: at most {}",
        "你的核函数用时 {} µs；初始的核函数 {} µs，参考答案 {} µs：是参考答案的 {} 倍，要求：至多 {} 倍";
        own, start, solution, ratio, timed.at_most
    );
    match timed.reached || timed.ratio > timed.at_most {
        true => line,
        false => say!(
            lang,
            "{}, and no more than the one you began with",
            "{}，并且不超过初始的核函数";
            line
        ),
    }
}

fn microseconds(milliseconds: f64) -> String {
    plain(1e3 * milliseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(start_ms: Option<f64>, solution_ms: f64) -> Ours {
        Ours {
            start_ms,
            solution_ms,
        }
    }

    #[test]
    fn the_start_files_time_is_not_exceeded_where_it_says_something() {
        let timed = |own, start| Timed::new(own, ours(start, 0.1), 8.0).within_start();
        assert!(timed(0.25, Some(0.25)).reached && timed(0.26, None).reached);
        // A start file that is close to the solution sets no limit.
        assert!(timed(0.5, Some(0.2)).reached && !timed(0.81, Some(0.2)).reached);
        let slower = timed(0.26, Some(0.25));
        assert!(!slower.reached);
        let said = line(&slower, Lang::En);
        assert!(
            said.ends_with("at most 8, and no more than the one you began with"),
            "{said}"
        );
        let said = line(&timed(0.9, None), Lang::En);
        assert_eq!(
            said,
            "your kernel takes 900 µs, the solution 100 µs: 9.00 times the solution's time, asked: at most 8"
        );
        assert!(!timed(f64::NAN, Some(0.12)).reached);
    }

    #[test]
    fn a_time_is_judged_by_the_solutions() {
        let reached = |own, solution| Timed::new(own, ours(Some(1.0), solution), 1.5).reached;
        assert!(reached(0.1, 0.1) && reached(0.15, 0.1) && reached(0.01, 0.1));
        assert!(!reached(0.151, 0.1) && !reached(1.0, 0.1));
        // Without a measured time nothing counts as fast.
        assert!(!reached(0.0, 0.0) && !reached(f64::NAN, 0.1) && !reached(0.1, 0.0));
    }

    #[test]
    fn all_three_times_are_told() {
        let timed = Timed::new(0.0123, ours(Some(0.0984), 0.0119), 1.5);
        assert_eq!(
            line(&timed, Lang::En),
            "your kernel takes 12.3 µs; the one you began with 98.4 µs, the solution 11.9 µs: 1.03 times \
             the solution's time, asked: at most 1.5"
        );
        let said = line(&timed, Lang::Zh);
        for part in ["12.3 µs", "98.4 µs", "11.9 µs", "1.03 倍", "至多 1.5 倍"] {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn who_is_too_slow_is_told_where_to_look() {
        let case = Case {
            size: vec![4096],
            seed: 1,
        };
        let judge = |own, clock| {
            let mut of = Verdict::new(1);
            let timed = Timed::new(own, ours(Some(0.9), 0.1), 2.0);
            let stop = verdict(timed, clock, &case, &mut of);
            assert_eq!(of.time.map(|time| time.answer_ms), Some(own));
            stop.err()
        };
        assert!(judge(0.2, Clock::Measured).is_none());
        for (lang, told) in [(Lang::En, "at most 2\n"), (Lang::Zh, "至多 2 倍\n")] {
            for (clock, looked_at) in [
                (Clock::Measured, "CUDA_BACKEND"),
                (Clock::Modelled, "--counters"),
            ] {
                let Some(Stop::Failed(failure)) = judge(0.21, clock) else {
                    panic!("it is too slow");
                };
                assert_eq!((failure.step, &failure.size), (Step::Time, &case.size));
                let message = failure.message.of(lang);
                assert!(message.contains(told), "{message}");
                assert!(message.contains(looked_at), "{message}");
            }
        }
    }
}
