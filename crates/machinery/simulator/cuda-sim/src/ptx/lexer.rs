//! Tokens of PTX and the lexer. Source: PTX ISA sections 4.1 (comments), 4.4 (identifiers) and 4.5 (constants).

use winnow::ascii::{multispace1, till_line_ending};
use winnow::combinator::{alt, dispatch, empty, not, opt, peek, repeat};
use winnow::error::EmptyError;
use winnow::prelude::*;
use winnow::stream::TokenSlice;
use winnow::token::{any, none_of, one_of, take_until, take_while};

use super::{ParseError, Problem};

/// A token of PTX text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub kind: TokenKind,
    /// The token as written, including its dot or quotes.
    pub text: &'s str,
    /// The byte offset of the token in the source.
    pub start: usize,
    /// The line in the source, counted from 1.
    pub line: u32,
}

/// The kind of a token, determined by its first characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name: `add`, `%rd1`, `%tid.x`, `$L__BB0_1`, `_`.
    Word,
    /// A dotted name: `.global`, `.shared::cta`, `.v2`. Directives, types and modifiers look alike.
    Dotted,
    /// A numeric literal: `5`, `0x1fU`, `0f3F800000`, `6.4`.
    Number,
    /// A string: `"k.cu"`.
    Text,
    /// One of `( ) { } [ ] < > , ; : = @ ! ~ + - * / % & | ^`.
    Symbol(char),
    /// The end of the source, which is always the last token.
    End,
}

pub(super) type Tokens<'t, 's> = TokenSlice<'t, Token<'s>>;

/// The result of a lexical rule. Rules do not report errors; the remaining text shows what is wrong.
type Lexed<T> = Result<T, EmptyError>;

/// Maximum length of a name, number or string in bytes. PTX requires support for names of only 1024
/// characters (PTX ISA section 4.4), and error messages quote them.
const MAX_TOKEN_BYTES: usize = 1 << 16;
const TOO_LONG: &str = "this is longer than 65536 bytes";

/// Splits `source` into tokens, the last of which is [`TokenKind::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, ParseError> {
    // PTX averages about five bytes per token, including whitespace.
    let mut tokens = Vec::with_capacity(source.len() / 5);
    let mut rest = source;
    let mut line = 1;
    loop {
        let skipped = blank.take().parse_next(&mut rest).unwrap_or_default();
        line += skipped.bytes().filter(|&byte| byte == b'\n').count() as u32;
        let start = source.len() - rest.len();
        if rest.is_empty() {
            tokens.push(Token {
                kind: TokenKind::End,
                text: "",
                start,
                line,
            });
            return Ok(tokens);
        }
        let Ok((kind, text)) = lexeme.with_taken().parse_next(&mut rest) else {
            return Err(stray(source, start));
        };
        if text.len() > MAX_TOKEN_BYTES {
            return Err(ParseError::at(
                source,
                start,
                text,
                Problem::Refused(TOO_LONG),
            ));
        }
        tokens.push(Token {
            kind,
            text,
            start,
            line,
        });
    }
}

/// Skips whitespace and comments.
fn blank(input: &mut &str) -> Lexed<()> {
    let line = ("//", till_line_ending).void();
    let block = ("/*", take_until(0.., "*/"), "*/").void();
    repeat(0.., alt((multispace1.void(), line, block))).parse_next(input)
}

/// Reads one token of any kind except for the end.
fn lexeme(input: &mut &str) -> Lexed<TokenKind> {
    dispatch! { peek(any);
        '%' => alt((special_or_register, '%'.value(TokenKind::Symbol('%')))),
        'a'..='z' | 'A'..='Z' | '_' | '$' => (name_part, opt(element)).value(TokenKind::Word),
        '.' => ('.', name_part, repeat::<_, _, (), _, _>(0.., ("::", name_part)))
            .value(TokenKind::Dotted),
        '0'..='9' => numeral.value(TokenKind::Number),
        '"' => quoted.value(TokenKind::Text),
        '/' => ('/', not('*')).value(TokenKind::Symbol('/')),
        _ => one_of("(){}[]<>,;:=@!~+-*&|^".as_bytes()).map(|symbol: char| TokenKind::Symbol(symbol)),
    }
    .parse_next(input)
}

/// Reads the characters that may continue a name. The caller has checked the first one.
fn name_part<'s>(input: &mut &'s str) -> Lexed<&'s str> {
    take_while(1.., is_name_part).parse_next(input)
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// Reads a register such as `%rd1` or a special register such as `%tid.x` as one name.
fn special_or_register(input: &mut &str) -> Lexed<TokenKind> {
    ('%', name_part, opt(element))
        .value(TokenKind::Word)
        .parse_next(input)
}

/// Reads a vector element such as `.x`. This is unambiguous because no instruction ends in a single-letter
/// modifier: in `shf.l.wrap` another modifier follows.
fn element<'s>(input: &mut &'s str) -> Lexed<&'s str> {
    let end = not(alt((one_of(is_name_part), '.')));
    ('.', one_of(is_element), end).take().parse_next(input)
}

/// Returns true for the names of vector elements (`xyzw` and `rgba`).
fn is_element(c: char) -> bool {
    "xyzwrgba".contains(c)
}

/// Reads a literal, valid or not; `literal` evaluates it. A fraction or a signed exponent belongs to the
/// literal only after decimal digits.
fn numeral(input: &mut &str) -> Lexed<()> {
    let digits = name_part.parse_next(input)?;
    let decimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut mantissa = digits;
    if decimal(digits) && opt('.').parse_next(input)?.is_some() {
        mantissa = take_while(0.., is_name_part).parse_next(input)?;
    }
    match mantissa.strip_suffix(['e', 'E']) {
        Some(before) if decimal(before) => opt((one_of(['+', '-']), name_part))
            .void()
            .parse_next(input),
        _ => empty.parse_next(input),
    }
}

/// Reads a string. LLVM escapes a quote as `\"`, but NVIDIA's assembler has no escapes and ends a string at
/// the first quote, as in the directory name `"C:\kernels\"`.
fn quoted(input: &mut &str) -> Lexed<()> {
    let plain = none_of(['"', '\\', '\n']).void();
    let escaped = ('\\', none_of('\n')).void();
    let inside = repeat::<_, _, (), _, _>(0.., alt((plain, escaped)));
    let to_first_quote = take_while(0.., |c| c != '"' && c != '\n');
    let with_escapes = ('"', inside, '"').void();
    alt((with_escapes, ('"', to_first_quote, '"').void())).parse_next(input)
}

/// Creates the error for text at `start` that does not begin a token.
fn stray(source: &str, start: usize) -> ParseError {
    let rest = &source[start..];
    let line = rest.lines().next().unwrap_or_default();
    let (found, reason) = match rest.as_bytes() {
        [b'/', b'*', ..] => (line, "this comment is not closed"),
        [b'"', ..] => (line, "this string is not closed on its line"),
        _ => {
            let end = rest.chars().next().map_or(0, char::len_utf8);
            (&rest[..end], "no PTX token starts with this character")
        }
    };
    ParseError::at(source, start, found, Problem::Refused(reason))
}
