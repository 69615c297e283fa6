//! Race detection between blocks that cannot synchronize: records which blocks access each word of device
//! memory, and reports after the launch the words that one block writes and another accesses.
//!
//! In such a launch no two blocks are ordered by happens-before, so a set of blocks per word is enough, without
//! clocks. The state of a word is one of three: no block, one block, or several blocks, and the instructions
//! that accessed the word's line. The state only ever grows, so the result does not depend on the order of the
//! blocks or on the host thread that runs them. It is stored as masks, per line of 32 words, because most lines
//! belong to one block or are only read. A word has 4 bytes, or 1 in programs with narrower accesses. A block is
//! stored as its index plus 1, so that 0 means no block.

use crate::lanes::active;
use crate::memory::lock;
use hashbrown::HashMap;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Words per line.
const LINE: u64 = 32;

/// The size of an allocation above which words have four bytes even if the program has narrower accesses: the state of a
/// line takes more than twice the memory of 32 bytes.
const MAX_OF_BYTES: u64 = 1 << 28;

/// The blocks that access each word of an allocation, stored line by line.
pub struct AllocationShadow {
    start: *mut Line,
    count: usize,
    /// The base-2 logarithm of a word's size in bytes.
    word: u32,
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
    /// True if a block read the word that another one wrote.
    pub is_read: bool,
    /// True if all writes of the word stored the same value.
    pub one_value: bool,
}

impl AllocationShadow {
    /// Creates the state for an allocation of `bytes` bytes that no block has accessed. A word has `word` bytes: 4, or 1
    /// if the program has narrower accesses.
    pub fn new(bytes: u64, word: u32) -> AllocationShadow {
        let word = if bytes > MAX_OF_BYTES { 4 } else { word }.trailing_zeros();
        let count = bytes.div_ceil(LINE << word).max(1) as usize;
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
            word,
            written: AtomicBool::new(false),
            sole_users: SoleUsers::default(),
        }
    }

    /// Returns the number of bytes per word.
    pub fn word_bytes(&self) -> u64 {
        1 << self.word
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

    /// Records an access of `bytes` bytes from `offset` on, all of which must be inside the allocation. `values` returns
    /// the values that are stored to the words of a mask; the first bit is the word with the given number. Returns false
    /// if a recent access was the same, except for the values.
    #[inline(always)]
    pub fn record(
        &self,
        recent_accesses: &mut RecentAccesses,
        offset: u64,
        bytes: u64,
        by: BlockAccess,
        values: impl Fn(u64, u32) -> [u32; LINE as usize],
    ) -> bool {
        let mut is_new = false;
        let (mut word, end) = (offset >> self.word, ((offset + bytes - 1) >> self.word) + 1);
        if by.write && !self.written.load(Ordering::Relaxed) {
            self.written.store(true, Ordering::Relaxed);
        }
        while word < end {
            let line = word / LINE;
            let to = end.min((line + 1) * LINE);
            let words = (u32::MAX >> (LINE - (to - word))) << (word % LINE);
            let number = line as usize;
            let line = self.line(number);
            if !recent_accesses.contains_or_insert(line, words, by) {
                line.record(&self.sole_users, number, words, by);
                is_new = true;
            }
            if by.write && !line.values.all_differ(words) {
                let values = values(word - word % LINE, words);
                line.locked(|| line.values.record(words, &values));
            }
            word = to;
        }
        is_new
    }

    /// Returns the words that one block wrote and another accessed, by offset. Must be called only after the
    /// launch.
    pub fn racy_words(&self) -> Vec<RacyWord> {
        if !self.written.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let sole_users = lock(&self.sole_users);
        let mut racy = Vec::new();
        for number in 0..self.count {
            let [reads, writes] = &self.line(number).users;
            if writes.sites() == 0 || writes.are_by_one_block_with(reads) {
                continue;
            }
            let user = |users: &Users, word: u32, write| {
                users.of(word, || sole_users.get(&(number, word, write)).copied())
            };
            for word in 0..32 {
                let (wrote, read) = (user(writes, word, true), user(reads, word, false));
                let is_read = !matches!(read, WordUsers::Unused);
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
                    offset: (number as u64 * LINE + u64::from(word)) << self.word,
                    writer: u64::from(writer) - 1,
                    user: u64::from(user) - 1,
                    user_writes,
                    writers: writes.sites(),
                    readers: reads.sites(),
                    is_read,
                    one_value: self.line(number).values.is_one(word),
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

/// An access by a block.
#[derive(Clone, Copy)]
pub struct BlockAccess {
    pub block: u64,
    /// The index of the instruction among the program's instructions that access device memory.
    pub site: u32,
    pub write: bool,
}

impl BlockAccess {
    /// Returns the block's index plus 1.
    #[inline(always)]
    fn block_tag(self) -> u32 {
        self.block as u32 + 1
    }

    /// Returns the instruction's bit in a mask of instructions.
    #[inline(always)]
    fn site_bit(self) -> u32 {
        1 << (self.site % 32)
    }
}

/// The sole user of each word that only one block accesses, if that block is neither the first nor the second
/// block of its line. The key is the line's index, the word's index, and whether the block writes.
type SoleUsers = Mutex<HashMap<(usize, u32, bool), u32>>;

/// The blocks that read a line's words, or those that write them. Only the host thread that holds the line's
/// `busy` lock changes the fields.
#[derive(Default)]
struct Users {
    /// The first block that accessed a word of the line; 0 for none.
    first: Cell,
    /// A mask of the words that only the first block has accessed so far.
    only_first: Cell,
    /// The second block that accessed a word of the line; 0 for none.
    second: Cell,
    /// A mask of the words that only the second block has accessed so far.
    only_second: Cell,
    /// A mask of the words that several blocks have accessed.
    several: Cell,
    /// A mask of the words that exactly one block has accessed, which is neither the first nor the second.
    /// That block is in [`SoleUsers`].
    others: Cell,
    /// The lowest block that accessed a word of the line; 0 for none.
    lowest: Cell,
    /// The highest block that accessed a word of the line; 0 for none.
    highest: Cell,
    /// One bit for each instruction that accessed the line, chosen by its index modulo 32. In programs with
    /// more than 32 such instructions, several share a bit.
    sites: Cell,
}

/// A number that other host threads may read while one thread changes it.
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

/// The users of a line's 32 words.
#[derive(Default)]
struct Line {
    /// A spin lock: 1 while a host thread changes the other fields.
    busy: AtomicU32,
    /// The blocks that read, and the blocks that write.
    pub users: [Users; 2],
    values: WordValues,
}

/// Hashes of the values that are stored to a line's 32 words. All stores to a word are compared with the first one, so
/// that the result does not depend on the order. Only the host thread that holds the line's `busy` lock changes the
/// fields.
#[derive(Default)]
struct WordValues {
    /// A mask of the words to which different values were stored.
    differ: Cell,
    /// The hash of each word's first value, 16 bits for each; 0 before it.
    hashes: [AtomicU64; LINE as usize / WORDS_PER_CELL],
}

/// The number of hashes in 64 bits.
const WORDS_PER_CELL: usize = 4;

/// Returns a mask of the 16-bit parts that are not zero.
#[inline(always)]
fn nonzero_parts(parts: u64) -> u64 {
    const HIGH_BITS: u64 = 0x8000_8000_8000_8000;
    let high = (((parts & !HIGH_BITS) + !HIGH_BITS) | parts) & HIGH_BITS;
    (high >> 15) * 0xffff
}

/// Returns the 16-bit hash of each word's value; none is zero.
#[inline(always)]
fn hashes_of(values: &[u32; LINE as usize]) -> [u64; LINE as usize / WORDS_PER_CELL] {
    // Multiplication spreads the differences of small integers.
    let hash = values.map(|value| (value.wrapping_mul(0x9e37_79b9) >> 16) as u16 | 1);
    std::array::from_fn(|cell| {
        let part = |nth| u64::from(hash[cell * WORDS_PER_CELL + nth]) << (16 * nth);
        part(0) | part(1) | part(2) | part(3)
    })
}

impl WordValues {
    /// Returns true if different values are known to have been stored to each of `words`.
    #[inline(always)]
    fn all_differ(&self, words: u32) -> bool {
        words & !self.differ.get() == 0
    }

    /// Records stores of `values` to `words`. The values of other words are ignored.
    #[inline(always)]
    fn record(&self, words: u32, values: &[u32; LINE as usize]) {
        for (nth, (cell, hashes)) in self.hashes.iter().zip(hashes_of(values)).enumerate() {
            let words_before = nth * WORDS_PER_CELL;
            let stored = match words >> words_before & 0xf {
                0xf => u64::MAX,
                mask => active(mask).fold(0, |parts, word| parts | 0xffff << (16 * word)),
            };
            let old = cell.load(Ordering::Relaxed);
            let known = nonzero_parts(old);
            cell.store(old | hashes & stored & !known, Ordering::Relaxed);
            let mut differ = nonzero_parts((old ^ hashes) & stored & known);
            while differ != 0 {
                let word = differ.trailing_zeros() as usize / 16;
                self.differ
                    .set(self.differ.get() | 1 << (words_before + word));
                differ &= !(0xffff << (16 * word));
            }
        }
    }

    /// Returns true if all stores to a word had the same value.
    fn is_one(&self, word: u32) -> bool {
        self.differ.get() >> word & 1 == 0
    }
}

/// The blocks that accessed a word.
enum WordUsers {
    Unused,
    One(u32),
    Several,
}

impl Users {
    /// Returns the blocks that accessed a word. `other` looks the block up in [`SoleUsers`].
    pub fn of(&self, word: u32, other: impl Fn() -> Option<u32>) -> WordUsers {
        let has = |mask: &Cell| mask.get() >> word & 1 == 1;
        match () {
            () if has(&self.several) => WordUsers::Several,
            () if has(&self.only_first) => WordUsers::One(self.first.get()),
            () if has(&self.only_second) => WordUsers::One(self.second.get()),
            () if has(&self.others) => other().map_or(WordUsers::Several, WordUsers::One),
            () => WordUsers::Unused,
        }
    }

    /// Returns true if a single block made these accesses and all of the others.
    fn are_by_one_block_with(&self, others: &Users) -> bool {
        let block = self.lowest.get();
        let is_only = |users: &Users| [users.lowest.get(), users.highest.get()] == [block; 2];
        is_only(self) && (others.highest.get() == 0 || is_only(others))
    }

    /// Returns the lowest block that accessed a word of the line, or 0 for none.
    pub fn lowest(&self) -> u32 {
        self.lowest.get()
    }

    /// Returns the highest block that accessed a word of the line, or 0 for none.
    pub fn highest(&self) -> u32 {
        self.highest.get()
    }

    /// Returns a mask with one bit for each instruction that accessed the line.
    pub fn sites(&self) -> u32 {
        self.sites.get()
    }

    /// Returns true if this access by this block at this instruction is already recorded. Reading without the
    /// lock is safe because the state is monotone: a concurrent update never turns a word that belongs to
    /// this block, or to several blocks, into one that does not.
    #[inline(always)]
    fn contains(&self, words: u32, by: BlockAccess) -> bool {
        let (block, site) = (by.block_tag(), by.site_bit());
        let exclusive = if self.first.get() == block {
            self.only_first.get()
        } else {
            0
        };
        words & !(exclusive | self.several.get()) == 0
            && self.sites.get() & site != 0
            && (self.lowest.get()..=self.highest.get()).contains(&block)
    }

    /// Records that a block accessed `words` of line `number` at this instruction.
    fn add(&self, sole_users: &SoleUsers, number: usize, words: u32, by: BlockAccess) {
        let (block, write) = (by.block_tag(), by.write);
        self.sites.set(self.sites.get() | by.site_bit());
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
        let (mut several, mut others) = (self.several.get(), self.others.get());
        let mut new = words & !several;
        for (user, only_user) in [
            (&self.first, &self.only_first),
            (&self.second, &self.only_second),
        ] {
            if user.get() != block {
                // Words that only another block accessed are now accessed by several.
                several |= only_user.get() & new;
                only_user.set(only_user.get() & !new);
                new &= !several;
            }
        }
        if others & new != 0 {
            let mut sole = lock(sole_users);
            for word in active(others & new) {
                let key = (number, word as u32, write);
                if sole.get(&key) != Some(&block) {
                    sole.remove(&key);
                    several |= 1 << word;
                    others &= !(1 << word);
                }
            }
            new &= !(several | others);
        }
        if self.first.get() == block {
            self.only_first.set(self.only_first.get() | new);
        } else if self.second.get() == block {
            self.only_second.set(self.only_second.get() | new);
        } else if new != 0 {
            let mut sole = lock(sole_users);
            for word in active(new) {
                sole.insert((number, word as u32, write), block);
            }
            others |= new;
        }
        self.several.set(several);
        self.others.set(others);
    }
}

impl Line {
    /// Records that a block accesses `words` of the line, which has index `number` in its allocation.
    #[inline(always)]
    pub fn record(&self, sole_users: &SoleUsers, number: usize, words: u32, by: BlockAccess) {
        let users = &self.users[usize::from(by.write)];
        if users.contains(words, by) {
            return;
        }
        self.locked(|| users.add(sole_users, number, words, by));
    }

    /// Calls `change` while this host thread holds the line's lock.
    #[inline(always)]
    fn locked(&self, change: impl FnOnce()) {
        while self
            .busy
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            std::hint::spin_loop();
        }
        change();
        self.busy.store(0, Ordering::Release);
    }
}

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

impl RecentAccesses {
    /// Creates a cache without entries. If `is_used` is false, it has no memory either.
    pub fn new(is_used: bool) -> RecentAccesses {
        RecentAccesses(vec![Entry::default(); if is_used { ENTRIES } else { 0 }])
    }

    /// Returns true if the cache already holds these words of the line for this block, and this instruction
    /// for this line. Otherwise records the access in the cache.
    #[inline(always)]
    fn contains_or_insert(&mut self, line: &Line, words: u32, by: BlockAccess) -> bool {
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

#[cfg(test)]
mod tests;
