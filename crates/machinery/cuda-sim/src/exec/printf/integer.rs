//! Whole numbers as text, as C's `%d`, `%u`, `%o` and `%x` write them.
//!
//! Source: C17, 7.21.6.1 (`fprintf`).

/// A whole number as the conversion `specification` (`%`, flags, width, precision) and `kind` (one of `duoxX`) ask
/// for. `negative`: `size` is below zero, which `%d` alone can tell.
pub fn whole(specification: &str, kind: u8, negative: bool, size: u64) -> String {
    let rest = specification.trim_start_matches(['%', '-', '+', ' ', '#', '0']);
    let mut flags = specification[..specification.len() - rest.len()].to_owned();
    let (width, precision) = match rest.split_once('.') {
        // A negative one from an argument stands for none; a lone point for 0.
        Some((width, precision)) if precision.starts_with('-') => (width, None),
        Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
        None => (rest, None),
    };
    if width.starts_with('-') {
        flags.push('-');
    }
    let width: usize = width.trim_start_matches('-').parse().unwrap_or(0);
    let mut digits = match (size, precision) {
        (0, Some(0)) => String::new(),
        _ => match kind {
            b'o' => format!("{size:o}"),
            b'x' => format!("{size:x}"),
            b'X' => format!("{size:X}"),
            _ => size.to_string(),
        },
    };
    let least: usize = precision.unwrap_or(1);
    digits.insert_str(0, &"0".repeat(least.saturating_sub(digits.len())));
    let alternative = flags.contains('#');
    if alternative && kind == b'o' && !digits.starts_with('0') {
        digits.insert(0, '0');
    }
    let before = match kind {
        b'd' if negative => "-",
        b'd' if flags.contains('+') => "+",
        b'd' if flags.contains(' ') => " ",
        b'x' if alternative && size != 0 => "0x",
        b'X' if alternative && size != 0 => "0X",
        _ => "",
    };
    let missing = width.saturating_sub(before.len() + digits.len());
    if flags.contains('-') {
        format!("{before}{digits}{:missing$}", "")
    } else if flags.contains('0') && precision.is_none() {
        format!("{before}{:0>missing$}{digits}", "")
    } else {
        format!("{:missing$}{before}{digits}", "")
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    /// What a C library prints.
    #[test]
    fn as_c_has_it() {
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
            let found = whole(specification, kind, value < 0, value.unsigned_abs());
            assert_eq!(found, expected, "{specification}{}", char::from(kind));
        }
    }
}
