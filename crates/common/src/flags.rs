//! The flags that every chapter takes.

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
}
