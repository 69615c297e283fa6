//! In-kernel `printf`: reads the arguments from the buffer and formats each conversion. Strings and
//! characters are formatted by the `sprintf` crate, which does not support length modifiers.
//!
//! Source: C17, 7.21.6.1 (`fprintf`). The decimal digits of floats are Rust's, which are exact.

use crate::exec::sm::Sm;
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
        let text = if exceeds_max {
            None
        } else {
            vsprintf(&specification, &[value]).ok()
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
            let (value, bits) = if long {
                (arguments.long()? as i64, u64::MAX)
            } else {
                ((arguments.int()? as i32).into(), u32::MAX.into())
            };
            let (kind, magnitude) = if signed {
                (b'd', value.unsigned_abs())
            } else {
                (kind, value as u64 & bits)
            };
            if exceeds_max {
                out.extend_from_slice(conversion)
            } else {
                let text = format_integer(&specification, kind, signed && value < 0, magnitude);
                out.extend_from_slice(text.as_bytes());
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

/// Formats an integer by the conversion `specification` (`%`, flags, width, precision) and `kind` (one of
/// `duoxX`). `negative` adds a minus sign to `magnitude` and is allowed only for `%d`.
fn format_integer(specification: &str, kind: u8, negative: bool, magnitude: u64) -> String {
    let remaining = specification.trim_start_matches(['%', '-', '+', ' ', '#', '0']);
    let mut flags = specification[..specification.len() - remaining.len()].to_owned();
    let (width, precision) = match remaining.split_once('.') {
        // A negative precision from an argument counts as absent; a lone point means 0.
        Some((width, precision)) if precision.starts_with('-') => (width, None),
        Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
        None => (remaining, None),
    };
    if width.starts_with('-') {
        flags.push('-');
    }
    let width: usize = width.trim_start_matches('-').parse().unwrap_or(0);
    let mut digits = match (magnitude, precision) {
        (0, Some(0)) => String::new(),
        _ => match kind {
            b'o' => format!("{magnitude:o}"),
            b'x' => format!("{magnitude:x}"),
            b'X' => format!("{magnitude:X}"),
            _ => magnitude.to_string(),
        },
    };
    let min_digits: usize = precision.unwrap_or(1);
    digits.insert_str(0, &"0".repeat(min_digits.saturating_sub(digits.len())));
    let alternative = flags.contains('#');
    if alternative && kind == b'o' && !digits.starts_with('0') {
        digits.insert(0, '0');
    }
    let prefix = match kind {
        b'd' if negative => "-",
        b'd' if flags.contains('+') => "+",
        b'd' if flags.contains(' ') => " ",
        b'x' if alternative && magnitude != 0 => "0x",
        b'X' if alternative && magnitude != 0 => "0X",
        _ => "",
    };
    let padding = width.saturating_sub(prefix.len() + digits.len());
    if flags.contains('-') {
        format!("{prefix}{digits}{:padding$}", "")
    } else if flags.contains('0') && precision.is_none() {
        format!("{prefix}{:0>padding$}{digits}", "")
    } else {
        format!("{:padding$}{prefix}{digits}", "")
    }
}

/// Formats `value` by the conversion `specification` (`%`, flags, width, precision) and `kind` (one of
/// `fFeEgGaA`).
fn format_float(specification: &str, kind: u8, value: f64) -> String {
    let remaining = specification.trim_start_matches(['%', '-', '+', ' ', '#', '0']);
    let flags = &specification[..specification.len() - remaining.len()];
    let (width, precision) = match remaining.split_once('.') {
        // A negative precision from an argument counts as absent; a lone point means 0.
        Some((width, precision)) if precision.starts_with('-') => (width, None),
        Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
        None => (remaining, None),
    };
    let width: usize = width.parse().unwrap_or(0);
    // No number has more digits.
    let given_precision = precision.map(|precision: usize| precision.min(1100));
    let precision = given_precision.unwrap_or(6);
    let sign = match value.is_sign_negative() {
        true => "-",
        false if flags.contains('+') => "+",
        false if flags.contains(' ') => " ",
        false => "",
    };
    let magnitude = value.abs();
    let alternate = flags.contains('#');
    let lower_kind = kind.to_ascii_lowercase();
    // Zeros that fill the width follow the base prefix.
    let base = if lower_kind == b'a' && value.is_finite() {
        ["0x", "0X"][usize::from(kind.is_ascii_uppercase())]
    } else {
        ""
    };
    let sign = format!("{sign}{base}");
    let mut text = match lower_kind {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => "inf".to_owned(),
        b'f' => fixed(magnitude, precision, alternate),
        b'e' => scientific(magnitude, precision, alternate),
        b'a' => hexadecimal(magnitude, given_precision, alternate),
        _ => shortest(magnitude, precision.max(1), alternate),
    };
    if kind.is_ascii_uppercase() {
        text.make_ascii_uppercase();
    }
    let padding = width.saturating_sub(sign.len() + text.len());
    if flags.contains('-') {
        format!("{sign}{text}{:padding$}", "")
    } else if flags.contains('0') && value.is_finite() {
        format!("{sign}{:0>padding$}{text}", "")
    } else {
        format!("{:padding$}{sign}{text}", "")
    }
}

fn fixed(magnitude: f64, precision: usize, alternate: bool) -> String {
    let end = if alternate && precision == 0 { "." } else { "" };
    format!("{magnitude:.precision$}{end}")
}

fn scientific(magnitude: f64, precision: usize, alternate: bool) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let end = if alternate && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{end}e{sign}{:02}", exponent.abs())
}

/// Formats as `%g`: as `%e` if the exponent is below -4 or at least the precision, otherwise as `%f`; with
/// `precision` significant digits, and without trailing zeros unless `#` is set.
fn shortest(magnitude: f64, precision: usize, alternate: bool) -> String {
    let digits = scientific(magnitude, precision - 1, alternate);
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') && !alternate {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..precision as i32).contains(&power) {
        trim(&fixed(
            magnitude,
            (precision as i32 - 1 - power) as usize,
            alternate,
        ))
    } else {
        format!("{}e{exponent}", trim(mantissa))
    }
}

/// Formats as `%a`, without its `0x`: one digit, which is 1 except for 0 and subnormal numbers; then 13
/// digits without trailing zeros, or `precision` digits, rounded to nearest, ties to even.
fn hexadecimal(magnitude: f64, precision: Option<usize>, alternate: bool) -> String {
    const DIGITS: usize = 13;
    let bits = magnitude.to_bits();
    let (stored, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let power = match (stored, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => stored as i32 - 1023,
    };
    let mut digits = u64::from(stored != 0) << 52 | fraction;
    if let Some(dropped) = precision
        .and_then(|digits_kept| DIGITS.checked_sub(digits_kept))
        .filter(|&n| n > 0)
    {
        let unit = 1 << (4 * dropped);
        let (remaining, half) = (digits % unit, unit / 2);
        digits -= remaining;
        if remaining > half || remaining == half && digits & unit != 0 {
            digits += unit;
        }
    }
    let mut after = format!("{:013x}", digits & ((1 << 52) - 1));
    match precision {
        Some(digits_kept) if digits_kept < DIGITS => after.truncate(digits_kept),
        Some(digits_kept) => after.push_str(&"0".repeat(digits_kept - DIGITS)),
        None => after.truncate(after.trim_end_matches('0').len()),
    }
    let dot = if alternate || !after.is_empty() {
        "."
    } else {
        ""
    };
    format!("{:x}{dot}{after}p{power:+}", digits >> 52)
}

#[cfg(test)]
mod tests {
    use super::format_float;
    use super::format_integer;

    /// Expected values are those that a C library prints.
    #[test]
    fn integers_are_formatted_like_c() {
        for (specification, kind, value, expected) in [
            ("%", b'd', 0, "0"),
            ("%", b'd', i64::MIN, "-9223372036854775808"),
            ("%.3", b'd', 7, "007"),
            ("%.3", b'd', -7, "-007"),
            ("%.0", b'd', 0, ""),
            ("%.", b'd', 0, ""),
            ("%5.3", b'd', -7, " -007"),
            ("%05", b'd', -7, "-0007"),
            ("%05.3", b'd', 7, "  007"),
            ("%-5", b'd', 7, "7    "),
            ("%-05", b'd', 7, "7    "),
            ("%-5.2", b'd', 7, "07   "),
            ("%+", b'd', 7, "+7"),
            ("% ", b'd', 7, " 7"),
            ("%+5.3", b'd', 7, " +007"),
            ("%-8", b'x', 255, "ff      "),
            ("%#", b'x', 255, "0xff"),
            ("%#", b'x', 0, "0"),
            ("%#010", b'X', 255, "0X000000FF"),
            ("%#10.4", b'x', 255, "    0x00ff"),
            ("%#", b'o', 8, "010"),
            ("%#.3", b'o', 8, "010"),
            ("%#.0", b'o', 0, "0"),
            ("%.5", b'u', 42, "00042"),
            ("%.-1", b'd', 0, "0"),
            ("%.8", b'x', 0xabc, "00000abc"),
        ] {
            let actual = format_integer(specification, kind, value < 0, value.unsigned_abs());
            assert_eq!(actual, expected, "{specification}{}", char::from(kind));
        }
    }

    /// Expected values are those that a C library prints.
    #[test]
    fn floats_are_formatted_like_c() {
        for (specification, kind, value, expected) in [
            ("%", b'f', 0.5, "0.500000"),
            ("%.0", b'f', 2.5, "2"),
            ("%#.0", b'f', 2.5, "2."),
            ("%+08.2", b'f', 3.15159, "+0003.15"),
            ("%-8.1", b'f', -3.25, "-3.2    "),
            ("% ", b'e', 0.0, " 0.000000e+00"),
            ("%.3", b'e', 9_999_999.0, "1.000e+07"),
            ("%.20", b'e', 0.1, "1.00000000000000005551e-01"),
            ("%#.0", b'E', 5e-324, "5.E-324"),
            ("%", b'g', 0.0001, "0.0001"),
            ("%", b'g', 0.000_099_999_95, "0.0001"),
            ("%", b'g', 0.000_099_999_9, "9.99999e-05"),
            ("%.-1", b'f', 0.5, "0.500000"),
            ("%", b'g', 999_999.5, "1e+06"),
            ("%#", b'g', 1.0, "1.00000"),
            ("%#.1", b'g', 100.0, "1.e+02"),
            ("%.0", b'g', 0.25, "0.2"),
            ("%.17", b'g', 0.1, "0.10000000000000001"),
            ("%010", b'g', -0.0, "-000000000"),
            ("%05", b'f', f64::INFINITY, "  inf"),
            ("%-5", b'G', f64::NAN, "NAN  "),
            ("%", b'a', 0.1, "0x1.999999999999ap-4"),
            ("%", b'a', -0.0, "-0x0p+0"),
            ("%#", b'a', 1.0, "0x1.p+0"),
            ("%", b'A', 255.5, "0X1.FFP+7"),
            ("%", b'a', 5e-324, "0x0.0000000000001p-1022"),
            ("%.2", b'a', 1.0, "0x1.00p+0"),
            ("%.15", b'a', 1.5, "0x1.800000000000000p+0"),
            ("%.0", b'a', 1.5, "0x2p+0"),
            ("%.0", b'a', 1.25, "0x1p+0"),
            ("%.1", b'a', 1.96875, "0x2.0p+0"),
            ("%+012", b'a', 1.5, "+0x0001.8p+0"),
            ("%-10", b'a', 2.0, "0x1p+1    "),
            ("%10", b'a', f64::NEG_INFINITY, "      -inf"),
        ] {
            let actual = format_float(specification, kind, value);
            assert_eq!(actual, expected, "{specification}{}", char::from(kind));
        }
    }
}
