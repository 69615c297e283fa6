//! The chapter's command-line flags, and the note's three arguments.

use chapter::flags::CommonFlags;
use chapter::ladder::{self, Choice, Selection};
use clap::{Parser, value_parser};
use serde::Serialize;

use crate::pattern::AccessPattern;
use crate::variant::{KernelConfig, VARIANTS};

/// Maximum number of additions: the kernels count in 32-bit integers, up to one block past the end.
const MAX_SUMS: i64 = 1 << 31;

/// The note's sizes.
const SUMS: [u32; 2] = [12_800_000, 128_000];

/// The note's block size.
const BLOCK: u32 = 1024;

/// Adds constants from constant and from global memory, in four access patterns.
///
/// Without arguments: all four, and both sizes of the note.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// The note's first argument, like --pattern
    #[arg(value_enum, hide_possible_values = true, conflicts_with = "pattern")]
    access_pattern: Option<AccessPattern>,

    /// The note's second argument, like --block
    #[arg(value_parser = value_parser!(u32).range(1..), conflicts_with = "block")]
    block_size: Option<u32>,

    /// The note's third argument, like --sums
    #[arg(value_parser = value_parser!(u32).range(1..=MAX_SUMS), conflicts_with = "sums")]
    num_sums: Option<u32>,

    /// The value that each thread adds [default: all patterns]
    #[arg(long, value_enum)]
    pattern: Option<AccessPattern>,

    /// Threads per block [default: 1024]
    #[arg(long, value_name = "THREADS", value_parser = value_parser!(u32).range(1..))]
    block: Option<u32>,

    /// Number of additions [default: 12800000, and 128000]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=MAX_SUMS))]
    sums: Option<u32>,

    /// Kernels to run
    #[arg(
        long,
        value_name = "NAME,NAME,…",
        value_delimiter = ',',
        default_value = "book",
        value_parser = ladder::choice(VARIANTS)
    )]
    pub variant: Vec<Choice<KernelConfig>>,

    /// Seed of the random inputs
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    pub seed: u64,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// The flags that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct Inputs {
    patterns: Vec<AccessPattern>,
    block: u32,
    sums: Vec<u32>,
    seed: u64,
}

impl Flags {
    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            patterns: self.patterns(),
            block: self.block(),
            sums: self.sums(),
            seed: self.seed,
        }
    }

    /// Returns the selected kernels, the note's first.
    pub fn variants(&self) -> Selection<KernelConfig> {
        ladder::select(VARIANTS, &self.variant)
    }

    /// Returns the access patterns to run.
    pub fn patterns(&self) -> Vec<AccessPattern> {
        match self.pattern.or(self.access_pattern) {
            Some(pattern) => vec![pattern],
            None => AccessPattern::ALL.to_vec(),
        }
    }

    /// Returns the threads per block.
    pub fn block(&self) -> u32 {
        self.block.or(self.block_size).unwrap_or(BLOCK)
    }

    /// Returns the number of additions of each run.
    pub fn sums(&self) -> Vec<u32> {
        match self.sums.or(self.num_sums) {
            Some(sums) => vec![sums],
            None => SUMS.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Flags, clap::Error> {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["add-constant"].into_iter().chain(words))
    }

    #[test]
    fn defaults_are_the_notes() {
        let flags = parse("").unwrap();
        assert_eq!(flags.patterns(), AccessPattern::ALL);
        assert_eq!((flags.block(), flags.sums()), (1024, SUMS.to_vec()));
        let names = flags.variants().into_iter().map(|variant| variant.name);
        assert!(names.eq(["global", "constant"]));
    }

    #[test]
    fn arguments_and_flags_are_the_same() {
        for arguments in [
            "pseudo_random 32 17",
            "--pattern pseudo_random --block 32 --sums 17",
            "pseudo_random --block 32 --sums 17",
            "pseudo_random 32 --sums 17",
        ] {
            let flags = parse(arguments).unwrap();
            assert_eq!(flags.patterns(), [AccessPattern::PseudoRandom]);
            assert_eq!((flags.block(), flags.sums()), (32, vec![17]), "{arguments}");
        }
    }

    #[test]
    fn arguments_and_flags_conflict() {
        for arguments in [
            "pseudo_random --pattern pseudo_random",
            "pseudo_random 32 --block 32",
            "pseudo_random 32 17 --sums 17",
        ] {
            let error = parse(arguments).unwrap_err().to_string();
            assert!(error.contains("cannot be used with"), "{error}");
        }
    }
}
