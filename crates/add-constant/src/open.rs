//! Opening and finishing the chapter: input that is too large is refused here, before anything is allocated.

use anyhow::{Result, ensure};
use chapter::memory::{self, Footprint};
use chapter::{Chapter, launch};

use crate::flags::Flags;
use crate::ladder;
use crate::pattern::NUM_VALUES;
use crate::variant::{FOUR, Variant};

/// Text under the table of the note's kernels.
const FOOTER: &str = "\
    Compare `constant` with `global`: if all threads of a warp read the same value, constant \
    memory broadcasts\nit; if they read different values, the reads are serialized.\n\
    `vector` moves the same bytes in and out, 16 per thread: about the limit of the memory.";

const FOOTER_ZH: &str = "\
    请比较 `constant` 与 `global`：如果线程束的所有线程读取同一个值，常量内存会广播它；\n\
    如果读取不同的值，各次读取就依次进行。\n\
    `vector` 读写同样多的字节，每个线程 16 字节：大约是内存的极限。";

impl Flags {
    /// Opens the GPU or the simulator and checks the limits. For the ladder it also measures the memory's
    /// limit.
    ///
    /// # Errors
    ///
    /// Fails if the input exceeds a limit or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        let chapter = Chapter::open("add-constant", &self.common, self.inputs(), "global")?;
        for sums in self.sums() {
            launch::grid_1d(&chapter.gpu.device, sums, self.block())?;
        }
        for variant in self.variants() {
            if variant.runs_on(&chapter.gpu.info) {
                check_block_size(variant, self.block())?;
            }
        }
        memory::require(&chapter.gpu, "these sums", memory_footprint(self))?;
        ladder::prepare(self, &chapter)?;
        Ok(chapter)
    }

    /// Prints the results and returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails if sums are wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        chapter.finish(if self.variants().has_rungs() {
            ""
        } else {
            chapter.lang().pick(FOOTER, FOOTER_ZH)
        })
    }
}

/// Refuses block sizes for which the four additions of a rung's thread would span two blocks.
fn check_block_size(variant: &Variant, block: u32) -> Result<()> {
    ensure!(
        variant.is_from_note() || block.is_multiple_of(FOUR),
        "{} needs multiples of four additions per block: --block {block} is not a multiple of four; \
         choose another --block, or --variant book",
        variant.name
    );
    Ok(())
}

/// Returns the bytes of the largest run: inputs, sums and values on the GPU; inputs, the reference and the
/// sums read back on the host.
fn memory_footprint(flags: &Flags) -> Footprint {
    let max_sums = flags.sums().into_iter().max().unwrap_or(0);
    // Cannot overflow: there are at most 2^31 sums.
    let array = u64::from(max_sums) * size_of::<i32>() as u64;
    Footprint {
        device: 2 * array + size_of::<[i32; NUM_VALUES]>() as u64,
        host: 3 * array,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::VARIANTS;
    use clap::Parser as _;

    #[test]
    fn the_notes_kernels_take_any_block_and_vectors_multiples_of_four() {
        for variant in VARIANTS {
            assert!(
                check_block_size(variant, 1024).is_ok() && check_block_size(variant, 4).is_ok()
            );
            let name = variant.name;
            assert_eq!(
                check_block_size(variant, 7).is_ok(),
                variant.is_from_note(),
                "{name}"
            );
        }
        let shared = VARIANTS.iter().find(|variant| variant.name == "shared");
        let message = check_block_size(shared.unwrap(), 6)
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with("shared needs multiples of four"),
            "{message}"
        );
        assert!(message.contains("--block 6"), "{message}");
    }

    #[test]
    fn memory_is_that_of_the_largest_run() {
        let footprint = memory_footprint(&Flags::parse_from(["add-constant"]));
        assert_eq!(footprint.device, 2 * 4 * 12_800_000 + 65_536);
        assert_eq!(footprint.host, 3 * 4 * 12_800_000);
        let max_sums = ["add-constant", "--sums", "2147483648"];
        assert_eq!(memory_footprint(&Flags::parse_from(max_sums)).host, 3 << 33);
    }
}
