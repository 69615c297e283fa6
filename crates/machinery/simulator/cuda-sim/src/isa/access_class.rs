//! The table of memory-access classes, from which the counters, the time model and all reports are derived,
//! and sets of classes that are selected by the table's columns.

use super::{AccessKind, Memory};

/// The properties of an access class.
#[derive(Debug, Clone, Copy)]
pub struct AccessRow {
    /// The class's name in reports, in the singular.
    pub name: &'static str,
    /// The memory accessed; never [`Memory::Generic`], whose accesses are counted by the memory each address
    /// selects.
    pub memory: Memory,
    pub direction: Direction,
    /// The kinds of instructions that perform such accesses.
    pub kinds: &'static [AccessKind],
    pub cached_in: CachedIn,
    /// The maximum width in bytes per lane to which the assembler merges accesses of neighbouring words from
    /// one address register; 0 if it does not merge them.
    pub merged_bytes: u32,
}

/// The direction of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Reads,
    Writes,
    /// A read-modify-write operation, as performed by an atomic.
    Updates,
}

/// The cache of a streaming multiprocessor (SM) that serves an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachedIn {
    /// No cache: shared memory does not need one, and writes go through to the L2 cache.
    None,
    /// The L1 cache.
    L1,
    /// The L1 cache, on GPUs that cache ordinary global data in it.
    L1IfGlobalCached,
    /// The L1 cache, on GPUs that cache read-only data in it.
    L1IfReadOnlyCached,
    /// The constant cache.
    Constant,
}

/// Generates [`AccessClass`] from a table with one row per class, so that no class can lack a row.
macro_rules! access_classes {
    ($($(#[$doc:meta])* $class:ident: $name:literal, $memory:ident $direction:ident,
        [$($kind:ident)*], $cache:ident, $merged:literal;)*) => {
        /// A class of memory accesses. Each class has its own counters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AccessClass {
            $($(#[$doc])* $class,)*
        }

        impl AccessClass {
            /// All classes, in table order.
            pub const ALL: &[AccessClass] = &[$(AccessClass::$class),*];

            /// The number of classes.
            pub const COUNT: usize = AccessClass::ALL.len();

            /// Returns the class's row of the table.
            pub const fn row(self) -> &'static AccessRow {
                match self {
                    $(AccessClass::$class => &AccessRow {
                        name: $name,
                        memory: Memory::$memory,
                        direction: Direction::$direction,
                        kinds: &[$(AccessKind::$kind),*],
                        cached_in: CachedIn::$cache,
                        merged_bytes: $merged,
                    },)*
                }
            }
        }
    };
}

// Columns: class, name, memory and direction, kinds of instructions, cache, and the width to which neighbours
// are merged.
access_classes! {
    GlobalLoad: "global load", Global Reads, [Load], L1IfGlobalCached, 16;
    /// A load through the read-only data path, such as `__ldg`.
    ReadOnlyLoad: "read-only load", Global Reads, [ReadOnlyLoad], L1IfReadOnlyCached, 16;
    GlobalStore: "global store", Global Writes, [Store BulkStore], None, 0;
    /// An atomic whose old value is used.
    GlobalAtomic: "global atomic", Global Updates, [Atomic], None, 0;
    /// An atomic whose old value is not used.
    GlobalReduction: "global reduction", Global Updates, [Reduction BulkReduction], None, 0;
    /// The read side of an asynchronous copy through the L1 cache.
    CopyRead: "asynchronous-copy read", Global Reads, [AsyncCopy], L1IfGlobalCached, 0;
    /// The read side of an asynchronous copy that bypasses the L1 cache.
    CopyReadBypassL1: "asynchronous-copy read bypassing L1",
        Global Reads, [AsyncCopyBypassL1 BulkLoad], None, 0;
    LocalLoad: "local load", Local Reads, [Load ReadOnlyLoad], L1, 16;
    LocalStore: "local store", Local Writes, [Store], None, 0;
    LocalAtomic: "local atomic", Local Updates, [Atomic Reduction], None, 0;
    SharedLoad: "shared load", Shared Reads, [Load ReadOnlyLoad BulkStore BulkReduction], None, 16;
    /// A load by `ldmatrix`.
    MatrixLoad: "matrix load", Shared Reads, [MatrixLoad], None, 0;
    /// A store by `stmatrix`.
    MatrixStore: "matrix store", Shared Writes, [MatrixStore], None, 0;
    SharedStore: "shared store", Shared Writes, [Store], None, 16;
    SharedAtomic: "shared atomic", Shared Updates, [Atomic Reduction], None, 0;
    /// The write side of an asynchronous copy.
    CopyWrite: "asynchronous-copy write", Shared Writes, [AsyncCopy AsyncCopyBypassL1 BulkLoad], None, 0;
    /// A load from constant memory through an address in a register.
    ConstantLoad: "constant load", Constant Reads, [Load ReadOnlyLoad], Constant, 8;
}

impl AccessClass {
    /// Returns the class of accesses of this kind to a memory; `None` if the kind cannot access it.
    pub fn of(kind: AccessKind, memory: Memory) -> Option<AccessClass> {
        let is =
            |class: &AccessClass| class.row().memory == memory && class.row().kinds.contains(&kind);
        AccessClass::ALL.iter().copied().find(is)
    }

    /// Returns true if nothing writes the memory that the class reads while a kernel runs.
    pub fn is_read_only(self) -> bool {
        matches!(
            self.row().cached_in,
            CachedIn::L1IfReadOnlyCached | CachedIn::Constant
        )
    }
}

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

    /// Creates the set of loads from a memory, without atomics. Includes matrix loads and the reads of
    /// asynchronous copies, as the load counters of hardware do.
    pub const fn loads(memory: Memory) -> AccessSet {
        AccessSet::in_memory(memory).intersection(AccessSet::with_direction(Direction::Reads))
    }

    /// Creates the set of stores to a memory, without the writes of asynchronous copies, which have their own
    /// counters.
    pub const fn stores(memory: Memory) -> AccessSet {
        AccessSet::in_memory(memory)
            .intersection(AccessSet::with_direction(Direction::Writes))
            .difference(AccessSet::ASYNC_COPIES)
    }

    /// Creates the set of atomics on a memory.
    pub const fn atomics(memory: Memory) -> AccessSet {
        AccessSet::in_memory(memory).intersection(AccessSet::with_direction(Direction::Updates))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Access, Element, LoadedValue, Update};
    use AccessKind::*;

    const KINDS: [AccessKind; 12] = [
        Load,
        ReadOnlyLoad,
        MatrixLoad,
        MatrixStore,
        Store,
        Atomic,
        Reduction,
        AsyncCopy,
        AsyncCopyBypassL1,
        BulkLoad,
        BulkStore,
        BulkReduction,
    ];

    #[test]
    fn classes_have_unique_names_and_numbers() {
        for (number, class) in AccessClass::ALL.iter().enumerate() {
            let row = class.row();
            assert_eq!(*class as usize, number);
            assert!(!row.name.is_empty());
            assert_ne!(row.memory, Memory::Generic, "{}", row.name);
            for other in &AccessClass::ALL[..number] {
                assert_ne!(row.name, other.row().name);
            }
            for &kind in row.kinds {
                assert_eq!(AccessClass::of(kind, row.memory), Some(*class));
            }
        }
    }

    #[test]
    fn access_kinds_have_a_class_for_each_memory() {
        for kind in KINDS {
            let memories: &[Memory] = match kind {
                Load | ReadOnlyLoad | Store | Atomic | Reduction => &[Memory::Generic],
                MatrixLoad | MatrixStore => &[Memory::Shared],
                AsyncCopy | AsyncCopyBypassL1 | BulkLoad | BulkStore | BulkReduction => {
                    &[Memory::Global]
                }
            };
            for &memory in memories {
                let access = Access {
                    memory,
                    kind,
                    bytes: 4,
                    element: Element::WORD,
                    address: 0,
                    ordered: None,
                    loaded: LoadedValue::default(),
                    update: Update::default(),
                };
                for &reached in access.memories() {
                    // Constant memory cannot be written.
                    let none = reached == Memory::Constant && !kind.is_load();
                    let class = AccessClass::of(kind, reached);
                    assert_eq!(class.is_none(), none, "{kind:?}, {reached:?}");
                }
            }
        }
    }

    #[test]
    fn directions_match_access_kinds() {
        for class in AccessClass::ALL {
            let row = class.row();
            for kind in row.kinds {
                let reads = row.direction == Direction::Reads;
                let copies = kind.is_async_copy() || kind.is_bulk_copy();
                assert!(copies || kind.is_load() == reads, "{}", row.name);
                let updates = row.direction == Direction::Updates;
                assert!(copies || kind.is_atomic() == updates, "{}", row.name);
            }
        }
    }
}
