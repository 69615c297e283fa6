//! The text of an answer in pieces, as a compiler cuts it before it obeys lines with `#`: just finely enough
//! to see which lines those are and what stands in them.
//!
//! What compilers read in different ways, or in ways that surprise people, is refused, so that there is one
//! way to read the rest.

use std::borrow::Cow;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// What it is.
    pub kind: Kind,
    /// As it is written, of a string what is between the quotes; without backslashes that join lines.
    pub text: Cow<'t, str>,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// Whether nothing but blanks and comments stands before it in its line.
    pub first: bool,
}

/// What a piece of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a number.
    Word,
    /// A string.
    Text,
    /// A character between single quotes.
    Character,
    /// `#`
    Hash,
    /// Any other character.
    Symbol,
    /// The end of a line that does not go on.
    End,
}

/// The first place of a text that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odd {
    /// The line, from 1.
    pub line: usize,
    /// What is there.
    pub what: What,
}

/// What is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A character that no editor shows: it may end a line for one reader and not for another.
    Control(char),
    /// A character beyond ASCII that is no letter, outside of comments and strings.
    Foreign(char),
    /// `??/` and its like, which stand for other characters.
    Trigraph,
    /// A raw string, `R"(…)"`.
    Raw,
    /// A backslash that neither ends its line nor is in a string, or that is within the end of a comment.
    Backslash,
}

/// Cuts a text into pieces.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, Odd> {
    let mut reader = Reader {
        text,
        at: 0,
        line: 1,
        first: true,
        tokens: Vec::new(),
    };
    plain(text)?;
    while let Some(character) = reader.peek() {
        reader.piece(character)?;
    }
    reader.push(Kind::End, text.len(), text.len(), reader.line);
    Ok(reader.tokens)
}

/// Whether there are no control characters and no trigraphs, in comments and strings neither.
fn plain(text: &str) -> Result<(), Odd> {
    let mut line = 1;
    for (at, character) in text.char_indices() {
        let rest = &text.as_bytes()[at..];
        let what = match (character, rest) {
            ('\n', _) => {
                line += 1;
                continue;
            }
            ('\t', _) | ('\r', [_, b'\n', ..]) => continue,
            ('?', [_, b'?', third, ..]) if b"=/'()!<>-".contains(third) => What::Trigraph,
            _ if character.is_control() => What::Control(character),
            _ => continue,
        };
        return Err(Odd { line, what });
    }
    Ok(())
}

struct Reader<'t> {
    text: &'t str,
    /// The next byte.
    at: usize,
    line: usize,
    first: bool,
    tokens: Vec<Token<'t>>,
}

impl<'t> Reader<'t> {
    /// The next character, behind backslashes that join lines.
    fn peek(&mut self) -> Option<char> {
        while let Some(length) = joined(&self.text[self.at..]) {
            self.at += length;
            self.line += 1;
        }
        self.text[self.at..].chars().next()
    }

    /// Goes behind this character, which is the next one.
    fn skip(&mut self, character: char) {
        self.at += character.len_utf8();
        self.line += usize::from(character == '\n');
    }

    /// Goes on while the next character is of these.
    fn skip_while(&mut self, is_one: impl Fn(char) -> bool) {
        while let Some(character) = self.peek().filter(|&next| is_one(next)) {
            self.skip(character);
        }
    }

    fn push(&mut self, kind: Kind, from: usize, to: usize, line: usize) {
        let token = Token {
            kind,
            text: without_joints(&self.text[from..to]),
            line,
            first: self.first,
        };
        self.first = false;
        self.tokens.push(token);
    }

    fn odd<T>(&self, what: What) -> Result<T, Odd> {
        let line = self.line;
        Err(Odd { line, what })
    }

    /// Reads what begins with this character.
    fn piece(&mut self, character: char) -> Result<(), Odd> {
        let (from, line) = (self.at, self.line);
        match character {
            '"' | '\'' => return self.quoted(character),
            '\\' => return self.odd(What::Backslash),
            ' ' | '\t' | '\r' => {
                self.skip(character);
                return Ok(());
            }
            '\n' => {
                self.push(Kind::End, from, from, line);
                self.skip(character);
                self.first = true;
                return Ok(());
            }
            _ => {}
        }
        let kind = match character {
            '0'..='9' => {
                self.number()?;
                Kind::Word
            }
            _ if is_in_word(character) => {
                self.skip_while(is_in_word);
                Kind::Word
            }
            _ if !character.is_ascii() => return self.odd(What::Foreign(character)),
            _ => {
                self.skip(character);
                match (character, self.peek()) {
                    ('/', Some('/')) => {
                        self.skip_while(|next| next != '\n');
                        return Ok(());
                    }
                    ('/', Some('*')) => return self.comment(line),
                    ('%', Some(':')) => {
                        self.skip(':');
                        Kind::Hash
                    }
                    ('#', _) => Kind::Hash,
                    _ => Kind::Symbol,
                }
            }
        };
        self.push(kind, from, self.at, line);
        Ok(())
    }

    /// The rest of a comment, from its `*` on.
    fn comment(&mut self, begun: usize) -> Result<(), Odd> {
        self.skip('*');
        let mut last = (' ', self.at);
        while let Some(character) = self.peek() {
            let ends = (last.0, character) == ('*', '/');
            if ends && self.at != last.1 {
                // Not every compiler takes this for the end.
                return self.odd(What::Backslash);
            }
            self.skip(character);
            if ends {
                break;
            }
            last = (character, self.at);
        }
        // Whether the line begins anew behind it is left open: what is refused there is refused here.
        self.first |= self.line > begun;
        Ok(())
    }

    /// A string or a character; it ends with its line at the latest.
    fn quoted(&mut self, quote: char) -> Result<(), Odd> {
        let before = self.tokens.last();
        if before.is_some_and(|before| ["R", "LR", "uR", "UR", "u8R"].contains(&&*before.text)) {
            return self.odd(What::Raw);
        }
        let line = self.line;
        self.skip(quote);
        let from = self.at;
        let mut to = from;
        while let Some(character) = self.peek().filter(|&next| next != '\n') {
            to = self.at;
            self.skip(character);
            if character == quote {
                break;
            }
            if character == '\\'
                && let Some(escaped) = self.peek()
            {
                self.skip(escaped);
            }
            to = self.at;
        }
        let kind = if quote == '"' {
            Kind::Text
        } else {
            Kind::Character
        };
        self.push(kind, from, to, line);
        Ok(())
    }

    /// A number, which may have `'` between its digits.
    fn number(&mut self) -> Result<(), Odd> {
        let is_digit = |next: char| next.is_ascii_alphanumeric() || next == '_';
        loop {
            self.skip_while(|next| is_digit(next) || next == '.');
            match self.peek() {
                Some('\'') if is_digit(behind(&self.text[self.at + 1..])) => self.skip('\''),
                Some(next) if !next.is_ascii() => return self.odd(What::Foreign(next)),
                _ => return Ok(()),
            }
        }
    }
}

/// How long the backslash is, with the end of its line, that a text begins with.
fn joined(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\\')?;
    let rest = rest
        .trim_start_matches([' ', '\t', '\r'])
        .strip_prefix('\n')?;
    Some(text.len() - rest.len())
}

/// The first character behind backslashes that join lines; a blank where there is none.
fn behind(mut text: &str) -> char {
    while let Some(length) = joined(text) {
        text = &text[length..];
    }
    text.chars().next().unwrap_or(' ')
}

/// The text as if its lines had been joined.
fn without_joints(text: &str) -> Cow<'_, str> {
    let starts = text.match_indices('\\');
    let joints: Vec<_> = starts
        .filter_map(|(at, _)| Some((at, joined(&text[at..])?)))
        .collect();
    let mut whole = Cow::Borrowed(text);
    for (at, length) in joints.into_iter().rev() {
        whole.to_mut().replace_range(at..at + length, "");
    }
    whole
}

fn is_in_word(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces in short: `#` for a hash at the beginning of a line, `;` for an end.
    fn read(text: &str) -> Vec<String> {
        let tokens = tokens(text).expect("it is read");
        let short = |token: Token| match token.kind {
            Kind::Hash if token.first => "#".to_owned(),
            Kind::Hash => "in-line #".to_owned(),
            Kind::End => ";".to_owned(),
            Kind::Text => format!("\"{}\"", token.text),
            Kind::Character => format!("'{}'", token.text),
            Kind::Word | Kind::Symbol => token.text.into_owned(),
        };
        tokens.into_iter().map(short).collect()
    }

    #[test]
    fn lines_with_a_hash_are_found_behind_blanks_comments_and_joints() {
        let expected = ["#", "include", "\"x\"", ";"];
        for text in [
            "#include \"x\"",
            "  %:\tinclude\"x\"",
            "/* a */ # /* b\nc */ include \"x\" // d \\\n e",
            "#/\\\n* a *//**/include \"x\"",
            "#inc\\\nlu\\ \t\r\n\\\nde \"x\"",
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(read("a /*\n*/ #b"), ["a", "#", "b", ";"]);
        assert_eq!(read("a # b"), ["a", "in-line #", "b", ";"]);
    }

    #[test]
    fn what_only_looks_like_one_is_a_comment_a_string_or_a_character() {
        assert_eq!(read("// #x\n/* #y\n#z */"), [";", ";"]);
        assert_eq!(
            read("\"#x\\\"y\" '\\'' '\"'"),
            ["\"#x\\\"y\"", "'\\''", "'\"'", ";"]
        );
        assert_eq!(read("\"/*\"\n#x"), ["\"/*\"", ";", "#", "x", ";"]);
        // Neither goes beyond its line.
        assert_eq!(read("don't\n#x"), ["don", "'t'", ";", "#", "x", ";"]);
        assert_eq!(read("1'000'0 /* ' */"), ["1'000'0", ";"]);
        assert_eq!(read("1'\\\n0 /* ' */"), ["1'0", ";"]);
        assert_eq!(read("1' /* '\n#x"), ["1", "' /* '", ";", "#", "x", ";"]);
        assert_eq!(
            read("变量 = \"（）\" // ；"),
            ["变量", "=", "\"（）\"", ";"]
        );
    }

    #[test]
    fn lines_are_counted_through_comments_and_joints() {
        let tokens = tokens("/*\n*/ a\\\n\\\nb\r\n\"c\\\nd\" e").expect("it is read");
        let lines: Vec<_> = tokens
            .iter()
            .map(|token| (&*token.text, token.line))
            .collect();
        assert_eq!(lines, [("ab", 2), ("", 4), ("cd", 5), ("e", 6), ("", 6)]);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_not_read() {
        for (text, line, what) in [
            ("a\n#\0include", 2, What::Control('\0')),
            ("// \r#include", 1, What::Control('\r')),
            ("#\u{b}include", 1, What::Control('\u{b}')),
            ("\"\u{c}\"", 1, What::Control('\u{c}')),
            ("// \x1b[2J", 1, What::Control('\x1b')),
            ("/*\n\u{85} */", 2, What::Control('\u{85}')),
            ("\n//??/\n#", 2, What::Trigraph),
            ("??=include", 1, What::Trigraph),
            ("\n\nR\"(\n#\n)\"", 3, What::Raw),
            ("u8R\\\n\"(#)\"", 2, What::Raw),
            ("#\\u0069nclude", 1, What::Backslash),
            ("/* *\\\n/ // */", 2, What::Backslash),
            ("\u{3000}#include", 1, What::Foreign('\u{3000}')),
            ("1²'a /* '", 1, What::Foreign('²')),
            ("int x；", 1, What::Foreign('；')),
        ] {
            assert_eq!(tokens(text), Err(Odd { line, what }), "{text:?}");
        }
    }
}
