//! The chapter's flags.

use clap::{Parser, value_parser};
use common::flags::CommonFlags;
use common::memory::Need;
use serde::Serialize;

use crate::values::LENGTH;

/// The most elements: their bytes still fit 64 bits by far.
const MOST: u64 = 1 << 40;

/// Copies to and from variables of the GPU's module: a constant array, a scalar and a pointer.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// Elements that the kernel makes of the three variables, 4 bytes each
    #[arg(
        long,
        value_name = "ELEMENTS",
        default_value_t = 1 << 16,
        value_parser = value_parser!(u64).range(1..=MOST)
    )]
    pub count: u64,

    /// Threads of a block
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

    /// Where in the variable that part begins [default: at its middle]
    #[arg(long, value_name = "BYTES")]
    offset: Option<u64>,

    /// How long that part is [default: a quarter of the variable]
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u64).range(1..))]
    bytes: Option<u64>,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// A part of a variable, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
}

/// What the JSON record repeats of the flags.
#[derive(Debug, Serialize)]
pub struct Inputs {
    count: u64,
    block: u32,
    symbol: String,
    offset: u64,
    bytes: u64,
}

impl Flags {
    /// The part to copy of a variable of `length` bytes.
    pub fn part_of(&self, length: u64) -> Part {
        Part {
            offset: self.offset.unwrap_or(length / 2),
            bytes: self.bytes.unwrap_or(length / 4),
        }
    }

    /// The flags that decide the results, for the record.
    pub fn inputs(&self, part: Part) -> Inputs {
        Inputs {
            count: self.count,
            block: self.block,
            symbol: self.symbol.clone(),
            offset: part.offset,
            bytes: part.bytes,
        }
    }

    /// Bytes of what the kernel makes, and on the GPU of what the pointer points to; on the
    /// computer what was made is compared with what should be.
    pub fn memory_need(&self) -> Need {
        let made = self.count * size_of::<f32>() as u64;
        Need {
            device: made + (LENGTH * size_of::<f32>()) as u64,
            host: 2 * made,
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
    fn the_default_part_is_within_whatever_variable() {
        assert_eq!(flags("").symbol, "const_data");
        for (length, offset, bytes) in [(1024, 512, 256), (4, 2, 1), (8, 4, 2)] {
            assert_eq!(flags("").part_of(length), Part { offset, bytes });
        }
        let asked = flags("--offset 7 --bytes 9").part_of(8);
        assert_eq!((asked.offset, asked.bytes), (7, 9));
    }

    #[test]
    fn memory_is_counted_without_overflow() {
        let need = flags("--count 17").memory_need();
        assert_eq!((need.device, need.host), (1092, 136));
        assert_eq!(flags("--count 1099511627776").memory_need().host, 1 << 43);
    }
}
