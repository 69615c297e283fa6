//! What a program may set of how launches run, beside what to launch: who has to give right results
//! under all of them is right by itself, and not by how the simulator happens to run it.

/// How launches run. Without any of these, they run as fast as can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The seed of an order of warps and blocks that nobody can foretell (see [`super::instrument::random_schedule`]);
    /// none for the usual order. Such launches are not observed: their modelled time leaves memory
    /// out, and they have no profile.
    pub shuffle: Option<u64>,
    /// The word that memory holds which nobody has written; zero where none. Variables of a module
    /// begin with zero or their value in any case.
    pub poison: Option<u32>,
    /// The seed of the choice of blocks that the time model looks at; none for the usual choice,
    /// which is the same for all launches of one size.
    pub watched: Option<u64>,
}

impl Conditions {
    /// The usual ones.
    pub const USUAL: Conditions = Conditions {
        shuffle: None,
        poison: None,
        watched: None,
    };
}
