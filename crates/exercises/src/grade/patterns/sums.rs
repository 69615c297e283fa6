//! Patterns in wrong sums: missing terms, or terms counted too often.

use super::Known;
use crate::grade::right;
use crate::host::{Output, Values};
use crate::lang::Lang;
use crate::report::size_of;

/// The maximum number of elements of an output that are examined, evenly spaced.
const LOOKED_AT: usize = 64;

/// The minimum number of wrong elements that must share a pattern before it is reported.
const ENOUGH: usize = 3;

/// An element that should be a sum.
struct Sum {
    /// The index of the run.
    run: usize,
    got: f64,
    expected: f64,
    is_wrong: bool,
    terms: Vec<f64>,
    /// The number of terms whose two compared values are equal, if the terms are comparisons.
    equal: Option<f64>,
}

/// Describes the pattern that all elements of this output share, whatever the size.
pub fn said(known: &Known, output: &str, lang: Lang) -> Option<String> {
    let sums = all(known, output)?;
    if sums.iter().filter(|sum| sum.is_wrong).count() < ENOUGH {
        return None;
    }
    said_of_terms(&sums, lang)
        .or_else(|| said_of_equals(&sums, lang))
        .or_else(|| said_of_the_last(known, &sums, lang))
}

/// Collects the examined elements of all runs.
fn all(known: &Known, name: &str) -> Option<Vec<Sum>> {
    let mut sums = Vec::new();
    for (run, of) in known.runs.iter().enumerate() {
        let output = of.outputs.iter().find(|output| output.name == name)?;
        let wrong = right::wrong(output, known.tolerance);
        let step = wrong.len().div_ceil(LOOKED_AT).max(1);
        let indices: Vec<usize> = (0..wrong.len()).step_by(step).collect();
        let terms = known.host.terms(&of.case, name, &indices)?;
        for (index, terms) in indices.into_iter().zip(terms) {
            sums.push(Sum {
                run,
                got: number(output, index, false),
                expected: number(output, index, true),
                is_wrong: wrong[index],
                terms: terms.values,
                equal: terms.equal,
            });
        }
    }
    Some(sums)
}

fn number(output: &Output, index: usize, expected: bool) -> f64 {
    let values = if expected {
        &output.expected
    } else {
        &output.got
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
        .fold(1.0, |most: f64, term| most.max(term.abs()));
    (number - sum.got).abs() <= 1e-5 * scale
}

/// Describes missing terms: all after the first n, the last one, or all but every nth.
fn said_of_terms(sums: &[Sum], lang: Lang) -> Option<String> {
    let longest = sums.iter().map(|sum| sum.terms.len()).max()?;
    let each = |of: &dyn Fn(&[f64]) -> f64| sums.iter().all(|sum| is_near(of(&sum.terms), sum));
    let first = |many: usize| each(&|terms| terms.iter().take(many).sum());
    if let Some(many) = (1..longest).find(|&many| first(many)) {
        return Some(say!(
            lang,
            "What came out is each time the sum of the first {} of up to {} terms alone: the others are missing.",
            "每次得到的都只是前 {} 项之和，而应有至多 {} 项：其余各项都没有加上。";
            many, longest
        ));
    }
    if each(&|terms| terms.iter().take(terms.len().saturating_sub(1)).sum()) {
        return Some(say!(
            lang,
            "What came out is each time the sum without its last term.",
            "每次得到的都是缺了最后一项的和。"
        ));
    }
    let every = |step: usize| each(&|terms| terms.iter().step_by(step).sum());
    let step = (2..longest).find(|&step| every(step))?;
    Some(say!(
        lang,
        "What came out is each time the sum of terms 0, {}, {} … alone: those in between are missing.",
        "每次得到的都只是第 0、{}、{}……项之和：中间的各项都没有加上。";
        step, 2 * step
    ))
}

/// Describes comparisons that go the wrong way for equal values.
fn said_of_equals(sums: &[Sum], lang: Lang) -> Option<String> {
    let mut wrong = sums.iter().filter(|sum| sum.is_wrong);
    let (sum, equal) = wrong.find_map(|sum| Some((sum, sum.equal?)))?;
    let sign = if sum.got > sum.expected { 1.0 } else { -1.0 };
    let explains = |sum: &Sum| {
        let equal = sum.equal.unwrap_or(0.0);
        is_near(sum.expected + sign * equal, sum)
    };
    if !sums.iter().all(explains) {
        return None;
    }
    Some(match sign > 0.0 {
        true => say!(
            lang,
            "Each time it is too much by the number of values that equal what they are compared with: {} here.",
            "每次多出的，正好是与所比较的数相等的值的个数：这里是 {}。";
            equal
        ),
        false => say!(
            lang,
            "Each time it is too little by the number of values that equal what they are compared with: {} here.",
            "每次少掉的，正好是与所比较的数相等的值的个数：这里是 {}。";
            equal
        ),
    })
}

/// Describes a last term that is added several times, equally often for all elements of one size.
fn said_of_the_last(known: &Known, sums: &[Sum], lang: Lang) -> Option<String> {
    let mut often: Vec<Option<f64>> = vec![None; known.runs.len()];
    for sum in sums {
        let last = *sum.terms.last()?;
        if last != 0.0 && often[sum.run].is_none() {
            often[sum.run] = Some(((sum.got - sum.expected) / last).round());
        }
    }
    let explains = |sum: &Sum| {
        let last = sum.terms.last().copied().unwrap_or(0.0);
        is_near(sum.expected + often[sum.run].unwrap_or(0.0) * last, sum)
    };
    let is_more = often.iter().flatten().all(|&often| often >= 0.0);
    if !is_more || !sums.iter().all(explains) {
        return None;
    }
    let each = often.iter().zip(&known.runs).filter_map(|(often, run)| {
        let often = 1.0 + often.filter(|&often| often != 0.0)?;
        let size = size_of(known.exercise, &run.case.size);
        Some(say!(lang, "{} times at size {}", "大小 {1} 时为 {0} 次"; often, size))
    });
    let each: Vec<String> = each.take(2).collect();
    Some(say!(
        lang,
        "What came out is each time the sum with its last term more than once: {}.",
        "每次得到的和里，最后一项都不止加了一次：{}。";
        each.join(lang.pick("; ", "；"))
    ))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn told(of: impl Fn(u32, &[f64]) -> f64) -> String {
        let known = sample::known(sample::sums(of));
        said(&known, "y", Lang::En).unwrap_or_default()
    }

    #[test]
    fn terms_that_are_missing_are_told() {
        for (said, part) in [
            (
                told(|_, terms| terms.iter().take(3).sum()),
                "the first 3 of up to 8 terms alone",
            ),
            (
                told(|_, terms| terms[..terms.len() - 1].iter().sum()),
                "without its last term",
            ),
            (
                told(|_, terms| terms.iter().step_by(3).sum()),
                "the sum of terms 0, 3, 6 … alone",
            ),
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }

    #[test]
    fn what_is_added_too_often_is_told() {
        let sum = |terms: &[f64]| terms.iter().sum::<f64>();
        let said = told(|_, terms| sum(terms) + 2.0 * terms[terms.len() - 1]);
        assert!(
            said.contains("more than once: 3 times at size 1; 3 times"),
            "{said}"
        );
        let said = told(|size, terms| sum(terms) + f64::from(size));
        assert!(
            said.contains("too much by the number of values that equal"),
            "{said}"
        );
        let said = told(|size, terms| sum(terms) - f64::from(size));
        assert!(said.contains("too little by"), "{said}");
    }

    #[test]
    fn what_holds_for_some_alone_is_not_told() {
        // A single deviating size refutes the pattern.
        let but_one = |size: u32, terms: &[f64]| match size {
            5 => 1000.0,
            _ => terms.iter().take(3).sum(),
        };
        assert_eq!(told(but_one), "");
        let known = sample::known(sample::sums(|_, terms| terms.iter().take(6).sum()));
        assert_eq!(
            said(&known, "y", Lang::En),
            None,
            "two wrong ones are too few"
        );
    }
}
