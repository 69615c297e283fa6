//! The access patterns: the value that each thread adds.

use clap::ValueEnum;
use serde::Serialize;

/// Number of values: 64 KB of them, all of a module's constant memory.
pub const NUM_VALUES: usize = 64 * 1024 / size_of::<i32>();

/// Scatters the accesses of [`AccessPattern::PseudoRandom`], as in the kernels.
const MAGIC_NUMBER: u32 = 1357;

/// Threads per warp.
const WARP_SIZE: u32 = 32;

/// The value that each thread adds. The kernels number the same patterns in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum AccessPattern {
    /// One value for all threads of a block, a different one for each block
    OneAccessPerBlock,
    /// One value for all threads of a warp, a different one for each warp of a block
    OneAccessPerWarp,
    /// Consecutive values for the threads of a block
    OneAccessPerThread,
    /// Scattered values for the threads of a block
    PseudoRandom,
}

impl AccessPattern {
    /// All four patterns in the note's order.
    pub const ALL: [AccessPattern; 4] = [
        AccessPattern::OneAccessPerBlock,
        AccessPattern::OneAccessPerWarp,
        AccessPattern::OneAccessPerThread,
        AccessPattern::PseudoRandom,
    ];

    /// Returns the name in flags and records.
    pub fn name(self) -> &'static str {
        match self {
            AccessPattern::OneAccessPerBlock => "one_access_per_block",
            AccessPattern::OneAccessPerWarp => "one_access_per_warp",
            AccessPattern::OneAccessPerThread => "one_access_per_thread",
            AccessPattern::PseudoRandom => "pseudo_random",
        }
    }

    /// Returns the name in tables, without the prefix that most names share.
    pub fn short_name(self) -> &'static str {
        let name = self.name();
        name.strip_prefix("one_access_").unwrap_or(name)
    }

    /// Returns the number that the kernels take.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// Returns the index of the value that thread `thread_id` of block `block_id` adds.
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
