//! Numbers formatted for readers: three significant digits, and an SI prefix where it helps.

/// Formats three significant digits, or all integer digits in groups of three: `0.0238`, `1.5`, `12 800`.
/// Very small and very large values are written with a power of ten.
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let power = value.abs().log10().floor();
    if !(-5.0..9.0).contains(&power) {
        return format!("{value:.2e}");
    }
    // Rounding may carry into the next power of ten; a fourth digit then does no harm.
    let decimals = (2.0 - power).max(0.0) as usize;
    trimmed(value, decimals)
}

/// Formats all digits in groups of three: `12 345 678`.
pub fn grouped(number: u64) -> String {
    group_digits(&number.to_string())
}

/// Formats a count: exact up to four digits, then three digits and an SI prefix: `9999`, `12.3 k`, `1.2 M`.
pub fn count(value: u64) -> String {
    if value < 10_000 {
        return value.to_string();
    }
    scaled(value as f64)
}

/// Formats a value with three digits, a space and an SI prefix for its unit: `4.8 T`.
pub fn scaled(value: f64) -> String {
    let prefixes = [
        (1e18, "E"),
        (1e15, "P"),
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
    ];
    // 999 999 rounds to 1 M, not to 1000 k.
    match prefixes.iter().find(|(size, _)| value >= 0.9995 * size) {
        Some((size, prefix)) => format!("{} {prefix}", significant(value / size)),
        None => significant(value),
    }
}

/// Formats the mean `sum / count` as an integer or with one decimal; `0` if `count` is 0.
pub fn mean(sum: u64, count: u64) -> String {
    match count {
        0 => "0".to_owned(),
        count => trimmed(sum as f64 / count as f64, 1),
    }
}

/// Formats a fraction of one in percent: `87.5 %`, `100 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", trimmed(100.0 * share, 1))
}

/// Formats milliseconds with at least three significant digits, also for the shortest times. The decimal
/// points of a column line up.
pub fn milliseconds(ms: f64) -> String {
    let decimals = if ms < 0.1 { 5 } else { 4 };
    format!("{ms:.decimals$}")
}

/// Formats with at most `decimals` decimals and removes trailing zeros.
fn trimmed(value: f64, decimals: usize) -> String {
    let digits = format!("{value:.decimals$}");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    match fraction.trim_end_matches('0') {
        "" => group_digits(whole),
        fraction => format!("{}.{fraction}", group_digits(whole)),
    }
}

/// Groups the digits of an integer, with or without a sign, in threes.
fn group_digits(whole: &str) -> String {
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_are_three() {
        let cases = [
            (0.0, "0"),
            (0.02383, "0.0238"),
            (0.1, "0.1"),
            (1.5, "1.5"),
            (24.16, "24.2"),
            (1234.5, "1 234"),
            (12_800.0, "12 800"),
            (-123_456.0, "-123 456"),
            (1e12, "1.00e12"),
            (2.5e-7, "2.50e-7"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn digits_are_grouped_in_threes() {
        let output = [0, 12, 999, 1000, 123_456, 12_345_678].map(grouped);
        let expected = ["0", "12", "999", "1 000", "123 456", "12 345 678"];
        assert_eq!(output, expected);
    }

    #[test]
    fn counts_are_exact_while_short() {
        let cases = [
            (0, "0"),
            (4000, "4000"),
            (9999, "9999"),
            (10_000, "10 k"),
            (12_345, "12.3 k"),
            (99_949, "99.9 k"),
            (999_499, "999 k"),
            (999_500, "1 M"),
            (12_288_000, "12.3 M"),
            (5_000_000_000, "5 G"),
            (u64::MAX, "18.4 E"),
        ];
        for (value, text) in cases {
            assert_eq!(count(value), text);
        }
        assert_eq!(scaled(4.8e12), "4.8 T");
        assert_eq!(scaled(12.0), "12");
    }

    #[test]
    fn means_and_shares() {
        assert_eq!(mean(64, 2), "32");
        assert_eq!(mean(63, 2), "31.5");
        assert_eq!(mean(63_999, 2000), "32");
        assert_eq!(mean(0, 0), "0");
        assert_eq!(percent(0.984_3), "98.4 %");
        assert_eq!(percent(1.0), "100 %");
    }

    #[test]
    fn short_times_keep_their_digits() {
        assert_eq!(milliseconds(0.002_437), "0.00244");
        assert_eq!(milliseconds(0.3560), "0.3560");
        assert_eq!(milliseconds(24.3287), "24.3287");
    }
}
