//! The chapter's flags.

use std::fmt;

use chapter::flags::CommonFlags;
use chapter::ladder::{self, Choice, Chosen};
use chapter::memory::Need;
use clap::{Args, Parser, ValueEnum, value_parser};
use common::launch::Block;
use serde::Serialize;

use crate::pitched::PADDING;
use crate::variant::{Own, VARIANTS};

/// The most floats in a row: the largest pitch, 2^31 - 1 bytes, rounded down to the 512 bytes
/// that rows are padded to. Rows are as many at most, so that sizes in bytes stay within 64 bits.
const MOST: i64 = (1 << 29) - 128;

/// Rows of A, columns of A and columns of B for `--variant ladder`, where no others are given.
const OF_A_LADDER: [u32; 3] = [1920, 512, 2304];

/// Shows how rows are padded in pitched memory, and multiplies two matrices there.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// The matrices.
    #[command(flatten)]
    pub product: ProductFlags,

    /// Threads of a block (those that compute tiles have 16x8)
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "16x16")]
    pub block: Block,

    /// Kernels to run
    #[arg(
        long,
        value_name = "NAME,NAME,…",
        value_delimiter = ',',
        default_value = "book",
        value_parser = ladder::choice(VARIANTS)
    )]
    variant: Vec<Choice<Own>>,

    /// Widths of rows to allocate, to see how long they become
    #[arg(
        long,
        value_name = "FLOATS,FLOATS,…",
        default_value = "15,128,255",
        value_delimiter = ',',
        value_parser = value_parser!(u32).range(1..=MOST)
    )]
    pub widths: Vec<u32>,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// The matrices of C = A·B: how large they are, and what is in them.
#[derive(Args, Clone, Debug)]
pub struct ProductFlags {
    /// Rows of A and of C; 1920 for `--variant ladder`
    #[arg(
        long,
        value_name = "ROWS",
        default_value_t = 480,
        default_value_if("variant", "ladder", "1920"),
        value_parser = value_parser!(u32).range(1..=MOST)
    )]
    pub m: u32,

    /// Columns of A, which are the rows of B; 512 for `--variant ladder`
    #[arg(
        long,
        value_name = "COLUMNS",
        default_value_t = 640,
        default_value_if("variant", "ladder", "512"),
        value_parser = value_parser!(u32).range(1..=MOST)
    )]
    pub n: u32,

    /// Columns of B and of C; 2304 for `--variant ladder`
    #[arg(
        long,
        value_name = "COLUMNS",
        default_value_t = 320,
        default_value_if("variant", "ladder", "2304"),
        value_parser = value_parser!(u32).range(1..=MOST)
    )]
    pub p: u32,

    /// What A and B are
    #[arg(long, value_enum, default_value_t = Fill::Random)]
    pub fill: Fill,

    /// Another number, other random matrices
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

/// What is in A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// Numbers from -1 to 1
    Random,
    /// 1 on the diagonal and 0 elsewhere, as in the note
    Identity,
}

/// What the JSON record repeats of the flags.
#[derive(Debug, Serialize)]
pub struct Inputs {
    #[serde(flatten)]
    product: ProductInputs,
    block: String,
    widths: Vec<u32>,
}

/// The same of the matrices.
#[derive(Debug, Serialize)]
pub struct ProductInputs {
    m: u32,
    n: u32,
    p: u32,
    fill: Fill,
    seed: u64,
}

impl Flags {
    /// The flags that decide the results, for the record.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            product: self.product.inputs(),
            block: self.block.to_string(),
            widths: self.widths.clone(),
        }
    }

    /// The kernels to run, the note's first.
    pub fn variants(&self) -> Chosen<Own> {
        ladder::chosen(VARIANTS, &self.variant)
    }
}

impl ProductFlags {
    /// The flags that decide the results, for the record.
    pub fn inputs(&self) -> ProductInputs {
        ProductInputs {
            m: self.m,
            n: self.n,
            p: self.p,
            fill: self.fill,
            seed: self.seed,
        }
    }

    /// Multiplications, and as many additions, of the whole product.
    pub fn multiply_adds(&self) -> f64 {
        f64::from(self.m) * f64::from(self.n) * f64::from(self.p)
    }

    /// Why a ladder has larger matrices than the note, where it has them; else nothing.
    pub fn why_larger(&self) -> &'static str {
        if [self.m, self.n, self.p] != OF_A_LADDER {
            return "";
        }
        "C has 1920x2304 elements: work for all multiprocessors of a large GPU, whatever a block \
         computes. The note's 480x320 make 12 blocks of 128x128, and most multiprocessors would \
         have none; --m 480 --n 640 --p 320 shows what comes of that."
    }

    /// Bytes for the matrices: the three on the GPU, with padded rows; on the computer A, B, the
    /// reference and the copy read back.
    pub fn memory_need(&self) -> Need {
        let Self { m, n, p, .. } = *self;
        // No overflow: rows and columns are less than 2^29.
        let floats = |rows, cols| u64::from(rows) * u64::from(cols) * size_of::<f32>() as u64;
        Need {
            device: padded(n, m) + padded(p, n) + padded(p, m),
            host: floats(m, n) + floats(n, p) + 2 * floats(m, p),
        }
    }
}

/// Bytes of `rows` rows of `width` floats, as long as every GPU so far makes them.
pub(crate) fn padded(width: u32, rows: u32) -> u64 {
    let bytes = u64::from(width) * size_of::<f32>() as u64;
    bytes.next_multiple_of(PADDING as u64) * u64::from(rows)
}

/// The sizes, as `480x640x320`.
impl fmt::Display for ProductFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.m, self.n, self.p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(arguments: &str) -> Flags {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["matmul-pitched"].into_iter().chain(words)).unwrap()
    }

    #[test]
    fn defaults_are_the_notes_sizes() {
        let flags = flags("");
        assert_eq!(flags.product.to_string(), "480x640x320");
        assert_eq!(flags.widths, [15, 128, 255]);
        assert_eq!(flags.block.to_string(), "16x16");
        assert!(
            flags
                .variants()
                .note()
                .map(|variant| variant.name)
                .eq(["pitched"])
        );
        assert_eq!(flags.variants().len(), 1);
    }

    #[test]
    fn a_ladder_has_matrices_of_its_own_unless_others_are_given() {
        let ladder = flags("--variant ladder").product;
        assert_eq!([ladder.m, ladder.n, ladder.p], OF_A_LADDER);
        assert!(ladder.why_larger().contains("1920x2304"));
        let some = flags("--variant ladder --m 7").product;
        assert_eq!(some.to_string(), "7x512x2304");
        assert_eq!(some.why_larger(), "");
        let one = flags("--variant float4").product;
        assert_eq!(one.to_string(), "480x640x320");
        assert_eq!(one.why_larger(), "");
    }

    #[test]
    fn memory_is_counted_with_padding() {
        // Rows of A are 3 floats, of B and C 129: 512 and 1024 bytes long.
        let need = flags("--m 2 --n 3 --p 129").product.memory_need();
        assert_eq!(need.device, 2 * 512 + 3 * 1024 + 2 * 1024);
        assert_eq!(need.host, 4 * (2 * 3 + 3 * 129 + 2 * 2 * 129));
    }

    #[test]
    fn memory_is_counted_without_overflow() {
        let most = format!("--m {MOST} --n {MOST} --p {MOST}");
        let need = flags(&most).product.memory_need();
        let one = 4 * (MOST as u64).pow(2);
        assert_eq!((need.device, need.host), (3 * one, 4 * one));
        assert!(need.device.checked_add(need.host).is_some());
    }
}
