//! Opening the chapter: input that is too large is refused here, before anything is allocated.

use anyhow::Result;
use chapter::{Chapter, launch};
use chapter::memory::{self, Footprint};

use crate::flags::Flags;

impl Flags {
    /// Opens the GPU or the simulator and checks the limits.
    ///
    /// # Errors
    ///
    /// Fails if the input exceeds a limit or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let chapter = Chapter::open("new-chapter", &self.common, self.inputs(), "scale")?;
        launch::grid_1d(&chapter.gpu.device, self.count, self.block)?;
        memory::require(&chapter.gpu, "this vector", self.memory_footprint())?;
        Ok(chapter)
    }

    /// Returns the bytes of both vectors, on the host also of the reference.
    fn memory_footprint(&self) -> Footprint {
        let vector = u64::from(self.count) * size_of::<f32>() as u64;
        Footprint {
            device: 2 * vector,
            host: 3 * vector,
        }
    }
}
