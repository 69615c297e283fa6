//! The step `results`: compares outputs with their references and shows the first wrong elements.

use std::fmt::Debug;
use std::ops::Range;

use approx::relative_eq;
use chapter::lang::{Lang, Text};
use chapter::number::grouped;
use common::verify::{compare, within_ulps};
use cust::memory::bytemuck::Pod;

use super::Stop;
use crate::data::{Step, Tolerance};
use crate::host::{Case, Output, Values};
use crate::text::{WIDTH, columns, pad_left};

/// The maximum number of wrong elements listed for one-dimensional outputs.
const MAX_LISTED: usize = 6;

/// The maximum number of rows and of columns shown of a matrix.
const MAX_WINDOW: usize = 6;

/// Fails if an output of a case is wrong.
pub fn verdict(outputs: &[Output], tolerance: Tolerance, case: &Case) -> Result<(), Stop> {
    let mut outputs = outputs.iter();
    let Some(output) = outputs.find(|output| first_wrong(output, tolerance).is_some()) else {
        return Ok(());
    };
    let message = |lang| describe(output, tolerance, lang).unwrap_or_default();
    Err(Stop::at_size(Step::Right, case, Text::from_fn(message)))
}

/// Returns the index of the first wrong element of an output.
pub fn first_wrong(output: &Output, tolerance: Tolerance) -> Option<usize> {
    let wrong = wrong_mask(output, tolerance);
    wrong.iter().position(|&wrong| wrong)
}

/// Describes the wrong elements of an output; `None` if there are none.
fn describe(output: &Output, tolerance: Tolerance, lang: Lang) -> Option<String> {
    let wrong = wrong_mask(output, tolerance);
    let first = wrong.iter().position(|&wrong| wrong)?;
    let count = wrong.iter().filter(|&&wrong| wrong).count();
    let actual = format_values(&output.actual);
    if !output.labels.is_empty() {
        return Some(describe_predictions(&output.labels, &wrong, &actual, lang));
    }
    if let Some(rows) = &output.padding_of {
        return Some(describe_padding_writes(rows, &output.shape, &wrong, lang));
    }
    let (all, name) = (wrong.len(), &output.name);
    let are = lang.pick(if count == 1 { "is" } else { "are" }, "");
    let head = match (count, all) {
        (1, 1) => {
            localize!(lang, "The only element of `{}` is wrong:", "`{}` 唯一的元素错误："; name)
        }
        _ if count == all => localize!(
            lang,
            "All {} elements of `{}` are wrong:",
            "`{1}` 的 {0} 个元素全部错误：";
            grouped(all as u64), name
        ),
        _ => localize!(
            lang,
            "{} of the {} elements of `{}` {} wrong, the first at {}{}:",
            "`{2}` 的 {1} 个元素中有 {0} 个错误{3}，第一个在 {4} 处{5}：";
            grouped(count as u64), grouped(all as u64), name, are,
            format_index(&output.shape, first), describe_pattern(&wrong, count, &output.shape, lang)
        ),
    };
    let expected = format_values(&output.expected);
    let table = match output.shape[..] {
        [.., rows, columns] if rows > 1 && columns > 1 => {
            matrix(&output.shape, first, &wrong, &actual, &expected, lang)
        }
        _ => list(&output.shape, &wrong, &actual, &expected, lang),
    };
    let explanation = match &output.explanation {
        Some([en, zh]) => format!("\n\n{}", lang.pick(en, zh)),
        None => String::new(),
    };
    Some(format!("{head}\n{table}{explanation}"))
}

/// Describes the pattern of the wrong elements of a one-dimensional output, if there is one: a suffix, one
/// range, or every nth.
fn describe_pattern(wrong: &[bool], count: usize, shape: &[usize], lang: Lang) -> String {
    let indices: Vec<usize> = (0..wrong.len()).filter(|&index| wrong[index]).collect();
    let (Some(&first), Some(&last)) = (indices.first(), indices.last()) else {
        return String::new();
    };
    if count < 2 || count == wrong.len() || shape.len() != 1 {
        return String::new();
    }
    let step = indices[1] - first;
    if indices.windows(2).any(|pair| pair[1] - pair[0] != step) {
        return String::new();
    }
    match (step, last + 1 == wrong.len()) {
        (1, true) => localize!(lang, ", and all after it", "，其后全部错误"),
        (1, false) => localize!(lang, ", then all up to [{}]", "，直到 [{}] 全部错误"; last),
        (step, _) => localize!(
            lang,
            ", then at a stride of {} up to [{}]",
            "，之后以步长 {} 直到 [{}]";
            step, last
        ),
    }
}

/// Describes writes behind the rows of an output.
fn describe_padding_writes(rows: &str, shape: &[usize], wrong: &[bool], lang: Lang) -> String {
    let row_length = shape.last().copied().unwrap_or(1).max(1);
    let words = |row: &[bool]| row.iter().filter(|&&wrong| wrong).count();
    let rows_written = wrong.chunks(row_length).map(words).enumerate();
    let rows_written: Vec<(usize, usize)> = rows_written.filter(|&(_, words)| words > 0).collect();
    let (row, words) = rows_written.first().copied().unwrap_or_default();
    let other_rows = match rows_written.len() {
        0 | 1 => String::new(),
        count => localize!(
            lang,
            ", and others behind {} more rows",
            "，另有 {} 行的行末之后也被改写";
            count - 1
        ),
    };
    localize!(
        lang,
        "{} words of 4 bytes behind the end of row {} of `{}` were overwritten{}. The padding \
         behind a row must not be written: a thread whose column is not below the width must not \
         write.",
        "`{2}` 第 {1} 行的行末之后有 {0} 个字（每个 4 字节）被改写{3}。行末之后的补齐不能写入：\
         列号不小于宽度的线程不得写入。";
        words, row, rows, other_rows
    )
}

/// Returns a mask of the wrong elements. NaN is always wrong.
pub fn wrong_mask(output: &Output, tolerance: Tolerance) -> Vec<bool> {
    match (&output.actual, &output.expected) {
        (Values::Floats(actual), Values::Floats(expected)) => {
            let is_close = |actual: &f32, expected: &f32| is_close(tolerance, actual, expected);
            mask(actual, expected, is_close)
        }
        (Values::Integers(actual), Values::Integers(expected)) => mask(actual, expected, i32::eq),
        (Values::Unsigned(actual), Values::Unsigned(expected)) => mask(actual, expected, u32::eq),
        // Unreachable: an output and its reference have the same type.
        (actual, _) => vec![true; format_values(actual).len()],
    }
}

fn mask<T: Pod + PartialEq + Debug>(
    actual: &[T],
    expected: &[T],
    is_close: impl Fn(&T, &T) -> bool,
) -> Vec<bool> {
    let pairs = actual.iter().zip(expected);
    pairs
        .map(|(actual, expected)| {
            // Fast path: nearly all elements are equal.
            actual != expected && !compare(&[*actual], &[*expected], &is_close).is_match()
        })
        .collect()
}

fn is_close(tolerance: Tolerance, actual: &f32, expected: &f32) -> bool {
    match (tolerance.ulps, tolerance.relative) {
        (Some(ulps), _) => within_ulps(ulps)(actual, expected),
        (None, Some(relative)) => {
            let absolute = tolerance.absolute.unwrap_or(0.0);
            relative_eq!(
                actual,
                expected,
                max_relative = relative,
                epsilon = absolute
            )
        }
        (None, None) => actual == expected,
    }
}

/// Lists the first wrong elements, one per line.
fn list(
    shape: &[usize],
    wrong: &[bool],
    actual: &[String],
    expected: &[String],
    lang: Lang,
) -> String {
    let indices = (0..wrong.len()).filter(|&index| wrong[index]);
    let head = lang.pick(["", "got", "expected"], ["", "得到", "应为"]);
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(indices.take(MAX_LISTED).map(|index| {
        let label = format_index(shape, index);
        [label, actual[index].clone(), expected[index].clone()]
    }));
    let width = |column: usize| rows.iter().map(|row| columns(&row[column])).max();
    let widths = [0, 1, 2].map(|column| width(column).unwrap_or(0));
    let line = |row: &[String; 3]| {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| pad_left(cell, width));
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
    actual: &[String],
    expected: &[String],
    lang: Lang,
) -> String {
    let [.., rows, columns_of] = *shape else {
        return String::new();
    };
    let (slice, within) = (first / (rows * columns_of), first % (rows * columns_of));
    let window = |at: usize, length: usize, limit: usize| {
        let from = at.saturating_sub(1).min(length.saturating_sub(limit));
        from..length.min(from + limit)
    };
    let down = window(within / columns_of, rows, MAX_WINDOW);
    // Show as many columns as fit twice into the width.
    let index = |(row, column): (usize, usize)| (slice * rows + row) * columns_of + column;
    let indices = |across: &Range<usize>| {
        let row = |row| across.clone().map(move |column| (row, column));
        down.clone()
            .flat_map(row)
            .map(index)
            .collect::<Vec<usize>>()
    };
    let fits = |across: &Range<usize>| {
        let cells = indices(across).into_iter();
        let widths = cells.map(|index| actual[index].len().max(expected[index].len()) + 2);
        let cell_width = widths.max().unwrap_or(2);
        let cell_width = cell_width.max(across.end.to_string().len() + 1);
        2 * across.len() * cell_width + down.end.to_string().len() + 8 <= WIDTH
    };
    let mut windows = (2..=MAX_WINDOW)
        .rev()
        .map(|limit| window(within % columns_of, columns_of, limit));
    let narrow = window(within % columns_of, columns_of, 2);
    let across = windows.find(fits).unwrap_or(narrow);
    let cell = |index: usize| {
        let mark = if wrong[index] { '*' } else { ' ' };
        (format!("{}{mark}", actual[index]), expected[index].clone())
    };
    let cells: Vec<(String, String)> = indices(&across).into_iter().map(cell).collect();
    let numbers = across.clone().chain(down.clone());
    let longest = numbers.map(|number| number.to_string().len()).max();
    let longest = longest.unwrap_or(1);
    let lengths = cells
        .iter()
        .flat_map(|(actual, expected)| [actual.len(), expected.len()]);
    let width = lengths.max().unwrap_or(1).max(longest);

    let columns_shown = across.clone();
    let head: String = columns_shown
        .map(|column| format!(" {column:>width$}"))
        .collect();
    let [title, expected_title] = lang.pick(["got", "expected"], ["得到", "应为"]);
    let blanks = " ".repeat(head.chars().count().saturating_sub(columns(title)) + 4);
    let mut lines = vec![
        format!("  {:longest$}  {title}{blanks}{expected_title}", ""),
        format!("  {:longest$} {head}    {head}", ""),
    ];
    for (row, line) in down.zip(cells.chunks(across.len())) {
        let (mut actual, mut expected) = (String::new(), String::new());
        for (actual_cell, expected_cell) in line {
            actual += &format!(" {actual_cell:>width$}");
            expected += &format!(" {expected_cell:>width$}");
        }
        lines.push(format!("  {row:>longest$} {actual}    {expected}"));
    }
    let slice_text = match shape {
        [_, _, _] => localize!(lang, "slice {}; ", "切片 {}；"; slice),
        _ => String::new(),
    };
    lines.push(localize!(
        lang,
        "  ({}columns along x, rows along y; * marks wrong elements)",
        "  （{}列沿 x 方向，行沿 y 方向；* 表示错误的元素）";
        slice_text
    ));
    lines.join("\n")
}

/// Formats an index: `[7]`, `[2][3]` and so on, innermost dimension last.
pub fn format_index(shape: &[usize], index: usize) -> String {
    let mut rest = index;
    let numbers = shape.iter().rev().map(|&length| {
        let number = rest % length;
        rest /= length;
        number.to_string()
    });
    let mut numbers: Vec<String> = numbers.collect();
    numbers.reverse();
    format!("[{}]", numbers.join("]["))
}

pub fn format_values(values: &Values) -> Vec<String> {
    match values {
        Values::Floats(values) => values.iter().map(|value| format_float(*value)).collect(),
        Values::Integers(values) => values.iter().map(i32::to_string).collect(),
        Values::Unsigned(values) => values.iter().map(u32::to_string).collect(),
    }
}

/// Formats a float with enough digits to round-trip.
pub fn format_float(value: f32) -> String {
    let plain = format!("{value}");
    match plain.len() {
        0..=12 => plain,
        _ => format!("{value:e}"),
    }
}

/// Lists the wrong predictions with the values that the student gave.
fn describe_predictions(
    labels: &[String],
    wrong: &[bool],
    predictions: &[String],
    lang: Lang,
) -> String {
    let lines = labels.iter().zip(wrong).zip(predictions);
    let lines = lines.filter(|((_, wrong), _)| **wrong);
    let lines = lines.map(|((label, _), prediction)| {
        localize!(
            lang,
            "`{}`: you predicted {}, which is wrong.",
            "`{}`：你的预测是 {}，不对。";
            label, prediction
        )
    });
    let mut lines: Vec<String> = lines.collect();
    let correct = wrong.iter().filter(|&&wrong| !wrong).count();
    lines.push(localize!(
        lang,
        "{} of {} correct.",
        "{1} 个中有 {0} 个正确。";
        correct, wrong.len()
    ));
    lines.push(match correct {
        0 => localize!(
            lang,
            "Read the statement again: which quantity is required, and in which unit?",
            "请再看一遍题目：要求的是什么量，单位是什么？"
        ),
        _ => localize!(
            lang,
            "Your rule works for the others: what is different about those listed here?",
            "你的算法对其余的都成立：上面列出的这些有什么不同？"
        ),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Values::{Floats, Unsigned};
    use crate::host::sample::{EXACT, output};

    #[test]
    fn predictions_do_not_reveal_expected_values() {
        let mut predicted = output(&[2], Unsigned(vec![3, 4]), Unsigned(vec![3, 77]));
        predicted = predicted.predicted(&["neighbours", "one_further"]);
        let message = describe(&predicted, EXACT, Lang::En).unwrap();
        let expected = "`one_further`: you predicted 4, which is wrong.\n1 of 2 correct.\n";
        assert!(
            message.starts_with(expected) && !message.contains("77"),
            "{message}"
        );
    }

    #[test]
    fn padding_writes_are_counted_per_row() {
        let mut padding = output(&[3, 4], Unsigned(vec![7; 12]), Unsigned(vec![7; 12]));
        padding = padding.padding_of("part");
        assert_eq!(describe(&padding, EXACT, Lang::En), None);
        let mut actual = vec![7; 12];
        actual[4..7].fill(1);
        actual[8] = 1;
        padding.actual = Unsigned(actual);
        let message = describe(&padding, EXACT, Lang::En).unwrap();
        let head = "3 words of 4 bytes behind the end of row 1 of `part` were overwritten, and others behind 1 more";
        assert!(message.starts_with(head), "{message}");
    }

    #[test]
    fn correct_outputs_have_no_message() {
        let correct = output(&[2], Floats(vec![1.0, 2.0]), Floats(vec![1.0, 2.0]));
        assert_eq!(describe(&correct, EXACT, Lang::En), None);
    }

    #[test]
    fn nan_is_always_wrong() {
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
    fn tolerances_are_relative_or_in_ulps() {
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
        let actual = Unsigned((0..100).collect());
        let expected = Unsigned((0..100).map(|i| if i < 90 { i } else { 7 }).collect());
        let message = describe(&output(&[100], actual, expected), EXACT, Lang::En).unwrap();
        let head =
            "10 of the 100 elements of `y` are wrong, the first at [90], and all after it:\n";
        assert!(message.starts_with(head), "{message}");
        assert_eq!(message.lines().count(), 2 + MAX_LISTED, "{message}");
        assert!(message.contains("  [90]   90         7\n"), "{message}");
    }

    #[test]
    fn patterns_of_wrong_elements_are_described() {
        let pattern = |wrong: &[usize]| {
            let all: Vec<bool> = (0..10).map(|index| wrong.contains(&index)).collect();
            describe_pattern(&all, wrong.len(), &[10], Lang::En)
        };
        assert_eq!(pattern(&[2, 3, 4]), ", then all up to [4]");
        assert_eq!(pattern(&[1, 4, 7]), ", then at a stride of 3 up to [7]");
        assert_eq!(pattern(&[8, 9]), ", and all after it");
        for none in [&[3][..], &[0, 1, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
            assert_eq!(pattern(none), "");
        }
    }

    #[test]
    fn the_window_around_the_first_wrong_element_is_shown() {
        let correct = vec![5; 12 * 10];
        let mut wrong = correct.clone();
        wrong[11 * 10 + 9] = 1234;
        let matrix = output(&[12, 10], Unsigned(wrong), Unsigned(correct));
        let message = describe(&matrix, EXACT, Lang::Zh).unwrap();
        assert!(message.contains("[11][9]"), "{message}");
        let last = message.lines().rev().nth(1).unwrap();
        let expected = "  11     5     5     5     5  1234*         5     5     5     5     5";
        assert_eq!(last, expected);
        let [actual, expected] = [4, 5].map(|last| Unsigned(vec![1, 2, 3, last]));
        let short = output(&[2, 2], actual, expected);
        let message = describe(&short, EXACT, Lang::En).unwrap();
        let has_both = message.contains("[1][1]") && message.contains("4*");
        assert!(has_both, "{message}");
    }

    #[test]
    fn the_innermost_index_is_last() {
        assert_eq!(format_index(&[3, 4, 5], 59), "[2][3][4]");
        assert_eq!(format_index(&[7], 6), "[6]");
    }

    #[test]
    fn distinct_floats_are_formatted_differently() {
        let texts = format_values(&Floats(vec![1.0, 1.0_f32.next_up(), 1e-30, f32::NAN]));
        assert_eq!(texts, ["1", "1.0000001", "1e-30", "NaN"]);
    }
}
