//! Which blocks of a launch use each word of device memory, so that it can be said afterwards
//! whether one of them wrote what another used.
//!
//! Nothing orders the blocks of a launch. What is known of a word is one of three: nobody, one
//! block, several; and which sites in the code it was. It only ever grows, so that it does not
//! depend on which block came first, or on which host thread. It is kept by lines of 32 words, as
//! masks: most lines are one block's, or read by all.

use crate::lanes::active;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of a line, and of a word.
const LINE: u64 = 128;
const WORD: u64 = 4;

/// Accesses of one kind, reads or writes, to a line's words. Only whoever made the line busy changes
/// them.
#[derive(Default)]
struct Users {
    /// One more than the number of a block; 0 for none.
    first: Cell,
    /// The words that only the first has used so far.
    of_first: Cell,
    second: Cell,
    of_second: Cell,
    /// Words that several blocks have used.
    many: Cell,
    /// Words that one block used that is neither the first nor the second: which one is kept apart.
    others: Cell,
    /// One more than the lowest block, and than the highest.
    lowest: Cell,
    highest: Cell,
    /// A bit for each site in the code, or for several, where there are more than 32.
    sites: Cell,
}

/// A number that others may look at meanwhile.
#[derive(Default)]
struct Cell(AtomicU32);

impl Cell {
    #[inline(always)]
    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Line {
    busy: AtomicU32,
    /// Those that read, and those that write.
    users: [Users; 2],
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

// SAFETY: the lines are this value's own, and all that is in them is atomic.
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

impl Use {
    /// One more than its block's number.
    #[inline(always)]
    fn name(self) -> u32 {
        self.block as u32 + 1
    }

    /// As a bit.
    #[inline(always)]
    fn site_bit(self) -> u32 {
        1 << (self.site % 32)
    }
}

/// Entries of [`Lately`].
const REMEMBERED: usize = 1 << 11;

/// What blocks have used lately: of it nothing new is to be noted, and the line, which is far away
/// in the host's memory, is not looked at. Each line falls to one entry, and so do others.
pub struct Lately(Vec<Used>);

#[derive(Clone, Default)]
struct Used {
    /// Where the line is, and one more where it was written.
    line: usize,
    /// One more than the block's number.
    block: u32,
    words: u32,
    sites: u32,
}

impl Default for Lately {
    fn default() -> Lately {
        Lately(vec![Used::default(); REMEMBERED])
    }
}

impl Lately {
    /// Whether the block has used these words of a line and been at this site of it; from now on
    /// it has.
    #[inline(always)]
    fn again(&mut self, line: &Line, words: u32, by: Use) -> bool {
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
                line.touch(self, number, words, by);
            }
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
            let [reads, writes] = &self.line(number).users;
            if writes.sites.get() == 0 {
                continue;
            }
            let user = |users: &Users, word: u32, write| {
                users.of(word, || others.get(&(number, word, write)).copied())
            };
            for word in 0..32 {
                let (wrote, read) = (user(writes, word, true), user(reads, word, false));
                let (writer, user, user_writes) = match (wrote, read) {
                    (Word::Nobody, _) | (Word::One(_), Word::Nobody) => continue,
                    (Word::One(a), Word::One(b)) if a == b => continue,
                    (Word::One(a), Word::One(b)) => (a, b, false),
                    (Word::One(a), Word::Several) if reads.lowest.get() == a => {
                        (a, reads.highest.get(), false)
                    }
                    (Word::One(a), Word::Several) => (a, reads.lowest.get(), false),
                    (Word::Several, _) => (writes.lowest.get(), writes.highest.get(), true),
                };
                found.push(Shared {
                    offset: number as u64 * LINE + u64::from(word) * WORD,
                    writer: u64::from(writer) - 1,
                    user: u64::from(user) - 1,
                    user_writes,
                    writers: writes.sites.get(),
                    readers: reads.sites.get(),
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
        let has = |mask: &Cell| mask.get() >> word & 1 == 1;
        match () {
            () if has(&self.many) => Word::Several,
            () if has(&self.of_first) => Word::One(self.first.get()),
            () if has(&self.of_second) => Word::One(self.second.get()),
            () if has(&self.others) => other().map_or(Word::Several, Word::One),
            () => Word::Nobody,
        }
    }

    /// Whether nothing would change. What somebody else changes meanwhile makes no difference: a
    /// word that is the block's own, or several blocks', does not become less than that.
    #[inline(always)]
    fn knows(&self, block: u32, words: u32, site: u32) -> bool {
        let own = match self.first.get() == block {
            true => self.of_first.get(),
            false => 0,
        };
        words & !(own | self.many.get()) == 0
            && self.sites.get() & site != 0
            && (self.lowest.get()..=self.highest.get()).contains(&block)
    }

    fn add(&self, lines: &Lines, number: usize, words: u32, block: u32, site: u32, write: bool) {
        self.sites.set(self.sites.get() | site);
        self.highest.set(self.highest.get().max(block));
        self.lowest.set(match self.lowest.get() {
            0 => block,
            lowest => lowest.min(block),
        });
        if self.first.get() == 0 {
            self.first.set(block);
        } else if self.first.get() != block && self.second.get() == 0 {
            self.second.set(block);
        }
        let (mut many, mut others) = (self.many.get(), self.others.get());
        let mut new = words & !many;
        for (user, of_user) in [
            (&self.first, &self.of_first),
            (&self.second, &self.of_second),
        ] {
            if user.get() != block {
                // What was another's alone becomes several's.
                many |= of_user.get() & new;
                of_user.set(of_user.get() & !new);
                new &= !many;
            }
        }
        if others & new != 0 {
            let mut known = lines.others.lock().unwrap_or_else(PoisonError::into_inner);
            for word in active(others & new) {
                let key = (number, word as u32, write);
                if known.get(&key) != Some(&block) {
                    known.remove(&key);
                    many |= 1 << word;
                    others &= !(1 << word);
                }
            }
            new &= !(many | others);
        }
        if self.first.get() == block {
            self.of_first.set(self.of_first.get() | new);
        } else if self.second.get() == block {
            self.of_second.set(self.of_second.get() | new);
        } else if new != 0 {
            let mut known = lines.others.lock().unwrap_or_else(PoisonError::into_inner);
            for word in active(new) {
                known.insert((number, word as u32, write), block);
            }
            others |= new;
        }
        self.many.set(many);
        self.others.set(others);
    }
}

impl Line {
    #[inline(always)]
    fn touch(&self, lines: &Lines, number: usize, words: u32, by: Use) {
        let (block, site) = (by.name(), by.site_bit());
        let users = &self.users[usize::from(by.write)];
        if users.knows(block, words, site) {
            return;
        }
        while self
            .busy
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            std::hint::spin_loop();
        }
        users.add(lines, number, words, block, site, by.write);
        self.busy.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses of 1000 bytes, `(block, offset, bytes, writes)`: the words that are shared.
    fn shared(uses: &[(u64, u64, u64, bool)]) -> Vec<(u64, u64, u64)> {
        let of = |uses: &mut dyn Iterator<Item = &(u64, u64, u64, bool)>| {
            let lines = Lines::new(1000);
            let mut lately = Lately::default();
            for &(block, offset, bytes, write) in uses {
                lines.touch(
                    &mut lately,
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
    fn what_is_remembered_is_what_was_noted() {
        let (line, other) = (Line::default(), Line::default());
        let mut lately = Lately::default();
        let by = Use {
            block: 7,
            site: 3,
            write: false,
        };
        let mut again = |line, words, by| lately.again(line, words, by);
        assert!(!again(&line, 0b1100, by));
        assert!(again(&line, 0b1100, by) && again(&line, 0b0100, by));
        assert!(!again(&line, 0b0110, by), "a word more");
        assert!(again(&line, 0b1110, by));
        assert!(!again(&line, 0b1110, Use { site: 4, ..by }));
        assert!(again(&line, 0b1110, by) && again(&line, 0b1000, Use { site: 4, ..by }));
        let write = Use { write: true, ..by };
        assert!(!again(&line, 0b1110, write) && again(&line, 0b1110, write));
        assert!(!again(&other, 0b1110, by));
        assert!(!again(&line, 0b1110, Use { block: 8, ..by }));
        assert!(!again(&line, 0b1110, by), "forgotten");
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
