//! Opening and finishing the chapter: what does not fit is refused here, before anything is
//! allocated.

use anyhow::Result;
use chapter::{Chapter, memory};
use common::launch;

use crate::copies::KINDS;
use crate::flags::Flags;
use crate::variant::VARIANTS;
use crate::{ladder, vectors};

/// What is printed under the table of copies.
const WORDS: &str = "\
    `add` and `device to device` move their bytes within the GPU's memory; copies to and from the \
    host move them\nover the link between the two: compare GB/s. With `default` the driver tells \
    the direction by the addresses;\nwith `pinned` the GPU fetches the bytes by itself and the host \
    need not wait.";

impl Flags {
    /// Opens the GPU, or the simulator in its place, for what the flags ask for. For a ladder, what
    /// the hardware allows is measured too.
    ///
    /// # Errors
    ///
    /// Where what is asked for does not fit, or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let baseline = match self.variants().climbs() {
            true => VARIANTS[0].name,
            false => KINDS[0].name,
        };
        let chapter = Chapter::open("vector-add", &self.common, self.inputs(), baseline)?;
        launch::grid_1d(&chapter.gpu.device, self.count, self.block)?;
        memory::require(&chapter.gpu, "this sum", vectors::memory_need(self))?;
        ladder::prepare(self, &chapter)?;
        Ok(chapter)
    }

    /// Prints the results, and says what the run comes to.
    ///
    /// # Errors
    ///
    /// Where a sum or a copy was wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        chapter.finish(match self.variants().climbs() {
            true => "",
            false => WORDS,
        })
    }
}
