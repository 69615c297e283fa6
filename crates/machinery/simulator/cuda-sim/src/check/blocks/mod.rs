//! Race detection between blocks that cannot synchronize: records which blocks access each word of device
//! memory, and reports after the launch the words that one block writes and another accesses.
//!
//! In such a launch no two blocks are ordered by happens-before, so a set of blocks per word is enough, without
//! clocks. The state of a word is one of three: no block, one block, or several blocks, and the instructions
//! that accessed the word's line. The state only ever grows, so the result does not depend on the order of the
//! blocks or on the host thread that runs them. It is stored as masks, per line of 32 words, because most lines
//! belong to one block or are only read.

mod line;
mod recent_accesses;

pub use line::BlockAccess;
pub use recent_accesses::RecentAccesses;

use line::{Line, SoleUsers, Users, WordUsers};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes per line.
const LINE: u64 = 128;

/// Bytes per word.
const WORD: u64 = 4;

/// The blocks that access each word of an allocation, stored line by line.
pub struct AllocationShadow {
    start: *mut Line,
    count: usize,
    /// True if any block has written to the allocation.
    written: AtomicBool,
    sole_users: SoleUsers,
}

// SAFETY: `start` is an exclusively owned allocation, so another thread may take over and free it.
unsafe impl Send for AllocationShadow {}
// SAFETY: all fields of a `Line` are atomic, so shared access from several threads is sound.
unsafe impl Sync for AllocationShadow {}

/// A word that one block wrote and another accessed. If several blocks did, `writer` and `user` are the
/// lowest and the highest block that accessed the word's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RacyWord {
    /// The offset of the word in the allocation.
    pub offset: u64,
    /// The block that wrote.
    pub writer: u64,
    /// The other block, which wrote or read.
    pub user: u64,
    /// True if the other block wrote too.
    pub user_writes: bool,
    /// A mask with one bit for each instruction that wrote to the word's line.
    pub writers: u32,
    /// A mask with one bit for each instruction that read from the word's line.
    pub readers: u32,
}

impl AllocationShadow {
    /// Creates the state for an allocation of `bytes` bytes that no block has accessed.
    pub fn new(bytes: u64) -> AllocationShadow {
        let count = bytes.div_ceil(LINE).max(1) as usize;
        let layout = AllocationShadow::layout(count);
        // SAFETY: `layout` has at least one line, so its size is not zero. All zeros is a valid `Line`
        // without users.
        let start = unsafe { alloc_zeroed(layout) }.cast::<Line>();
        if start.is_null() {
            handle_alloc_error(layout);
        }
        AllocationShadow {
            start,
            count,
            written: AtomicBool::new(false),
            sole_users: SoleUsers::default(),
        }
    }

    fn layout(count: usize) -> Layout {
        // An allocation that fits the host's memory has fewer lines than `Layout` can describe, so this
        // cannot fail.
        Layout::array::<Line>(count).unwrap_or_else(|_| Layout::new::<Line>())
    }

    fn line(&self, number: usize) -> &Line {
        assert!(number < self.count);
        // SAFETY: `number` is less than `count`, the number of initialized lines at `start`.
        unsafe { &*self.start.add(number) }
    }

    /// Records an access of `bytes` bytes from `offset` on, all of which must be inside the allocation.
    #[inline(always)]
    pub fn record(
        &self,
        recent_accesses: &mut RecentAccesses,
        offset: u64,
        bytes: u64,
        by: BlockAccess,
    ) {
        let (mut word, end) = (offset / WORD, (offset + bytes).div_ceil(WORD));
        if by.write && !self.written.load(Ordering::Relaxed) {
            self.written.store(true, Ordering::Relaxed);
        }
        while word < end {
            let line = word / 32;
            let to = end.min((line + 1) * 32);
            let words = (u32::MAX >> (32 - (to - word))) << (word % 32);
            let number = line as usize;
            let line = self.line(number);
            if !recent_accesses.contains_or_insert(line, words, by) {
                line.record(&self.sole_users, number, words, by);
            }
            word = to;
        }
    }

    /// Returns the words that one block wrote and another accessed, by offset. Must be called only after the
    /// launch.
    pub fn racy_words(&self) -> Vec<RacyWord> {
        if !self.written.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let sole_users = self
            .sole_users
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut racy = Vec::new();
        for number in 0..self.count {
            let [reads, writes] = &self.line(number).users;
            if writes.sites() == 0 {
                continue;
            }
            let user = |users: &Users, word: u32, write| {
                users.of(word, || sole_users.get(&(number, word, write)).copied())
            };
            for word in 0..32 {
                let (wrote, read) = (user(writes, word, true), user(reads, word, false));
                let (writer, user, user_writes) = match (wrote, read) {
                    (WordUsers::Unused, _) | (WordUsers::One(_), WordUsers::Unused) => continue,
                    (WordUsers::One(a), WordUsers::One(b)) if a == b => continue,
                    (WordUsers::One(a), WordUsers::One(b)) => (a, b, false),
                    (WordUsers::One(a), WordUsers::Several) if reads.lowest() == a => {
                        (a, reads.highest(), false)
                    }
                    (WordUsers::One(a), WordUsers::Several) => (a, reads.lowest(), false),
                    (WordUsers::Several, _) => (writes.lowest(), writes.highest(), true),
                };
                racy.push(RacyWord {
                    offset: number as u64 * LINE + u64::from(word) * WORD,
                    writer: u64::from(writer) - 1,
                    user: u64::from(user) - 1,
                    user_writes,
                    writers: writes.sites(),
                    readers: reads.sites(),
                });
            }
        }
        racy
    }
}

impl Drop for AllocationShadow {
    fn drop(&mut self) {
        // SAFETY: `start` was allocated with this layout in `new`, and a `Line` owns nothing that needs
        // dropping.
        unsafe { dealloc(self.start.cast(), AllocationShadow::layout(self.count)) };
    }
}

#[cfg(test)]
mod tests;
