//! Throughput classes of instructions.

/// The throughput class of an instruction: the GPU pipeline that executes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Moves, and accesses to constants and parameters at fixed addresses. In machine code most of them are
    /// operands of the instruction that uses the value.
    Move,
    /// Integer arithmetic, logic, comparison, selection.
    Integer,
    /// 32- and 16-bit floating point.
    Float,
    /// 64-bit floating point.
    Double,
    /// The special function unit: square roots, reciprocals, sines, conversions.
    Special,
    /// Matrix multiply-accumulate instructions of one warp (`mma`).
    Tensor,
    /// Matrix multiply-accumulate instructions of a warpgroup of four warps (`wgmma`).
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
    /// The number of classes.
    pub const COUNT: usize = Class::Local as usize + 1;
}
