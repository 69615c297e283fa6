//! The description of a conversion and its encoding in an instruction's immediate.

use crate::exec::ops::rounding::RoundingDirection;
use crate::ptx::ast::Type;

/// A conversion's types and modifiers.
#[derive(Debug, Clone, Copy)]
pub struct Conversion {
    pub to: Type,
    pub from: Type,
    pub direction: RoundingDirection,
    /// True if a float is rounded to an integral value (`.rni` and the like).
    pub integral: bool,
    pub ftz: bool,
    pub sat: bool,
    pub relu: bool,
    /// Bytes of the destination register.
    pub register: u32,
}

/// Types, indexed by their number in the encoding.
const TYPES: [Type; 12] = [
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
    Type::F16,
    Type::BF16,
    Type::F32,
    Type::F64,
];

impl Conversion {
    pub fn code(self) -> u64 {
        let number = |ty| {
            TYPES
                .iter()
                .position(|candidate| *candidate == ty)
                .unwrap_or(0) as u64
        };
        number(self.to)
            | number(self.from) << 4
            | (self.direction as u64) << 8
            | u64::from(self.integral) << 12
            | u64::from(self.ftz) << 13
            | u64::from(self.sat) << 14
            | u64::from(self.relu) << 15
            | u64::from(self.register) << 16
    }

    pub fn from_code(code: u64) -> Conversion {
        let ty = |at: u32| TYPES[(code >> at & 15) as usize % TYPES.len()];
        let flag = |at: u32| code >> at & 1 == 1;
        let direction = match code >> 8 & 3 {
            0 => RoundingDirection::Nearest,
            1 => RoundingDirection::Zero,
            2 => RoundingDirection::Down,
            _ => RoundingDirection::Up,
        };
        Conversion {
            to: ty(0),
            from: ty(4),
            direction,
            integral: flag(12),
            ftz: flag(13),
            sat: flag(14),
            relu: flag(15),
            register: (code >> 16) as u32,
        }
    }
}
