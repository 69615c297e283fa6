//! The step `right`: compares outputs with their references and shows the first wrong elements.

use std::fmt::Debug;

use approx::relative_eq;
use chapter::number::grouped;
use common::verify::{compare, within_ulps};
use cust::memory::bytemuck::Pod;

use super::{Failure, Stop, predictions};
use crate::data::{Step, Text, Tolerance};
use crate::host::{Case, Output, Values};
use crate::lang::Lang;
use crate::report::WIDTH;
use crate::text::{columns, padded_left};

/// The maximum number of wrong elements listed for one-dimensional outputs.
const SHOWN: usize = 6;

/// The maximum number of rows and of columns shown of a matrix.
const WINDOW: usize = 6;

/// Fails if an output of a case is wrong.
pub fn verdict(outputs: &[Output], tolerance: Tolerance, case: &Case) -> Result<(), Stop> {
    let mut outputs = outputs.iter();
    let Some(output) = outputs.find(|output| first_wrong(output, tolerance).is_some()) else {
        return Ok(());
    };
    let said = |lang| describe(output, tolerance, lang).unwrap_or_default();
    Err(Stop::Failed(Failure {
        step: Step::Right,
        kind: None,
        size: case.size.clone(),
        message: Text::both(said),
    }))
}

/// Returns the index of the first wrong element of an output.
pub fn first_wrong(output: &Output, tolerance: Tolerance) -> Option<usize> {
    wrong(output, tolerance).iter().position(|&it| it)
}

/// Describes the wrong elements of an output; `None` if there are none.
fn describe(output: &Output, tolerance: Tolerance, lang: Lang) -> Option<String> {
    let wrong = wrong(output, tolerance);
    let first = wrong.iter().position(|&it| it)?;
    let many = wrong.iter().filter(|&&it| it).count();
    if !output.predicts.is_empty() {
        return Some(predictions::describe(
            output.predicts,
            &wrong,
            &texts(&output.got),
            lang,
        ));
    }
    if let Some(rows) = output.behind {
        return Some(behind(rows, &output.shape, &wrong, lang));
    }
    let (all, name) = (wrong.len(), output.name);
    let are = lang.pick(if many == 1 { "is" } else { "are" }, "");
    let head = match (many, all) {
        (1, 1) => say!(lang, "The only element of `{}` is wrong:", "`{}` 唯一的元素不对："; name),
        _ if many == all => say!(
            lang,
            "All {} elements of `{}` are wrong:",
            "`{1}` 的 {0} 个元素全都不对：";
            grouped(all as u64), name
        ),
        _ => say!(
            lang,
            "{} of the {} elements of `{}` {} wrong, the first at {}{}:",
            "`{2}` 的 {1} 个元素中有 {0} 个不对{3}，第一个在 {4} 处{5}：";
            grouped(many as u64), grouped(all as u64), name, are,
            place(&output.shape, first), lie(&wrong, many, &output.shape, lang)
        ),
    };
    let (got, expected) = (texts(&output.got), texts(&output.expected));
    let shown = match output.shape[..] {
        [.., rows, columns] if rows > 1 && columns > 1 => {
            matrix(&output.shape, first, &wrong, &got, &expected, lang)
        }
        _ => list(&output.shape, &wrong, &got, &expected, lang),
    };
    let meaning = match &output.meaning {
        Some([en, zh]) => format!("\n\n{}", lang.pick(en, zh)),
        None => String::new(),
    };
    Some(format!("{head}\n{shown}{meaning}"))
}

/// Describes the pattern of the wrong elements of a one-dimensional output, if there is one: a suffix, one
/// range, or every nth.
fn lie(wrong: &[bool], many: usize, shape: &[usize], lang: Lang) -> String {
    let places: Vec<usize> = (0..wrong.len()).filter(|&place| wrong[place]).collect();
    let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
        return String::new();
    };
    if many < 2 || many == wrong.len() || shape.len() != 1 {
        return String::new();
    }
    let step = places[1] - first;
    if places.windows(2).any(|pair| pair[1] - pair[0] != step) {
        return String::new();
    }
    match (step, last + 1 == wrong.len()) {
        (1, true) => say!(lang, ", and all from there on", "，从那里起全都不对"),
        (1, false) => say!(lang, ", and all up to [{}]", "，直到 [{}] 全都不对"; last),
        (step, _) => say!(
            lang,
            ", and every one {} further up to [{}]",
            "，从那里起每隔 {} 个一个，直到 [{}]";
            step, last
        ),
    }
}

/// Describes writes behind the rows of an output.
fn behind(rows: &str, shape: &[usize], wrong: &[bool], lang: Lang) -> String {
    let wide = shape.last().copied().unwrap_or(1).max(1);
    let words = |row: &[bool]| row.iter().filter(|&&it| it).count();
    let each = wrong.chunks(wide).map(words).enumerate();
    let each: Vec<(usize, usize)> = each.filter(|&(_, words)| words > 0).collect();
    let (row, words) = each.first().copied().unwrap_or_default();
    let others = match each.len() {
        0 | 1 => String::new(),
        many => say!(
            lang,
            ", and others behind {} more rows",
            "，另有 {} 行的行末之后也被改写";
            many - 1
        ),
    };
    say!(
        lang,
        "{} words of 4 bytes behind the end of row {} of `{}` were overwritten{}. What is behind a row is nobody's: \
         a thread whose column is not below the width may not write.",
        "`{2}` 第 {1} 行的行末之后有 {0} 个字（每个 4 字节）被改写{3}。行末之后的内存不属于任何线程：列号不小于宽度的线程不能写入。";
        words, row, rows, others
    )
}

/// Returns a mask of the wrong elements. NaN is always wrong.
pub fn wrong(output: &Output, tolerance: Tolerance) -> Vec<bool> {
    match (&output.got, &output.expected) {
        (Values::Floats(got), Values::Floats(expected)) => each(got, expected, |got, expected| {
            close(tolerance, got, expected)
        }),
        (Values::Integers(got), Values::Integers(expected)) => each(got, expected, i32::eq),
        (Values::Unsigned(got), Values::Unsigned(expected)) => each(got, expected, u32::eq),
        // Unreachable: an output and its reference have the same type.
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
            // Fast path: nearly all elements are equal.
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

/// Lists the first wrong elements, one per line.
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

/// Shows the rows and columns around the first wrong element, actual next to expected; a mark indicates wrong
/// elements.
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
    let window = |at: usize, length: usize, most: usize| {
        let from = at.saturating_sub(1).min(length.saturating_sub(most));
        from..length.min(from + most)
    };
    let down = window(within / columns_of, rows, WINDOW);
    // Show as many columns as fit twice into the width.
    let fits = |across: &std::ops::Range<usize>| {
        let cells = down
            .clone()
            .flat_map(|row| across.clone().map(move |column| (row, column)));
        let wide = cells.map(|(row, column)| {
            let index = (slice * rows + row) * columns_of + column;
            got[index].len().max(expected[index].len()) + 2
        });
        let wide = wide
            .max()
            .unwrap_or(2)
            .max(across.end.to_string().len() + 1);
        2 * across.len() * wide + down.end.to_string().len() + 8 <= WIDTH
    };
    let mut windows = (2..=WINDOW)
        .rev()
        .map(|most| window(within % columns_of, columns_of, most));
    let narrow = window(within % columns_of, columns_of, 2);
    let across = windows.find(fits).unwrap_or(narrow);
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
    let which = match shape {
        [_, _, _] => say!(lang, "slice {}; ", "切片 {}；"; slice),
        _ => String::new(),
    };
    lines.push(say!(
        lang,
        "  ({}columns along x, rows along y; * is wrong)",
        "  （{}列沿 x 方向，行沿 y 方向；* 表示不对）";
        which
    ));
    lines.join("\n")
}

/// Formats an index: `[7]`, `[2][3]` and so on, innermost dimension last.
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

pub fn texts(values: &Values) -> Vec<String> {
    match values {
        Values::Floats(values) => values.iter().map(|value| float(*value)).collect(),
        Values::Integers(values) => values.iter().map(i32::to_string).collect(),
        Values::Unsigned(values) => values.iter().map(u32::to_string).collect(),
    }
}

/// Formats a float with enough digits to round-trip.
pub fn float(value: f32) -> String {
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
    use crate::host::sample::{EXACT, output};

    #[test]
    fn what_is_to_be_predicted_is_not_told() {
        let mut predicted = output(&[2], Unsigned(vec![3, 4]), Unsigned(vec![3, 77]));
        predicted.predicts = &["neighbours", "one_further"];
        let said = describe(&predicted, EXACT, Lang::En).unwrap();
        let expected = "`one_further`: you said 4, which is not right.\n1 of 2 right.\n";
        assert!(said.starts_with(expected) && !said.contains("77"), "{said}");
    }

    #[test]
    fn what_is_behind_rows_is_counted_row_by_row() {
        let mut padding = output(&[3, 4], Unsigned(vec![7; 12]), Unsigned(vec![7; 12]));
        padding.behind = Some("part");
        assert_eq!(describe(&padding, EXACT, Lang::En), None);
        let mut got = vec![7; 12];
        got[4..7].fill(1);
        got[8] = 1;
        padding.got = Unsigned(got);
        let said = describe(&padding, EXACT, Lang::En).unwrap();
        let head = "3 words of 4 bytes behind the end of row 1 of `part` were overwritten, and others behind 1 more";
        assert!(said.starts_with(head), "{said}");
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
        let head =
            "10 of the 100 elements of `y` are wrong, the first at [90], and all from there on:\n";
        assert!(said.starts_with(head), "{said}");
        assert_eq!(said.lines().count(), 2 + SHOWN, "{said}");
        assert!(said.contains("  [90]   90         7\n"), "{said}");
    }

    #[test]
    fn how_wrong_elements_lie_is_said_where_it_is_plain() {
        let said = |wrong: &[usize]| {
            let all: Vec<bool> = (0..10).map(|place| wrong.contains(&place)).collect();
            lie(&all, wrong.len(), &[10], Lang::En)
        };
        assert_eq!(said(&[2, 3, 4]), ", and all up to [4]");
        assert_eq!(said(&[1, 4, 7]), ", and every one 3 further up to [7]");
        assert_eq!(said(&[8, 9]), ", and all from there on");
        for none in [&[3][..], &[0, 1, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
            assert_eq!(said(none), "");
        }
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
            "  11     5     5     5     5  1234*         5     5     5     5     5"
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
