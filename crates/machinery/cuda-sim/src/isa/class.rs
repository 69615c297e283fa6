//! What kind of work an instruction is.

/// What kind of work an instruction is: the throughput classes of a GPU's pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Moves, and constants and parameters at a known place: in machine code they are mostly
    /// operands of the instruction that uses them.
    Move,
    /// Integer arithmetic, logic, comparison, selection.
    Integer,
    /// 32- and 16-bit floating point.
    Float,
    /// 64-bit floating point.
    Double,
    /// The special function unit: square roots, reciprocals, sines, conversions.
    Special,
    /// Products of small matrices.
    Tensor,
    /// Products of matrices that four warps hold together.
    Warpgroup,
    /// Branches, barriers, calls.
    Control,
    /// Loads, stores and atomics of each space.
    Global,
    Shared,
    Constant,
    Local,
}

impl Class {
    /// How many classes there are.
    pub const COUNT: usize = Class::Local as usize + 1;
}
