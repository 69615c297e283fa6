//! The classes of memory accesses: one table, which counters, the time model and whatever presents
//! them read.

use super::{AccessKind, Memory};

/// What is known of all accesses of a class.
#[derive(Debug, Clone, Copy)]
pub struct AccessRow {
    /// What one of them is called.
    pub name: &'static str,
    /// Where it goes; never [`Memory::Generic`], whose addresses say which of the others it is.
    pub memory: Memory,
    pub direction: Direction,
    /// The instructions that make such accesses.
    pub kinds: &'static [AccessKind],
    pub cached_in: CachedIn,
    /// Loads of neighbouring words from one address register are one load in machine code, and stores one
    /// store, of at most so many bytes a lane; 0 where each stays by itself.
    pub merged_bytes: u32,
}

/// Whether an access reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Reads,
    Writes,
    /// Both at once, as an atomic does.
    Updates,
}

/// The cache that a multiprocessor asks before it turns to the memory itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachedIn {
    /// None: shared memory needs none, and what is written goes to the L2 cache.
    Nothing,
    /// The L1 cache.
    First,
    /// The L1 cache, on GPUs that keep ordinary global data there.
    FirstAsOrdinary,
    /// The L1 cache, on GPUs that keep read-only data there.
    FirstAsReadOnly,
    /// The constant cache.
    Constant,
}

/// Makes [`AccessClass`] of a table with a row for each class, so that there is no class without one.
macro_rules! access_classes {
    ($($(#[$doc:meta])* $class:ident: $name:literal, $memory:ident $direction:ident,
        [$($kind:ident)*], $cache:ident, $merged:literal;)*) => {
        /// A class of accesses, whose counts are kept apart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AccessClass {
            $($(#[$doc])* $class,)*
        }

        impl AccessClass {
            /// All of them, in the order of their numbers.
            pub const ALL: &[AccessClass] = &[$(AccessClass::$class),*];

            /// How many there are.
            pub const COUNT: usize = AccessClass::ALL.len();

            /// Its row of the table.
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

// The class: its name, where it goes and whether it reads or writes, the instructions, the cache,
// and to how many bytes neighbours are merged.
access_classes! {
    GlobalLoad: "global load", Global Reads, [Load], FirstAsOrdinary, 16;
    /// `__ldg` and its like.
    ReadOnlyLoad: "read-only load", Global Reads, [ReadOnlyLoad], FirstAsReadOnly, 16;
    GlobalStore: "global store", Global Writes, [Store], Nothing, 0;
    /// Whose old value is used.
    GlobalAtomic: "global atomic", Global Updates, [Atomic], Nothing, 0;
    /// Whose old value nobody uses.
    GlobalReduction: "global reduction", Global Updates, [Reduction], Nothing, 0;
    /// What an asynchronous copy reads, through the L1 cache.
    CopyRead: "asynchronous copy's read", Global Reads, [AsyncCopy], FirstAsOrdinary, 0;
    /// The same past the L1 cache.
    CopyReadPastL1: "asynchronous copy's read past the L1 cache",
        Global Reads, [AsyncCopyPastL1], Nothing, 0;
    LocalLoad: "local load", Local Reads, [Load ReadOnlyLoad], First, 16;
    LocalStore: "local store", Local Writes, [Store], Nothing, 0;
    LocalAtomic: "local atomic", Local Updates, [Atomic Reduction], Nothing, 0;
    SharedLoad: "shared load", Shared Reads, [Load ReadOnlyLoad], Nothing, 16;
    /// By `ldmatrix`.
    MatrixLoad: "matrix load", Shared Reads, [MatrixLoad], Nothing, 0;
    /// By `stmatrix`.
    MatrixStore: "matrix store", Shared Writes, [MatrixStore], Nothing, 0;
    SharedStore: "shared store", Shared Writes, [Store], Nothing, 16;
    SharedAtomic: "shared atomic", Shared Updates, [Atomic Reduction], Nothing, 0;
    /// What an asynchronous copy writes.
    CopyWrite: "asynchronous copy", Shared Writes, [AsyncCopy AsyncCopyPastL1], Nothing, 0;
    /// At an address in a register.
    ConstantLoad: "constant load", Constant Reads, [Load ReadOnlyLoad], Constant, 8;
}

impl AccessClass {
    /// The class of an instruction's accesses of a memory; none where it makes none there.
    pub fn of(kind: AccessKind, memory: Memory) -> Option<AccessClass> {
        let is =
            |class: &AccessClass| class.row().memory == memory && class.row().kinds.contains(&kind);
        AccessClass::ALL.iter().copied().find(is)
    }

    /// Whether nothing writes what it reads while the kernel runs.
    pub fn is_read_only(self) -> bool {
        matches!(
            self.row().cached_in,
            CachedIn::FirstAsReadOnly | CachedIn::Constant
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Access, Update};
    use AccessKind::*;

    const KINDS: [AccessKind; 9] = [
        Load,
        ReadOnlyLoad,
        MatrixLoad,
        MatrixStore,
        Store,
        Atomic,
        Reduction,
        AsyncCopy,
        AsyncCopyPastL1,
    ];

    #[test]
    fn every_class_has_a_name_and_a_place_of_its_own() {
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
    fn an_instruction_is_of_a_class_wherever_it_may_go() {
        for kind in KINDS {
            let memories: &[Memory] = match kind {
                Load | ReadOnlyLoad | Store | Atomic | Reduction => &[Memory::Generic],
                MatrixLoad | MatrixStore => &[Memory::Shared],
                AsyncCopy | AsyncCopyPastL1 => &[Memory::Global],
            };
            for &memory in memories {
                let access = Access {
                    memory,
                    kind,
                    bytes: 4,
                    address: 0,
                    ordered: None,
                    update: Update::default(),
                };
                for &reached in access.memories() {
                    // Nothing writes constant memory.
                    let none = reached == Memory::Constant && !kind.is_load();
                    let class = AccessClass::of(kind, reached);
                    assert_eq!(class.is_none(), none, "{kind:?}, {reached:?}");
                }
            }
        }
    }

    #[test]
    fn what_reads_alone_says_so_in_its_row() {
        for class in AccessClass::ALL {
            let row = class.row();
            for kind in row.kinds {
                let reads = row.direction == Direction::Reads;
                let copies = kind.is_copy();
                assert!(copies || kind.is_load() == reads, "{}", row.name);
                let updates = row.direction == Direction::Updates;
                assert_eq!(kind.is_update(), updates, "{}", row.name);
            }
        }
    }
}
