//! Floating-point numbers as text, as C's `%f`, `%e`, `%g` and `%a` write them.
//!
//! Source: C17, 7.21.6.1 (`fprintf`). The decimal digits are Rust's, which are exact.

/// `value` as the conversion `specification` (`%`, flags, width, precision) and `kind` (one of
/// `fFeEgGaA`) ask for.
pub fn decimal(specification: &str, kind: u8, value: f64) -> String {
    let rest = specification.trim_start_matches(['%', '-', '+', ' ', '#', '0']);
    let flags = &specification[..specification.len() - rest.len()];
    let (width, precision) = match rest.split_once('.') {
        // A negative one from an argument stands for none; a lone point for 0.
        Some((width, precision)) if precision.starts_with('-') => (width, None),
        Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
        None => (rest, None),
    };
    let width: usize = width.parse().unwrap_or(0);
    // No number has more digits than this.
    let asked = precision.map(|precision: usize| precision.min(1100));
    let precision = asked.unwrap_or(6);
    let sign = match value.is_sign_negative() {
        true => "-",
        false if flags.contains('+') => "+",
        false if flags.contains(' ') => " ",
        false => "",
    };
    let size = value.abs();
    let point = flags.contains('#');
    let kind_of = kind.to_ascii_lowercase();
    // Zeros that fill the width stand behind it.
    let base = match kind_of == b'a' && value.is_finite() {
        true => ["0x", "0X"][usize::from(kind.is_ascii_uppercase())],
        false => "",
    };
    let sign = format!("{sign}{base}");
    let mut text = match kind_of {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => "inf".to_owned(),
        b'f' => fixed(size, precision, point),
        b'e' => scientific(size, precision, point),
        b'a' => hexadecimal(size, asked, point),
        _ => shorter(size, precision.max(1), point),
    };
    if kind.is_ascii_uppercase() {
        text.make_ascii_uppercase();
    }
    let missing = width.saturating_sub(sign.len() + text.len());
    if flags.contains('-') {
        format!("{sign}{text}{:missing$}", "")
    } else if flags.contains('0') && value.is_finite() {
        format!("{sign}{:0>missing$}{text}", "")
    } else {
        format!("{:missing$}{sign}{text}", "")
    }
}

fn fixed(size: f64, precision: usize, point: bool) -> String {
    let end = if point && precision == 0 { "." } else { "" };
    format!("{size:.precision$}{end}")
}

fn scientific(size: f64, precision: usize, point: bool) -> String {
    let text = format!("{size:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let end = if point && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{end}e{sign}{:02}", exponent.abs())
}

/// `%e` where the exponent is below -4 or not below the precision, else `%f`, both with
/// `precision` digits in all and without zeros at the end unless `#` keeps them.
fn shorter(size: f64, precision: usize, point: bool) -> String {
    let digits = scientific(size, precision - 1, point);
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') && !point {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..precision as i32).contains(&power) {
        trim(&fixed(size, (precision as i32 - 1 - power) as usize, point))
    } else {
        format!("{}e{exponent}", trim(mantissa))
    }
}

/// `%a` without its `0x`: one digit, which is 1 but for 0 and numbers too small for it, then 13 without the zeros at
/// the end, or as many as `precision` says, rounded to the nearest, to an even digit from the middle.
fn hexadecimal(size: f64, precision: Option<usize>, point: bool) -> String {
    const DIGITS: usize = 13;
    let bits = size.to_bits();
    let (stored, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let power = match (stored, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => stored as i32 - 1023,
    };
    let mut digits = u64::from(stored != 0) << 52 | fraction;
    if let Some(dropped) = precision
        .and_then(|kept| DIGITS.checked_sub(kept))
        .filter(|&n| n > 0)
    {
        let unit = 1 << (4 * dropped);
        let (rest, half) = (digits % unit, unit / 2);
        digits -= rest;
        if rest > half || rest == half && digits & unit != 0 {
            digits += unit;
        }
    }
    let mut after = format!("{:013x}", digits & ((1 << 52) - 1));
    match precision {
        Some(kept) if kept < DIGITS => after.truncate(kept),
        Some(kept) => after.push_str(&"0".repeat(kept - DIGITS)),
        None => after.truncate(after.trim_end_matches('0').len()),
    }
    let dot = if point || !after.is_empty() { "." } else { "" };
    format!("{:x}{dot}{after}p{power:+}", digits >> 52)
}

#[cfg(test)]
mod tests {
    use super::decimal;

    /// What a C library prints.
    #[test]
    fn as_c_has_it() {
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
            let found = decimal(specification, kind, value);
            assert_eq!(found, expected, "{specification}{}", char::from(kind));
        }
    }
}
