//! Opening and finishing the chapter: what does not fit is refused here, before anything is
//! allocated.

use anyhow::{Context as _, Result};
use chapter::Chapter;
use chapter::memory::{self, Need};
use common::launch;
use cust::module::Module;

use crate::flags::{Flags, Part};
use crate::values::LENGTH;
use crate::variable::Variable;

/// What is printed under the tables.
const WORDS: &str = "\
    A symbol is a name; its address is the device's, and the host has no such variable.\n\
    `dev_pointer` holds an address, 8 bytes; what is there was allocated and copied by \
    itself.\nKernels can only read `const_data`; the host writes it between launches.";

impl Flags {
    /// Opens the GPU, or the simulator in its place, for what the flags ask for. The copies' speeds
    /// will be relative to the first.
    ///
    /// # Errors
    ///
    /// Where what is asked for does not fit, or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let inputs = self.inputs();
        let chapter = Chapter::open("device-symbols", &self.common, inputs, "to const_data")?;
        launch::grid_1d(&chapter.gpu.device, self.count, self.block)?;
        launch::grid_1d(&chapter.gpu.device, LENGTH as u64, self.block)?;
        memory::require(&chapter.gpu, "what the kernel makes", memory_need(self))?;
        Ok(chapter)
    }

    /// The variable of which a part is copied at the end, and which part.
    ///
    /// # Errors
    ///
    /// Where the module has no such variable, or the part is not within it.
    pub fn part_in<'a>(&self, module: &'a Module) -> Result<(Variable<'a>, Part)> {
        let symbol = Variable::find(module, &self.symbol)?;
        let part = self.part();
        symbol
            .require(part.offset, part.bytes)
            .context("--offset, --bytes")?;
        Ok((symbol, part))
    }

    /// Prints the results, and says what the run comes to.
    ///
    /// # Errors
    ///
    /// Where a step was wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        chapter.finish(WORDS)
    }
}

/// Bytes of what the kernel makes, and on the GPU of what the pointer points to; on the computer
/// what was made is compared with what should be.
fn memory_need(flags: &Flags) -> Need {
    let made = flags.count * size_of::<f32>() as u64;
    Need {
        device: made + (LENGTH * size_of::<f32>()) as u64,
        host: 2 * made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn need(count: &str) -> Need {
        memory_need(&Flags::try_parse_from(["device-symbols", "--count", count]).unwrap())
    }

    #[test]
    fn memory_is_counted_without_overflow() {
        assert_eq!((need("17").device, need("17").host), (1092, 136));
        assert_eq!(need("1099511627776").host, 1 << 43);
    }
}
