//! The chapter's command-line flags.

use chapter::flags::CommonFlags;
use chapter::ladder::{self, Choice, Selection};
use clap::{Parser, value_parser};
use serde::Serialize;

use crate::variant::{VARIANTS, Work};

/// Maximum number of elements; all vectors together have far fewer than 2^64 bytes.
const MAX_COUNT: u64 = 1 << 40;

/// Adds two vectors on the GPU, and times the kernel and every kind of copy.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// Elements per vector, 4 bytes each
    #[arg(
        long,
        value_name = "ELEMENTS",
        default_value_t = 1 << 22,
        value_parser = value_parser!(u64).range(1..=MAX_COUNT)
    )]
    pub count: u64,

    /// Threads per block
    #[arg(
        long,
        value_name = "THREADS",
        default_value_t = 256,
        value_parser = value_parser!(u32).range(1..)
    )]
    pub block: u32,

    /// Kernels and complete additions (with transfers) to run; the note's kernel includes every kind of copy
    #[arg(
        long,
        value_name = "NAME,NAME,…",
        value_delimiter = ',',
        default_value = "book",
        value_parser = ladder::choice(VARIANTS)
    )]
    pub variant: Vec<Choice<Work>>,

    /// Seed of the random vectors
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub seed: u64,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// The flags that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct Inputs {
    count: u64,
    block: u32,
    seed: u64,
}

impl Flags {
    /// Returns the selected variants, the note's kernel first.
    pub fn variants(&self) -> Selection<Work> {
        ladder::select(VARIANTS, &self.variant)
    }

    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            count: self.count,
            block: self.block,
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults() {
        let flags = Flags::try_parse_from(["vector-add"]).unwrap();
        assert_eq!((flags.count, flags.block), (4_194_304, 256));
        let names = flags.variants().into_iter().map(|variant| variant.name);
        assert!(names.eq(["add"]) && !flags.variants().has_rungs());
    }
}
