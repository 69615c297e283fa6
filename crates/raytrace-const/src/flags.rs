//! The chapter's command-line flags.

use std::path::PathBuf;

use chapter::flags::CommonFlags;
use chapter::ladder::{self, Choice, Selection};
use chapter::launch::Block;
use clap::{Parser, value_parser};
use serde::Serialize;

use crate::variant::{KernelConfig, VARIANTS};

/// Maximum side of a picture and maximum number of spheres. The kernels count in 32-bit integers, and the
/// grid extends up to one block beyond the picture's edge.
const MAX_SIZE: i64 = 1 << 30;

/// Draws spheres on the GPU, from global and from constant memory, and compares the times.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// Width of the picture
    #[arg(
        long,
        value_name = "PIXELS",
        default_value_t = 1024,
        value_parser = value_parser!(u32).range(1..=MAX_SIZE)
    )]
    pub width: u32,

    /// Height of the picture
    #[arg(
        long,
        value_name = "PIXELS",
        default_value_t = 1024,
        value_parser = value_parser!(u32).range(1..=MAX_SIZE)
    )]
    pub height: u32,

    /// Number of spheres; constant memory holds 2340, or 2048 aligned ones, or 2040 for the ladder
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 20,
        value_parser = value_parser!(u32).range(1..=MAX_SIZE)
    )]
    pub spheres: u32,

    /// Seed of the random scene
    #[arg(long, value_name = "NUMBER", default_value_t = 6)]
    pub seed: u64,

    /// Kernels to run, one or several
    #[arg(
        long,
        value_name = "KERNEL",
        value_delimiter = ',',
        default_value = "book",
        value_parser = ladder::choice(VARIANTS)
    )]
    pub variant: Vec<Choice<KernelConfig>>,

    /// Threads per block
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "16x16")]
    pub block: Block,

    /// File to save the picture to
    #[arg(long, value_name = "FILE.png", default_value = "raytrace.png")]
    pub out: PathBuf,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// The flags that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct Inputs {
    width: u32,
    height: u32,
    spheres: u32,
    seed: u64,
    block: String,
}

impl Flags {
    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            width: self.width,
            height: self.height,
            spheres: self.spheres,
            seed: self.seed,
            block: self.block.to_string(),
        }
    }

    /// Returns the selected kernels, the note's first.
    pub fn variants(&self) -> Selection<KernelConfig> {
        ladder::select(VARIANTS, &self.variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_books_scene() {
        let flags = Flags::try_parse_from(["raytrace-const"]).unwrap();
        assert_eq!((flags.width, flags.height, flags.spheres), (1024, 1024, 20));
        let names = flags.variants().into_iter().map(|variant| variant.name);
        assert!(names.eq(["global", "constant", "unrolled"]));
        assert_eq!(flags.block.to_owned(), "16x16".parse().unwrap());
    }
}
