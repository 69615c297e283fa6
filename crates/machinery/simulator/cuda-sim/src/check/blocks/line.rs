//! The set of blocks that access each word of one 128-byte line of device memory. A block is stored as its
//! index plus 1, so that 0 means no block.

use crate::lanes::active;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

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
    pub fn block_tag(self) -> u32 {
        self.block as u32 + 1
    }

    /// Returns the instruction's bit in a mask of instructions.
    #[inline(always)]
    pub fn site_bit(self) -> u32 {
        1 << (self.site % 32)
    }
}

/// The sole user of each word that only one block accesses, if that block is neither the first nor the second
/// block of its line. The key is the line's index, the word's index, and whether the block writes.
pub type SoleUsers = Mutex<HashMap<(usize, u32, bool), u32>>;

/// The blocks that read a line's words, or those that write them. Only the host thread that holds the line's
/// `busy` lock changes the fields.
#[derive(Default)]
pub struct Users {
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
pub struct Line {
    /// A spin lock: 1 while a host thread changes `users`.
    busy: AtomicU32,
    /// The blocks that read, and the blocks that write.
    pub users: [Users; 2],
}

/// The blocks that accessed a word.
pub enum WordUsers {
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
    fn contains(&self, block: u32, words: u32, site: u32) -> bool {
        let exclusive = match self.first.get() == block {
            true => self.only_first.get(),
            false => 0,
        };
        words & !(exclusive | self.several.get()) == 0
            && self.sites.get() & site != 0
            && (self.lowest.get()..=self.highest.get()).contains(&block)
    }

    /// Records that a block accessed `words` of line `number` at this instruction.
    fn add(
        &self,
        sole_users: &SoleUsers,
        number: usize,
        words: u32,
        block: u32,
        site: u32,
        write: bool,
    ) {
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
            let mut sole = sole_users.lock().unwrap_or_else(PoisonError::into_inner);
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
            let mut sole = sole_users.lock().unwrap_or_else(PoisonError::into_inner);
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
        let (block, site) = (by.block_tag(), by.site_bit());
        let users = &self.users[usize::from(by.write)];
        if users.contains(block, words, site) {
            return;
        }
        while self
            .busy
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            std::hint::spin_loop();
        }
        users.add(sole_users, number, words, block, site, by.write);
        self.busy.store(0, Ordering::Release);
    }
}
