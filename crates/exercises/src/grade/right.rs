//! The step `right`: outputs beside their references, and the first wrong elements shown.

use std::fmt::Debug;

use approx::relative_eq;
use chapter::number::grouped;
use common::verify::{compare, within_ulps};
use cust::memory::bytemuck::Pod;

use super::{Failure, Stop};
use crate::data::{Step, Tolerance};
use crate::host::{Case, Output, Values};
use crate::lang::Lang;
use crate::text::{columns, padded_left};

/// How many wrong elements of a row of numbers are shown.
const SHOWN: usize = 6;

/// How many rows and columns of a matrix are shown.
const WINDOW: usize = 6;

/// Compares all outputs of a case.
pub fn verdict(
    outputs: &[Output],
    tolerance: Tolerance,
    case: &Case,
    lang: Lang,
) -> Result<(), Stop> {
    match outputs
        .iter()
        .find_map(|output| describe(output, tolerance, lang))
    {
        None => Ok(()),
        Some(message) => Err(Stop::Failed(Failure {
            step: Step::Right,
            size: case.size.clone(),
            message,
        })),
    }
}

/// What is wrong with an output; `None` where nothing is.
fn describe(output: &Output, tolerance: Tolerance, lang: Lang) -> Option<String> {
    let wrong = wrong(output, tolerance);
    let first = wrong.iter().position(|&it| it)?;
    let many = wrong.iter().filter(|&&it| it).count();
    let head = say!(
        lang,
        "{} of the {} elements of `{}` are wrong, the first at {}:",
        "`{2}` 的 {1} 个元素中有 {0} 个不对，第一个在 {3} 处：";
        grouped(many as u64), grouped(wrong.len() as u64), output.name, place(&output.shape, first)
    );
    let (got, mut expected) = (texts(&output.got), texts(&output.expected));
    if output.secret {
        expected.fill("?".to_owned());
    }
    let shown = match output.shape[..] {
        [.., rows, columns] if rows > 1 && columns > 1 => {
            matrix(&output.shape, first, &wrong, &got, &expected, lang)
        }
        _ => list(&output.shape, &wrong, &got, &expected, lang),
    };
    Some(format!("{head}\n{shown}"))
}

/// Which elements are not what they should be. NaN never is.
fn wrong(output: &Output, tolerance: Tolerance) -> Vec<bool> {
    match (&output.got, &output.expected) {
        (Values::Floats(got), Values::Floats(expected)) => each(got, expected, |got, expected| {
            close(tolerance, got, expected)
        }),
        (Values::Integers(got), Values::Integers(expected)) => each(got, expected, i32::eq),
        (Values::Unsigned(got), Values::Unsigned(expected)) => each(got, expected, u32::eq),
        // An output and its reference are of one type.
        (got, _) => vec![true; texts(got).len()],
    }
}

fn each<T: Pod + PartialEq + Debug>(
    got: &[T],
    expected: &[T],
    close: impl Fn(&T, &T) -> bool,
) -> Vec<bool> {
    let pairs = got.iter().zip(expected);
    pairs
        .map(|(got, expected)| {
            // Nearly all are equal, which is told at once.
            got != expected && !compare(&[*got], &[*expected], &close).is_match()
        })
        .collect()
}

fn close(tolerance: Tolerance, got: &f32, expected: &f32) -> bool {
    match (tolerance.ulps, tolerance.relative) {
        (Some(ulps), _) => within_ulps(ulps)(got, expected),
        (None, Some(relative)) => {
            let absolute = tolerance.absolute.unwrap_or(0.0);
            relative_eq!(got, expected, max_relative = relative, epsilon = absolute)
        }
        (None, None) => got == expected,
    }
}

/// The first wrong elements, one a line.
fn list(
    shape: &[usize],
    wrong: &[bool],
    got: &[String],
    expected: &[String],
    lang: Lang,
) -> String {
    let indices = (0..wrong.len()).filter(|&index| wrong[index]).take(SHOWN);
    let rows: Vec<[String; 3]> = std::iter::once([
        String::new(),
        lang.pick("got", "得到").to_owned(),
        lang.pick("expected", "应为").to_owned(),
    ])
    .chain(indices.map(|index| {
        let place = place(shape, index);
        [place, got[index].clone(), expected[index].clone()]
    }))
    .collect();
    let width = |column: usize| rows.iter().map(|row| columns(&row[column])).max();
    let widths = [0, 1, 2].map(|column| width(column).unwrap_or(0));
    let line = |row: &[String; 3]| {
        let cells = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| padded_left(cell, width));
        format!("  {}", cells.collect::<Vec<_>>().join("  "))
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Rows and columns around the first wrong element, what came out beside what should have; wrong
/// elements have a mark.
fn matrix(
    shape: &[usize],
    first: usize,
    wrong: &[bool],
    got: &[String],
    expected: &[String],
    lang: Lang,
) -> String {
    let [.., rows, columns_of] = *shape else {
        return String::new();
    };
    let (slice, within) = (first / (rows * columns_of), first % (rows * columns_of));
    let window = |at: usize, length: usize| {
        let from = at.saturating_sub(1).min(length.saturating_sub(WINDOW));
        from..length.min(from + WINDOW)
    };
    let across = window(within % columns_of, columns_of);
    let down = window(within / columns_of, rows);
    let index = |row: usize, column: usize| (slice * rows + row) * columns_of + column;
    let cell = |row: usize, column: usize| {
        let index = index(row, column);
        let mark = if wrong[index] { '*' } else { ' ' };
        (format!("{}{mark}", got[index]), expected[index].clone())
    };
    let all = down
        .clone()
        .flat_map(|row| across.clone().map(move |column| (row, column)));
    let cells: Vec<(String, String)> = all.map(|(row, column)| cell(row, column)).collect();
    let numbers = across.clone().chain(down.clone());
    let longest = numbers.map(|number| number.to_string().len()).max();
    let longest = longest.unwrap_or(1);
    let width = cells
        .iter()
        .flat_map(|(got, expected)| [got.len(), expected.len()])
        .max()
        .unwrap_or(1)
        .max(longest);

    let head: String = across
        .clone()
        .map(|column| format!(" {column:>width$}"))
        .collect();
    let title = lang.pick("got", "得到");
    let blanks = " ".repeat(head.chars().count().saturating_sub(columns(title)) + 4);
    let mut lines = vec![
        format!(
            "  {:longest$}  {title}{blanks}{}",
            "",
            lang.pick("expected", "应为")
        ),
        format!("  {:longest$} {head}    {head}", ""),
    ];
    for (row, line) in down.zip(cells.chunks(across.len())) {
        let got: String = line
            .iter()
            .map(|(got, _)| format!(" {got:>width$}"))
            .collect();
        let expected = line
            .iter()
            .map(|(_, expected)| format!(" {expected:>width$}"));
        let expected: String = expected.collect();
        lines.push(format!("  {row:>longest$} {got}    {expected}"));
    }
    lines.push(say!(
        lang,
        "  (columns along x, rows along y; * is wrong)",
        "  （列沿 x 方向，行沿 y 方向；* 表示不对）"
    ));
    lines.join("\n")
}

/// Where an element is: `[7]`, `[row 2, column 3]` and so on, innermost last.
pub fn place(shape: &[usize], index: usize) -> String {
    let mut rest = index;
    let mut numbers: Vec<String> = shape
        .iter()
        .rev()
        .map(|&length| {
            let number = rest % length;
            rest /= length;
            number.to_string()
        })
        .collect();
    numbers.reverse();
    format!("[{}]", numbers.join("]["))
}

fn texts(values: &Values) -> Vec<String> {
    match values {
        Values::Floats(values) => values.iter().map(|value| float(*value)).collect(),
        Values::Integers(values) => values.iter().map(i32::to_string).collect(),
        Values::Unsigned(values) => values.iter().map(u32::to_string).collect(),
    }
}

/// A float with so many digits that another one reads differently.
fn float(value: f32) -> String {
    let plain = format!("{value}");
    match plain.len() {
        0..=12 => plain,
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Values::{Floats, Unsigned};

    const EXACT: Tolerance = Tolerance {
        ulps: Some(0),
        relative: None,
        absolute: None,
    };

    fn output(shape: &[usize], got: Values, expected: Values) -> Output {
        Output {
            name: "y",
            shape: shape.to_vec(),
            got,
            expected,
            secret: false,
        }
    }

    #[test]
    fn what_is_to_be_predicted_is_not_told() {
        let mut predicted = output(&[2], Unsigned(vec![3, 4]), Unsigned(vec![3, 77]));
        predicted.secret = true;
        let said = describe(&predicted, EXACT, Lang::En).unwrap();
        assert!(said.contains("[1]  "), "{said}");
        assert!(said.contains('?') && !said.contains("77"), "{said}");
    }

    #[test]
    fn what_is_right_has_nothing_to_say() {
        let right = output(&[2], Floats(vec![1.0, 2.0]), Floats(vec![1.0, 2.0]));
        assert_eq!(describe(&right, EXACT, Lang::En), None);
    }

    #[test]
    fn nan_is_never_right() {
        let nan = || Floats(vec![f32::NAN]);
        let loose = Tolerance {
            ulps: None,
            relative: Some(1e9),
            absolute: Some(f32::MAX),
        };
        for tolerance in [EXACT, loose] {
            assert!(describe(&output(&[1], nan(), nan()), tolerance, Lang::En).is_some());
        }
    }

    #[test]
    fn tolerances_are_relative_or_in_steps() {
        let near = || output(&[1], Floats(vec![1.0001]), Floats(vec![1.0]));
        let relative = |relative| Tolerance {
            ulps: None,
            relative: Some(relative),
            absolute: None,
        };
        assert!(describe(&near(), relative(1e-3), Lang::En).is_none());
        assert!(describe(&near(), relative(1e-5), Lang::En).is_some());
        assert!(describe(&near(), EXACT, Lang::En).is_some());
    }

    #[test]
    fn the_first_wrong_elements_are_listed() {
        let got = Unsigned((0..100).collect());
        let expected = Unsigned((0..100).map(|i| if i < 90 { i } else { 7 }).collect());
        let said = describe(&output(&[100], got, expected), EXACT, Lang::En).unwrap();
        let head = "10 of the 100 elements of `y` are wrong, the first at [90]:\n";
        assert!(said.starts_with(head), "{said}");
        assert_eq!(said.lines().count(), 2 + SHOWN, "{said}");
        assert!(said.contains("  [90]   90         7\n"), "{said}");
    }

    #[test]
    fn of_a_matrix_the_place_around_the_first_is_shown() {
        let right = vec![5; 12 * 10];
        let mut wrong = right.clone();
        wrong[11 * 10 + 9] = 1234;
        let matrix = output(&[12, 10], Unsigned(wrong), Unsigned(right));
        let said = describe(&matrix, EXACT, Lang::Zh).unwrap();
        assert!(said.contains("[11][9]"), "{said}");
        let last = said.lines().rev().nth(1).unwrap();
        assert_eq!(
            last,
            "  11     5     5     5     5     5  1234*         5     5     5     5     5     5"
        );
        let short = output(
            &[2, 2],
            Unsigned(vec![1, 2, 3, 4]),
            Unsigned(vec![1, 2, 3, 5]),
        );
        let said = describe(&short, EXACT, Lang::En).unwrap();
        assert!(said.contains("[1][1]") && said.contains("4*"), "{said}");
    }

    #[test]
    fn places_are_innermost_last() {
        assert_eq!(place(&[3, 4, 5], 59), "[2][3][4]");
        assert_eq!(place(&[7], 6), "[6]");
    }

    #[test]
    fn floats_that_differ_read_differently() {
        let texts = texts(&Floats(vec![1.0, 1.0_f32.next_up(), 1e-30, f32::NAN]));
        assert_eq!(texts, ["1", "1.0000001", "1e-30", "NaN"]);
    }
}
