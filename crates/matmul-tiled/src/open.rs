//! Opening and finishing the chapter: input that is too large is refused here, before anything is allocated.

use anyhow::Result;
use chapter::{Chapter, memory};

use crate::flags::Flags;
use crate::{ladder, plan};

/// Text under the table.
const FOOTER: &str = "\
    Every thread of `pitched` loads a row of A and a column of B: 2MPN loads and MP stores. The \
    threads of a tile share\ntheir loads, so the number of loads is divided by the width of the \
    tile. The times decrease less, because shared\nmemory is now read as often as global memory \
    was before.";

impl Flags {
    /// Opens the GPU or the simulator and checks the limits. For the ladder it also measures the hardware's
    /// limit.
    ///
    /// # Errors
    ///
    /// Fails if the input exceeds a limit or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let chapter = Chapter::open("matmul-tiled", &self.common, self.inputs(), "pitched")?;
        let shared_limit = memory::shared_limit(&chapter.gpu.device)?;
        for variant in self.variants() {
            if variant.runs_on(&chapter.gpu.info) && ladder::fits(variant, shared_limit) {
                plan::grid(&chapter, self, variant)?;
            }
        }
        memory::require(
            &chapter.gpu,
            "this product",
            self.product.memory_footprint(),
        )?;
        ladder::prepare(self, &chapter)?;
        Ok(chapter)
    }

    /// Prints the results and returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails if a product is wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        let words = match self.variants().has_rungs() {
            true => self.product.why_larger(), // in addition to the rungs' ideas
            false => FOOTER,
        };
        chapter.finish(words)
    }
}
