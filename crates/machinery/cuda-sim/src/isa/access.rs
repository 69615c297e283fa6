//! Accesses of memory, as who counts, checks or models them sees them.

use super::Update;

/// A load, a store or an atomic, as whoever counts it sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub memory: Memory,
    pub kind: AccessKind,
    /// Bytes that each lane moves.
    pub bytes: u32,
    /// Which of the operands is the 64-bit row of addresses; `imm` is added to it.
    pub address: usize,
    /// It is volatile, atomic, or ordered with what other threads do: an assembler leaves it as it
    /// is. None for all others.
    pub ordered: Option<Ordered>,
    /// How it is done, if it is an atomic.
    pub update: Update,
}

/// What an access that other threads may look on at means for what they do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ordered {
    /// It makes known what its thread did before: `st.release`, `atom.acq_rel`.
    pub releases: bool,
    /// It reads in a loop that stores nothing of the kind: it may wait for another thread's store.
    pub polls: bool,
    /// It is an exchange whose old value nobody looks at, so that all it does is to store.
    pub only_stores: bool,
}

/// A state space whose accesses are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    Global,
    /// Through an address in a register.
    Constant,
    Shared,
    Local,
    /// Any of these: each address says which.
    Generic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    Load,
    /// Of data that nothing writes while the kernel runs: `ld.global.nc`, CUDA's `__ldg`.
    ReadOnlyLoad,
    /// Of small matrices, by `ldmatrix`.
    MatrixLoad,
    /// The same back, by `stmatrix`.
    MatrixStore,
    Store,
    /// Of which somebody uses what was there before.
    Atomic,
    /// The same where nobody does: PTX's `red`, and an `atom` whose result is left alone.
    Reduction,
    /// From global to shared memory, by `cp.async`: both are counted.
    AsyncCopy,
    /// The same past the L1 cache.
    AsyncCopyPastL1,
}

impl AccessKind {
    /// Whether it only reads.
    pub fn is_load(self) -> bool {
        matches!(
            self,
            AccessKind::Load | AccessKind::ReadOnlyLoad | AccessKind::MatrixLoad
        )
    }

    /// Whether it is an atomic, with or without the old value.
    pub const fn is_update(self) -> bool {
        matches!(self, AccessKind::Atomic | AccessKind::Reduction)
    }

    /// Whether it goes from global to shared memory.
    pub const fn is_copy(self) -> bool {
        matches!(self, AccessKind::AsyncCopy | AccessKind::AsyncCopyPastL1)
    }
}

impl Access {
    /// Whether it is an atomic on shared memory that is done by loads and compare-and-swaps: the loads
    /// are counted behind the atomic.
    pub fn loads_first(self) -> bool {
        self.kind.is_update() && self.memory == Memory::Shared && self.update.means.loads()
    }

    /// The memories that it may reach, in the order in which they are counted.
    pub fn memories(self) -> &'static [Memory] {
        use Memory::*;
        if self.kind.is_copy() {
            return &[Global, Shared];
        }
        if self.loads_first() {
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
