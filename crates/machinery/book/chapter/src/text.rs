//! Padding and wrapping of text in a terminal, where a Chinese character takes two columns, and tables in the style of
//! Markdown.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use unicode_width::UnicodeWidthStr;

/// Returns the number of columns of a text.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Pads a text on the left to a width in columns.
pub fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", padding(text, width))
}

/// Pads a text on the right to a width in columns.
pub fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", padding(text, width))
}

fn padding(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

/// Wraps a line to a width in columns; continuation lines have the same indentation.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let indent = &line[..if 2 * indent < width { indent } else { 0 }];
    wrap_with_indent(line, width.max(1), indent)
}

/// Wraps a line to a width in columns; continuation lines start with `indent`. A line breaks at spaces and between Chinese
/// characters, but not before closing or after opening punctuation.
pub fn wrap_with_indent(line: &str, width: usize, indent: &str) -> Vec<String> {
    // Do not break at the space inside a number such as `1 920`.
    let line = join_numbers(line);
    let characters: Vec<char> = line.chars().collect();
    let mut pieces = vec![String::new()];
    let mut unit = String::new();
    for (index, &character) in characters.iter().enumerate() {
        unit.push(character);
        let next = characters.get(index + 1);
        if next.is_some_and(|&next| !is_break(character, next)) {
            continue;
        }
        let last = pieces.len() - 1;
        let piece = &mut pieces[last];
        let has_text = !piece.trim().is_empty();
        if has_text && columns(piece) + columns(unit.trim_end()) > width {
            pieces.push(format!("{indent}{}", unit.trim_start()));
        } else {
            piece.push_str(&unit);
        }
        unit.clear();
    }
    let cut_pieces = pieces
        .into_iter()
        .flat_map(|piece| cut(piece.trim_end(), width));
    cut_pieces
        .map(|piece| piece.replace(NO_BREAK_SPACE, " "))
        .collect()
}

/// Returns true if a line may break between these characters.
fn is_break(before: char, after: char) -> bool {
    let is_chinese = |character: char| ('\u{2e80}'..).contains(&character);
    let closers = "，。：；、）”》？！…";
    let openers = "（“《";
    if after == ' ' || closers.contains(after) || openers.contains(before) {
        return false;
    }
    before == ' ' || is_chinese(before) || is_chinese(after)
}

/// Cuts a piece that is longer than a line but has no place to break.
fn cut(piece: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in piece.chars() {
        let last = pieces.len() - 1;
        if columns(&pieces[last]) + columns(character.encode_utf8(&mut [0; 4])) > width
            && !pieces[last].is_empty()
        {
            pieces.push(String::new());
        }
        let last = pieces.len() - 1;
        pieces[last].push(character);
    }
    pieces
}

/// A space at which lines do not break.
const NO_BREAK_SPACE: char = '\u{a0}';

/// Replaces the spaces between digits, and between a digit and `%`, by [`NO_BREAK_SPACE`].
fn join_numbers(line: &str) -> String {
    let characters: Vec<char> = line.chars().collect();
    let is_digit = |index: usize| characters.get(index).is_some_and(char::is_ascii_digit);
    let continues = |index: usize| is_digit(index) || characters.get(index) == Some(&'%');
    let joined = characters.iter().enumerate().map(|(index, &character)| {
        match character == ' ' && index > 0 && is_digit(index - 1) && continues(index + 1) {
            true => NO_BREAK_SPACE,
            false => character,
        }
    });
    joined.collect()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_between_words_with_their_indentation() {
        assert_eq!(wrapped("  one two three", 9), ["  one two", "  three"]);
        assert_eq!(wrapped("short", 9), ["short"]);
        assert_eq!(wrapped("", 9), [""]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("线程块的大小", 6), ["线程块", "的大小"]);
        assert_eq!(
            wrapped("在这里，就是 `n` 个", 6),
            ["在这", "里，就", "是 `n`", "个"]
        );
        assert_eq!(wrapped("a b", 0), ["a", "b"]);
        assert_eq!(wrapped("all 1 920 of", 8), ["all", "1 920 of"]);
        assert_eq!(wrapped("all 19 % of", 7), ["all", "19 % of"]);
        assert_eq!(wrap_with_indent("one two", 5, "  "), ["one", "  two"]);
    }

    #[test]
    fn columns_align_in_both_languages() {
        assert_eq!(pad_left("得到", 6), "  得到");
        assert_eq!(pad_right("banks", 6), "banks ");
        assert_eq!(pad_right("too long", 3), "too long");
    }
}
