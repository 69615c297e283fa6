//! Layout of text in a terminal, where a Chinese character takes two columns, and links in Markdown, which
//! terminals show as text.

use std::borrow::Cow;

use chapter::lang::Lang;
use chapter::text::wrap_with_indent;
pub use chapter::text::{columns, pad_left, pad_right, wrapped};

/// The width of reports in columns.
pub const WIDTH: usize = 80;

/// Reflows Markdown: joins the lines of each paragraph or list item and wraps them.
pub fn reflow(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let starts_block = line.is_empty()
            || line.starts_with(['#', '|'])
            || line.starts_with("- ")
            || line.starts_with("```")
            || line.starts_with("    ");
        match lines.last_mut() {
            Some(last) if !starts_block && !last.is_empty() && !last.starts_with('#') => {
                let line = line.trim_start();
                let neighbours = [last.chars().next_back(), line.chars().next()];
                // There is no space between two Chinese characters.
                if neighbours.iter().flatten().any(char::is_ascii) {
                    last.push(' ');
                }
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    let wrap = |line: &String| {
        let indent = if line.starts_with("- ") { "  " } else { "" };
        wrap_with_indent(line, width, indent).join("\n")
    };
    lines.iter().map(wrap).collect::<Vec<_>>().join("\n")
}

/// Wraps lines that are too long. A code line such as `   7 | x = 0;` continues behind its own bar.
pub fn fit(text: &str, width: usize) -> String {
    let fit_line = |line: &str| {
        if columns(line) <= width {
            return line.to_owned();
        }
        match code(line) {
            Some((number, code)) => wrap_code(number, code, width),
            None => wrapped(line, width).join("\n"),
        }
    };
    text.lines().map(fit_line).collect::<Vec<_>>().join("\n")
}

/// Splits a numbered code line into its number and its code; `None` for other lines.
fn code(line: &str) -> Option<(&str, &str)> {
    let (number, code) = line.split_once(" | ")?;
    let is_number = number.trim().chars().all(|digit| digit.is_ascii_digit());
    is_number.then_some((number, code))
}

/// Wraps a code line; continuation lines start with a bar.
fn wrap_code(number: &str, code: &str, width: usize) -> String {
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

/// Replaces each Markdown link by its words followed by its target in parentheses. Paths are resolved
/// relative to `folder`, and fragments are dropped, because terminals open whole files.
pub fn spell_out_links(markdown: &str, folder: &str, lang: Lang) -> String {
    let [open, close] = lang.pick([" (", ")"], ["（", "）"]);
    let mut output = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(link) = first_link(rest) {
        let address = address(link.target, folder);
        output += &format!("{}{}{open}{address}{close}", link.before, link.words);
        rest = link.after;
    }
    output + rest
}

/// A link and the text around it.
struct Link<'a> {
    before: &'a str,
    words: &'a str,
    target: &'a str,
    after: &'a str,
}

fn first_link(text: &str) -> Option<Link<'_>> {
    text.match_indices("](").find_map(|(middle, _)| {
        let (before, words) = text[..middle].rsplit_once('[')?;
        let (target, after) = text[middle + 2..].split_once(')')?;
        // `a[i](b)` in backticks is code, not a link.
        let is_code = before.matches('`').count() % 2 == 1;
        let is_link = !is_code && !target.is_empty() && !target.contains(char::is_whitespace);
        is_link.then_some(Link {
            before,
            words,
            target,
            after,
        })
    })
}

fn address(target: &str, folder: &str) -> String {
    if target.contains("://") {
        return target.to_owned();
    }
    let file = target.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in file.split('/') {
        match (part, parts.last()) {
            ("..", Some(&last)) if last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Escapes the characters that control a terminal, for example an escape character as `\x1b`. Line breaks and
/// tabs are preserved.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, &['\n', '\t'], write_escape)
}

/// Escapes a name for use within a line: a line break becomes `\n`.
pub fn in_a_line(name: &str) -> Cow<'_, str> {
    escaped(name, &[], write_escape)
}

/// Writes a character as an escape sequence of Rust or C.
fn write_escape(character: char, to: &mut String) {
    match character {
        '\n' | '\r' | '\t' => to.extend(character.escape_default()),
        '\0'..='\x7f' => to.push_str(&format!("\\x{:02x}", u32::from(character))),
        _ => to.extend(character.escape_unicode()),
    }
}

/// Replaces each character that controls a terminal, except those in `allowed`, by what `write` produces.
pub fn escaped<'a>(
    text: &'a str,
    allowed: &[char],
    mut write: impl FnMut(char, &mut String),
) -> Cow<'a, str> {
    let is_control = |character: char| is_control(character) && !allowed.contains(&character);
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut output = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_control(character) {
            true => write(character, &mut output),
            false => output.push(character),
        }
    }
    Cow::Owned(output)
}

/// Returns true for control characters, and for zero-width characters that reorder or hide others.
fn is_control(character: char) -> bool {
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

/// Formats a size: `31`, `64 × 48`.
pub fn format_size(size: &[u32]) -> String {
    let numbers: Vec<String> = size.iter().map(u32::to_string).collect();
    numbers.join(" × ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_reflowed() {
        let text = "# Title\n\none two\n`three` four\n\n- **a:** five\n  six\n- 七八\n  九\n";
        let expected = "# Title\n\none two\n`three` four\n\n- **a:** five\n  six\n- 七八九";
        assert_eq!(reflow(text, 13), expected);
    }

    #[test]
    fn code_is_wrapped_behind_its_bar() {
        let text = "one two three\n  7 | x = yyyy;\n    | ^~~~~~~~~~~\n";
        let expected =
            "one two three\n  7 | x = yyy\n    |     y;\n    | ^~~~~~~\n    |     ~~~\n    |     ~";
        assert_eq!(fit(text, 13), expected);
        assert_eq!(fit(text, 80), text.trim_end());
    }

    #[test]
    fn control_characters_are_escaped() {
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
    fn links_are_spelled_out_as_words_and_target() {
        let here = "kernels/exercises/01-first-thread";
        let spelled_out = |text: &str, lang| spell_out_links(text, here, lang);
        assert_eq!(
            spelled_out(
                "See [`a`](../../../docs/a.md) and [the\nnote](../../../docs/n.md#one).",
                Lang::En
            ),
            "See `a` (docs/a.md) and the\nnote (docs/n.md)."
        );
        assert_eq!(
            spelled_out("见[笔记](../../../docs/n.md#一-二)。", Lang::Zh),
            "见笔记（docs/n.md）。"
        );
        assert_eq!(
            spelled_out("[CUDA](https://example.com/a#b)", Lang::En),
            "CUDA (https://example.com/a#b)"
        );
        assert_eq!(
            spell_out_links("[x](../../y.md)", "../course", Lang::En),
            "x (../../y.md)"
        );
    }

    #[test]
    fn lookalikes_of_links_are_unchanged() {
        for text in [
            "`out[x](y)` and `a[i]`",
            "in [x] (y)",
            "[x](y z)",
            "[x](",
            "](y)",
        ] {
            assert_eq!(spell_out_links(text, "a", Lang::En), text);
        }
    }
}
