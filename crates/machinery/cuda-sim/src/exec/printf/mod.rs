//! A kernel's `printf`: takes the arguments out of the buffer and leaves each conversion to the
//! `sprintf` crate, which knows no length modifiers.

mod float;
mod integer;

use self::float::decimal;
use self::integer::whole;
use super::sm::Sm;
use sprintf::{Printf, vsprintf};

/// The argument buffer: values promoted as C does (4 or 8 bytes), each aligned to its size.
pub struct Arguments<'s> {
    sm: &'s mut Sm,
    lane: usize,
    base: u64,
    offset: u64,
}

impl<'s> Arguments<'s> {
    pub fn new(sm: &'s mut Sm, lane: usize, base: u64) -> Arguments<'s> {
        Arguments {
            sm,
            lane,
            base,
            offset: 0,
        }
    }

    fn int(&mut self) -> Result<u32, u64> {
        self.take().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], u64> {
        let offset = self.offset.next_multiple_of(N as u64);
        self.offset = offset + N as u64;
        let address = self.base.wrapping_add(offset);
        self.sm.bytes_at(self.lane, address).ok_or(address)
    }

    fn text(&mut self) -> Result<String, u64> {
        let address = self.long()?;
        let text = self.sm.text_at(self.lane, address).ok_or(address)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// Appends the formatted text to `out`; how many conversions there were.
///
/// A conversion that C does not know is printed as it stands, as CUDA's `printf` does.
///
/// # Errors
/// The address that could not be read.
pub fn format(format: &[u8], arguments: &mut Arguments, out: &mut Vec<u8>) -> Result<u32, u64> {
    let mut rest = format;
    let mut count = 0;
    while let Some(start) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..start]);
        rest = &rest[start..];
        let length = rest[1..]
            .iter()
            .position(|byte| {
                byte.is_ascii_alphabetic() && !b"hlLqjzt".contains(byte) || *byte == b'%'
            })
            .map(|place| place + 2);
        let Some(length) = length else { break };
        let (conversion, after) = rest.split_at(length);
        rest = after;
        convert(conversion, arguments, out)?;
        count += u32::from(!conversion.ends_with(b"%"));
    }
    out.extend_from_slice(rest);
    Ok(count)
}

/// The most characters that C promises of a conversion (C17, 7.21.6.1). One with a larger width or precision
/// is printed as it stands: a billion blanks help nobody.
const WIDEST: u64 = 4095;

/// Whether a number in it is beyond that.
fn is_too_wide(specification: &str) -> bool {
    let numbers = specification.split(|c: char| !c.is_ascii_digit());
    let mut digits = numbers.filter(|digits| !digits.is_empty());
    digits.any(|digits| digits.parse().map_or(true, |number: u64| number > WIDEST))
}

fn convert(conversion: &[u8], arguments: &mut Arguments, out: &mut Vec<u8>) -> Result<(), u64> {
    let kind = conversion[conversion.len() - 1];
    let mut specification = String::new();
    let mut long = false;
    for &byte in &conversion[..conversion.len() - 1] {
        match byte {
            b'*' => specification.push_str(&(arguments.int()? as i32).to_string()),
            b'l' | b'L' | b'q' | b'j' | b'z' | b't' => long = true,
            b'h' => {}
            byte => specification.push(char::from(byte)),
        }
    }
    let too_wide = is_too_wide(&specification);
    let mut put = |kind: char, value: &dyn Printf| {
        specification.push(kind);
        let text = match too_wide {
            true => None,
            false => vsprintf(&specification, &[value]).ok(),
        };
        match text {
            Some(text) => out.extend_from_slice(text.as_bytes()),
            None => out.extend_from_slice(conversion),
        }
    };
    match kind {
        b'%' => out.push(b'%'),
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
            let signed = matches!(kind, b'd' | b'i');
            let (value, bits) = match long {
                true => (arguments.long()? as i64, u64::MAX),
                false => ((arguments.int()? as i32).into(), u32::MAX.into()),
            };
            let (kind, size) = match signed {
                true => (b'd', value.unsigned_abs()),
                false => (kind, value as u64 & bits),
            };
            match too_wide {
                true => out.extend_from_slice(conversion),
                false => {
                    let text = whole(&specification, kind, signed && value < 0, size);
                    out.extend_from_slice(text.as_bytes());
                }
            }
        }
        b'c' => put('c', &(char::from(arguments.int()? as u8))),
        b's' => put('s', &arguments.text()?),
        b'p' => {
            let pointer = format!("{:#x}", arguments.long()?);
            put('s', &pointer);
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(arguments.long()?);
            if too_wide {
                out.extend_from_slice(conversion);
                return Ok(());
            }
            out.extend_from_slice(decimal(&specification, kind, value).as_bytes());
        }
        _ => out.extend_from_slice(conversion),
    }
    Ok(())
}
