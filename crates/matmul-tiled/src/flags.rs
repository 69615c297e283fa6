//! The chapter's flags.

use clap::{Parser, ValueEnum};
use common::flags::{Block, CommonFlags};
use matmul_pitched::flags::{ProductFlags, ProductInputs};
use serde::Serialize;

/// Multiplies two matrices, from pitched memory and through tiles in shared memory, and compares
/// the times.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// The matrices.
    #[command(flatten)]
    pub product: ProductFlags,

    /// Width and height of the tiles to compare with the pitched kernel
    #[arg(long, value_enum, default_value_t = TileFlag::All)]
    pub tile: TileFlag,

    /// Threads of a block of the pitched kernel; the others have a thread for each element of a
    /// tile
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "16x16")]
    pub block: Block,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// What `--tile` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub enum TileFlag {
    /// 64 threads a block
    #[value(name = "8")]
    #[serde(rename = "8")]
    Eight,
    /// 256 threads a block, as in the note
    #[value(name = "16")]
    #[serde(rename = "16")]
    Sixteen,
    /// 1024 threads a block, the most there are
    #[value(name = "32")]
    #[serde(rename = "32")]
    ThirtyTwo,
    /// One after the other
    #[serde(rename = "all")]
    All,
}

/// One of the four kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `mat_mul_pitched`
    Pitched,
    /// `mat_mul_tiled_8`
    Tiled8,
    /// `mat_mul_tiled_16`
    Tiled16,
    /// `mat_mul_tiled_32`
    Tiled32,
}

/// What the JSON record repeats of the flags.
#[derive(Debug, Serialize)]
pub struct Inputs {
    #[serde(flatten)]
    product: ProductInputs,
    tile: TileFlag,
    block: String,
}

impl Flags {
    /// The flags that decide the results, for the record.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            product: self.product.inputs(),
            tile: self.tile,
            block: self.block.to_string(),
        }
    }

    /// Threads of a variant's blocks.
    pub fn block_of(&self, variant: Variant) -> Block {
        variant.tile().map_or(self.block, |side| Block {
            width: side,
            height: side,
        })
    }
}

impl TileFlag {
    /// The variants to run, the one that others are compared with first.
    pub fn variants(self) -> &'static [Variant] {
        use Variant::{Pitched, Tiled8, Tiled16, Tiled32};
        match self {
            TileFlag::Eight => &[Pitched, Tiled8],
            TileFlag::Sixteen => &[Pitched, Tiled16],
            TileFlag::ThirtyTwo => &[Pitched, Tiled32],
            TileFlag::All => &[Pitched, Tiled8, Tiled16, Tiled32],
        }
    }
}

impl Variant {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Pitched => "pitched",
            Variant::Tiled8 => "tiled 8",
            Variant::Tiled16 => "tiled 16",
            Variant::Tiled32 => "tiled 32",
        }
    }

    /// Its kernel in `kernels/matmul-pitched.cu` or `kernels/matmul-tiled.cu`.
    pub fn kernel(self) -> &'static str {
        match self {
            Variant::Pitched => "mat_mul_pitched",
            Variant::Tiled8 => "mat_mul_tiled_8",
            Variant::Tiled16 => "mat_mul_tiled_16",
            Variant::Tiled32 => "mat_mul_tiled_32",
        }
    }

    /// Width and height of its tiles, the note's `BLOCK_SIZE`; the pitched kernel has none.
    pub fn tile(self) -> Option<u32> {
        match self {
            Variant::Pitched => None,
            Variant::Tiled8 => Some(8),
            Variant::Tiled16 => Some(16),
            Variant::Tiled32 => Some(32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &str) -> Flags {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["matmul-tiled"].into_iter().chain(words)).unwrap()
    }

    #[test]
    fn the_pitched_kernel_always_comes_first() {
        let names = |arguments| {
            let variants = flags(arguments).tile.variants().iter();
            variants.map(|one| one.name()).collect::<Vec<_>>()
        };
        assert_eq!(names(""), ["pitched", "tiled 8", "tiled 16", "tiled 32"]);
        assert_eq!(names("--tile 8"), ["pitched", "tiled 8"]);
        assert_eq!(names("--tile 16"), ["pitched", "tiled 16"]);
        assert_eq!(names("--tile 32"), ["pitched", "tiled 32"]);
    }

    #[test]
    fn a_tile_is_a_block_and_names_its_kernel() {
        let flags = flags("--block 7x5");
        for &variant in TileFlag::All.variants() {
            let block = flags.block_of(variant).to_string();
            match variant.tile() {
                None => assert_eq!(block, "7x5"),
                Some(side) => {
                    assert_eq!(variant.name(), format!("tiled {side}"));
                    assert_eq!(variant.kernel(), format!("mat_mul_tiled_{side}"));
                    assert_eq!(block, format!("{side}x{side}"));
                }
            }
        }
    }
}
