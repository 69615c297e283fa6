//! The chapter's flags.

use std::path::PathBuf;

use clap::{Parser, ValueEnum, value_parser};
use common::flags::{Block, CommonFlags};
use serde::Serialize;

/// The longest side of a picture, and the most spheres. The kernels count in 32-bit integers, and
/// the grid reaches up to a block past the picture's edge.
const MOST: i64 = 1 << 30;

/// Draws spheres on the GPU, from global and from constant memory, and compares the times.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// Width of the picture
    #[arg(
        long,
        value_name = "PIXELS",
        default_value_t = 1024,
        value_parser = value_parser!(u32).range(1..=MOST)
    )]
    pub width: u32,

    /// Height of the picture
    #[arg(
        long,
        value_name = "PIXELS",
        default_value_t = 1024,
        value_parser = value_parser!(u32).range(1..=MOST)
    )]
    pub height: u32,

    /// How many spheres; constant memory holds 2340, or 2048 of the aligned ones
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 20,
        value_parser = value_parser!(u32).range(1..=MOST)
    )]
    pub spheres: u32,

    /// Another number, another scene
    #[arg(long, value_name = "NUMBER", default_value_t = 6)]
    pub seed: u64,

    /// Where the spheres are
    #[arg(long, value_enum, default_value_t = VariantFlag::All)]
    pub variant: VariantFlag,

    /// Threads of a block
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "16x16")]
    pub block: Block,

    /// Where to save the picture
    #[arg(long, value_name = "FILE.png", default_value = "raytrace.png")]
    pub out: PathBuf,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// What `--variant` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VariantFlag {
    /// 28-byte spheres in global memory
    Global,
    /// The same spheres and the same loop, in constant memory
    Constant,
    /// 32-byte aligned spheres in constant memory, loop unrolled
    Unrolled,
    /// One after the other
    All,
}

/// One of the three kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `raytrace_global`
    Global,
    /// `raytrace_constant`
    Constant,
    /// `raytrace_unrolled`
    Unrolled,
}

/// What the JSON record repeats of the flags.
#[derive(Debug, Serialize)]
pub struct Inputs {
    width: u32,
    height: u32,
    spheres: u32,
    seed: u64,
    block: String,
}

impl Flags {
    /// The flags that decide the results, for the record.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            width: self.width,
            height: self.height,
            spheres: self.spheres,
            seed: self.seed,
            block: self.block.to_string(),
        }
    }
}

impl VariantFlag {
    /// The variants to run, the one that others are compared with first.
    pub fn variants(self) -> &'static [Variant] {
        match self {
            VariantFlag::Global => &[Variant::Global],
            VariantFlag::Constant => &[Variant::Constant],
            VariantFlag::Unrolled => &[Variant::Unrolled],
            VariantFlag::All => &[Variant::Global, Variant::Constant, Variant::Unrolled],
        }
    }
}

impl Variant {
    /// Its name in flags and tables.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Global => "global",
            Variant::Constant => "constant",
            Variant::Unrolled => "unrolled",
        }
    }

    /// Its kernel in `kernels/raytrace-const.cu`.
    pub fn kernel(self) -> &'static str {
        match self {
            Variant::Global => "raytrace_global",
            Variant::Constant => "raytrace_constant",
            Variant::Unrolled => "raytrace_unrolled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_books_scene() {
        let flags = Flags::try_parse_from(["raytrace-const"]).unwrap();
        assert_eq!((flags.width, flags.height, flags.spheres), (1024, 1024, 20));
        assert_eq!(flags.variant.variants().len(), 3);
        assert_eq!(flags.block.to_owned(), "16x16".parse().unwrap());
    }
}
