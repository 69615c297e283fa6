//! The access patterns: which value each thread adds.

use clap::ValueEnum;
use serde::Serialize;

/// How many values there are: 64 KB of them, all of a module's constant memory.
pub const NUM_VALUES: usize = 64 * 1024 / size_of::<i32>();

/// Scatters the accesses of [`AccessPattern::PseudoRandom`], as in the kernels.
const MAGIC_NUMBER: u32 = 1357;

/// Threads of a warp.
const WARP_SIZE: u32 = 32;

/// Which of the values a thread adds. The kernels have the same patterns, by the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum AccessPattern {
    /// All threads of a block the same, each block another
    OneAccessPerBlock,
    /// All threads of a warp the same, each warp of a block another
    OneAccessPerWarp,
    /// Each thread of a block another, one after the other
    OneAccessPerThread,
    /// Each thread of a block another, scattered
    PseudoRandom,
}

impl AccessPattern {
    /// All four, in the note's order.
    pub const ALL: [AccessPattern; 4] = [
        AccessPattern::OneAccessPerBlock,
        AccessPattern::OneAccessPerWarp,
        AccessPattern::OneAccessPerThread,
        AccessPattern::PseudoRandom,
    ];

    /// Its name in flags and tables.
    pub fn name(self) -> &'static str {
        match self {
            AccessPattern::OneAccessPerBlock => "one_access_per_block",
            AccessPattern::OneAccessPerWarp => "one_access_per_warp",
            AccessPattern::OneAccessPerThread => "one_access_per_thread",
            AccessPattern::PseudoRandom => "pseudo_random",
        }
    }

    /// Its number, as the kernels take it.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// Where the value is that thread `thread_id` of block `block_id` adds.
    pub fn index(self, block_id: u32, thread_id: u32) -> usize {
        let number = match self {
            AccessPattern::OneAccessPerBlock => block_id,
            AccessPattern::OneAccessPerWarp => thread_id / WARP_SIZE,
            AccessPattern::OneAccessPerThread => thread_id,
            AccessPattern::PseudoRandom => thread_id.wrapping_mul(MAGIC_NUMBER),
        };
        number as usize % NUM_VALUES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_flags_and_the_record() {
        for pattern in AccessPattern::ALL {
            let flag = pattern.to_possible_value().unwrap();
            assert_eq!(flag.get_name(), pattern.name());
            assert_eq!(serde_json::to_value(pattern).unwrap(), pattern.name());
        }
        assert_eq!(AccessPattern::ALL[..], *AccessPattern::value_variants());
    }

    #[test]
    fn threads_find_their_values() {
        use AccessPattern::*;
        for (pattern, index) in [
            (OneAccessPerBlock, 70_000 - 4 * 16_384),
            (OneAccessPerWarp, 3),
            (OneAccessPerThread, 100),
            (PseudoRandom, 135_700 - 8 * 16_384),
        ] {
            assert_eq!(pattern.index(70_000, 100), index, "{pattern:?}");
        }
    }

    #[test]
    fn numbers_count_from_zero_in_the_notes_order() {
        assert_eq!(AccessPattern::ALL.map(AccessPattern::number), [0, 1, 2, 3]);
    }
}
