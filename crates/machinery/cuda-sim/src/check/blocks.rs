//! Which blocks of a launch use each word of device memory, so that it can be said afterwards
//! whether one of them wrote what another used.
//!
//! Nothing orders the blocks of a launch. What is known of a word is one of three: nobody, one
//! block, several; and which sites in the code it was. It only ever grows, so that it does not
//! depend on which block came first, or on which host thread. It is kept by lines of 32 words, as
//! masks: most lines are one block's, or read by all.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of a line, and of a word.
const LINE: u64 = 128;
const WORD: u64 = 4;

/// Accesses of one kind, reads or writes, to a line's words.
#[derive(Clone, Copy, Default)]
struct Users {
    /// One more than the number of a block; 0 for none.
    first: u32,
    /// The words that only the first has used so far.
    of_first: u32,
    second: u32,
    of_second: u32,
    /// Words that several blocks have used.
    many: u32,
    /// Words that one block used that is neither the first nor the second: which one is kept apart.
    others: u32,
    /// One more than the lowest block, and than the highest.
    lowest: u32,
    highest: u32,
    /// A bit for each site in the code, or for several, where there are more than 32.
    sites: u32,
}

#[derive(Default)]
struct Line {
    busy: AtomicU32,
    users: UnsafeCell<[Users; 2]>,
}

/// Those of an allocation.
pub struct Lines {
    start: *mut Line,
    count: usize,
    /// Something was written.
    written: AtomicBool,
    /// The blocks of [`Users::others`], by line, word and whether they write.
    others: Mutex<HashMap<(usize, u32, bool), u32>>,
}

// SAFETY: a line's users are looked at and changed by whoever made it busy alone.
unsafe impl Send for Lines {}
// SAFETY: as above.
unsafe impl Sync for Lines {}

/// An access by a block.
#[derive(Clone, Copy)]
pub struct Use {
    pub block: u64,
    /// The number of the site among the program's.
    pub site: u32,
    pub write: bool,
}

/// A word that one block wrote and another one used. Of several blocks the lowest and the highest
/// that used the word's line are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// Where in the allocation.
    pub offset: u64,
    /// The block that wrote.
    pub writer: u64,
    /// Another one that wrote or read.
    pub user: u64,
    /// The other one wrote too.
    pub user_writes: bool,
    /// The sites that write this line, and those that read it, as bits.
    pub writers: u32,
    pub readers: u32,
}

impl Lines {
    /// Nobody uses any of `bytes` bytes.
    pub fn new(bytes: u64) -> Lines {
        let count = bytes.div_ceil(LINE).max(1) as usize;
        let layout = Lines::layout(count);
        // SAFETY: there is at least one line. All zeros is a line that nobody uses.
        let start = unsafe { alloc_zeroed(layout) }.cast::<Line>();
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Lines {
            start,
            count,
            written: AtomicBool::new(false),
            others: Mutex::default(),
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
    pub fn touch(&self, offset: u64, bytes: u64, by: Use) {
        let (mut word, end) = (offset / WORD, (offset + bytes).div_ceil(WORD));
        if by.write && !self.written.load(Ordering::Relaxed) {
            self.written.store(true, Ordering::Relaxed);
        }
        while word < end {
            let line = word / 32;
            let to = end.min((line + 1) * 32);
            let words = (u32::MAX >> (32 - (to - word))) << (word % 32);
            self.line(line as usize)
                .touch(self, line as usize, words, by);
            word = to;
        }
    }

    /// The words that one block wrote and another used, in order. Only for when the launch is over.
    pub fn shared(&self) -> Vec<Shared> {
        if !self.written.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        for number in 0..self.count {
            // SAFETY: nobody uses it any more.
            let [reads, writes] = unsafe { *self.line(number).users.get() };
            if writes.sites == 0 {
                continue;
            }
            let user = |users: &Users, word: u32, write| {
                users.of(word, || others.get(&(number, word, write)).copied())
            };
            for word in 0..32 {
                let (wrote, read) = (user(&writes, word, true), user(&reads, word, false));
                let (writer, user, user_writes) = match (wrote, read) {
                    (Word::Nobody, _) | (Word::One(_), Word::Nobody) => continue,
                    (Word::One(a), Word::One(b)) if a == b => continue,
                    (Word::One(a), Word::One(b)) => (a, b, false),
                    (Word::One(a), Word::Several) if reads.lowest == a => (a, reads.highest, false),
                    (Word::One(a), Word::Several) => (a, reads.lowest, false),
                    (Word::Several, _) => (writes.lowest, writes.highest, true),
                };
                found.push(Shared {
                    offset: number as u64 * LINE + u64::from(word) * WORD,
                    writer: u64::from(writer) - 1,
                    user: u64::from(user) - 1,
                    user_writes,
                    writers: writes.sites,
                    readers: reads.sites,
                });
            }
        }
        found
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and lines own nothing.
        unsafe { dealloc(self.start.cast(), Lines::layout(self.count)) };
    }
}

/// Who used a word; a block is one more than its number.
enum Word {
    Nobody,
    One(u32),
    Several,
}

impl Users {
    fn of(&self, word: u32, other: impl Fn() -> Option<u32>) -> Word {
        let has = |mask: u32| mask >> word & 1 == 1;
        match () {
            () if has(self.many) => Word::Several,
            () if has(self.of_first) => Word::One(self.first),
            () if has(self.of_second) => Word::One(self.second),
            () if has(self.others) => other().map_or(Word::Several, Word::One),
            () => Word::Nobody,
        }
    }

    /// Whether nothing would change.
    #[inline(always)]
    fn knows(&self, block: u32, words: u32, site: u32) -> bool {
        let own = if self.first == block {
            self.of_first
        } else {
            0
        };
        words & !(own | self.many) == 0
            && self.sites & site != 0
            && (self.lowest..=self.highest).contains(&block)
    }
}

impl Line {
    #[inline(always)]
    fn touch(&self, lines: &Lines, number: usize, words: u32, by: Use) {
        let (block, site) = (by.block as u32 + 1, 1 << (by.site % 32));
        while self
            .busy
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            std::hint::spin_loop();
        }
        // SAFETY: whoever makes a line busy has it for himself.
        let users = unsafe { &mut (&mut *self.users.get())[usize::from(by.write)] };
        if !users.knows(block, words, site) {
            users.add(lines, number, words, block, site, by.write);
        }
        self.busy.store(0, Ordering::Release);
    }
}

impl Users {
    fn add(
        &mut self,
        lines: &Lines,
        number: usize,
        words: u32,
        block: u32,
        site: u32,
        write: bool,
    ) {
        self.sites |= site;
        self.highest = self.highest.max(block);
        self.lowest = match self.lowest {
            0 => block,
            lowest => lowest.min(block),
        };
        if self.first == 0 {
            self.first = block;
        } else if self.first != block && self.second == 0 {
            self.second = block;
        }
        let mut new = words & !self.many;
        for (user, of_user) in [
            (self.first, &mut self.of_first),
            (self.second, &mut self.of_second),
        ] {
            if user != block {
                // What was another's alone becomes several's.
                self.many |= *of_user & new;
                *of_user &= !new;
                new &= !self.many;
            }
        }
        if self.others & new != 0 {
            let mut known = lines.others.lock().unwrap_or_else(PoisonError::into_inner);
            for word in crate::exec::lanes::active(self.others & new) {
                if known.get(&(number, word as u32, write)) != Some(&block) {
                    known.remove(&(number, word as u32, write));
                    self.many |= 1 << word;
                    self.others &= !(1 << word);
                }
            }
            new &= !(self.many | self.others);
        }
        if self.first == block {
            self.of_first |= new;
        } else if self.second == block {
            self.of_second |= new;
        } else if new != 0 {
            let mut known = lines.others.lock().unwrap_or_else(PoisonError::into_inner);
            for word in crate::exec::lanes::active(new) {
                known.insert((number, word as u32, write), block);
            }
            self.others |= new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses of 1000 bytes, `(block, offset, bytes, writes)`: the words that are shared.
    fn shared(uses: &[(u64, u64, u64, bool)]) -> Vec<(u64, u64, u64)> {
        let of = |uses: &mut dyn Iterator<Item = &(u64, u64, u64, bool)>| {
            let lines = Lines::new(1000);
            for &(block, offset, bytes, write) in uses {
                lines.touch(
                    offset,
                    bytes,
                    Use {
                        block,
                        site: 0,
                        write,
                    },
                );
            }
            lines.shared()
        };
        let found = of(&mut uses.iter());
        assert_eq!(
            found,
            of(&mut uses.iter().rev()),
            "the order makes a difference"
        );
        let found = found.into_iter();
        found
            .map(|one| (one.offset, one.writer, one.user))
            .collect()
    }

    #[test]
    fn blocks_that_keep_to_their_own_share_nothing() {
        assert_eq!(
            shared(&[(0, 0, 1000, false), (1, 0, 1000, false), (2, 4, 8, false)]),
            []
        );
        let apart: Vec<_> = (0..250).map(|block| (block, block * 4, 4, true)).collect();
        assert_eq!(shared(&apart), []);
        let own: Vec<_> = (0..125)
            .flat_map(|block| [(block, block * 8, 8, true), (block, block * 8, 8, false)])
            .collect();
        assert_eq!(shared(&own), []);
    }

    #[test]
    fn one_writes_and_another_uses() {
        assert_eq!(shared(&[(3, 16, 4, true), (7, 16, 8, false)]), [(16, 3, 7)]);
        assert_eq!(
            shared(&[(3, 16, 4, true), (3, 16, 4, false), (7, 16, 4, true)]),
            [(16, 3, 7)]
        );
        assert_eq!(
            shared(&[(5, 0, 256, true), (1, 124, 8, false), (2, 124, 4, false)]),
            [(124, 5, 1), (128, 5, 1)]
        );
        // Each writes its own word, and reads the next one's.
        let mut uses = Vec::new();
        for block in 0..40 {
            uses.push((block, block * 4, 4, true));
            uses.push((block, block * 4 + 4, 4, false));
        }
        let wanted: Vec<_> = (1..40).map(|block| (block * 4, block, block - 1)).collect();
        assert_eq!(shared(&uses), wanted);
    }
}
