//! Tables, which are Markdown too.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};

/// A cell of a table: a dash where there is nothing to say.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// A table in the style of [`Report::table`]. Columns of numbers are aligned to the right.
pub fn table(headers: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let is_number =
        |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || first == '–');
    let right = |index| rows.iter().filter_map(|row| row.get(index)).all(is_number);
    let right: Vec<bool> = (0..headers.len()).map(right).collect();
    aligned(headers, rows, |index| right[index])
}

/// A table whose columns are aligned to the right where `right` says so of their index.
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
