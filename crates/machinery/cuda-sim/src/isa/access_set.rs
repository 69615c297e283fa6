//! Sets of access classes, chosen by the columns of their table.

use super::{AccessClass, Direction, Memory};

/// The classes for whose row of the table something holds, found while this is compiled.
macro_rules! those {
    (|$row:ident| $holds:expr) => {{
        let (mut bits, mut number) = (0, 0);
        while number < AccessClass::COUNT {
            let $row = AccessClass::ALL[number].row();
            if $holds {
                bits |= 1 << number;
            }
            number += 1;
        }
        AccessSet { bits }
    }};
}

/// Some of the classes of accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessSet {
    /// A bit for each class, by its number.
    bits: u32,
}

impl AccessSet {
    /// All classes.
    pub const ALL: AccessSet = AccessSet {
        bits: u32::MAX >> (u32::BITS - AccessClass::COUNT as u32),
    };

    /// Both sides of asynchronous copies.
    pub const COPIES: AccessSet = those!(|row| row.kinds[0].is_copy());

    /// Those that go beyond the L1 cache: to the L2 cache and to device memory.
    pub const DEVICE: AccessSet = AccessSet::to(Memory::Global).or(AccessSet::to(Memory::Local));

    /// Those that pass the data stage of the L1 cache, which is shared memory's too. What an
    /// asynchronous copy reads passes it on its way to shared memory, and is counted there.
    pub const DATA_STAGE: AccessSet = AccessSet::DEVICE
        .without(AccessSet::COPIES)
        .or(AccessSet::to(Memory::Shared));

    /// One class alone.
    pub const fn one(class: AccessClass) -> AccessSet {
        AccessSet {
            bits: 1 << class as u32,
        }
    }

    /// Those that go to a memory.
    pub const fn to(memory: Memory) -> AccessSet {
        those!(|row| row.memory as u32 == memory as u32)
    }

    /// Those that only read, only write, or do both.
    pub const fn that(direction: Direction) -> AccessSet {
        those!(|row| row.direction as u32 == direction as u32)
    }

    /// Those that are in either.
    pub const fn or(self, other: AccessSet) -> AccessSet {
        AccessSet {
            bits: self.bits | other.bits,
        }
    }

    /// Those that are in both.
    pub const fn and(self, other: AccessSet) -> AccessSet {
        AccessSet {
            bits: self.bits & other.bits,
        }
    }

    /// Those that are not in the other.
    pub const fn without(self, other: AccessSet) -> AccessSet {
        AccessSet {
            bits: self.bits & !other.bits,
        }
    }

    /// Whether a class is one of them.
    pub const fn has(self, class: AccessClass) -> bool {
        self.bits >> class as u32 & 1 == 1
    }

    /// Each of them, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = AccessClass> {
        let all = AccessClass::ALL.iter().copied();
        all.filter(move |&class| self.has(class))
    }
}
