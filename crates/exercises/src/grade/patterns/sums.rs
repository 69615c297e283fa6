//! Patterns in wrong sums: missing terms, or terms counted too often.

use chapter::lang::Lang;

use super::Evidence;
use crate::grade::results;
use crate::host::{Output, Values};

/// The maximum number of elements of an output that are examined, evenly spaced.
const MAX_ELEMENTS: usize = 64;

/// The minimum number of wrong elements that must share a pattern before it is reported.
const MIN_WRONG: usize = 3;

/// An element that should be a sum.
struct Sum {
    /// The index of the run.
    run: usize,
    actual: f64,
    expected: f64,
    is_wrong: bool,
    terms: Vec<f64>,
    /// The number of terms whose two compared values are equal, if the terms are comparisons.
    equal: Option<f64>,
}

/// Describes the pattern that all elements of this output share, whatever the size.
pub fn describe(evidence: &Evidence, output: &str, lang: Lang) -> Option<String> {
    let sums = sample_sums(evidence, output)?;
    if sums.iter().filter(|sum| sum.is_wrong).count() < MIN_WRONG {
        return None;
    }
    describe_missing_terms(&sums, lang)
        .or_else(|| describe_equal_values(&sums, lang))
        .or_else(|| describe_repeated_last_term(evidence, &sums, lang))
}

/// Collects the examined elements of all runs.
fn sample_sums(evidence: &Evidence, name: &str) -> Option<Vec<Sum>> {
    let mut sums = Vec::new();
    for (index_of_run, run) in evidence.runs.iter().enumerate() {
        let output = run.outputs.iter().find(|output| output.name == name)?;
        let wrong = results::wrong_mask(output, evidence.tolerance);
        let step = wrong.len().div_ceil(MAX_ELEMENTS).max(1);
        let indices: Vec<usize> = (0..wrong.len()).step_by(step).collect();
        let terms = evidence.host.terms(&run.case, name, &indices)?;
        for (index, terms) in indices.into_iter().zip(terms) {
            sums.push(Sum {
                run: index_of_run,
                actual: element(output, index, false),
                expected: element(output, index, true),
                is_wrong: wrong[index],
                terms: terms.values,
                equal: terms.equal,
            });
        }
    }
    Some(sums)
}

fn element(output: &Output, index: usize, expected: bool) -> f64 {
    let values = if expected {
        &output.expected
    } else {
        &output.actual
    };
    match values {
        Values::Floats(values) => values[index].into(),
        Values::Integers(values) => values[index].into(),
        Values::Unsigned(values) => values[index].into(),
    }
}

/// Returns true if a number equals the actual result within floating-point error.
fn is_near(number: f64, sum: &Sum) -> bool {
    let scale = sum
        .terms
        .iter()
        .fold(1.0, |max: f64, term| max.max(term.abs()));
    (number - sum.actual).abs() <= 1e-5 * scale
}

/// Describes missing terms: all after the first n, the last one, or all but every nth.
fn describe_missing_terms(sums: &[Sum], lang: Lang) -> Option<String> {
    let longest = sums.iter().map(|sum| sum.terms.len()).max()?;
    let holds_for_all =
        |compute: &dyn Fn(&[f64]) -> f64| sums.iter().all(|sum| is_near(compute(&sum.terms), sum));
    let matches_first = |count: usize| holds_for_all(&|terms| terms.iter().take(count).sum());
    if let Some(count) = (1..longest).find(|&count| matches_first(count)) {
        return Some(localize!(
            lang,
            "Each result is the sum of only the first {} of up to {} terms: the others are missing.",
            "每个结果都只是前 {} 项之和，而应有至多 {} 项：其余各项没有加上。";
            count, longest
        ));
    }
    if holds_for_all(&|terms| terms.iter().take(terms.len().saturating_sub(1)).sum()) {
        return Some(localize!(
            lang,
            "Each result is the sum without its last term.",
            "每个结果都是缺少最后一项的和。"
        ));
    }
    let matches_every = |step: usize| holds_for_all(&|terms| terms.iter().step_by(step).sum());
    let step = (2..longest).find(|&step| matches_every(step))?;
    Some(localize!(
        lang,
        "Each result is the sum of only the terms 0, {}, {} …: those in between are missing.",
        "每个结果都只是第 0、{}、{}……项之和：中间的各项没有加上。";
        step, 2 * step
    ))
}

/// Describes comparisons that go the wrong way for equal values.
fn describe_equal_values(sums: &[Sum], lang: Lang) -> Option<String> {
    let mut wrong = sums.iter().filter(|sum| sum.is_wrong);
    let (sum, equal) = wrong.find_map(|sum| Some((sum, sum.equal?)))?;
    let sign = if sum.actual > sum.expected { 1.0 } else { -1.0 };
    let explains = |sum: &Sum| {
        let equal = sum.equal.unwrap_or(0.0);
        is_near(sum.expected + sign * equal, sum)
    };
    if !sums.iter().all(explains) {
        return None;
    }
    Some(match sign > 0.0 {
        true => localize!(
            lang,
            "Each result is too large by the number of values that equal the value they are \
             compared with: {} here.",
            "每个结果都偏大，多出的正好是与所比较的数相等的值的个数：这里是 {}。";
            equal
        ),
        false => localize!(
            lang,
            "Each result is too small by the number of values that equal the value they are \
             compared with: {} here.",
            "每个结果都偏小，少掉的正好是与所比较的数相等的值的个数：这里是 {}。";
            equal
        ),
    })
}

/// Describes a last term that is added several times, equally often for all elements of one size.
fn describe_repeated_last_term(evidence: &Evidence, sums: &[Sum], lang: Lang) -> Option<String> {
    let mut repetitions: Vec<Option<f64>> = vec![None; evidence.runs.len()];
    for sum in sums {
        let last = *sum.terms.last()?;
        if last != 0.0 && repetitions[sum.run].is_none() {
            repetitions[sum.run] = Some(((sum.actual - sum.expected) / last).round());
        }
    }
    let explains = |sum: &Sum| {
        let last = sum.terms.last().copied().unwrap_or(0.0);
        is_near(
            sum.expected + repetitions[sum.run].unwrap_or(0.0) * last,
            sum,
        )
    };
    let is_repeated = repetitions.iter().flatten().all(|&count| count >= 0.0);
    if !is_repeated || !sums.iter().all(explains) {
        return None;
    }
    let examples = repetitions
        .iter()
        .zip(&evidence.runs)
        .filter_map(|(repetitions, run)| {
            let repetitions = 1.0 + repetitions.filter(|&count| count != 0.0)?;
            let size = evidence.sizes.format(&run.case.size);
            Some(localize!(lang, "{} times at size {}", "规模 {1} 时为 {0} 次"; repetitions, size))
        });
    let examples: Vec<String> = examples.take(2).collect();
    Some(localize!(
        lang,
        "Each result is the sum with its last term added more than once: {}.",
        "每个结果都是最后一项加了不止一次的和：{}。";
        examples.join(lang.pick("; ", "；"))
    ))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn describe_sums(compute: impl Fn(u32, &[f64]) -> f64) -> String {
        let evidence = sample::evidence(sample::sums(compute));
        describe(&evidence, "y", Lang::En).unwrap_or_default()
    }

    #[test]
    fn missing_terms_are_described() {
        for (message, part) in [
            (
                describe_sums(|_, terms| terms.iter().take(3).sum()),
                "only the first 3 of up to 8 terms",
            ),
            (
                describe_sums(|_, terms| terms[..terms.len() - 1].iter().sum()),
                "without its last term",
            ),
            (
                describe_sums(|_, terms| terms.iter().step_by(3).sum()),
                "the sum of only the terms 0, 3, 6 …",
            ),
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }

    #[test]
    fn repeated_terms_are_described() {
        let sum = |terms: &[f64]| terms.iter().sum::<f64>();
        let message = describe_sums(|_, terms| sum(terms) + 2.0 * terms[terms.len() - 1]);
        assert!(
            message.contains("more than once: 3 times at size 1; 3 times"),
            "{message}"
        );
        let message = describe_sums(|size, terms| sum(terms) + f64::from(size));
        assert!(
            message.contains("too large by the number of values that equal"),
            "{message}"
        );
        let message = describe_sums(|size, terms| sum(terms) - f64::from(size));
        assert!(message.contains("too small by"), "{message}");
    }

    #[test]
    fn patterns_must_hold_for_all_elements() {
        // A single deviating size refutes the pattern.
        let all_but_one = |size: u32, terms: &[f64]| match size {
            5 => 1000.0,
            _ => terms.iter().take(3).sum(),
        };
        assert_eq!(describe_sums(all_but_one), "");
        let evidence = sample::evidence(sample::sums(|_, terms| terms.iter().take(6).sum()));
        assert_eq!(
            describe(&evidence, "y", Lang::En),
            None,
            "two wrong elements are too few"
        );
    }
}
