//! The sizes at which results are correct or wrong.

use super::Known;
use crate::grade::right;
use crate::lang::Lang;
use crate::report::size_of;

/// The maximum number of sizes listed of each kind.
const NAMED: usize = 4;
/// The maximum number of sizes listed of each kind if sizes consist of several numbers.
const NAMED_OF_SEVERAL: usize = 2;

/// Lists the correct and the wrong sizes; `None` if all are wrong.
pub fn said(known: &Known, lang: Lang) -> Option<String> {
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for run in &known.runs {
        let mut outputs = run.outputs.iter();
        let is_wrong = outputs.any(|output| right::first_wrong(output, known.tolerance).is_some());
        let sizes = if is_wrong { &mut wrong } else { &mut right };
        let size = size_of(known.exercise, &run.case.size);
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    // A size may occur with several inputs; it is correct only if all are.
    right.retain(|size| !wrong.contains(size));
    if right.is_empty() {
        return None;
    }
    Some(say!(
        lang,
        "Right at size {}. Wrong at size {}.",
        "正确的大小：{}。不对的大小：{}。";
        listed(&right, lang), listed(&wrong, lang)
    ))
}

/// Lists the first sizes and the number of the others.
fn listed(sizes: &[String], lang: Lang) -> String {
    // Sizes with several numbers contain commas themselves.
    let is_of_several = sizes.iter().any(|size| size.contains(','));
    let (most, between) = match is_of_several {
        true => (NAMED_OF_SEVERAL, lang.pick("; ", "；")),
        false => (NAMED, lang.pick(", ", "、")),
    };
    let named = sizes.iter().take(most).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(between);
    match sizes.len().saturating_sub(most) {
        0 => named,
        more => say!(lang, "{} and {} more", "{}，另有 {} 个"; named, more),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn sizes_are_told_where_some_are_right() {
        let at = |got: &[f32]| sample::runs(got, |_| 1.0);
        let said = |got: &[f32]| said(&sample::known(at(got)), Lang::En);
        assert_eq!(
            said(&[2.0, 1.0, 3.0]).as_deref(),
            Some("Right at size 2. Wrong at size 1, 3.")
        );
        assert_eq!(said(&[2.0, 2.0]), None);
        // A size counts as correct only if it is correct with all inputs.
        let mut twice = at(&[1.0, 2.0]);
        twice[1].case.size = vec![1];
        assert_eq!(super::said(&sample::known(twice), Lang::En), None);
    }

    #[test]
    fn of_many_sizes_the_first_are_named() {
        let sizes: Vec<String> = (1..=6).map(|n| n.to_string()).collect();
        assert_eq!(listed(&sizes, Lang::En), "1, 2, 3, 4 and 2 more");
        let sizes: Vec<String> = (1..=3).map(|n| format!("M = {n}, N = 1")).collect();
        assert_eq!(
            listed(&sizes, Lang::Zh),
            "M = 1, N = 1；M = 2, N = 1，另有 1 个"
        );
    }
}
