//! Formatting of floating-point numbers, as C's `%f`, `%e`, `%g` and `%a`.
//!
//! Source: C17, 7.21.6.1 (`fprintf`). The decimal digits are Rust's, which are exact.

/// Formats `value` by the conversion `specification` (`%`, flags, width, precision) and `kind` (one of
/// `fFeEgGaA`).
pub fn format_float(specification: &str, kind: u8, value: f64) -> String {
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
    let base = match lower_kind == b'a' && value.is_finite() {
        true => ["0x", "0X"][usize::from(kind.is_ascii_uppercase())],
        false => "",
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
    let trim = |text: &str| match text.contains('.') && !alternate {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
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

    /// Expected values are those that a C library prints.
    #[test]
    fn formats_like_c() {
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
