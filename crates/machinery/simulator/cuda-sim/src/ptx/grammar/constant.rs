//! Constant expressions and literals. Source: PTX ISA sections 4.5 and 4.5.5, without comparisons, `&&`, `||`
//! and `?:`.

use winnow::prelude::*;

use super::{MAX_NESTING, TOO_DEEP};
use crate::ptx::ast::Immediate;
use crate::ptx::lexer::{TokenKind, Tokens};
use crate::ptx::parser;
use crate::ptx::parser::{Parsed, Rejection, at_symbol, expect, peek, skip};

const INTEGERS_ONLY: &str = "operators accept only integers";
const DIVISION_BY_ZERO: &str = "division by zero";

/// Returns true if a constant expression can start here.
pub(super) fn starts(input: &Tokens<'_, '_>) -> bool {
    matches!(
        peek(input).kind,
        TokenKind::Number | TokenKind::Symbol('-' | '+' | '~' | '!' | '(')
    )
}

/// Parses a constant expression: `5`, `-0f3F800000`, `(1<<4)-1`.
pub(super) fn constant<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ConstantValue> {
    binary(input, 0, MAX_NESTING)
}

/// Parses the offset of an address: `+8`, `-8`, `+-8`, `+4*2`, or nothing.
pub(super) fn addend<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, i64> {
    let mut sum = 0_i64;
    while at_symbol(input, '+') || at_symbol(input, '-') {
        let negative = at_symbol(input, '-');
        let sign = *input;
        skip(input);
        let ConstantValue::Int { bits, .. } = binary(input, MULTIPLICATIVE, MAX_NESTING)? else {
            return Rejection::refuse(&sign, INTEGERS_ONLY);
        };
        let term = bits.cast_signed();
        sum = if negative {
            sum.wrapping_sub(term)
        } else {
            sum.wrapping_add(term)
        };
    }
    Ok(sum)
}

/// Parses an unsigned number, such as a count, a line or an index.
pub(super) fn unsigned<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, u32> {
    let start = *input;
    let text = parser::number(input).map_err(|fault| fault.cut())?;
    match literal(text) {
        Ok(ConstantValue::Int { bits, .. }) => match u32::try_from(bits) {
            Ok(value) => Ok(value),
            Err(_) => Rejection::refuse(&start, "the number does not fit into 32 bits"),
        },
        Ok(_) => Rejection::refuse(&start, "this must be an integer"),
        Err(message) => Rejection::refuse(&start, message),
    }
}

#[derive(Clone, Copy)]
enum Operator {
    Or,
    Xor,
    And,
    Left,
    Right,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// The precedence of `*`, `/` and `%`. Operators with lower precedence have smaller numbers.
const MULTIPLICATIVE: u32 = 5;

/// Returns the next operator, its precedence and its number of tokens.
fn operator(input: &Tokens<'_, '_>) -> Option<(Operator, u32, usize)> {
    let TokenKind::Symbol(symbol) = peek(input).kind else {
        return None;
    };
    let twice = input
        .get(1)
        .is_some_and(|next| next.kind == TokenKind::Symbol(symbol));
    Some(match symbol {
        '|' => (Operator::Or, 0, 1),
        '^' => (Operator::Xor, 1, 1),
        '&' => (Operator::And, 2, 1),
        '<' if twice => (Operator::Left, 3, 2),
        '>' if twice => (Operator::Right, 3, 2),
        '+' => (Operator::Add, 4, 1),
        '-' => (Operator::Sub, 4, 1),
        '*' => (Operator::Mul, MULTIPLICATIVE, 1),
        '/' => (Operator::Div, MULTIPLICATIVE, 1),
        '%' => (Operator::Rem, MULTIPLICATIVE, 1),
        _ => return None,
    })
}

/// Parses operators with at least precedence `min_precedence`. `levels` is the permitted nesting of
/// parentheses and signs.
fn binary<'s>(
    input: &mut Tokens<'_, 's>,
    min_precedence: u32,
    levels: u32,
) -> Parsed<'s, ConstantValue> {
    let mut left = unary(input, levels)?;
    while let Some((operator, precedence, length)) = operator(input) {
        if precedence < min_precedence {
            break;
        }
        let operator_start = *input;
        for _ in 0..length {
            skip(input);
        }
        let right = binary(input, precedence + 1, levels)?;
        left = match apply(operator, left, right) {
            Ok(value) => value,
            Err(message) => return Rejection::refuse(&operator_start, message),
        };
    }
    Ok(left)
}

fn apply(
    operator: Operator,
    left: ConstantValue,
    right: ConstantValue,
) -> Result<ConstantValue, &'static str> {
    let (
        ConstantValue::Int {
            bits: a,
            unsigned: ua,
        },
        ConstantValue::Int {
            bits: b,
            unsigned: ub,
        },
    ) = (left, right)
    else {
        return Err(INTEGERS_ONLY);
    };
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    let unsigned = ua || ub;
    // As in C, the type of a shift is that of its left operand.
    let shifted = |bits| ConstantValue::Int { bits, unsigned: ua };
    let distance = u32::try_from(b)
        .ok()
        .filter(|&distance| distance < u64::BITS);
    let bits = match operator {
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        Operator::And => a & b,
        Operator::Add => a.wrapping_add(b),
        Operator::Sub => a.wrapping_sub(b),
        Operator::Mul => a.wrapping_mul(b),
        Operator::Div | Operator::Rem if b == 0 => return Err(DIVISION_BY_ZERO),
        Operator::Div if unsigned => a / b,
        Operator::Div => sa.wrapping_div(sb).cast_unsigned(),
        Operator::Rem if unsigned => a % b,
        Operator::Rem => sa.wrapping_rem(sb).cast_unsigned(),
        Operator::Left => match distance {
            Some(distance) => return Ok(shifted(a << distance)),
            None => return Err("shift by more than 63 bits"),
        },
        Operator::Right => match distance {
            Some(distance) if ua => return Ok(shifted(a >> distance)),
            Some(distance) => return Ok(shifted((sa >> distance).cast_unsigned())),
            None => return Err("shift by more than 63 bits"),
        },
    };
    Ok(ConstantValue::Int { bits, unsigned })
}

fn unary<'s>(input: &mut Tokens<'_, 's>, levels: u32) -> Parsed<'s, ConstantValue> {
    let start = *input;
    let TokenKind::Symbol(sign) = peek(input).kind else {
        return primary(input);
    };
    if !matches!(sign, '-' | '+' | '~' | '!' | '(') {
        return primary(input);
    }
    let Some(levels) = levels.checked_sub(1) else {
        return Rejection::refuse(input, TOO_DEEP);
    };
    skip(input);
    if sign == '(' {
        let inside = binary(input, 0, levels)?;
        expect(')').parse_next(input)?;
        return Ok(inside);
    }
    Ok(match (sign, unary(input, levels)?) {
        ('+', value) => value,
        ('-', ConstantValue::F32(bits)) => ConstantValue::F32(bits ^ 1 << 31),
        ('-', ConstantValue::F64(bits)) => ConstantValue::F64(bits ^ 1 << 63),
        ('-', ConstantValue::Int { bits, unsigned }) => ConstantValue::Int {
            bits: bits.wrapping_neg(),
            unsigned,
        },
        ('~', ConstantValue::Int { bits, unsigned }) => ConstantValue::Int {
            bits: !bits,
            unsigned,
        },
        ('!', ConstantValue::Int { bits, .. }) => ConstantValue::Int {
            bits: (bits == 0).into(),
            unsigned: false,
        },
        _ => return Rejection::refuse(&start, INTEGERS_ONLY),
    })
}

fn primary<'s>(input: &mut Tokens<'_, 's>) -> Parsed<'s, ConstantValue> {
    let start = *input;
    let Ok(text) = parser::number(input) else {
        return Rejection::demand(input, "a number");
    };
    literal(text).or_else(|message| Rejection::refuse(&start, message))
}

/// An intermediate value of a constant expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ConstantValue {
    /// An integer. `unsigned` applies to division, shifts and comparisons; it is set by the suffix `U`, or if
    /// the value does not fit into a signed 64-bit integer.
    Int {
        bits: u64,
        unsigned: bool,
    },
    F32(u32),
    F64(u64),
}

impl ConstantValue {
    pub fn immediate(self) -> Immediate {
        match self {
            Self::Int { bits, .. } => Immediate::Int(bits.cast_signed()),
            Self::F32(bits) => Immediate::F32(bits),
            Self::F64(bits) => Immediate::F64(bits),
        }
    }
}

/// Returns the value of a literal, or the reason why it is invalid.
pub(super) fn literal(text: &str) -> Result<ConstantValue, &'static str> {
    match text.as_bytes() {
        [b'0', b'f' | b'F', digits @ ..] => match bits(digits, 8) {
            Some(bits) => Ok(ConstantValue::F32(bits as u32)),
            None => Err("`0f` takes exactly 8 hexadecimal digits"),
        },
        [b'0', b'd' | b'D', digits @ ..] => match bits(digits, 16) {
            Some(bits) => Ok(ConstantValue::F64(bits)),
            None => Err("`0d` takes exactly 16 hexadecimal digits"),
        },
        [b'0', b'x' | b'X', ..] => integer(&text[2..], 16),
        [b'0', b'b' | b'B', ..] => integer(&text[2..], 2),
        _ if text.contains(['.', 'e', 'E']) => decimal(text),
        [b'0', b'0'..=b'9', ..] => integer(&text[1..], 8),
        _ => integer(text, 10),
    }
}

/// Returns the bits of a float that is written as exactly `length` hexadecimal digits.
fn bits(digits: &[u8], length: usize) -> Option<u64> {
    let exact = digits.len() == length && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| exact)?;
    u64::from_str_radix(digits, 16).ok()
}

fn integer(digits: &str, radix: u32) -> Result<ConstantValue, &'static str> {
    let plain = digits.strip_suffix('U').unwrap_or(digits);
    if plain.is_empty() || !plain.chars().all(|digit| digit.is_digit(radix)) {
        return Err("this is not a number");
    }
    match u64::from_str_radix(plain, radix) {
        Ok(bits) => {
            let unsigned = plain.len() < digits.len() || bits > i64::MAX as u64;
            Ok(ConstantValue::Int { bits, unsigned })
        }
        Err(_) => Err("the number does not fit into 64 bits"),
    }
}

fn decimal(text: &str) -> Result<ConstantValue, &'static str> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(ConstantValue::F64(value.to_bits())),
        Ok(_) => Err("the number does not fit into a double"),
        Err(_) => Err("this is not a number"),
    }
}
