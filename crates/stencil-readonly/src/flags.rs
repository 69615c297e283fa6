//! The chapter's command-line flags.

use chapter::flags::CommonFlags;
use chapter::ladder::{self, Choice, Selection};
use clap::{Parser, value_parser};
use serde::Serialize;

use crate::scheme::RADIUS;
use crate::variant::{KernelConfig, VARIANTS};

/// Maximum number of points: the kernels count in 32-bit integers, up to one block past the end.
const MAX_SIZE: i64 = 1 << 30;

/// The note's block size, which is one warp, and a larger one that keeps a GPU busier, as on the ladder.
const BLOCKS: [u32; 2] = [32, LADDER_BLOCK];
const LADDER_BLOCK: u32 = 256;

/// The first derivative of a sine wave, its coefficients in constant memory and through the
/// read-only cache.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// Points of the array
    #[arg(
        long,
        value_name = "POINTS",
        default_value_t = 1 << 24,
        value_parser = value_parser!(u32).range(1..=MAX_SIZE)
    )]
    pub size: u32,

    /// Threads per block, of which the first 4 load the halo [default: 32, and 256; with kernels of the
    /// ladder 256]
    #[arg(long, value_name = "THREADS", value_parser = block)]
    block: Option<u32>,

    /// Kernels to run, one or several
    #[arg(
        long,
        value_name = "KERNEL",
        value_delimiter = ',',
        default_value = "book",
        value_parser = ladder::choice(VARIANTS)
    )]
    pub variant: Vec<Choice<KernelConfig>>,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// The flags that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct Inputs {
    size: u32,
    blocks: Vec<u32>,
}

impl Flags {
    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            size: self.size,
            blocks: self.blocks(),
        }
    }

    /// Returns the threads per block of each run.
    pub fn blocks(&self) -> Vec<u32> {
        match self.block {
            Some(block) => vec![block],
            None if self.variants().has_rungs() => vec![LADDER_BLOCK],
            None => BLOCKS.to_vec(),
        }
    }

    /// Returns the selected kernels, the note's first.
    pub fn variants(&self) -> Selection<KernelConfig> {
        ladder::select(VARIANTS, &self.variant)
    }
}

/// Parses the threads per block.
fn block(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(threads) if threads as usize >= RADIUS => Ok(threads),
        Ok(_) => Err(format!(
            "the first {RADIUS} threads of a block load the halo, so a block needs at least {RADIUS} threads"
        )),
        Err(_) => Err("write it as a whole number, like 256".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &str) -> Flags {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["stencil-readonly"].into_iter().chain(words)).unwrap()
    }

    #[test]
    fn defaults_are_the_notes_size_and_both_blocks() {
        assert_eq!(flags("").size, 16_777_216);
        assert_eq!(flags("").blocks(), [32, 256]);
        assert_eq!(flags("--block 100").blocks(), [100]);
    }

    #[test]
    fn the_ladder_has_one_block() {
        assert_eq!(flags("--variant ladder").blocks(), [256]);
        assert_eq!(flags("--variant constant,vectors").blocks(), [256]);
        assert_eq!(flags("--variant ladder --block 100").blocks(), [100]);
        assert_eq!(flags("--variant constant").blocks(), [32, 256]);
    }

    #[test]
    fn blocks_smaller_than_the_halo_are_invalid() {
        assert_eq!(block("4"), Ok(4));
        for few in ["0", "1", "3"] {
            assert!(block(few).unwrap_err().contains("at least 4"));
        }
        for malformed in ["", "-1", "many", "32.0", "4294967296"] {
            assert!(block(malformed).unwrap_err().contains("whole number"));
        }
    }
}
