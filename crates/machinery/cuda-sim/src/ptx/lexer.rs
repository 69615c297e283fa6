//! PTX text to tokens: PTX ISA sections 4.1 (comments), 4.4 (identifiers) and 4.5 (constants).

use winnow::ascii::{multispace1, till_line_ending};
use winnow::combinator::{alt, dispatch, empty, not, opt, peek, repeat};
use winnow::error::EmptyError;
use winnow::prelude::*;
use winnow::token::{any, none_of, one_of, take_until, take_while};

use super::error::{ParseError, Problem};
use super::token::{Token, TokenKind};

/// A lexical rule either takes text or does not; what is wrong is seen from the text it left.
type Lexed<T> = Result<T, EmptyError>;

/// Bytes of the longest name, number or string. PTX asks for no more than 1024 of a name (PTX ISA
/// section 4.4); what is said of one has to fit a message.
const LONGEST: usize = 1 << 16;
const TOO_LONG: &str = "this is longer than 65536 characters";

/// All tokens of `source`, the last of them [`TokenKind::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, ParseError> {
    // PTX runs to about five bytes a token, blanks included.
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
        if text.len() > LONGEST {
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

/// Skips blanks and comments.
fn blank(input: &mut &str) -> Lexed<()> {
    let line = ("//", till_line_ending).void();
    let block = ("/*", take_until(0.., "*/"), "*/").void();
    repeat(0.., alt((multispace1.void(), line, block))).parse_next(input)
}

/// One token of any kind but the end.
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

/// The characters a name may go on with; the dispatch above has seen to the first.
fn name_part<'s>(input: &mut &'s str) -> Lexed<&'s str> {
    take_while(1.., is_name_part).parse_next(input)
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// `%rd1`, and `%tid.x` as one name.
fn special_or_register(input: &mut &str) -> Lexed<TokenKind> {
    ('%', name_part, opt(element))
        .value(TokenKind::Word)
        .parse_next(input)
}

/// The `.x` of a vector's first element. No instruction ends in a single letter: where a modifier is one
/// (`shf.l.wrap`), another follows.
fn element<'s>(input: &mut &'s str) -> Lexed<&'s str> {
    let end = not(alt((one_of(is_name_part), '.')));
    ('.', one_of(is_element), end).take().parse_next(input)
}

/// The names of a vector's elements, as places and as colours.
fn is_element(c: char) -> bool {
    "xyzwrgba".contains(c)
}

/// Any literal, valid or not, as far as it goes: `literal` reads its value. A fraction or a signed
/// exponent belongs to it only after decimal digits.
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

/// A string. LLVM writes a quote in one as `\"`. NVIDIA's assembler knows no such thing: to it a string
/// ends with its first quote, as the name of a folder does in `"C:\kernels\"`.
fn quoted(input: &mut &str) -> Lexed<()> {
    let plain = none_of(['"', '\\', '\n']).void();
    let escaped = ('\\', none_of('\n')).void();
    let inside = repeat::<_, _, (), _, _>(0.., alt((plain, escaped)));
    let to_first_quote = take_while(0.., |c| c != '"' && c != '\n');
    let with_escapes = ('"', inside, '"').void();
    alt((with_escapes, ('"', to_first_quote, '"').void())).parse_next(input)
}

/// The error for text at `start` with which no token can begin.
fn stray(source: &str, start: usize) -> ParseError {
    let rest = &source[start..];
    let line = rest.lines().next().unwrap_or_default();
    let (found, why) = match rest.as_bytes() {
        [b'/', b'*', ..] => (line, "this comment is not closed"),
        [b'"', ..] => (line, "this string is not closed on its line"),
        _ => {
            let end = rest.chars().next().map_or(0, char::len_utf8);
            (&rest[..end], "nothing in PTX starts with this character")
        }
    };
    ParseError::at(source, start, found, Problem::Refused(why))
}
