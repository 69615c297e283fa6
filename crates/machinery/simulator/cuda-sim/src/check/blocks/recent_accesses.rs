//! A cache of recent accesses by blocks, which need not be recorded again.

use super::line::{BlockAccess, Line};

/// The number of entries of [`RecentAccesses`].
const ENTRIES: usize = 1 << 11;

/// A direct-mapped cache of accesses that are already recorded. A hit saves the look-up of the line, which is
/// usually not in the host's caches. Lines that share an entry evict each other.
pub struct RecentAccesses(Vec<Entry>);

/// The recorded accesses of one block to one line.
#[derive(Clone, Default)]
struct Entry {
    /// The host address of the [`Line`], plus 1 for writes.
    line: usize,
    /// The block's index plus 1.
    block: u32,
    /// A mask of the accessed words.
    words: u32,
    /// A mask with one bit for each instruction.
    sites: u32,
}

impl Default for RecentAccesses {
    fn default() -> RecentAccesses {
        RecentAccesses(vec![Entry::default(); ENTRIES])
    }
}

impl RecentAccesses {
    /// Returns true if the cache already holds these words of the line for this block, and this instruction
    /// for this line. Otherwise records the access in the cache.
    #[inline(always)]
    pub fn contains_or_insert(&mut self, line: &Line, words: u32, by: BlockAccess) -> bool {
        const BITS: u32 = ENTRIES.trailing_zeros();
        let line = std::ptr::from_ref(line).addr() + usize::from(by.write);
        let (block, site) = (by.block_tag(), by.site_bit());
        let index = (line as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS);
        let entry = &mut self.0[index as usize];
        if (entry.line, entry.block) != (line, block) {
            *entry = Entry {
                line,
                block,
                words,
                sites: site,
            };
            return false;
        }
        let is_contained = words & !entry.words == 0 && entry.sites & site != 0;
        entry.words |= words;
        entry.sites |= site;
        is_contained
    }
}
