//! Opening and finishing the chapter: input that is too large is refused here, before anything is allocated.

use anyhow::Result;
use chapter::Chapter;
use chapter::memory::{self, Footprint};

use crate::flags::{Flags, padded};
use crate::pitches::{self};
use crate::{ladder, variant};

/// Text under the tables.
const FOOTER: &str = "\
    A row takes `pitch` bytes of memory, however narrow it is: the bytes beyond its width are \
    padding, which\naligns the next row.\n\
    Each thread reads a row of A and a column of B on its own; `matmul-tiled` shows the benefit \
    of sharing them.";

const FOOTER_ZH: &str = "\
    无论一行多窄，都占用 `pitch` 字节的内存：超出宽度的字节是补齐，使下一行对齐。\n\
    每个线程各自读取 A 的一行和 B 的一列；`matmul-tiled` 展示共享它们的好处。";

impl Flags {
    /// Opens the GPU or the simulator and checks the limits. For the ladder it also measures the hardware's
    /// limit.
    ///
    /// # Errors
    ///
    /// Fails if the input exceeds a limit or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let chapter = Chapter::open("matmul-pitched", &self.common, self.inputs(), "pitched")?;
        for variant in self.variants() {
            ladder::grid(&chapter, self, variant)?;
        }
        memory::require(&chapter.gpu, "this chapter", memory_footprint(self))?;
        ladder::prepare(self, &chapter)?;
        Ok(chapter)
    }

    /// Prints the tables and returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails if a product is wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        let words = match self.variants().has_rungs() {
            true => self.product.why_larger(chapter.lang()), // in addition to the rungs' ideas
            false => chapter.lang().pick(FOOTER, FOOTER_ZH),
        };
        chapter.finish(words)
    }
}

/// Returns the bytes of the matrices, also in linear memory if a variant uses it, or of the largest rows of
/// `--widths`, which are freed before.
fn memory_footprint(flags: &Flags) -> Footprint {
    let widest = flags.widths.iter().copied().max().unwrap_or(0);
    let product = flags.product.memory_footprint();
    // An upper bound, because linear memory has no padding.
    let linear = variant::any_linear(&flags.variants());
    let matrices = product.device * (1 + u64::from(linear));
    Footprint {
        device: matrices.max(padded(widest, pitches::ROWS)),
        ..product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn flags(arguments: &str) -> Flags {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["matmul-pitched"].into_iter().chain(words)).unwrap()
    }

    #[test]
    fn memory_is_the_maximum_of_pitches_and_matrices() {
        // At most 45 of these rows are allocated at a time.
        let small = flags("--m 2 --n 3 --p 129 --widths 1");
        assert_eq!(memory_footprint(&small).device, 45 * 512);
        let wide = flags("--m 2 --n 3 --p 129 --widths 7,1000,5");
        assert_eq!(memory_footprint(&wide).device, 45 * 4096);
        assert_eq!(
            memory_footprint(&wide).host,
            small.product.memory_footprint().host
        );
        let both = flags("--m 40 --n 3 --p 129 --variant linear");
        assert_eq!(
            memory_footprint(&both).device,
            2 * both.product.memory_footprint().device
        );
    }
}
