//! The sizes at which results are correct or wrong.

use super::Evidence;
use crate::grade::results;
use crate::lang::Lang;

/// The maximum number of sizes listed of each kind.
const MAX_SIZES: usize = 4;
/// The maximum number of sizes listed of each kind if sizes consist of several numbers.
const MAX_MULTI_SIZES: usize = 2;

/// Lists the correct and the wrong sizes; `None` if all are wrong.
pub fn describe(evidence: &Evidence, lang: Lang) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn sizes_are_listed_if_some_are_correct() {
        let runs = |actual: &[f32]| sample::runs(actual, |_| 1.0);
        let message = |actual: &[f32]| describe(&sample::evidence(runs(actual)), Lang::En);
        assert_eq!(
            message(&[2.0, 1.0, 3.0]).as_deref(),
            Some("Correct at size 2. Wrong at size 1, 3.")
        );
        assert_eq!(message(&[2.0, 2.0]), None);
        // A size counts as correct only if it is correct with all inputs.
        let mut same_size = runs(&[1.0, 2.0]);
        same_size[1].case.size = vec![1];
        assert_eq!(
            super::describe(&sample::evidence(same_size), Lang::En),
            None
        );
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
}
