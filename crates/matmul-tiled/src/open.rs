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

const FOOTER_ZH: &str = "\
    `pitched` 的每个线程读取 A 的一行和 B 的一列：共 2MPN 次读取和 MP 次写入。分块中的线程共享读取的数据，\n\
    所以读取次数除以分块的宽度。用时减少得没有这么多，因为现在读取共享内存的次数与此前读取全局内存的次数一样多。";

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
            true => self.product.why_larger(chapter.lang()), // in addition to the rungs' ideas
            false => chapter.lang().pick(FOOTER, FOOTER_ZH),
        };
        chapter.finish(words)
    }
}
