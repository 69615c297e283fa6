//! The step `time`: on a GPU, what a kernel takes beside the file that the student began with and the
//! solution, all three one after the other.

use std::mem;

use chapter::number::plain;
use common::module;

use super::{Answer, Failure, Grading, Stop, Timed, Verdict, compile, launch};
use crate::data::Step;
use crate::exercise::Exercise;
use crate::host::{Bench, Case, Host};
use crate::lang::Lang;

/// Samples of each kernel, of as many launches as take some milliseconds.
const SAMPLES: u32 = 15;

/// Takes the three times; the answer's module is in the bench again then.
pub fn take(
    host: &dyn Host,
    bench: &mut Bench,
    exercise: &Exercise,
    answer: &Answer,
    case: &Case,
    grading: &Grading,
) -> Result<[f64; 3], Stop> {
    let mut ours = |text: &'static str| -> Result<f64, Stop> {
        let ptx = compile::ours(text, &grading.clang, grading.lang)?;
        let answers = mem::replace(&mut bench.module, module::load(&ptx)?);
        let milliseconds = bench.milliseconds(host, case, SAMPLES);
        bench.module = answers;
        Ok(milliseconds?)
    };
    let start = ours(exercise.start)?;
    let solution = ours(exercise.solution)?;
    let own = bench.milliseconds(host, case, SAMPLES);
    let own = own.map_err(|error| {
        Stop::Failed(Failure {
            step: Step::Time,
            size: case.size.clone(),
            message: launch::why(&error, answer, grading.lang),
        })
    })?;
    Ok([own, start, solution])
}

/// Whether it is as fast as is asked.
pub fn verdict(timed: Timed, case: &Case, lang: Lang, verdict: &mut Verdict) -> Result<(), Stop> {
    let reached = timed.reached;
    let said = line(&timed, lang);
    verdict.time = Some(timed);
    if reached {
        return Ok(());
    }
    Err(Stop::Failed(Failure {
        step: Step::Time,
        size: case.size.clone(),
        message: say!(
            lang,
            "The results are right. Now look at how long they take:\n\n{}\n\nWhere the time goes, the \
             counters say: unset CUDA_BACKEND, and check again.",
            "结果正确。接下来看用时：\n\n{}\n\n时间花在哪里，计数器会告诉你：请取消 CUDA_BACKEND 的设置，\
             再评一次分。";
            said
        ),
    }))
}

impl Timed {
    /// Those of the answer, the start file and the solution, in milliseconds, of which the first may be
    /// so many times the last.
    pub fn new([answer_ms, start_ms, solution_ms]: [f64; 3], at_most: f64) -> Timed {
        let ratio = answer_ms / solution_ms;
        Timed {
            answer_ms,
            start_ms,
            solution_ms,
            ratio,
            at_most,
            // Nothing is, where no time passed or one is no number.
            reached: ratio <= at_most,
        }
    }
}

/// The three times and what is asked, in a line.
pub fn line(timed: &Timed, lang: Lang) -> String {
    let [own, start, solution] =
        [timed.answer_ms, timed.start_ms, timed.solution_ms].map(microseconds);
    say!(
        lang,
        "your kernel takes {} µs; the one you began with {} µs, the solution {} µs: {} times the \
         solution's time, asked: at most {}",
        "你的核函数用时 {} µs；初始的核函数 {} µs，参考答案 {} µs：是参考答案的 {} 倍，要求：至多 {} 倍";
        own, start, solution, format!("{:.2}", timed.ratio), timed.at_most
    )
}

fn microseconds(milliseconds: f64) -> String {
    plain(1e3 * milliseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_judged_by_the_solutions() {
        let reached = |own, solution| Timed::new([own, 1.0, solution], 1.5).reached;
        assert!(reached(0.1, 0.1) && reached(0.15, 0.1) && reached(0.01, 0.1));
        assert!(!reached(0.151, 0.1) && !reached(1.0, 0.1));
        // Where nothing was measured nothing is fast.
        assert!(!reached(0.0, 0.0) && !reached(f64::NAN, 0.1) && !reached(0.1, 0.0));
    }

    #[test]
    fn all_three_times_are_told() {
        let timed = Timed::new([0.0123, 0.0984, 0.0119], 1.5);
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
        let judge = |own, lang| {
            let mut of = Verdict::new(1);
            let stop = verdict(Timed::new([own, 0.9, 0.1], 2.0), &case, lang, &mut of);
            assert_eq!(of.time.map(|time| time.answer_ms), Some(own));
            stop.err()
        };
        assert!(judge(0.2, Lang::En).is_none());
        for (lang, told) in [(Lang::En, "at most 2\n"), (Lang::Zh, "至多 2 倍\n")] {
            let Some(Stop::Failed(failure)) = judge(0.21, lang) else {
                panic!("it is too slow");
            };
            assert_eq!((failure.step, &failure.size), (Step::Time, &case.size));
            assert!(failure.message.contains(told), "{}", failure.message);
            assert!(failure.message.contains("CUDA_BACKEND"));
        }
    }
}
