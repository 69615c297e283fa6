//! A tokenizer for submissions that mimics a compiler's preprocessor just closely enough to find directives
//! and their operands; and the declarations of variables that the host cannot find by their names in the source.
//!
//! Constructs that compilers read differently, or in surprising ways, are rejected, so that there is only one
//! way to read the rest.

use std::borrow::Cow;

/// A token of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// The kind of token.
    pub kind: Kind,
    /// The token's text, without line continuations; for a string, the text between the quotes.
    pub text: Cow<'t, str>,
    /// The line in which it begins, from 1.
    pub line: usize,
    /// True if only whitespace and comments precede it in its line.
    pub first: bool,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a number.
    Word,
    /// A string.
    Text,
    /// A character literal.
    Character,
    /// `#`
    Hash,
    /// Any other character.
    Symbol,
    /// The end of a line that is not continued.
    End,
}

/// The first construct that is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The line, from 1.
    pub line: usize,
    /// The construct.
    pub construct: Construct,
}

/// A construct that is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// A control character, which editors do not show and which only some readers take for the end of a line.
    Control(char),
    /// A non-ASCII character that is not a letter, outside comments and strings.
    Foreign(char),
    /// A trigraph such as `??/`, which stands for another character.
    Trigraph,
    /// A raw string, `R"(…)"`.
    Raw,
    /// A backslash that neither ends its line nor is in a string, or that splits the end of a comment.
    Backslash,
}

/// Splits a text into tokens.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, Rejected> {
    let mut reader = Reader {
        text,
        at: 0,
        line: 1,
        first: true,
        tokens: Vec::new(),
    };
    check_characters(text)?;
    while let Some(character) = reader.peek() {
        reader.read_token(character)?;
    }
    reader.push(Kind::End, text.len(), text.len(), reader.line);
    Ok(reader.tokens)
}

/// Rejects control characters and trigraphs, including those in comments and strings.
fn check_characters(text: &str) -> Result<(), Rejected> {
    let mut line = 1;
    for (at, character) in text.char_indices() {
        let rest = &text.as_bytes()[at..];
        let construct = match (character, rest) {
            ('\n', _) => {
                line += 1;
                continue;
            }
            ('\t', _) | ('\r', [_, b'\n', ..]) => continue,
            ('?', [_, b'?', third, ..]) if b"=/'()!<>-".contains(third) => Construct::Trigraph,
            _ if character.is_control() => Construct::Control(character),
            _ => continue,
        };
        return Err(Rejected { line, construct });
    }
    Ok(())
}

struct Reader<'t> {
    text: &'t str,
    /// The offset of the next byte.
    at: usize,
    line: usize,
    first: bool,
    tokens: Vec<Token<'t>>,
}

impl<'t> Reader<'t> {
    /// Returns the next character after line continuations.
    fn peek(&mut self) -> Option<char> {
        while let Some(length) = continuation_length(&self.text[self.at..]) {
            self.at += length;
            self.line += 1;
        }
        self.text[self.at..].chars().next()
    }

    /// Consumes this character, which must be the next one.
    fn skip(&mut self, character: char) {
        self.at += character.len_utf8();
        self.line += usize::from(character == '\n');
    }

    /// Consumes characters while they satisfy the predicate.
    fn skip_while(&mut self, predicate: impl Fn(char) -> bool) {
        while let Some(character) = self.peek().filter(|&next| predicate(next)) {
            self.skip(character);
        }
    }

    fn push(&mut self, kind: Kind, from: usize, to: usize, line: usize) {
        let token = Token {
            kind,
            text: join_lines(&self.text[from..to]),
            line,
            first: self.first,
        };
        self.first = false;
        self.tokens.push(token);
    }

    fn reject<T>(&self, construct: Construct) -> Result<T, Rejected> {
        let line = self.line;
        Err(Rejected { line, construct })
    }

    /// Reads the token, or skips the whitespace or comment, that starts with this character.
    fn read_token(&mut self, character: char) -> Result<(), Rejected> {
        let (from, line) = (self.at, self.line);
        match character {
            '"' | '\'' => return self.quoted(character),
            '\\' => return self.reject(Construct::Backslash),
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
            _ if !character.is_ascii() => return self.reject(Construct::Foreign(character)),
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

    /// Skips the rest of a block comment, from its `*` on.
    fn comment(&mut self, start_line: usize) -> Result<(), Rejected> {
        self.skip('*');
        let mut last = (' ', self.at);
        while let Some(character) = self.peek() {
            let ends = (last.0, character) == ('*', '/');
            if ends && self.at != last.1 {
                // Not every compiler takes this for the end of the comment.
                return self.reject(Construct::Backslash);
            }
            self.skip(character);
            if ends {
                break;
            }
            last = (character, self.at);
        }
        // Compilers may differ on whether a new line starts after the comment, so assume that one does.
        self.first |= self.line > start_line;
        Ok(())
    }

    /// Reads a string or character literal, which ends at the end of its line at the latest.
    fn quoted(&mut self, quote: char) -> Result<(), Rejected> {
        let before = self.tokens.last();
        if before.is_some_and(|before| ["R", "LR", "uR", "UR", "u8R"].contains(&&*before.text)) {
            return self.reject(Construct::Raw);
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

    /// Reads a number, which may contain `'` between digits.
    fn number(&mut self) -> Result<(), Rejected> {
        let is_digit = |next: char| next.is_ascii_alphanumeric() || next == '_';
        loop {
            self.skip_while(|next| is_digit(next) || next == '.');
            match self.peek() {
                Some('\'') if is_digit(char_after_continuations(&self.text[self.at + 1..])) => {
                    self.skip('\'')
                }
                Some(next) if !next.is_ascii() => return self.reject(Construct::Foreign(next)),
                _ => return Ok(()),
            }
        }
    }
}

/// Returns the length of the line continuation at the start of a text, if there is one.
fn continuation_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\\')?;
    let rest = rest
        .trim_start_matches([' ', '\t', '\r'])
        .strip_prefix('\n')?;
    Some(text.len() - rest.len())
}

/// Returns the first character after line continuations; a space if there is none.
fn char_after_continuations(mut text: &str) -> char {
    while let Some(length) = continuation_length(text) {
        text = &text[length..];
    }
    text.chars().next().unwrap_or(' ')
}

/// Removes the line continuations from a text.
fn join_lines(text: &str) -> Cow<'_, str> {
    let starts = text.match_indices('\\');
    let continuations: Vec<_> = starts
        .filter_map(|(at, _)| Some((at, continuation_length(&text[at..])?)))
        .collect();
    let mut joined = Cow::Borrowed(text);
    for (at, length) in continuations.into_iter().rev() {
        joined.to_mut().replace_range(at..at + length, "");
    }
    joined
}

fn is_in_word(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphanumeric()
}

/// The reason why the host cannot find a variable that a submission declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// A word of its declaration that gives it internal linkage.
    Word(&'static str),
    /// The declaration is in a namespace.
    Namespace,
}

/// The words that declare variables in device memory.
const SPACES: [&str; 3] = ["__constant__", "__device__", "__managed__"];

/// The words that give a variable internal linkage. In C++ constants have it too.
const INTERNAL: [&str; 3] = ["static", "constexpr", "const"];

/// Returns the reason why the host cannot find a variable, from its declaration; `None` if it is not declared, or in a
/// way that does not hide it.
pub fn hidden_variable(text: &str, name: &str) -> Option<Hidden> {
    let tokens = tokens(text).ok()?;
    // The words of the declaration, and for each open brace whether it is that of a namespace.
    let mut words: Vec<&str> = Vec::new();
    let mut scopes: Vec<bool> = Vec::new();
    for token in &tokens {
        match (token.kind, &*token.text) {
            (Kind::Symbol, "{") => scopes.push(words.contains(&"namespace")),
            (Kind::Symbol, "}") => _ = scopes.pop(),
            // The words before a function's parameters do not belong to these.
            (Kind::Symbol, ";" | "(") => {}
            (Kind::Word, word) if word == name && SPACES.iter().any(|it| words.contains(it)) => {
                let internal = INTERNAL.into_iter().find(|word| words.contains(word));
                return match scopes.contains(&true) {
                    true => Some(Hidden::Namespace),
                    false => internal.map(Hidden::Word),
                };
            }
            (Kind::Word, word) => {
                words.push(word);
                continue;
            }
            _ => continue,
        }
        words.clear();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats tokens in short: `#` for a hash at the start of a line, `;` for the end of a line.
    fn read(text: &str) -> Vec<String> {
        let tokens = tokens(text).expect("valid tokens");
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
    fn directives_are_found_after_whitespace_comments_and_continuations() {
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
    fn lookalikes_are_comments_strings_or_characters() {
        assert_eq!(read("// #x\n/* #y\n#z */"), [";", ";"]);
        assert_eq!(
            read("\"#x\\\"y\" '\\'' '\"'"),
            ["\"#x\\\"y\"", "'\\''", "'\"'", ";"]
        );
        assert_eq!(read("\"/*\"\n#x"), ["\"/*\"", ";", "#", "x", ";"]);
        // Neither literal extends beyond its line.
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
    fn lines_are_counted_through_comments_and_continuations() {
        let tokens = tokens("/*\n*/ a\\\n\\\nb\r\n\"c\\\nd\" e").expect("valid tokens");
        let lines: Vec<_> = tokens
            .iter()
            .map(|token| (&*token.text, token.line))
            .collect();
        assert_eq!(lines, [("ab", 2), ("", 4), ("cd", 5), ("e", 6), ("", 6)]);
    }

    #[test]
    fn ambiguous_constructs_are_rejected() {
        for (text, line, construct) in [
            ("a\n#\0include", 2, Construct::Control('\0')),
            ("// \r#include", 1, Construct::Control('\r')),
            ("#\u{b}include", 1, Construct::Control('\u{b}')),
            ("\"\u{c}\"", 1, Construct::Control('\u{c}')),
            ("// \x1b[2J", 1, Construct::Control('\x1b')),
            ("/*\n\u{85} */", 2, Construct::Control('\u{85}')),
            ("\n//??/\n#", 2, Construct::Trigraph),
            ("??=include", 1, Construct::Trigraph),
            ("\n\nR\"(\n#\n)\"", 3, Construct::Raw),
            ("u8R\\\n\"(#)\"", 2, Construct::Raw),
            ("#\\u0069nclude", 1, Construct::Backslash),
            ("/* *\\\n/ // */", 2, Construct::Backslash),
            ("\u{3000}#include", 1, Construct::Foreign('\u{3000}')),
            ("1²'a /* '", 1, Construct::Foreign('²')),
            ("int x；", 1, Construct::Foreign('；')),
        ] {
            assert_eq!(tokens(text), Err(Rejected { line, construct }), "{text:?}");
        }
    }

    #[test]
    fn declarations_that_hide_a_variable_are_found() {
        let hidden = |text: &str| hidden_variable(text, "settings");
        for (text, expected) in [
            (
                "static __constant__ Settings settings;",
                Hidden::Word("static"),
            ),
            (
                "__constant__ const Settings settings = {1};",
                Hidden::Word("const"),
            ),
            (
                "int f() { return 1; }\nstatic __device__ int settings;",
                Hidden::Word("static"),
            ),
            (
                "namespace {\n__constant__ Settings settings;\n}",
                Hidden::Namespace,
            ),
            (
                "namespace a { int f() { return 1; } __device__ int settings[2]; }",
                Hidden::Namespace,
            ),
        ] {
            assert_eq!(hidden(text), Some(expected), "{text}");
        }
        for text in [
            "__constant__ Settings settings;",
            "static int x; extern \"C\" { __constant__ Settings settings; }",
            "namespace a { int x; } __constant__ Settings settings;",
            "static int settings; // static __constant__ int settings;",
            "static __constant__ int other;",
            "__device__ int f(const Settings settings); __constant__ Settings settings;",
        ] {
            assert_eq!(hidden(text), None, "{text}");
        }
    }
}
