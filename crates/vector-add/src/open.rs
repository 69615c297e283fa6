//! Opening and finishing the chapter: input that is too large is refused here, before anything is allocated.

use anyhow::Result;
use chapter::{Chapter, launch, memory};

use crate::copies::KINDS;
use crate::flags::Flags;
use crate::variant::VARIANTS;
use crate::{ladder, vectors};

/// Text under the table of copies.
const FOOTER: &str = "\
    `add` and `device to device` move their bytes within the GPU's memory; copies to and from the \
    host move them\nover the link between GPU and host: compare GB/s. With `default` the driver infers \
    the direction from the addresses;\nwith `pinned` the GPU copies the bytes directly and the host \
    need not wait.";

const FOOTER_ZH: &str = "\
    `add` 和 `device to device` 在 GPU 的内存之内传输数据；与主机之间的复制要经过 GPU 与主机之间的链路：\n\
    请比较 GB/s。使用 `default` 时，驱动程序根据地址判断方向；使用 `pinned` 时，GPU 直接复制数据，主机无需等待。";

impl Flags {
    /// Opens the GPU or the simulator and checks the limits. For the ladder it also measures the hardware's
    /// limit.
    ///
    /// # Errors
    ///
    /// Fails if the input exceeds a limit or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let baseline = if self.variants().has_rungs() {
            VARIANTS[0].name
        } else {
            KINDS[0].name
        };
        let chapter = Chapter::open("vector-add", &self.common, self.inputs(), baseline)?;
        launch::grid_1d(&chapter.gpu.device, self.count, self.block)?;
        memory::require(&chapter.gpu, "this sum", vectors::memory_footprint(self))?;
        ladder::prepare(self, &chapter)?;
        Ok(chapter)
    }

    /// Prints the results and returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails if a sum or a copy is wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        chapter.finish(if self.variants().has_rungs() {
            ""
        } else {
            chapter.lang().pick(FOOTER, FOOTER_ZH)
        })
    }
}
