//! Formatting of integers, as C's `%d`, `%u`, `%o` and `%x`.
//!
//! Source: C17, 7.21.6.1 (`fprintf`).

/// Formats an integer by the conversion `specification` (`%`, flags, width, precision) and `kind` (one of
/// `duoxX`). `negative` adds a minus sign to `magnitude` and is allowed only for `%d`.
pub fn format_integer(specification: &str, kind: u8, negative: bool, magnitude: u64) -> String {
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

#[cfg(test)]
mod tests {
    use super::format_integer;

    /// Expected values are those that a C library prints.
    #[test]
    fn formats_like_c() {
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
}
