//! Evaluation of literals. Source: PTX ISA section 4.5.

use crate::ptx::ast::Immediate;

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
