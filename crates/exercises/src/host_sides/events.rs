//! 25-events: the time of a kernel, measured by the student's function.

use answers::events::{Reply, Request, THREADS};
use anyhow::Result;
use common::timing;
use cust::launch;

use crate::host::{Bench, Case, HostExercise, Output, Program};

/// The grader's host side of 25-events.
pub struct Events;

/// The range from which the rounds of a usual launch are drawn. A usual launch takes about ten microseconds
/// on a GPU, and several times as long in some cases as in others.
const ROUNDS: [u32; 2] = [3000, 18_000];

/// The duration of the first launch, in hundredths of a usual one.
const FIRST_LAUNCH: u32 = 900;
/// The ranges of delayed launches and of launches shorter than usual, in hundredths of a usual one.
const DELAYED: [u32; 2] = [300, 500];
const SHORTENED: [u32; 2] = [25, 60];

impl HostExercise for Events {
    fn run(&self, bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>> {
        let out = bench.output::<f32>(THREADS as usize)?;
        let kernel = bench.kernel("work")?;
        let stream = &bench.gpu.stream;
        let work = |rounds: u32| {
            // SAFETY: the arguments match the kernel's signature, and `out` has one element for each of its
            // `THREADS` threads.
            unsafe { launch!(kernel<<<1, THREADS, 0, stream>>>(out.as_device_ptr(), rounds)) }
        };
        let usual = draw_range(case, 0, 1, ROUNDS)[0];
        let events = timing::events(stream)?;
        work(usual)?;
        let expected = events.time(|| Ok(work(usual)?))?;

        let shares = shares(case);
        let samples = shares.len();
        let sorted = sample_times(&shares, expected);
        let rounds = |share: u32| usual * share / 100;
        let request = Request {
            ptx: program.ptx.clone(),
            samples,
            first: rounds(FIRST_LAUNCH),
            rounds: shares.into_iter().map(rounds).collect(),
        };
        let reply: Reply = program.request(request, |_| true)?;

        let mut outputs = Vec::new();
        let needed = 1 + samples as u32;
        if reply.launches < needed {
            let (actual, needed) = (vec![reply.launches], vec![needed]);
            outputs.push(Output::from_values("launches", &[1], actual, needed)?.with_explanation(
                "The number of kernel launches: one warm-up launch, because the first launch takes \
                 much longer, and one per sample.",
                "核函数的启动次数：先预热启动一次，不计时，因为第一次要慢得多；\
                 然后每个样本启动一次。",
            ));
        }
        let actual = vec![reply.milliseconds.unwrap_or(f32::NAN)];
        let [en, zh] = explain(actual[0], &sorted);
        let output = Output::from_values("milliseconds", &[1], actual, vec![expected])?;
        outputs.push(output.with_explanation(en, zh));
        Ok(outputs)
    }
}

/// Returns the approximate duration of each sample in milliseconds, sorted, given that of a usual launch.
fn sample_times(shares: &[u32], usual: f32) -> Vec<f32> {
    let mut shares = shares.to_vec();
    shares.sort_unstable();
    let times = shares.into_iter().map(|share| usual * share as f32 / 100.0);
    times.collect()
}

/// Explains a wrong time by comparing it with the durations of the samples, in English and Chinese.
fn explain(actual: f32, sorted: &[f32]) -> [String; 2] {
    let (shortest, longest) = (sorted[0], sorted[sorted.len() - 1]);
    let mean = sorted.iter().sum::<f32>() / sorted.len() as f32;
    let is_near = |time: f32| (actual / time - 1.0).abs() < 0.1;
    let (en, zh) = if actual.is_nan() || actual < shortest / 4.0 {
        (
            "This is shorter than any launch: the launch must be between the two events.",
            "这比任何一次启动都短：启动必须在两个事件之间。",
        )
    } else if is_near(shortest) {
        (
            "Your time is about the shortest sample.",
            "你的结果约为最短的样本。",
        )
    } else if is_near(longest) {
        (
            "Your time is about the longest sample.",
            "你的结果约为最长的样本。",
        )
    } else if is_near(mean) {
        (
            "Your time is about the mean of the samples.",
            "你的结果约为各样本的平均值。",
        )
    } else {
        (
            "Is each launch between its own two events, and do you sort the times before taking \
             the middle one?",
            "每次启动都在各自的两个事件之间吗？取中间值之前排序了吗？",
        )
    };
    [
        format!(
            "The samples take from {shortest:.4} to {longest:.4} ms; the median is required. {en}"
        ),
        format!("各样本用时在 {shortest:.4} 到 {longest:.4} 毫秒之间，要求的是中位数。{zh}"),
    ]
}

/// Draws the duration of each sample, in hundredths of a usual launch. Exactly one sample, at a random
/// position, is usual; equally many are delayed and shorter, and the shorter ones come last. So only the
/// median of all samples is correct: the mean, the first, the last and the median of the first few samples
/// are far from it.
fn shares(case: &Case) -> Vec<u32> {
    let half = case.n() + 1;
    let mut shares = draw_range(case, 1, half, DELAYED);
    shares.extend(draw_range(case, 2, half, SHORTENED));
    // Neither first nor last.
    let index = 1 + case.integers(3, 1, 2 * half as u32 - 1)[0];
    shares.insert(index as usize, 100);
    shares
}

/// Draws `len` numbers from a range.
fn draw_range(case: &Case, stream: u64, len: usize, [from, to]: [u32; 2]) -> Vec<u32> {
    let drawn = case.integers(stream, len, to - from + 1);
    drawn.into_iter().map(|number| from + number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_times_are_explained_by_the_samples() {
        let sorted = sample_times(&[400, 30, 100, 50, 350], 0.01);
        for (actual, message) in [
            (0.0, "between the two events"),
            (f32::NAN, "between the two events"),
            (0.0031, "shortest"),
            (0.039, "longest"),
            (0.0186, "the mean of the samples."),
            (0.005, "before taking the middle one"),
        ] {
            let [en, zh] = explain(actual, &sorted);
            assert!(
                en.contains(message) && en.contains("from 0.0030 to 0.0400 ms"),
                "{en}"
            );
            assert!(zh.contains("中位数"), "{zh}");
        }
    }

    #[test]
    fn only_the_median_is_correct() {
        for seed in 0..200 {
            let case = Case {
                size: vec![1 + seed as u32 % 5],
                seed,
            };
            let shares = shares(&case);
            let near = |share: u32| (80..=120).contains(&share);
            let median = |samples: &[u32]| {
                let mut samples = samples.to_vec();
                samples.sort_unstable();
                samples[samples.len() / 2]
            };
            let count = shares.len();
            assert!(count % 2 == 1 && count >= 5);
            assert_eq!(median(&shares), 100);
            assert!(!near(shares[0]) && !near(shares[count - 1]));
            assert!(!near(shares.iter().sum::<u32>() / count as u32));
            let others = shares.iter().filter(|&&share| share != 100);
            assert!(others.clone().all(|&share| !near(share)));
            for first in 1..count - 1 {
                assert!(first == 1 || first % 2 == 0 || !near(median(&shares[..first])));
            }
            // Count the first launch too, although the submission must discard its time.
            let cold = [&[FIRST_LAUNCH], &shares[..count - 1]].concat();
            assert!(!near(median(&cold)));
            // Discard one sample too many at the beginning and add one at the end: the median is the same.
            let later = [&shares[1..], &shares[..1]].concat();
            assert_eq!(median(&later), 100);
        }
    }
}
