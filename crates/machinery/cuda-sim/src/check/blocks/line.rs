//! Which blocks use the words of one line of device memory. A block stands here as one more than its
//! number, so that 0 is no block.

use crate::lanes::active;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// An access by a block.
#[derive(Clone, Copy)]
pub struct Use {
    pub block: u64,
    /// The instruction's number among the program's that access device memory.
    pub site: u32,
    pub write: bool,
}

impl Use {
    /// One more than its block's number.
    #[inline(always)]
    pub fn name(self) -> u32 {
        self.block as u32 + 1
    }

    /// A bit for its instruction.
    #[inline(always)]
    pub fn site_bit(self) -> u32 {
        1 << (self.site % 32)
    }
}

/// For words that one block alone has used, and that block is neither the first nor the second of its
/// line: the block, by the line's number, the word's, and whether the block wrote.
pub type LoneUsers = Mutex<HashMap<(usize, u32, bool), u32>>;

/// The blocks that read a line's words, or those that write them. Only the host thread that made the
/// line busy changes them.
#[derive(Default)]
pub struct Users {
    /// The first block that used a word of the line; 0 for none.
    first: Cell,
    /// A mask of the words that only the first block has used so far.
    of_first: Cell,
    /// The second block that used a word of the line; 0 for none.
    second: Cell,
    /// A mask of the words that only the second block has used so far.
    of_second: Cell,
    /// A mask of the words that several blocks have used.
    many: Cell,
    /// A mask of the words that one block alone has used, and it is neither the first nor the second:
    /// [`LoneUsers`] has which one.
    others: Cell,
    /// The lowest block that used a word of the line; 0 for none.
    lowest: Cell,
    /// The highest block that used a word of the line; 0 for none.
    highest: Cell,
    /// A bit for each instruction that accessed the line, by its number among the program's; with more
    /// than 32 instructions several share a bit.
    sites: Cell,
}

/// A number that other host threads may read while one changes it.
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
    /// 1 while a host thread changes the users.
    busy: AtomicU32,
    /// The blocks that read, and those that write.
    pub users: [Users; 2],
}

/// Who used a word.
pub enum WordUsers {
    Nobody,
    One(u32),
    Several,
}

impl Users {
    /// Who used a word; `other` looks it up among the [`LoneUsers`].
    pub fn of(&self, word: u32, other: impl Fn() -> Option<u32>) -> WordUsers {
        let has = |mask: &Cell| mask.get() >> word & 1 == 1;
        match () {
            () if has(&self.many) => WordUsers::Several,
            () if has(&self.of_first) => WordUsers::One(self.first.get()),
            () if has(&self.of_second) => WordUsers::One(self.second.get()),
            () if has(&self.others) => other().map_or(WordUsers::Several, WordUsers::One),
            () => WordUsers::Nobody,
        }
    }

    /// The lowest block that used a word of the line, 0 for none.
    pub fn lowest(&self) -> u32 {
        self.lowest.get()
    }

    /// The highest block that used a word of the line, 0 for none.
    pub fn highest(&self) -> u32 {
        self.highest.get()
    }

    /// The instructions that accessed the line, a bit each.
    pub fn sites(&self) -> u32 {
        self.sites.get()
    }

    /// Whether a use of these words by this block, at this instruction, is known already. What another
    /// host thread changes at the same time makes no difference: a word that is the block's own, or
    /// several blocks', does not become less than that.
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

    /// Notes that a block used these words of line `number`, at this instruction.
    fn add(&self, lone: &LoneUsers, number: usize, words: u32, block: u32, site: u32, write: bool) {
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
            let mut known = lone.lock().unwrap_or_else(PoisonError::into_inner);
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
            let mut known = lone.lock().unwrap_or_else(PoisonError::into_inner);
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
    /// Notes that a block uses these words of the line, which is the allocation's line `number`.
    #[inline(always)]
    pub fn touch(&self, lone: &LoneUsers, number: usize, words: u32, by: Use) {
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
        users.add(lone, number, words, block, site, by.write);
        self.busy.store(0, Ordering::Release);
    }
}
