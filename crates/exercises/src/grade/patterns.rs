//! Patterns in wrong results: the sizes at which they occur, the wrong elements with their values and inputs, the
//! differences, and in sums the terms that are missing or counted too often. A pattern is reported only if it holds for all
//! runs.

use chapter::lang::Lang;
use cuda_driver::Traced;

use super::results;
use crate::data::{Sizes, Tolerance};
use crate::host::{Case, Host, InputLocation, InputValues, Output, Values};

/// The results at one size.
pub struct Run {
    /// The size and seed.
    pub case: Case,
    /// The outputs with their references.
    pub outputs: Vec<Output>,
}

/// The data about a submission with wrong results.
pub struct Evidence<'a> {
    /// The exercise's sizes.
    pub sizes: &'a Sizes,
    /// The grader's host side.
    pub host: &'a dyn Host,
    /// The run with wrong results, then those at other sizes.
    pub runs: Vec<Run>,
    /// The permitted deviation.
    pub tolerance: Tolerance,
    /// The locations of the inputs in the first run.
    pub inputs: Vec<InputLocation>,
    /// The memory accesses of the first run's launches, by kernel.
    pub traces: Vec<(String, Vec<Traced>)>,
}

impl Evidence<'_> {
    /// Describes all patterns that hold, one per line; empty if there are none.
    pub fn describe(&self, lang: Lang) -> String {
        let Some((first, wrong)) = self.first_wrong() else {
            return String::new();
        };
        // Do not reveal anything about correct predictions.
        if !first.labels.is_empty() {
            return String::new();
        }
        let patterns = [
            describe_sizes(self, lang),
            describe_sums(self, &first.name, lang),
            describe_values(self, first, &wrong, lang),
            describe_unread(&self.inputs, &self.traces, lang),
        ];
        patterns
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns the first wrong output of the first run and a mask of its wrong elements.
    fn first_wrong(&self) -> Option<(&Output, Vec<bool>)> {
        let outputs = &self.runs.first()?.outputs;
        let wrong = |output| (output, results::wrong_mask(output, self.tolerance));
        outputs
            .iter()
            .map(wrong)
            .find(|(_, wrong)| wrong.contains(&true))
    }
}

/// The maximum number of sizes listed of each kind.
const MAX_SIZES: usize = 4;
/// The maximum number of sizes listed of each kind if sizes consist of several numbers.
const MAX_MULTI_SIZES: usize = 2;

/// Lists the correct and the wrong sizes; `None` if all are wrong.
fn describe_sizes(evidence: &Evidence, lang: Lang) -> Option<String> {
    let (mut correct, mut wrong) = (Vec::new(), Vec::new());
    for run in &evidence.runs {
        let mut outputs = run.outputs.iter();
        let is_wrong =
            outputs.any(|output| results::first_wrong(output, evidence.tolerance).is_some());
        let sizes = if is_wrong { &mut wrong } else { &mut correct };
        let size = evidence.sizes.format(&run.case.size);
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    // A size may occur with several inputs; it is correct only if all are.
    correct.retain(|size| !wrong.contains(size));
    if correct.is_empty() {
        return None;
    }
    Some(localize!(
        lang,
        "Correct at size {}. Wrong at size {}.",
        "结果正确的规模：{}。结果错误的规模：{}。";
        format_sizes(&correct, lang), format_sizes(&wrong, lang)
    ))
}

/// Lists the first sizes and the number of the others.
fn format_sizes(sizes: &[String], lang: Lang) -> String {
    // Sizes with several numbers contain commas themselves.
    let is_of_several = sizes.iter().any(|size| size.contains(','));
    let (limit, separator) = match is_of_several {
        true => (MAX_MULTI_SIZES, lang.pick("; ", "；")),
        false => (MAX_SIZES, lang.pick(", ", "、")),
    };
    let listed = sizes.iter().take(limit).map(String::as_str);
    let listed = listed.collect::<Vec<_>>().join(separator);
    match sizes.len().saturating_sub(limit) {
        0 => listed,
        more => localize!(lang, "{} and {} more", "{}，另有 {} 个"; listed, more),
    }
}

/// Lists the variables that no traced access reads; `None` if there are none.
fn describe_unread(
    inputs: &[InputLocation],
    traces: &[(String, Vec<Traced>)],
    lang: Lang,
) -> Option<String> {
    let accesses = || traces.iter().flat_map(|(_, trace)| trace);
    let touches = |access: &Traced, variable: &InputLocation| {
        let mut lanes = access.lanes();
        lanes.any(|(_, address)| variable.overlaps(address, access.bytes))
    };
    let variables = inputs.iter().filter(|input| input.is_variable);
    let unread = variables.filter(|variable| !accesses().any(|access| touches(access, variable)));
    let names: Vec<String> = unread
        .map(|variable| format!("`{}`", variable.name))
        .collect();
    if names.is_empty() {
        return None;
    }
    Some(localize!(
        lang,
        "No thread read the variable {}, which the host sets.",
        "没有线程读取主机端设置的变量 {}。";
        names.join(lang.pick(", ", "、"))
    ))
}

#[cfg(test)]
mod sample {
    use super::*;
    use crate::data::Random;
    use crate::host::{Bench, Terms, Values, sample};

    /// A host side whose outputs sum 1, 2, 4 … up to the size, so that every subset of terms has a distinct
    /// sum.
    struct Powers;

    impl Host for Powers {
        fn run(&self, _: &Bench, _: &Case) -> anyhow::Result<Vec<Output>> {
            Ok(Vec::new())
        }

        fn terms(&self, case: &Case, _: &str, indices: &[usize]) -> Option<Vec<Terms>> {
            let terms = Terms {
                values: powers(case.size[0]),
                equal: Some(case.size[0].into()),
            };
            Some(vec![terms; indices.len()])
        }
    }

    fn powers(size: u32) -> Vec<f64> {
        (0..size).map(|power| f64::from(1 << power)).collect()
    }

    /// Builds runs at the sizes 1, 2 and so on with these actual and expected results.
    pub fn runs(actual: &[f32], expected: impl Fn(u32) -> f32) -> Vec<Run> {
        let run = |(size, &actual): (u32, &f32)| Run {
            case: Case {
                size: vec![size],
                seed: 1,
            },
            outputs: vec![sample::output(
                &[1],
                Values::Floats(vec![actual]),
                Values::Floats(vec![expected(size)]),
            )],
        };
        (1..).zip(actual).map(run).collect()
    }

    /// Builds runs that should sum the terms of [`Powers`] but compute `of` instead.
    pub fn sums(of: impl Fn(u32, &[f64]) -> f64) -> Vec<Run> {
        let actual: Vec<f32> = (1..=8).map(|size| of(size, &powers(size)) as f32).collect();
        runs(&actual, |size| powers(size).iter().sum::<f64>() as f32)
    }

    /// Sizes without names.
    static UNNAMED: Sizes = Sizes {
        tests: Vec::new(),
        random: Random {
            from: Vec::new(),
            to: Vec::new(),
            count: 0,
        },
        graded: None,
        beyond: None,
        names: Vec::new(),
        unit: None,
        at_most: Vec::new(),
    };

    /// Wraps runs of [`Powers`] for the patterns.
    pub fn evidence(runs: Vec<Run>) -> Evidence<'static> {
        Evidence {
            sizes: &UNNAMED,
            host: &Powers,
            runs,
            tolerance: sample::EXACT,
            inputs: Vec::new(),
            traces: Vec::new(),
        }
    }
}

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
fn describe_sums(evidence: &Evidence, output: &str, lang: Lang) -> Option<String> {
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

/// The minimum number of wrong elements that must share a pattern, and of correct ones that must lack it.
const MIN_ELEMENTS: usize = 3;

/// Describes the pattern of this output's wrong elements, if there is one.
fn describe_values(
    evidence: &Evidence,
    output: &Output,
    wrong: &[bool],
    lang: Lang,
) -> Option<String> {
    let inputs = evidence.host.input_values(&evidence.runs.first()?.case);
    let inputs: Vec<InputValues> = inputs
        .into_iter()
        .filter(|input| input.values.len() == wrong.len())
        .collect();
    describe_nan(output, wrong, &inputs, lang)
        .or_else(|| describe_constant(output, wrong, lang))
        .or_else(|| {
            inputs
                .iter()
                .find_map(|input| describe_input_split(input, wrong, lang))
        })
}

/// Describes the first NaN and the input at its position.
fn describe_nan(
    output: &Output,
    wrong: &[bool],
    inputs: &[InputValues],
    lang: Lang,
) -> Option<String> {
    let Values::Floats(actual) = &output.actual else {
        return None;
    };
    let first = (0..actual.len()).find(|&index| wrong[index] && actual[index].is_nan())?;
    let index = results::format_index(&output.shape, first);
    let input_text = inputs.iter().map(|input| {
        let value = results::format_float(input.values[first] as f32);
        localize!(lang, ", where `{}` is {}", "，那里的 `{}` 是 {}"; input.name, value)
    });
    let input_text: String = input_text.take(1).collect();
    Some(localize!(
        lang,
        "Element {} is NaN{}. Causes of NaN are 0 / 0, infinity / infinity, infinity - infinity, \
         and NaN inputs.",
        "元素 {} 是 NaN{}。NaN 的来源有 0 / 0、无穷 / 无穷、无穷 - 无穷，以及输入中的 NaN。";
        index, input_text
    ))
}

/// Describes wrong elements that all have the same value although they should differ.
fn describe_constant(output: &Output, wrong: &[bool], lang: Lang) -> Option<String> {
    let distinct_wrong = |texts: &[String]| {
        let mut values: Vec<String> = (0..wrong.len())
            .filter(|&index| wrong[index])
            .map(|index| texts[index].clone())
            .collect();
        let count = values.len();
        values.sort_unstable();
        values.dedup();
        (count, values)
    };
    let (count, actual) = distinct_wrong(&results::format_values(&output.actual));
    let (_, expected) = distinct_wrong(&results::format_values(&output.expected));
    let [only] = &actual[..] else {
        return None;
    };
    if count < MIN_ELEMENTS || expected.len() < 2 {
        return None;
    }
    Some(localize!(
        lang,
        "All wrong elements have the same value, {}, but should differ.",
        "错误的元素的值都是 {}，而它们本应各不相同。";
        only
    ))
}

/// Describes an input whose values at wrong elements are all larger, or all smaller, than at correct ones.
fn describe_input_split(input: &InputValues, wrong: &[bool], lang: Lang) -> Option<String> {
    let range = |is_wrong: bool| {
        let pairs = input.values.iter().zip(wrong);
        let values = pairs
            .filter(|&(_, &wrong)| wrong == is_wrong)
            .map(|(&value, _)| value);
        let values: Vec<f64> = values.collect();
        let minimum = values.iter().copied().fold(f64::INFINITY, f64::min);
        let maximum = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (values.len() >= MIN_ELEMENTS).then_some((minimum, maximum))
    };
    let ((min_wrong, max_wrong), (min_correct, max_correct)) = (range(true)?, range(false)?);
    let format = |value: f64| results::format_float(value as f32);
    if min_wrong > max_correct {
        return Some(localize!(
            lang,
            "Exactly the elements with large `{0}` are wrong: those from {1} on. Up to {2} they \
             are correct.",
            "错误的恰好是 `{0}` 较大的元素：从 {1} 起都错误，到 {2} 为止都正确。";
            input.name, format(min_wrong), format(max_correct)
        ));
    }
    (max_wrong < min_correct).then(|| {
        localize!(
            lang,
            "Exactly the elements with small `{0}` are wrong: those up to {1}. From {2} on they \
             are correct.",
            "错误的恰好是 `{0}` 较小的元素：到 {1} 为止都错误，从 {2} 起都正确。";
            input.name, format(max_wrong), format(min_correct)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::sample::load;
    use crate::host::sample::output;

    #[test]
    fn predictions_have_no_patterns() {
        let mut evidence = sample::evidence(sample::runs(&[1.0, 3.0], |_| 1.0));
        assert!(evidence.describe(Lang::En).is_empty());
        evidence.runs.reverse();
        assert!(
            evidence
                .describe(Lang::En)
                .starts_with("Correct at size 1.")
        );
        evidence.runs[0].outputs[0].labels = vec!["one".to_owned()];
        assert!(evidence.describe(Lang::En).is_empty());
    }

    #[test]
    fn sizes_are_listed_if_some_are_correct() {
        let runs = |actual: &[f32]| sample::runs(actual, |_| 1.0);
        let message = |actual: &[f32]| describe_sizes(&sample::evidence(runs(actual)), Lang::En);
        assert_eq!(
            message(&[2.0, 1.0, 3.0]).as_deref(),
            Some("Correct at size 2. Wrong at size 1, 3.")
        );
        assert_eq!(message(&[2.0, 2.0]), None);
        // A size counts as correct only if it is correct with all inputs.
        let mut same_size = runs(&[1.0, 2.0]);
        same_size[1].case.size = vec![1];
        assert_eq!(describe_sizes(&sample::evidence(same_size), Lang::En), None);
    }

    #[test]
    fn only_the_first_sizes_are_listed() {
        let sizes: Vec<String> = (1..=6).map(|n| n.to_string()).collect();
        assert_eq!(format_sizes(&sizes, Lang::En), "1, 2, 3, 4 and 2 more");
        let sizes: Vec<String> = (1..=3).map(|n| format!("M = {n}, N = 1")).collect();
        assert_eq!(
            format_sizes(&sizes, Lang::Zh),
            "M = 1, N = 1；M = 2, N = 1，另有 1 个"
        );
    }

    #[test]
    fn unread_variables_are_listed() {
        let variable = |name: &str, address| InputLocation {
            name: name.to_owned(),
            address,
            bytes: 8,
            is_variable: true,
        };
        let variables = [variable("a", 0x1000), variable("b", 0x2000)];
        let message =
            |traces: &[(String, Vec<Traced>)]| describe_unread(&variables, traces, Lang::En);
        let traces = [("k".to_owned(), vec![load(0x1004)])];
        assert_eq!(
            message(&traces).as_deref(),
            Some("No thread read the variable `b`, which the host sets.")
        );
        assert!(message(&[]).unwrap().contains("`a`, `b`"));
        let both = [("k".to_owned(), vec![load(0x1004), load(0x2000)])];
        assert_eq!(message(&both), None);
    }

    fn described_sums(compute: impl Fn(u32, &[f64]) -> f64) -> String {
        let evidence = sample::evidence(sample::sums(compute));
        describe_sums(&evidence, "y", Lang::En).unwrap_or_default()
    }

    #[test]
    fn missing_terms_are_described() {
        for (message, part) in [
            (
                described_sums(|_, terms| terms.iter().take(3).sum()),
                "only the first 3 of up to 8 terms",
            ),
            (
                described_sums(|_, terms| terms[..terms.len() - 1].iter().sum()),
                "without its last term",
            ),
            (
                described_sums(|_, terms| terms.iter().step_by(3).sum()),
                "the sum of only the terms 0, 3, 6 …",
            ),
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }

    #[test]
    fn repeated_terms_are_described() {
        let sum = |terms: &[f64]| terms.iter().sum::<f64>();
        let message = described_sums(|_, terms| sum(terms) + 2.0 * terms[terms.len() - 1]);
        assert!(
            message.contains("more than once: 3 times at size 1; 3 times"),
            "{message}"
        );
        let message = described_sums(|size, terms| sum(terms) + f64::from(size));
        assert!(
            message.contains("too large by the number of values that equal"),
            "{message}"
        );
        let message = described_sums(|size, terms| sum(terms) - f64::from(size));
        assert!(message.contains("too small by"), "{message}");
    }

    #[test]
    fn patterns_must_hold_for_all_elements() {
        // A single deviating size refutes the pattern.
        let all_but_one = |size: u32, terms: &[f64]| match size {
            5 => 1000.0,
            _ => terms.iter().take(3).sum(),
        };
        assert_eq!(described_sums(all_but_one), "");
        let evidence = sample::evidence(sample::sums(|_, terms| terms.iter().take(6).sum()));
        assert_eq!(
            describe_sums(&evidence, "y", Lang::En),
            None,
            "two wrong elements are too few"
        );
    }

    fn input(values: &[f64]) -> InputValues {
        InputValues {
            name: "in".to_owned(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn nan_is_explained_by_the_input() {
        let floats = |values: &[f32]| Values::Floats(values.to_vec());
        let nan = output(&[2], floats(&[1.0, f32::NAN]), floats(&[1.0, 2.0]));
        let message =
            |inputs: &[InputValues]| describe_nan(&nan, &[false, true], inputs, Lang::En).unwrap();
        assert!(
            message(&[input(&[7.0, -300.0])])
                .starts_with("Element [1] is NaN, where `in` is -300.")
        );
        assert!(message(&[]).starts_with("Element [1] is NaN. Causes of NaN are 0 / 0"));
        assert_eq!(describe_nan(&nan, &[true, false], &[], Lang::En), None);
    }

    #[test]
    fn a_common_wrong_value_is_described() {
        let ints = |values: &[i32]| Values::Integers(values.to_vec());
        let same = output(&[4], ints(&[5, 7, 7, 7]), ints(&[5, 1, 2, 3]));
        let message = describe_constant(&same, &[false, true, true, true], Lang::En);
        assert!(message.unwrap().contains("the same value, 7,"));
        assert_eq!(
            describe_constant(&same, &[false, false, true, true], Lang::En),
            None
        );
        let constant = output(&[3], ints(&[7, 7, 7]), ints(&[1, 1, 1]));
        assert_eq!(describe_constant(&constant, &[true; 3], Lang::En), None);
    }

    #[test]
    fn inputs_that_separate_wrong_from_correct_are_described() {
        let wrong = [true, true, true, false, false, false];
        let message = |values: &[f64]| describe_input_split(&input(values), &wrong, Lang::En);
        let large = message(&[90.0, 100.0, 95.0, 1.0, 50.5, 3.0]).unwrap();
        assert!(
            large.ends_with("from 90 on. Up to 50.5 they are correct."),
            "{large}"
        );
        let small = message(&[1.0, 2.0, 3.0, 4.0, 9.0, 5.0]).unwrap();
        assert!(
            small.ends_with("up to 3. From 4 on they are correct."),
            "{small}"
        );
        assert_eq!(message(&[1.0, 9.0, 1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(
            describe_input_split(&input(&[9.0, 1.0]), &[true, false], Lang::En),
            None
        );
    }
}
