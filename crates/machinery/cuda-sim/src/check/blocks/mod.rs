//! Which blocks of a launch use each word of device memory, so that it can be said afterwards
//! whether one of them wrote what another used.
//!
//! Nothing orders the blocks of a launch. What is known of a word is one of three: nobody, one
//! block, several; and which sites in the code it was. It only ever grows, so that it does not
//! depend on which block came first, or on which host thread. It is kept by lines of 32 words, as
//! masks: most lines are one block's, or read by all.

mod lately;
mod line;

pub use lately::Lately;
pub use line::Use;

use line::{Line, LoneUsers, Users, WordUsers};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a line.
const LINE: u64 = 128;

/// Bytes of a word.
const WORD: u64 = 4;

/// Which blocks use an allocation, line by line.
pub struct UsedLines {
    start: *mut Line,
    count: usize,
    /// A block has written to the allocation.
    written: AtomicBool,
    lone: LoneUsers,
}

// SAFETY: the lines are this value's own, and all that is in them is atomic.
unsafe impl Send for UsedLines {}
// SAFETY: as above.
unsafe impl Sync for UsedLines {}

/// A word that one block wrote and another one used. Of several blocks the lowest and the highest
/// that used the word's line are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContestedWord {
    /// The word's first byte, counted from the allocation's.
    pub offset: u64,
    /// The block that wrote.
    pub writer: u64,
    /// Another block, which wrote or read.
    pub user: u64,
    /// The other block wrote too.
    pub user_writes: bool,
    /// The instructions that write to the word's line, a bit each.
    pub writers: u32,
    /// The instructions that read from the word's line, a bit each.
    pub readers: u32,
}

impl UsedLines {
    /// Nobody uses any of `bytes` bytes.
    pub fn new(bytes: u64) -> UsedLines {
        let count = bytes.div_ceil(LINE).max(1) as usize;
        let layout = UsedLines::layout(count);
        // SAFETY: there is at least one line. All zeros is a line that nobody uses.
        let start = unsafe { alloc_zeroed(layout) }.cast::<Line>();
        if start.is_null() {
            handle_alloc_error(layout);
        }
        UsedLines {
            start,
            count,
            written: AtomicBool::new(false),
            lone: LoneUsers::default(),
        }
    }

    fn layout(count: usize) -> Layout {
        // There are fewer lines than bytes of an allocation that the host has memory for.
        Layout::array::<Line>(count).unwrap_or_else(|_| Layout::new::<Line>())
    }

    fn line(&self, number: usize) -> &Line {
        assert!(number < self.count);
        // SAFETY: it is one of the lines.
        unsafe { &*self.start.add(number) }
    }

    /// A block uses `bytes` bytes from `offset` on, all of which are inside.
    #[inline(always)]
    pub fn touch(&self, lately: &mut Lately, offset: u64, bytes: u64, by: Use) {
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
            if !lately.again(line, words, by) {
                line.touch(&self.lone, number, words, by);
            }
            word = to;
        }
    }

    /// The words that one block wrote and another used, in order. Only for when the launch is over.
    pub fn contested(&self) -> Vec<ContestedWord> {
        if !self.written.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let lone = self.lone.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        for number in 0..self.count {
            let [reads, writes] = &self.line(number).users;
            if writes.sites() == 0 {
                continue;
            }
            let user = |users: &Users, word: u32, write| {
                users.of(word, || lone.get(&(number, word, write)).copied())
            };
            for word in 0..32 {
                let (wrote, read) = (user(writes, word, true), user(reads, word, false));
                let (writer, user, user_writes) = match (wrote, read) {
                    (WordUsers::Nobody, _) | (WordUsers::One(_), WordUsers::Nobody) => continue,
                    (WordUsers::One(a), WordUsers::One(b)) if a == b => continue,
                    (WordUsers::One(a), WordUsers::One(b)) => (a, b, false),
                    (WordUsers::One(a), WordUsers::Several) if reads.lowest() == a => {
                        (a, reads.highest(), false)
                    }
                    (WordUsers::One(a), WordUsers::Several) => (a, reads.lowest(), false),
                    (WordUsers::Several, _) => (writes.lowest(), writes.highest(), true),
                };
                found.push(ContestedWord {
                    offset: number as u64 * LINE + u64::from(word) * WORD,
                    writer: u64::from(writer) - 1,
                    user: u64::from(user) - 1,
                    user_writes,
                    writers: writes.sites(),
                    readers: reads.sites(),
                });
            }
        }
        found
    }
}

impl Drop for UsedLines {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and lines own nothing.
        unsafe { dealloc(self.start.cast(), UsedLines::layout(self.count)) };
    }
}

#[cfg(test)]
mod tests;
