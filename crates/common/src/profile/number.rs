//! Numbers as profiles show them.

/// All digits, in groups of three: `12 345 678`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Four digits where they say it all, else three and a prefix: `9999`, `12.3 k`, `1.23 M`.
pub fn short(number: u64) -> String {
    if number < 10_000 {
        return number.to_string();
    }
    let mut scaled = number as f64;
    for prefix in ["k", "M", "G", "T", "P"] {
        scaled /= 1e3;
        for (most, decimals) in [(9.995, 2), (99.95, 1), (999.5, 0)] {
            if scaled < most {
                return format!("{scaled:.decimals$} {prefix}");
            }
        }
    }
    format!("{scaled:.0} P")
}

/// A mean: `32` where it is a whole number, else with one decimal; 0 of nothing.
pub fn mean(sum: u64, count: u64) -> String {
    if count == 0 {
        "0".to_owned()
    } else if sum.is_multiple_of(count) {
        (sum / count).to_string()
    } else {
        format!("{:.1}", sum as f64 / count as f64)
    }
}

/// A share of one, in percent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Three digits at least, of the shortest times too.
pub fn milliseconds(ms: f64) -> String {
    let decimals = if ms < 0.1 { 5 } else { 4 };
    format!("{ms:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_groups_of_three() {
        let shown = [0, 12, 999, 1000, 123_456, 12_345_678].map(grouped);
        let wanted = ["0", "12", "999", "1 000", "123 456", "12 345 678"];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn short_numbers_keep_three_digits() {
        let cases = [
            (0, "0"),
            (9999, "9999"),
            (10_000, "10.0 k"),
            (12_345, "12.3 k"),
            (99_949, "99.9 k"),
            (99_950, "100 k"),
            (999_499, "999 k"),
            (999_500, "1.00 M"),
            (12_345_678, "12.3 M"),
            (4_194_304_000, "4.19 G"),
            (u64::MAX, "18447 P"),
        ];
        for (number, wanted) in cases {
            assert_eq!(short(number), wanted);
        }
    }

    #[test]
    fn means_and_shares() {
        assert_eq!(mean(64, 2), "32");
        assert_eq!(mean(63, 2), "31.5");
        assert_eq!(mean(0, 0), "0");
        assert_eq!(percent(0.984_3), "98.4 %");
    }

    #[test]
    fn short_times_keep_their_digits() {
        assert_eq!(milliseconds(0.002_437), "0.00244");
        assert_eq!(milliseconds(0.3560), "0.3560");
        assert_eq!(milliseconds(24.3287), "24.3287");
    }
}
