//! Patterns in the values of wrong elements and in the inputs at their positions.

use super::Known;
use crate::grade::right;
use crate::host::{Given, Output, Values};
use crate::lang::Lang;

/// The minimum number of wrong elements that must share a pattern, and of correct ones that must lack it.
const ENOUGH: usize = 3;

/// Describes the pattern of this output's wrong elements, if there is one.
pub fn said(known: &Known, output: &Output, wrong: &[bool], lang: Lang) -> Option<String> {
    let given = known.host.given(&known.runs.first()?.case);
    let alike: Vec<Given> = given
        .into_iter()
        .filter(|it| it.values.len() == wrong.len())
        .collect();
    no_number(output, wrong, &alike, lang)
        .or_else(|| one_number(output, wrong, lang))
        .or_else(|| alike.iter().find_map(|given| parted(given, wrong, lang)))
}

/// Describes the first NaN and the input at its position.
fn no_number(output: &Output, wrong: &[bool], alike: &[Given], lang: Lang) -> Option<String> {
    let Values::Floats(got) = &output.got else {
        return None;
    };
    let first = (0..got.len()).find(|&index| wrong[index] && got[index].is_nan())?;
    let place = right::place(&output.shape, first);
    let there = alike.iter().map(|given| {
        let value = right::float(given.values[first] as f32);
        say!(lang, ", where `{}` is {}", "，那里的 `{}` 是 {}"; given.name, value)
    });
    let there: String = there.take(1).collect();
    Some(say!(
        lang,
        "At {} it is NaN, no number{}. That comes of 0 / 0, of infinity / infinity or infinity - infinity, or of a \
         NaN that was read.",
        "{} 处是 NaN（不是数）{}。NaN 来自 0 / 0、无穷 / 无穷、无穷 - 无穷，或者读到的 NaN。";
        place, there
    ))
}

/// Describes wrong elements that all have the same value although they should differ.
fn one_number(output: &Output, wrong: &[bool], lang: Lang) -> Option<String> {
    let of = |texts: &[String]| {
        let mut of: Vec<String> = (0..wrong.len())
            .filter(|&index| wrong[index])
            .map(|index| texts[index].clone())
            .collect();
        let many = of.len();
        of.sort_unstable();
        of.dedup();
        (many, of)
    };
    let (many, got) = of(&right::texts(&output.got));
    let (_, expected) = of(&right::texts(&output.expected));
    let [only] = &got[..] else {
        return None;
    };
    if many < ENOUGH || expected.len() < 2 {
        return None;
    }
    Some(say!(
        lang,
        "All wrong elements are the same number, {}, and should not be.",
        "不对的元素都是同一个数 {}，而它们本不应都相同。";
        only
    ))
}

/// Describes an input whose values at wrong elements are all larger, or all smaller, than at correct ones.
fn parted(given: &Given, wrong: &[bool], lang: Lang) -> Option<String> {
    let of = |is_wrong: bool| {
        let both = given.values.iter().zip(wrong);
        let values = both
            .filter(|&(_, &it)| it == is_wrong)
            .map(|(&value, _)| value);
        let values: Vec<f64> = values.collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (values.len() >= ENOUGH).then_some((least, most))
    };
    let ((least_wrong, most_wrong), (least_right, most_right)) = (of(true)?, of(false)?);
    let shown = |value: f64| right::float(value as f32);
    if least_wrong > most_right {
        return Some(say!(
            lang,
            "Wrong are just the elements where `{0}` is large: from {1} on. Up to {2} they are right.",
            "不对的恰好是 `{0}` 较大的元素：从 {1} 起都不对，到 {2} 为止都对。";
            given.name, shown(least_wrong), shown(most_right)
        ));
    }
    (most_wrong < least_right).then(|| {
        say!(
            lang,
            "Wrong are just the elements where `{0}` is small: up to {1}. From {2} on they are right.",
            "不对的恰好是 `{0}` 较小的元素：到 {1} 为止都不对，从 {2} 起都对。";
            given.name, shown(most_wrong), shown(least_right)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::sample::output;

    fn given(values: &[f64]) -> Given {
        Given {
            name: "in".to_owned(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn no_number_has_its_input() {
        let floats = |values: &[f32]| Values::Floats(values.to_vec());
        let nan = output(&[2], floats(&[1.0, f32::NAN]), floats(&[1.0, 2.0]));
        let said = |alike: &[Given]| no_number(&nan, &[false, true], alike, Lang::En).unwrap();
        assert!(
            said(&[given(&[7.0, -300.0])])
                .starts_with("At [1] it is NaN, no number, where `in` is -300.")
        );
        assert!(said(&[]).starts_with("At [1] it is NaN, no number. That comes of 0 / 0"));
        assert_eq!(no_number(&nan, &[true, false], &[], Lang::En), None);
    }

    #[test]
    fn one_number_for_all_is_told() {
        let ints = |values: &[i32]| Values::Integers(values.to_vec());
        let same = output(&[4], ints(&[5, 7, 7, 7]), ints(&[5, 1, 2, 3]));
        let said = one_number(&same, &[false, true, true, true], Lang::En);
        assert!(said.unwrap().contains("the same number, 7,"));
        assert_eq!(
            one_number(&same, &[false, false, true, true], Lang::En),
            None
        );
        let constant = output(&[3], ints(&[7, 7, 7]), ints(&[1, 1, 1]));
        assert_eq!(one_number(&constant, &[true; 3], Lang::En), None);
    }

    #[test]
    fn an_input_that_parts_wrong_from_right_is_told() {
        let wrong = [true, true, true, false, false, false];
        let said = |values: &[f64]| parted(&given(values), &wrong, Lang::En);
        let large = said(&[90.0, 100.0, 95.0, 1.0, 50.5, 3.0]).unwrap();
        assert!(
            large.ends_with("from 90 on. Up to 50.5 they are right."),
            "{large}"
        );
        let small = said(&[1.0, 2.0, 3.0, 4.0, 9.0, 5.0]).unwrap();
        assert!(
            small.ends_with("up to 3. From 4 on they are right."),
            "{small}"
        );
        assert_eq!(said(&[1.0, 9.0, 1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(parted(&given(&[9.0, 1.0]), &[true, false], Lang::En), None);
    }
}
