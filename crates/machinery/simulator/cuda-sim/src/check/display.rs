//! Formatting of numbers, lane masks and allocations for messages.

use crate::memory::global::AllocationRecord;

/// Formats a number of bytes: `1 byte`, `4 bytes`.
pub fn count(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        _ => format!("{bytes} bytes"),
    }
}

/// Formats an allocation by its name or, if it has none, by its size, address, and position among all
/// allocations.
pub fn allocation(record: &AllocationRecord) -> String {
    let (bytes, base) = (record.bytes, record.base);
    match &record.name {
        Some(name) => format!("`{name}` ({})", count(bytes)),
        None => format!(
            "the {bytes}-byte allocation at {base:#x}, allocated {}",
            ordinal(record.order)
        ),
    }
}

/// Formats an ordinal number: `1st`, `2nd`, `11th`.
pub fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Formats the lanes of a mask: `3`, `0 to 15`, `0, 2 to 5, 9`.
pub fn lanes(mask: u32) -> String {
    let mut parts = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        if mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let run = (!(mask >> lane)).trailing_zeros().min(32 - lane);
        parts.push(match run {
            1 => lane.to_string(),
            _ => format!("{lane} to {}", lane + run - 1),
        });
        lane += run;
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal);
        let expected = [
            "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
        ];
        assert_eq!(ordinals, expected);
        assert_eq!(lanes(u32::MAX), "0 to 31");
        assert_eq!(lanes(1 << 31), "31");
        assert_eq!(lanes(0b10_0011_1101), "0, 2 to 5, 9");
        assert_eq!(count(1), "1 byte");
    }
}
