//! The text of C++ sources and of PTX, as far as repairs need to understand it.

use std::iter;

/// Splits a C++ text into its literals and its other characters, without comments. Returns each with its offset.
pub fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut position = 0;
    iter::from_fn(move || {
        loop {
            let start = position;
            let rest = &text[start..];
            let (len, is_comment) = if rest.starts_with("//") {
                (rest.find('\n').unwrap_or(rest.len()), true)
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let len = comment.find("*/").map(|end| end + "/**/".len());
                (len.unwrap_or(rest.len()), true)
            } else if rest.starts_with(['"', '\'']) {
                (literal_len(rest.as_bytes()), false)
            } else {
                (rest.chars().next()?.len_utf8(), false)
            };
            position += len;
            if !is_comment {
                return Some((start, &rest[..len]));
            }
        }
    })
}

/// Returns the length of the string or character literal with which a text starts. One without an end ends with its line.
fn literal_len(text: &[u8]) -> usize {
    let mut end = 1;
    while let Some(&byte) = text.get(end) {
        end += if byte == b'\\' { 2 } else { 1 };
        if byte == text[0] || byte == b'\n' {
            break;
        }
    }
    end.min(text.len())
}

/// Returns the length of the text up to the bracket that closes one before the text, such as `)` or `>>>`.
pub fn enclosed_len(text: &str, close: &str) -> Option<usize> {
    let (mut depth, mut angles) = (0, 0);
    for (offset, token) in tokens(text) {
        if depth == 0 && angles == 0 && text[offset..].starts_with(close) {
            return Some(offset);
        }
        match token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "<" if close == ">" && depth == 0 => angles += 1,
            ">" if close == ">" && depth == 0 => angles -= 1,
            _ => {}
        }
    }
    None
}

/// Returns true if an identifier may contain this character.
pub fn is_identifier_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of the identifier with which a text starts.
pub fn identifier_len(text: &str) -> usize {
    text.find(|c| !is_identifier_part(c)).unwrap_or(text.len())
}

/// Returns true if a name in PTX may contain this character.
pub fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// Returns the name in a declaration such as `.align 4 .b8 NAME[16] = {1, 2};`.
pub fn variable_name(declaration: &str) -> &str {
    let end = declaration
        .find(['[', '=', ';'])
        .unwrap_or(declaration.len());
    let words = declaration[..end].split_whitespace();
    words.last().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_skipped_and_literals_kept_whole() {
        let text = "a/*/ ) */(\"\\\")\" // )\n'('é";
        let parts: Vec<&str> = tokens(text).map(|(_, token)| token).collect();
        assert_eq!(parts, ["a", "(", "\"\\\")\"", " ", "\n", "'('", "é"]);
        let unterminated = "\"(\n)/* (";
        let parts: Vec<(usize, &str)> = tokens(unterminated).collect();
        assert_eq!(parts, [(0, "\"(\n"), (3, ")")]);
    }

    #[test]
    fn a_bracket_is_closed_outside_of_inner_brackets() {
        for (text, close, expected) in [
            (
                "f(\")\", ')') /* ) */ + 1) + 2)",
                ")",
                "f(\")\", ')') /* ) */ + 1",
            ),
            ("A<B<int>>, (1 > 0)>(2)", ">", "A<B<int>>, (1 > 0)"),
            ("f(a >>> b), 1>>>(p)", ">>>", "f(a >>> b), 1"),
        ] {
            let len = enclosed_len(text, close);
            assert_eq!(len.map(|len| &text[..len]), Some(expected));
        }
        assert_eq!(enclosed_len("f(1", ")"), None);
    }
}
