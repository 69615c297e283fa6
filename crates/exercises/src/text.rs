//! Columns of text in a terminal, where a Chinese character is twice as wide as a letter.

use std::borrow::Cow;

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
    filled(line, width.max(1), indent)
}

/// A line in pieces, those behind the first with these blanks before them. A line is broken at blanks, and between
/// Chinese characters but before a mark that ends something and behind one that begins something.
fn filled(line: &str, width: usize, indent: &str) -> Vec<String> {
    // The blank in a number, `1 920`, is no place to break.
    let line = held_together(line);
    let characters: Vec<char> = line.chars().collect();
    let mut pieces = vec![String::new()];
    let mut unit = String::new();
    for (at, &character) in characters.iter().enumerate() {
        unit.push(character);
        let next = characters.get(at + 1);
        if next.is_some_and(|&next| !is_break(character, next)) {
            continue;
        }
        let last = pieces.len() - 1;
        let piece = &mut pieces[last];
        let begun = !piece.trim().is_empty();
        if begun && columns(piece) + columns(unit.trim_end()) > width {
            pieces.push(format!("{indent}{}", unit.trim_start()));
        } else {
            piece.push_str(&unit);
        }
        unit.clear();
    }
    let whole = pieces
        .into_iter()
        .flat_map(|piece| cut_up(piece.trim_end(), width));
    whole.map(|piece| piece.replace(HELD, " ")).collect()
}

/// Whether a line may be broken between these characters.
fn is_break(before: char, after: char) -> bool {
    let is_chinese = |it: char| ('\u{2e80}'..).contains(&it);
    let ends = "，。：；、）”》？！…";
    let begins = "（“《";
    if after == ' ' || ends.contains(after) || begins.contains(before) {
        return false;
    }
    before == ' ' || is_chinese(before) || is_chinese(after)
}

/// A piece without a place to break it, which is longer than a line, in several.
fn cut_up(piece: &str, width: usize) -> Vec<String> {
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

/// A blank that is no place to break a line.
const HELD: char = '\u{a0}';

/// With the blanks between digits held.
fn held_together(line: &str) -> String {
    let characters: Vec<char> = line.chars().collect();
    let is_digit = |at: usize| characters.get(at).is_some_and(char::is_ascii_digit);
    let held = characters.iter().enumerate().map(|(at, &character)| {
        match character == ' ' && at > 0 && is_digit(at - 1) && is_digit(at + 1) {
            true => HELD,
            false => character,
        }
    });
    held.collect()
}

/// Prose in Markdown as it is read: lines of one paragraph or one point are joined, and wrapped anew.
pub fn prose(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let begins = line.is_empty()
            || line.starts_with(['#', '|'])
            || line.starts_with("- ")
            || line.starts_with("```")
            || line.starts_with("    ");
        match lines.last_mut() {
            Some(last) if !begins && !last.is_empty() && !last.starts_with('#') => {
                let line = line.trim_start();
                let ends = last.chars().next_back().is_some_and(|it| it.is_ascii());
                let starts = line.chars().next().is_some_and(|it| it.is_ascii());
                // Between two Chinese characters there is no blank.
                if ends || starts {
                    last.push(' ');
                }
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    let fit = |line: &String| {
        let indent = if line.starts_with("- ") { "  " } else { "" };
        filled(line, width, indent).join("\n")
    };
    lines.iter().map(fit).collect::<Vec<_>>().join("\n")
}

/// Lines that are wrapped at so many columns. One with code in it, `   7 | x = 0;`, goes on behind its own bar.
pub fn fitted(text: &str, width: usize) -> String {
    let fit = |line: &str| {
        if columns(line) <= width {
            return line.to_owned();
        }
        match code(line) {
            Some((number, code)) => behind_bar(number, code, width),
            None => wrapped(line, width).join("\n"),
        }
    };
    text.lines().map(fit).collect::<Vec<_>>().join("\n")
}

/// The number and the text of a line of a program, if it is one.
fn code(line: &str) -> Option<(&str, &str)> {
    let (number, code) = line.split_once(" | ")?;
    let is_number = number.trim().chars().all(|digit| digit.is_ascii_digit());
    is_number.then_some((number, code))
}

/// Code in pieces, the first behind the line's number.
fn behind_bar(number: &str, code: &str, width: usize) -> String {
    let blank = " ".repeat(columns(number));
    let indent = code.len() - code.trim_start_matches(' ').len();
    let mut lines = Vec::new();
    let mut line = format!("{number} | ");
    for character in code.chars() {
        if columns(&line) + columns(character.encode_utf8(&mut [0; 4])) > width {
            lines.push(line);
            line = format!("{blank} | {}", " ".repeat(indent.min(width / 4) + 4));
        }
        line.push(character);
    }
    lines.push(line);
    lines.join("\n")
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
        assert_eq!(
            wrapped("在这里，就是 `n` 个", 6),
            ["在这", "里，就", "是 `n`", "个"]
        );
        assert_eq!(wrapped("a b", 0), ["a", "b"]);
        assert_eq!(wrapped("all 1 920 of", 8), ["all", "1 920 of"]);
    }

    #[test]
    fn prose_is_joined_and_wrapped_anew() {
        let text = "# Title\n\none two\n`three` four\n\n- **a:** five\n  six\n- 七八\n  九\n";
        let read = "# Title\n\none two\n`three` four\n\n- **a:** five\n  six\n- 七八九";
        assert_eq!(prose(text, 13), read);
    }

    #[test]
    fn words_are_wrapped_and_code_goes_on_behind_its_bar() {
        let text = "one two three\n  7 | x = yyyy;\n    | ^~~~~~~~~~~\n";
        let fit =
            "one two three\n  7 | x = yyy\n    |     y;\n    | ^~~~~~~\n    |     ~~~\n    |     ~";
        assert_eq!(fitted(text, 13), fit);
        assert_eq!(fitted(text, 80), text.trim_end());
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
