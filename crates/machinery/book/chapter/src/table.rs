//! Tables in the style of Markdown.

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
