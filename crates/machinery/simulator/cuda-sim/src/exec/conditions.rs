//! Execution conditions that a program can vary to test itself: a program that is correct under all of them is
//! correct by design, not because of how the simulator happens to run it.

/// The conditions under which launches run. The default is the fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Seed of a random schedule of warps and blocks (see [`super::instrument::random_schedule`]), or `None`
    /// for the default order. Launches with a random schedule are not profiled, and their modelled time
    /// excludes memory.
    pub shuffle: Option<u64>,
    /// Initial value of each word of uninitialized memory; `None` for zero. Variables of a module start with
    /// zero or their initial value in any case.
    pub poison: Option<u32>,
    /// Seed for the choice of sampled blocks on which the time model is based. `None` for the default choice,
    /// which is the same for all launches of one size.
    pub sample_seed: Option<u64>,
}

impl Conditions {
    /// The default conditions.
    pub const DEFAULT: Conditions = Conditions {
        shuffle: None,
        poison: None,
        sample_seed: None,
    };
}
