//! Numbers as a reader takes them in: three digits, and a unit's prefix where it helps.

/// Three significant digits, or all of the whole ones, thousands apart: `0.0238`, `1.5`, `12 800`.
/// What is very small or large has a power of ten.
pub fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let power = value.abs().log10().floor();
    if !(-5.0..9.0).contains(&power) {
        return format!("{value:.2e}");
    }
    // Rounding may carry into the next power; a digit more than three then does no harm.
    let decimals = (2.0 - power).max(0.0) as usize;
    let digits = format!("{value:.decimals$}");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", apart(whole))
}

/// A count: exact up to four digits, then three of them and `k`, `M`, `G` or `T`.
pub fn count(value: u64) -> String {
    if value < 10_000 {
        return value.to_string();
    }
    scaled(value as f64)
}

/// A value with the prefix `k`, `M`, `G` or `T` of its unit, and a space before it: `4.8 T`.
pub fn scaled(value: f64) -> String {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    // 999 999 rounds to 1 M, not to 1000 k.
    match prefixes.iter().find(|(size, _)| value >= 0.9995 * size) {
        Some((size, prefix)) => format!("{}\u{a0}{prefix}", plain(value / size)),
        None => plain(value),
    }
}

/// Digits in threes with a no-break space between, from five on.
fn apart(whole: &str) -> String {
    if whole.len() < 5 {
        return whole.to_owned();
    }
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_have_three_digits() {
        let cases = [
            (0.0, "0"),
            (0.02383, "0.0238"),
            (0.1, "0.1"),
            (1.5, "1.5"),
            (24.16, "24.2"),
            (1234.5, "1234"),
            (12_800.0, "12\u{a0}800"),
            (1e12, "1.00e12"),
            (2.5e-7, "2.50e-7"),
        ];
        for (value, text) in cases {
            assert_eq!(plain(value), text);
        }
    }

    #[test]
    fn counts_are_exact_while_short() {
        let cases = [
            (0, "0"),
            (4000, "4000"),
            (16_000, "16\u{a0}k"),
            (19_250, "19.2\u{a0}k"),
            (144_000, "144\u{a0}k"),
            (999_999, "1\u{a0}M"),
            (12_288_000, "12.3\u{a0}M"),
            (5_000_000_000, "5\u{a0}G"),
        ];
        for (value, text) in cases {
            assert_eq!(count(value), text);
        }
        assert_eq!(scaled(4.8e12), "4.8\u{a0}T");
        assert_eq!(scaled(12.0), "12");
    }
}
