//! Patterns in the values of wrong elements and in the inputs at their positions.

use chapter::lang::Lang;

use super::Evidence;
use crate::grade::results;
use crate::host::{InputValues, Output, Values};

/// The minimum number of wrong elements that must share a pattern, and of correct ones that must lack it.
const MIN_ELEMENTS: usize = 3;

/// Describes the pattern of this output's wrong elements, if there is one.
pub fn describe(
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
    use crate::host::sample::output;

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
