//! The flags that every chapter takes.

use std::fmt;
use std::str::FromStr;

use clap::{Args, value_parser};

/// How to measure and how to print; a chapter adds them with `#[command(flatten)]`.
#[derive(Args, Clone, Debug)]
pub struct CommonFlags {
    /// How many samples a time is the median of (on a GPU; a modelled time needs one)
    #[arg(
        long,
        value_name = "SAMPLES",
        default_value_t = 20,
        value_parser = value_parser!(u32).range(1..=10_000),
        allow_negative_numbers = true
    )]
    pub repeat: u32,

    /// Print one JSON record to standard output in place of the table
    #[arg(long)]
    pub json: bool,
}

/// Threads of a two-dimensional block, both ways at least 1: what a chapter's `--block` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Threads along x.
    pub width: u32,
    /// Threads along y.
    pub height: u32,
}

impl FromStr for Block {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides = text
            .split_once('x')
            .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
        match sides {
            None => Err("write it as WIDTHxHEIGHT in whole numbers, like 16x16".to_owned()),
            Some((0, _) | (_, 0)) => Err("a block has at least one thread each way".to_owned()),
            Some((width, height)) => Ok(Block { width, height }),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        common: CommonFlags,
    }

    #[test]
    fn defaults() {
        let flags = Program::try_parse_from(["program"]).unwrap().common;
        assert_eq!((flags.repeat, flags.json), (20, false));
    }

    #[test]
    fn repeat_takes_whole_positive_numbers_only() {
        for bad in ["0", "-3", "many", "1.5", "10001", ""] {
            let parsed = Program::try_parse_from(["program", "--repeat", bad]);
            assert!(parsed.is_err(), "--repeat {bad} was accepted");
        }
    }

    #[test]
    fn blocks() {
        let block: Block = "7x5".parse().unwrap();
        assert_eq!((block.width, block.height), (7, 5));
        assert_eq!(block.to_string(), "7x5");
        for zero in ["0x16", "16x0", "0x0"] {
            let error = zero.parse::<Block>().unwrap_err();
            assert!(error.contains("at least one"), "{error}");
        }
        for malformed in "|16|x|16x|x16|16x16x1|-1x4|99999999999x1".split('|') {
            let error = malformed.parse::<Block>().unwrap_err();
            assert!(error.contains("WIDTHxHEIGHT"), "{malformed}: {error}");
        }
    }
}
