//! Sets of access classes, selected by the columns of the class table.

use super::{AccessClass, Direction, Memory};

/// Evaluates at compile time to the set of classes whose table row satisfies a condition.
macro_rules! classes_where {
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

/// A set of access classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessSet {
    /// One bit per class, indexed by class number.
    bits: u32,
}

impl AccessSet {
    /// All classes.
    pub const ALL: AccessSet = AccessSet {
        bits: u32::MAX >> (u32::BITS - AccessClass::COUNT as u32),
    };

    /// Both sides of asynchronous copies.
    pub const ASYNC_COPIES: AccessSet = classes_where!(|row| row.kinds[0].is_async_copy());

    /// Classes that reach beyond the L1 cache, to the L2 cache and device memory.
    pub const DEVICE: AccessSet =
        AccessSet::in_memory(Memory::Global).union(AccessSet::in_memory(Memory::Local));

    /// Classes that pass through the data stage of the L1 cache, which also serves shared memory. The read
    /// side of an asynchronous copy passes it on the way to shared memory and is counted there.
    pub const DATA_STAGE: AccessSet = AccessSet::DEVICE
        .difference(AccessSet::ASYNC_COPIES)
        .union(AccessSet::in_memory(Memory::Shared));

    /// Creates a set of one class.
    pub const fn of(class: AccessClass) -> AccessSet {
        AccessSet {
            bits: 1 << class as u32,
        }
    }

    /// Creates the set of classes that access a memory.
    pub const fn in_memory(memory: Memory) -> AccessSet {
        classes_where!(|row| row.memory as u32 == memory as u32)
    }

    /// Creates the set of classes with a direction.
    pub const fn with_direction(direction: Direction) -> AccessSet {
        classes_where!(|row| row.direction as u32 == direction as u32)
    }

    /// Returns the union of two sets.
    pub const fn union(self, other: AccessSet) -> AccessSet {
        AccessSet {
            bits: self.bits | other.bits,
        }
    }

    /// Returns the intersection of two sets.
    pub const fn intersection(self, other: AccessSet) -> AccessSet {
        AccessSet {
            bits: self.bits & other.bits,
        }
    }

    /// Returns the classes of `self` that are not in `other`.
    pub const fn difference(self, other: AccessSet) -> AccessSet {
        AccessSet {
            bits: self.bits & !other.bits,
        }
    }

    /// Returns true if the set contains a class.
    pub const fn contains(self, class: AccessClass) -> bool {
        self.bits >> class as u32 & 1 == 1
    }

    /// Iterates over the classes of the set, in table order.
    pub fn iter(self) -> impl Iterator<Item = AccessClass> {
        let all = AccessClass::ALL.iter().copied();
        all.filter(move |&class| self.contains(class))
    }
}
