//! Columns of text in a terminal, where a Chinese character is twice as wide as a letter.

use std::borrow::Cow;

use textwrap::Options;
use unicode_width::UnicodeWidthStr;

/// Columns that a text takes.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// With blanks before it, so that it takes so many columns.
pub fn padded_left(text: &str, width: usize) -> String {
    format!("{}{text}", blanks(text, width))
}

/// With blanks after it.
pub fn padded_right(text: &str, width: usize) -> String {
    format!("{text}{}", blanks(text, width))
}

/// A line in pieces of at most so many columns. Blanks that it begins with are those of its other pieces
/// as well.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let indent = &line[..if 2 * indent < width { indent } else { 0 }];
    let options = Options::new(width.max(1)).subsequent_indent(indent);
    let pieces = textwrap::wrap(line, options).into_iter();
    pieces.map(Cow::into_owned).collect()
}

fn blanks(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_between_words_and_keep_their_blanks() {
        assert_eq!(wrapped("  one two three", 9), ["  one two", "  three"]);
        assert_eq!(wrapped("short", 9), ["short"]);
        assert_eq!(wrapped("", 9), [""]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("线程块的大小", 6), ["线程块", "的大小"]);
        assert_eq!(wrapped("a b", 0), ["a", "b"]);
    }

    #[test]
    fn columns_line_up_in_both_languages() {
        assert_eq!(padded_left("得到", 6), "  得到");
        assert_eq!(padded_right("banks", 6), "banks ");
        assert_eq!(padded_right("too long", 3), "too long");
    }
}
