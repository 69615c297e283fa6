//! Typed operations: what an instruction computes, in a form that a compiler can translate.
//!
//! The lowering attaches an operation to each instruction that the compiler knows (see `lower/operations.rs`). An
//! instruction without one stays interpreted.

use super::Memory;
use crate::ptx::ast::Type;

/// The operation of an instruction, with its type where the registers' widths do not determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Add(Type),
    Subtract(Type),
    /// The lower half of the product of integers; the rounded product of floats.
    Multiply(Type),
    MultiplyHigh(Type),
    /// The full product of two 32-bit integers.
    MultiplyWide(Type),
    /// a·b + c of integers of one width.
    MultiplyAdd(Type),
    /// a·b + c with 32-bit factors and a 64-bit sum.
    MultiplyAddWide(Type),
    /// a·b + c of floats, rounded once.
    FusedMultiplyAdd(Type),
    Divide(Type),
    Remainder(Type),
    Reciprocal(Type),
    SquareRoot(Type),
    /// The reciprocal of a single-precision square root.
    ReciprocalSquareRoot,
    /// A special function in single precision.
    SpecialFunction(SpecialFunction),
    Minimum(Type),
    Maximum(Type),
    Negate(Type),
    Absolute(Type),
    And,
    Or,
    Xor,
    Not,
    ShiftLeft(Type),
    ShiftRight(Type),
    /// The upper (`left`) or lower 32 bits of a shifted pair of words; the amount wraps modulo 32 or is clamped.
    FunnelShift {
        left: bool,
        wrap: bool,
    },
    CountOnes(Type),
    LeadingZeros(Type),
    ReverseBits(Type),
    /// A predicate: true for the orderings in `relation`, a set as in `exec/ops/form.rs`.
    Compare {
        ty: Type,
        relation: u8,
    },
    /// The first source where the predicate, the third, is true, otherwise the second.
    Select,
    Copy,
    /// A conversion between integers: the low bits of the source, sign- or zero-extended.
    Resize {
        to: Type,
        from: Type,
    },
    /// The nearest float of an integer.
    FromInteger {
        to: Type,
        from: Type,
    },
    /// A float rounded towards zero, clamped to the integer type.
    Truncate {
        to: Type,
        from: Type,
    },
    /// A single-precision number rounded to an integral one.
    Round(Rounding),
    /// Single to double precision.
    Widen,
    /// Double to single precision, to the nearest.
    Narrow,
    /// Two 32-bit words joined to one of 64 bits, the lower one first.
    Pack,
    /// A 64-bit word split into two of 32 bits, the lower one first.
    Unpack,
    /// A 64-bit source plus the immediate.
    AddImmediate,
    /// `%tid`, along an axis.
    Thread(u8),
    /// A register of the block's indices and dimensions, by number: x, y and z of `%ctaid`, of `%ntid`, of `%nctaid`.
    Block(u8),
    Lane,
    /// A load from memory, at the address in the source plus the immediate.
    Load(Transfer),
    /// A store of the sources after the first, at the address in the first source plus the immediate.
    Store(Transfer),
    /// Loads of kernel parameters at the immediate.
    Parameter(Transfer),
    /// Loads from the constant bank at the immediate.
    ConstantBank(Transfer),
    Jump,
    /// A branch taken where the predicate is true, or (`unless`) false.
    Branch {
        unless: bool,
    },
    /// Restricts the next instruction to the lanes whose predicate is true, or (`unless`) false.
    Guard {
        unless: bool,
    },
}

/// The memory that a load or store accesses, and its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    pub memory: Memory,
    /// Bytes per element.
    pub bytes: u32,
    /// True if a narrow element is sign-extended.
    pub signed: bool,
    /// Number of elements.
    pub count: u32,
}

impl Operation {
    /// Returns the transfer of a load or store, and true for a store; `None` for other operations.
    pub fn transfer(self) -> Option<(Transfer, bool)> {
        match self {
            Operation::Load(transfer) => Some((transfer, false)),
            Operation::Store(transfer) => Some((transfer, true)),
            _ => None,
        }
    }
}

impl Transfer {
    /// Returns true if the transfer counts as an access of device memory, as all generic ones do.
    pub fn is_of_device(self) -> bool {
        matches!(self.memory, Memory::Global | Memory::Generic)
    }
}

/// A special function in single precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialFunction {
    Sine,
    Cosine,
    PowerOfTwo,
    Logarithm,
    HyperbolicTangent,
}

/// A rounding to an integral number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

/// The zero-extension of a 32-bit word.
pub const EXTENSION: Operation = Operation::Resize {
    to: Type::U64,
    from: Type::U32,
};

/// The lower word of 64 bits.
pub const TRUNCATION: Operation = Operation::Resize {
    to: Type::U32,
    from: Type::U64,
};

/// The kind of frame row that a register occupies. A row has 32 lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterClass {
    /// One bit per lane.
    Predicate,
    /// 32 bits per lane, also for 8- and 16-bit values.
    Narrow,
    /// 64 bits per lane.
    Wide,
}
