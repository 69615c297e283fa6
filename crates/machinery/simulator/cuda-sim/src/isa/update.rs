//! The machine instructions that an assembler generates for an atomic.

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
        match self.combined {
            true => mask & mask.wrapping_neg(),
            false => mask,
        }
    }
}

impl AtomicMethod {
    /// Returns true if the atomic starts with a load.
    pub fn loads(self) -> bool {
        matches!(self, AtomicMethod::CasLoop | AtomicMethod::CasLoopIfChanged)
    }
}
