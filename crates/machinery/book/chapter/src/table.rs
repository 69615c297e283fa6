//! Tables in the style of Markdown, and wrapped lines.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};

/// Returns the text of a cell, or a dash if there is none.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// Formats a table in the style of [`crate::report::Report::table`]. Columns of numbers are right-aligned.
pub fn table(headers: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let is_number =
        |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || first == '–');
    let right = |index| rows.iter().filter_map(|row| row.get(index)).all(is_number);
    let right: Vec<bool> = (0..headers.len()).map(right).collect();
    aligned(headers, rows, |index| right[index])
}

/// Formats a table. Columns are right-aligned if `right` returns true for their index.
pub(crate) fn aligned(
    headers: &[&str],
    rows: Vec<Vec<String>>,
    right: impl Fn(usize) -> bool,
) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(headers);
    for index in (0..headers.len()).filter(|&index| right(index)) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.add_rows(rows);
    table.trim_fmt()
}

/// Joins words into lines, separated by spaces, as long as `fits` returns true for the line. All lines but the first
/// begin with `indent`; a word that does not fit has a line of its own.
pub(crate) fn wrap(
    words: impl IntoIterator<Item = impl AsRef<str>>,
    indent: &str,
    fits: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let word = word.as_ref();
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match (lines.last_mut(), longer) {
            (Some(line), Some(longer)) if fits(&longer) => *line = longer,
            (Some(_), _) => lines.push(format!("{indent}{word}")),
            (None, _) => lines.push(word.to_owned()),
        }
    }
    lines
}
