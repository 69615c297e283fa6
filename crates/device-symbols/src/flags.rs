//! The chapter's command-line flags.

use chapter::flags::CommonFlags;
use clap::{Parser, value_parser};
use serde::Serialize;

use crate::variable::VARIABLES;

/// Maximum number of elements; their bytes fit into 64 bits by far.
const MAX_COUNT: u64 = 1 << 40;

/// Copies to and from variables of the GPU's module: a constant array, a scalar and a pointer.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// Elements that the kernel computes from the three variables, 4 bytes each
    #[arg(
        long,
        value_name = "ELEMENTS",
        default_value_t = 1 << 16,
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

    /// The variable whose part is copied at the end: const_data, dev_data or dev_pointer
    #[arg(long, value_name = "NAME", default_value = "const_data")]
    pub symbol: String,

    /// Start of that part in the variable [default: its middle]
    #[arg(long, value_name = "BYTES")]
    offset: Option<u64>,

    /// Length of that part [default: a quarter of the variable]
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u64).range(1..))]
    bytes: Option<u64>,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// A range of a variable in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first byte.
    pub offset: u64,
    /// The length in bytes.
    pub bytes: u64,
}

/// The flags that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct Inputs {
    count: u64,
    block: u32,
    symbol: String,
    offset: u64,
    bytes: u64,
}

impl Flags {
    /// Returns the part of `--symbol` to copy, by default in its middle. (An unknown name or a part that is
    /// too long is reported when the variable is looked up.)
    pub fn part(&self) -> Part {
        let named = VARIABLES.iter().find(|(name, _)| *name == self.symbol);
        let length = named.map_or(0, |(_, bytes)| *bytes as u64);
        Part {
            offset: self.offset.unwrap_or(length / 2),
            bytes: self.bytes.unwrap_or(length / 4),
        }
    }

    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> Inputs {
        let part = self.part();
        Inputs {
            count: self.count,
            block: self.block,
            symbol: self.symbol.clone(),
            offset: part.offset,
            bytes: part.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &str) -> Flags {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["device-symbols"].into_iter().chain(words)).unwrap()
    }

    #[test]
    fn the_default_part_is_within_every_variable() {
        assert_eq!(flags("").symbol, "const_data");
        for (symbol, offset, bytes) in [
            ("const_data", 512, 256),
            ("dev_data", 2, 1),
            ("dev_pointer", 4, 2),
        ] {
            let part = flags(&format!("--symbol {symbol}")).part();
            assert_eq!(part, Part { offset, bytes });
        }
        let part = flags("--symbol dev_pointer --offset 7 --bytes 9").part();
        assert_eq!((part.offset, part.bytes), (7, 9));
    }
}
