//! Opening and finishing the chapter: input that is too large is refused here, before anything is allocated.

use anyhow::{Context as _, Result};
use chapter::memory::{self, Footprint};
use chapter::{Chapter, launch};
use cust::module::Module;

use crate::flags::{Flags, Part};
use crate::values::LENGTH;
use crate::variable::Variable;

/// Text under the tables.
const FOOTER: &str = "\
    A symbol is a name with a device address; the host has no such variable.\n\
    `dev_pointer` holds an address, 8 bytes; the memory at that address is allocated and copied \
    separately.\nKernels can only read `const_data`; the host writes it between launches.";

const FOOTER_ZH: &str = "\
    符号是一个带有设备地址的名字；主机上没有这个变量。\n\
    `dev_pointer` 保存一个 8 字节的地址；该地址处的内存要另外分配和复制。\n\
    核函数只能读取 `const_data`；主机在两次启动之间写入它。";

impl Flags {
    /// Opens the GPU or the simulator and checks the limits. The speedups of copies are relative to the first
    /// copy.
    ///
    /// # Errors
    ///
    /// Fails if the input exceeds a limit or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let inputs = self.inputs();
        let chapter = Chapter::open("device-symbols", &self.common, inputs, "to const_data")?;
        launch::grid_1d(&chapter.gpu.device, self.count, self.block)?;
        launch::grid_1d(&chapter.gpu.device, LENGTH as u64, self.block)?;
        memory::require(
            &chapter.gpu,
            "the output of the kernel",
            memory_footprint(self),
        )?;
        Ok(chapter)
    }

    /// Returns the variable and the part of it that are copied at the end.
    ///
    /// # Errors
    ///
    /// Fails if the module has no such variable, or the part exceeds it.
    pub fn part_in<'a>(&self, module: &'a Module) -> Result<(Variable<'a>, Part)> {
        let symbol = Variable::find(module, &self.symbol)?;
        let part = self.part();
        symbol
            .require(part.offset, part.bytes)
            .context("--offset, --bytes")?;
        Ok((symbol, part))
    }

    /// Prints the results and returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails if a step's result is wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        chapter.finish(chapter.lang().pick(FOOTER, FOOTER_ZH))
    }
}

/// Returns the bytes of the kernel's output, plus on the GPU the allocation that the pointer points to, and
/// on the host the expected output.
fn memory_footprint(flags: &Flags) -> Footprint {
    let output_bytes = flags.count * size_of::<f32>() as u64;
    Footprint {
        device: output_bytes + (LENGTH * size_of::<f32>()) as u64,
        host: 2 * output_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn footprint(count: &str) -> Footprint {
        memory_footprint(&Flags::try_parse_from(["device-symbols", "--count", count]).unwrap())
    }

    #[test]
    fn memory_is_counted_without_overflow() {
        assert_eq!((footprint("17").device, footprint("17").host), (1092, 136));
        assert_eq!(footprint("1099511627776").host, 1 << 43);
    }
}
