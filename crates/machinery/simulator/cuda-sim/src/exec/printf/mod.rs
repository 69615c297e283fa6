//! In-kernel `printf`: reads the arguments from the buffer and formats each conversion. Strings and
//! characters are formatted by the `sprintf` crate, which does not support length modifiers.

mod float;
mod integer;

use self::float::format_float;
use self::integer::format_integer;
use super::sm::Sm;
use sprintf::{Printf, vsprintf};

/// The argument buffer: values promoted as in C (4 or 8 bytes), each aligned to its size.
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
        let text = self.sm.string_at(self.lane, address).ok_or(address)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// Appends the formatted text to `out` and returns the number of conversions.
///
/// Conversions that C does not define are printed unchanged, as CUDA's `printf` does.
///
/// # Errors
/// Returns an address that could not be read.
pub fn format(format: &[u8], arguments: &mut Arguments, out: &mut Vec<u8>) -> Result<u32, u64> {
    let mut remaining = format;
    let mut count = 0;
    while let Some(start) = remaining.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&remaining[..start]);
        remaining = &remaining[start..];
        let length = remaining[1..]
            .iter()
            .position(|byte| {
                byte.is_ascii_alphabetic() && !b"hlLqjzt".contains(byte) || *byte == b'%'
            })
            .map(|index| index + 2);
        let Some(length) = length else { break };
        let (conversion, after) = remaining.split_at(length);
        remaining = after;
        convert(conversion, arguments, out)?;
        count += u32::from(!conversion.ends_with(b"%"));
    }
    out.extend_from_slice(remaining);
    Ok(count)
}

/// Maximum number of characters that C guarantees for a conversion (C17, 7.21.6.1). Conversions with a larger
/// width or precision are printed unchanged, which avoids output of gigabytes.
const MAX_WIDTH: u64 = 4095;

/// Returns true if a number in the specification exceeds [`MAX_WIDTH`].
fn exceeds_max_width(specification: &str) -> bool {
    let numbers = specification.split(|c: char| !c.is_ascii_digit());
    let mut digits = numbers.filter(|digits| !digits.is_empty());
    digits.any(|digits| {
        digits
            .parse()
            .map_or(true, |number: u64| number > MAX_WIDTH)
    })
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
    let exceeds_max = exceeds_max_width(&specification);
    let mut print = |kind: char, value: &dyn Printf| {
        specification.push(kind);
        let text = match exceeds_max {
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
            let (kind, magnitude) = match signed {
                true => (b'd', value.unsigned_abs()),
                false => (kind, value as u64 & bits),
            };
            match exceeds_max {
                true => out.extend_from_slice(conversion),
                false => {
                    let text = format_integer(&specification, kind, signed && value < 0, magnitude);
                    out.extend_from_slice(text.as_bytes());
                }
            }
        }
        b'c' => print('c', &(char::from(arguments.int()? as u8))),
        b's' => print('s', &arguments.text()?),
        b'p' => {
            let pointer = format!("{:#x}", arguments.long()?);
            print('s', &pointer);
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(arguments.long()?);
            if exceeds_max {
                out.extend_from_slice(conversion);
                return Ok(());
            }
            out.extend_from_slice(format_float(&specification, kind, value).as_bytes());
        }
        _ => out.extend_from_slice(conversion),
    }
    Ok(())
}
