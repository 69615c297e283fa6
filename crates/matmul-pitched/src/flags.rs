//! The chapter's command-line flags.

use std::fmt;

use chapter::flags::CommonFlags;
use chapter::ladder::{self, Choice, Selection};
use chapter::lang::Lang;
use chapter::launch::Block;
use chapter::memory::Footprint;
use clap::{Args, Parser, ValueEnum, value_parser};
use common::pitched::PADDING;
use serde::Serialize;

use crate::variant::{KernelConfig, VARIANTS};

/// Maximum number of floats in a row: the largest pitch, 2^31 - 1 bytes, rounded down to the 512 bytes that
/// rows are padded to. It is also the maximum number of rows, so that sizes in bytes fit into 64 bits.
const MAX_SIZE: i64 = (1 << 29) - 128;

/// Rows of A, columns of A and columns of B for `--variant ladder`, if no others are given.
const LADDER_SIZES: [u32; 3] = [1920, 512, 2304];

/// Shows how rows are padded in pitched memory, and multiplies two matrices there.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
pub struct Flags {
    /// The matrices.
    #[command(flatten)]
    pub product: ProductFlags,

    /// Threads per block (kernels that compute tiles use 16x8)
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
    variant: Vec<Choice<KernelConfig>>,

    /// Widths of rows to allocate, to show their pitches
    #[arg(
        long,
        value_name = "FLOATS,FLOATS,…",
        default_value = "15,128,255",
        value_delimiter = ',',
        value_parser = value_parser!(u32).range(1..=MAX_SIZE)
    )]
    pub widths: Vec<u32>,

    /// The flags that every chapter takes.
    #[command(flatten)]
    pub common: CommonFlags,
}

/// The sizes and contents of the matrices of C = A·B.
#[derive(Args, Clone, Debug)]
pub struct ProductFlags {
    /// Rows of A and C; 1920 for `--variant ladder`
    #[arg(
        long,
        value_name = "ROWS",
        default_value_t = 480,
        default_value_if("variant", "ladder", "1920"),
        value_parser = value_parser!(u32).range(1..=MAX_SIZE)
    )]
    pub m: u32,

    /// Columns of A and rows of B; 512 for `--variant ladder`
    #[arg(
        long,
        value_name = "COLUMNS",
        default_value_t = 640,
        default_value_if("variant", "ladder", "512"),
        value_parser = value_parser!(u32).range(1..=MAX_SIZE)
    )]
    pub n: u32,

    /// Columns of B and C; 2304 for `--variant ladder`
    #[arg(
        long,
        value_name = "COLUMNS",
        default_value_t = 320,
        default_value_if("variant", "ladder", "2304"),
        value_parser = value_parser!(u32).range(1..=MAX_SIZE)
    )]
    pub p: u32,

    /// Contents of A and B
    #[arg(long, value_enum, default_value_t = Fill::Random)]
    pub fill: Fill,

    /// Seed of the random matrices
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

/// The contents of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// Numbers from -1 to 1
    Random,
    /// 1 on the diagonal and 0 elsewhere, as in the note
    Identity,
}

/// The flags that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct Inputs {
    #[serde(flatten)]
    product: ProductInputs,
    block: String,
    widths: Vec<u32>,
}

/// The flags of the matrices that are repeated in the JSON record.
#[derive(Debug, Serialize)]
pub struct ProductInputs {
    m: u32,
    n: u32,
    p: u32,
    fill: Fill,
    seed: u64,
}

impl Flags {
    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> Inputs {
        Inputs {
            product: self.product.inputs(),
            block: self.block.to_string(),
            widths: self.widths.clone(),
        }
    }

    /// Returns the selected kernels, the note's first.
    pub fn variants(&self) -> Selection<KernelConfig> {
        ladder::select(VARIANTS, &self.variant)
    }
}

impl ProductFlags {
    /// Returns the flags that determine the results.
    pub fn inputs(&self) -> ProductInputs {
        ProductInputs {
            m: self.m,
            n: self.n,
            p: self.p,
            fill: self.fill,
            seed: self.seed,
        }
    }

    /// Returns the number of multiplications, and of additions, of the matrix multiplication.
    pub fn multiply_adds(&self) -> f64 {
        f64::from(self.m) * f64::from(self.n) * f64::from(self.p)
    }

    /// Explains why the ladder uses larger matrices than the note; empty if the sizes were given.
    pub fn why_larger(&self, lang: Lang) -> &'static str {
        if [self.m, self.n, self.p] != LADDER_SIZES {
            return "";
        }
        lang.pick(
            "C has 1920x2304 elements, enough work for all streaming multiprocessors of a large GPU with \
             any tile\nsize.\nThe note's 480x320 elements are only 12 blocks of 128x128, so most streaming \
             multiprocessors would be idle;\n--m 480 --n 640 --p 320 shows the effect.",
            "C 有 1920x2304 个元素，无论分块多大，都足以让大型 GPU 的所有流多处理器（SM）有工作可做。\n\
             笔记中的 480x320 个元素只有 12 个 128x128 的线程块，大多数 SM 会空闲；\n\
             --m 480 --n 640 --p 320 可以看到这一效果。",
        )
    }

    /// Returns the bytes of the matrices: all three with padded rows on the GPU; A, B, the reference and the
    /// copy read back on the host.
    pub fn memory_footprint(&self) -> Footprint {
        let Self { m, n, p, .. } = *self;
        // Cannot overflow: rows and columns are less than 2^29.
        let floats = |rows, cols| u64::from(rows) * u64::from(cols) * size_of::<f32>() as u64;
        Footprint {
            device: padded(n, m) + padded(p, n) + padded(p, m),
            host: floats(m, n) + floats(n, p) + 2 * floats(m, p),
        }
    }
}

/// Returns the bytes of `rows` rows of `width` floats with the padding of all GPUs so far.
pub(crate) fn padded(width: u32, rows: u32) -> u64 {
    let bytes = u64::from(width) * size_of::<f32>() as u64;
    bytes.next_multiple_of(PADDING as u64) * u64::from(rows)
}

/// Formats the sizes as `480x640x320`.
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
                .note_kernels()
                .map(|variant| variant.name)
                .eq(["pitched"])
        );
        assert_eq!(flags.variants().len(), 1);
    }

    #[test]
    fn the_ladder_has_larger_default_matrices() {
        let ladder = flags("--variant ladder").product;
        assert_eq!([ladder.m, ladder.n, ladder.p], LADDER_SIZES);
        assert!(ladder.why_larger(Lang::En).contains("1920x2304"));
        let some = flags("--variant ladder --m 7").product;
        assert_eq!(some.to_string(), "7x512x2304");
        assert_eq!(some.why_larger(Lang::En), "");
        let max_bytes = flags("--variant float4").product;
        assert_eq!(max_bytes.to_string(), "480x640x320");
        assert_eq!(max_bytes.why_larger(Lang::En), "");
    }

    #[test]
    fn memory_is_counted_with_padding() {
        // Rows of A have 3 floats, rows of B and C 129: their pitches are 512 and 1024 bytes.
        let footprint = flags("--m 2 --n 3 --p 129").product.memory_footprint();
        assert_eq!(footprint.device, 2 * 512 + 3 * 1024 + 2 * 1024);
        assert_eq!(footprint.host, 4 * (2 * 3 + 3 * 129 + 2 * 2 * 129));
    }

    #[test]
    fn memory_is_counted_without_overflow() {
        let max_flags = format!("--m {MAX_SIZE} --n {MAX_SIZE} --p {MAX_SIZE}");
        let footprint = flags(&max_flags).product.memory_footprint();
        let max_bytes = 4 * (MAX_SIZE as u64).pow(2);
        assert_eq!(
            (footprint.device, footprint.host),
            (3 * max_bytes, 4 * max_bytes)
        );
        assert!(footprint.device.checked_add(footprint.host).is_some());
    }
}
