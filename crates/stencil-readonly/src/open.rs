//! Opening and finishing the chapter: input that is too large is refused here, before anything is allocated.

use anyhow::Result;
use chapter::localize;
use chapter::memory::{self, Footprint};
use chapter::report::Extra;
use chapter::{Chapter, launch};
use serde::Serialize;

use crate::accuracy::{self, Explained};
use crate::flags::Flags;
use crate::ladder;
use crate::scheme::{COEF, RADIUS};

/// The additional fields of the record.
#[derive(Debug, Serialize)]
pub struct RecordFields {
    explained_error: Explained,
}

impl Extra for RecordFields {}

impl Flags {
    /// Opens the GPU or the simulator and checks the limits. For the ladder it also measures the memory's
    /// limit.
    ///
    /// # Errors
    ///
    /// Fails if the input exceeds a limit or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let chapter = Chapter::open("stencil-readonly", &self.common, self.inputs(), "constant")?;
        for block in self.blocks() {
            launch::grid_1d(&chapter.gpu.device, self.size, block)?;
        }
        memory::require(&chapter.gpu, "this array", memory_footprint(self))?;
        chapter.extra(RecordFields {
            explained_error: accuracy::explained(),
        });
        ladder::prepare(self, &chapter)?;
        Ok(chapter)
    }

    /// Prints the results and returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails if results are wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        let explained = accuracy::explained();
        chapter.finish(&localize!(
            chapter.lang(),
            "Every warp reads the same four coefficients, from constant memory or through the \
             read-only cache.\n\
             Every block loads a halo of 8 points in addition to its own, which is expensive for \
             small blocks.\n\
             The derivative is between -1 and 1. Its coefficients, rounded to five decimal places, \
             cause an error\nof {:.2e}, and rounding to 32 bits adds at most {:.2e}.",
            "每个线程束读取同样的四个系数，取自常量内存或只读缓存。\n\
             每个线程块除自己的点之外还要读取 8 个点的光环（halo），线程块小时代价很高。\n\
             导数在 -1 到 1 之间。系数舍入到五位小数，造成 {:.2e} 的误差；舍入到 32 位最多再增加 {:.2e}。";
            explained.by_coefficients, explained.by_rounding,
        ))
    }
}

/// Returns the bytes of points and results with their halos and of the coefficients on the GPU; of the
/// points, the reference, the results read back with their halo, and the derivative on the host.
fn memory_footprint(flags: &Flags) -> Footprint {
    // Cannot overflow: there are at most 2^30 points.
    let size = u64::from(flags.size);
    let array = (size + 2 * RADIUS as u64) * size_of::<f32>() as u64;
    Footprint {
        device: 2 * array + size_of_val(&COEF) as u64,
        host: 3 * array + size * size_of::<f64>() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[test]
    fn memory_is_counted_without_overflow() {
        let footprint =
            |size| memory_footprint(&Flags::parse_from(["stencil-readonly", "--size", size]));
        let small = footprint("2");
        assert_eq!((small.device, small.host), (2 * 40 + 20, 3 * 40 + 16));
        assert_eq!(footprint("1073741824").host, 20 * (1 << 30) + 3 * 32);
    }
}
