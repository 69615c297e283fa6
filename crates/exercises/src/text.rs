//! Columns of text in a terminal, where a Chinese character is twice as wide as a letter.

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

fn blanks(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_in_both_languages() {
        assert_eq!(padded_left("得到", 6), "  得到");
        assert_eq!(padded_right("banks", 6), "banks ");
        assert_eq!(padded_right("too long", 3), "too long");
    }
}
