//! Memory accesses as the profiler, the sanitizer and the time model see them; the machine code of atomics; and the table of
//! access classes, from which the counters, the time model and all reports are derived, with sets of classes that are selected
//! by the table's columns.

/// A load, a store, an atomic or an asynchronous copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub memory: Memory,
    pub kind: AccessKind,
    /// Bytes that each lane transfers.
    pub bytes: u32,
    /// The elements that these bytes consist of.
    pub element: Element,
    /// The index of the operand that holds the 64-bit row of addresses; `imm` is added to each address.
    pub address: usize,
    /// The ordering properties of a volatile, atomic or otherwise ordered access, which an assembler must not
    /// merge or move; `None` for a weak access.
    pub ordered: Option<Ordered>,
    /// The use of the value that a weak load reads.
    pub loaded: LoadedValue,
    /// The machine code that performs an atomic.
    pub update: Update,
}

/// An element of an access, which has several if it transfers a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    pub bytes: u32,
    /// True if the instruction's type is a floating-point type.
    pub is_float: bool,
}

impl Element {
    /// Returns the usual type of such an element in C++.
    pub fn type_name(self) -> &'static str {
        match (self.is_float, self.bytes) {
            (true, 8) => "double",
            (true, 4) => "float",
            (true, _) => "half",
            (false, 1) => "char",
            (false, 2) => "short",
            (false, 4) => "int",
            (false, _) => "long long",
        }
    }

    /// An element of 4 bytes.
    pub const WORD: Element = Element {
        bytes: 4,
        is_float: false,
    };
}

/// The ordering properties of an access that other threads can observe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ordered {
    /// True for a release operation: `st.release`, `atom.acq_rel`.
    pub releases: bool,
    /// True if the access reads in a loop without an observable store, so that it may poll for another
    /// thread's store.
    pub polls: bool,
    /// True for an exchange whose old value is unused, which is equivalent to a store.
    pub only_stores: bool,
    /// True for a volatile access or one of system scope, which the host may observe.
    pub is_system: bool,
    /// True for an access of block scope, such as `atom.cta`, which is atomic and ordered only for threads of its block.
    pub is_block: bool,
    /// True if the instruction names a memory order, as those of `cuda::atomic` do: `ld.relaxed`, `atom.acq_rel`.
    pub names_order: bool,
    /// True for a weak access that names the level-2 cache, in which all threads see one value: `ld.cg`, `st.wt`. Code
    /// from before `ld.relaxed` polls with it.
    pub at_l2: bool,
}

/// The use of the value that a weak load reads, by which the sanitizer tells intended races from bugs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadedValue {
    /// True if the value only decides branches: it reaches no memory, no address and no atomic.
    pub only_decides: bool,
    /// The atomics of the same thread that follow the load.
    pub next_atomic: NextAtomic,
}

/// The atomic that follows a load in the same thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NextAtomic {
    /// No atomic on the loaded address follows the load, or one always precedes it: the value is a result.
    #[default]
    None,
    /// An atomic on the address follows, but the value has other uses too; or the value is an operand of a minimum or
    /// maximum on another element of the array.
    AfterUse,
    /// The value only decides whether an atomic on the address follows, or a compare-and-swap there verifies it.
    Verifies,
}

/// The state space of a counted access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    Global,
    /// Constant memory accessed through an address in a register.
    Constant,
    Shared,
    Local,
    /// The generic address space: each address selects one of the others.
    Generic,
}

impl Memory {
    /// Returns true if accesses of two state spaces may reach the same bytes of different threads.
    pub fn may_alias(self, other: Memory) -> bool {
        match (self, other) {
            (Memory::Constant, _) | (_, Memory::Constant) => false,
            (Memory::Generic, _) | (_, Memory::Generic) => true,
            (a, b) => a == b && a != Memory::Local,
        }
    }
}

/// The kind of a memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    Load,
    /// A load of data that is read-only for the lifetime of the kernel: `ld.global.nc`, CUDA's `__ldg`.
    ReadOnlyLoad,
    /// A load of 8×8 matrices by `ldmatrix`.
    MatrixLoad,
    /// A store of 8×8 matrices by `stmatrix`.
    MatrixStore,
    Store,
    /// An atomic whose old value is used.
    Atomic,
    /// An atomic whose old value is not used: PTX's `red`, or an `atom` with an unused result.
    Reduction,
    /// A copy from global to shared memory by `cp.async`. Both sides are counted.
    AsyncCopy,
    /// An asynchronous copy that bypasses the L1 cache (`cp.async.cg`).
    AsyncCopyBypassL1,
    /// A bulk copy from global to shared memory (`cp.async.bulk`). Both sides of bulk copies are counted.
    BulkLoad,
    /// A bulk copy from shared to global memory.
    BulkStore,
    /// A reduction of shared memory into global memory (`cp.reduce.async.bulk`).
    BulkReduction,
}

impl AccessKind {
    /// Returns true if the access only reads.
    pub fn is_load(self) -> bool {
        matches!(
            self,
            AccessKind::Load | AccessKind::ReadOnlyLoad | AccessKind::MatrixLoad
        )
    }

    /// Returns true for atomics and reductions.
    pub const fn is_atomic(self) -> bool {
        matches!(self, AccessKind::Atomic | AccessKind::Reduction)
    }

    /// Returns true for bulk copies and reductions.
    pub const fn is_bulk_copy(self) -> bool {
        matches!(
            self,
            AccessKind::BulkLoad | AccessKind::BulkStore | AccessKind::BulkReduction
        )
    }

    /// Returns true for asynchronous copies of threads from global to shared memory.
    pub const fn is_async_copy(self) -> bool {
        matches!(self, AccessKind::AsyncCopy | AccessKind::AsyncCopyBypassL1)
    }
}

impl Access {
    /// Returns true for an atomic on shared memory that machine code performs with loads and
    /// compare-and-swaps. The loads have a counter slot of their own after the atomic's.
    pub fn starts_with_load(self) -> bool {
        self.kind.is_atomic() && self.memory == Memory::Shared && self.update.method.loads()
    }

    /// Returns the memories that the access may reach, in the order of its counter slots.
    pub fn memories(self) -> &'static [Memory] {
        use Memory::*;
        if self.kind.is_async_copy() || self.kind.is_bulk_copy() {
            return &[Global, Shared];
        }
        if self.starts_with_load() {
            return &[Shared, Shared];
        }
        match self.memory {
            Global => &[Global],
            Constant => &[Constant],
            Shared => &[Shared],
            Local => &[Local],
            Generic => &[Global, Shared, Local, Constant],
        }
    }
}

/// The machine code that an assembler generates for an atomic. Meaningless for other accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Update {
    pub method: AtomicMethod,
    /// True if the address is provably uniform across the warp: the lanes first combine their values, and a
    /// single lane accesses memory.
    pub combined: bool,
}

/// The machine instructions that perform an atomic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AtomicMethod {
    /// A single atomic instruction.
    #[default]
    SingleInstruction,
    /// An instruction that counts the lanes at each address, for an increment by one of shared memory with an
    /// unused result.
    Popcount,
    /// A compare-and-swap, which sends two values.
    CompareAndSwap,
    /// A loop of load, compute and compare-and-swap, repeated by the lanes whose value changed in between.
    /// Used where shared memory has no instruction for the atomic.
    CasLoop,
    /// A [`AtomicMethod::CasLoop`] loop for a minimum or maximum: a lane whose value would not change memory
    /// skips the swap.
    CasLoopIfChanged,
}

impl Update {
    /// Returns the lanes of `mask` that access memory.
    pub fn accessing(self, mask: u32) -> u32 {
        if self.combined {
            mask & mask.wrapping_neg()
        } else {
            mask
        }
    }
}

impl AtomicMethod {
    /// Returns true if the atomic starts with a load.
    pub fn loads(self) -> bool {
        matches!(self, AtomicMethod::CasLoop | AtomicMethod::CasLoopIfChanged)
    }
}

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
    use AccessKind::*;

    use super::*;
    use crate::isa::{Access, Element, LoadedValue, Update};

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
