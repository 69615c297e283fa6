//! The chapter's command-line flags.

use chapter::flags::CommonFlags;
use clap::{Parser, value_parser};
use serde::Serialize;

/// Multiplies a vector by a factor.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// Elements of the vector, 4 bytes each
    #[arg(
        long,
        value_name = "ELEMENTS",
        default_value_t = 1 << 22,
        value_parser = value_parser!(u32).range(1..=1 << 30)
    )]
    pub count: u32,

    /// The factor of every element
    #[arg(long, value_name = "NUMBER", default_value_t = 2.0)]
    pub factor: f32,

    /// Threads per block
    #[arg(
        long,
        value_name = "THREADS",
        default_value_t = 256,
        value_parser = value_parser!(u32).range(1..)
    )]
    pub block: u32,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// The flags that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct Inputs {
    count: u32,
    factor: f32,
    block: u32,
}

impl Flags {
    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            count: self.count,
            factor: self.factor,
            block: self.block,
        }
    }
}
