//! How machine code does an atomic.

/// What a GPU's assembler makes of an atomic. Of any other access it says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Update {
    pub means: Means,
    /// The address is seen to be the same in all lanes of a warp. They put their values together before
    /// it, and one lane alone goes to memory.
    pub combined: bool,
}

/// By which instructions it is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Means {
    /// By one that does it.
    #[default]
    Once,
    /// By one that counts the lanes at each address: for what adds one to shared memory and does not
    /// look at the old value.
    Counts,
    /// By a compare-and-swap, which is sent two values.
    CompareAndSwap,
    /// By a loop around a compare-and-swap: lanes load, compute and swap, and those go round again for
    /// which the value has changed since. Shared memory has no instruction for such an atomic.
    Retries,
    /// The same of a minimum or a maximum: a lane that would change nothing does not swap.
    RetriesIfBetter,
}

impl Update {
    /// Of the lanes that take part, those that go to memory.
    pub fn asking(self, mask: u32) -> u32 {
        match self.combined {
            true => mask & mask.wrapping_neg(),
            false => mask,
        }
    }
}

impl Means {
    /// Whether it loads before it swaps.
    pub fn loads(self) -> bool {
        matches!(self, Means::Retries | Means::RetriesIfBetter)
    }
}
