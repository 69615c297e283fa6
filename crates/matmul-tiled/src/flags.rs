//! The chapter's command-line flags.

use chapter::flags::CommonFlags;
use chapter::ladder::{self, Choice, Selection};
use chapter::launch::Block;
use clap::Parser;
use matmul_pitched::flags::{ProductFlags, ProductInputs};
use serde::Serialize;

use crate::variant::{KernelConfig, VARIANTS};

/// Multiplies two matrices, from pitched memory and through tiles in shared memory, and compares
/// the times.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// The matrices.
    #[command(flatten)]
    pub product: ProductFlags,

    /// Kernels to run, by name or as a group
    #[arg(
        long,
        value_name = "KERNEL",
        value_delimiter = ',',
        default_value = "book",
        value_parser = ladder::choice(VARIANTS)
    )]
    pub variant: Vec<Choice<KernelConfig>>,

    /// Threads per block of the pitched kernel; the other kernels have fixed block sizes
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "16x16")]
    pub block: Block,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// The flags that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct Inputs {
    #[serde(flatten)]
    product: ProductInputs,
    variants: Vec<&'static str>,
    block: String,
}

impl Flags {
    /// Returns the selected kernels without duplicates, the note's first.
    pub fn variants(&self) -> Selection<KernelConfig> {
        ladder::select(VARIANTS, &self.variant)
    }

    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> Inputs {
        let variants = self.variants().into_iter().map(|variant| variant.name);
        Inputs {
            product: self.product.inputs(),
            variants: variants.collect(),
            block: self.block.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_notes_kernels() {
        let names = |arguments: &str| {
            let words = arguments.split_whitespace();
            let flags = Flags::try_parse_from(["matmul-tiled"].into_iter().chain(words)).unwrap();
            flags.inputs().variants
        };
        assert_eq!(names(""), ["pitched", "tiled 8", "tiled 16", "tiled 32"]);
        assert_eq!(names("--variant tiled-8"), ["tiled 8"]);
        assert_eq!(
            names("--variant pitched,double-buffer"),
            ["pitched", "double buffer"]
        );
    }
}
