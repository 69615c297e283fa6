//! Memory accesses as the profiler, the sanitizer and the time model see them, and the machine code of atomics.

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
