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

/// A text that a terminal shows and does not obey: an escape character is `\x1b`, for one. Ends of lines
/// and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, &['\n', '\t'], written_out)
}

/// A name that is shown in a line: an end of line in it is `\n`.
pub fn in_a_line(name: &str) -> Cow<'_, str> {
    escaped(name, &[], written_out)
}

/// A character as Rust and C write it.
fn written_out(character: char, to: &mut String) {
    match character {
        '\n' | '\r' | '\t' => to.extend(character.escape_default()),
        '\0'..='\x7f' => to.push_str(&format!("\\x{:02x}", u32::from(character))),
        _ => to.extend(character.escape_unicode()),
    }
}

/// The text with each character that a terminal obeys, but for those in `kept`, as `write` has it.
pub fn escaped<'a>(
    text: &'a str,
    kept: &[char],
    mut write: impl FnMut(char, &mut String),
) -> Cow<'a, str> {
    let is_obeyed = |character: char| is_obeyed(character) && !kept.contains(&character);
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_obeyed(character) {
            true => write(character, &mut shown),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Control characters, and those without a width that change the order of others or hide.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
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
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(visible("a\tb\nc ✓ 线"), "a\tb\nc ✓ 线");
        assert_eq!(visible("\x1b[2J\x07\r\0\x7f"), r"\x1b[2J\x07\r\x00\x7f");
        assert_eq!(
            visible("\u{9b}2J\u{202e}\u{200d}"),
            r"\u{9b}2J\u{202e}\u{200d}"
        );
        assert_eq!(in_a_line("a\tb\nc"), r"a\tb\nc");
        assert_eq!(in_a_line("O'Brien \"x\" 线"), "O'Brien \"x\" 线");
    }

    #[test]
    fn columns_line_up_in_both_languages() {
        assert_eq!(padded_left("得到", 6), "  得到");
        assert_eq!(padded_right("banks", 6), "banks ");
        assert_eq!(padded_right("too long", 3), "too long");
    }
}
