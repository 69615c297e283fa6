//! What blocks have used a moment ago, of which nothing new is to be noted.

use super::line::{Line, Use};

/// Entries of [`Lately`].
const REMEMBERED: usize = 1 << 11;

/// What blocks have used lately: a use that is in here need not be noted again, and its line, which is
/// far away in the host's memory, is not looked at. Several lines share an entry, which has the last of
/// them.
pub struct Lately(Vec<Used>);

/// What a block has used of a line.
#[derive(Clone, Default)]
struct Used {
    /// The host address of the line, plus one where it was written.
    line: usize,
    /// One more than the block's number.
    block: u32,
    /// A mask of the words.
    words: u32,
    /// The instructions, a bit each.
    sites: u32,
}

impl Default for Lately {
    fn default() -> Lately {
        Lately(vec![Used::default(); REMEMBERED])
    }
}

impl Lately {
    /// Whether the block has used these words of a line, and been at this instruction with the line.
    /// If not, it is remembered from now on.
    #[inline(always)]
    pub fn again(&mut self, line: &Line, words: u32, by: Use) -> bool {
        const BITS: u32 = REMEMBERED.trailing_zeros();
        let line = std::ptr::from_ref(line).addr() + usize::from(by.write);
        let (block, site) = (by.name(), by.site_bit());
        let place = (line as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS);
        let used = &mut self.0[place as usize];
        if (used.line, used.block) != (line, block) {
            *used = Used {
                line,
                block,
                words,
                sites: site,
            };
            return false;
        }
        let again = words & !used.words == 0 && used.sites & site != 0;
        used.words |= words;
        used.sites |= site;
        again
    }
}
