//! Scalar video instructions: `vadd`, `vset`, `vmad` and others, whose operands are 32-bit registers, or bytes or
//! halves of them. Source: PTX ISA, section "Scalar Video Instructions".
//!
//! Intermediate results have 33 bits or more, so that saturation and the secondary operation see the exact sum.

use super::video::{Part, VideoOperation};
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::{LANES, active};

/// The operation on the two selected operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarOperation {
    /// An operation that SIMD video instructions have as well.
    Common(VideoOperation),
    ShiftLeft,
    ShiftRight,
}

/// The operation on the result and the third operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondaryOperation {
    None,
    Add,
    Min,
    Max,
}

/// A form of a scalar video instruction other than `vmad`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScalarForm {
    pub operation: ScalarOperation,
    /// True for a signed result, a and b.
    pub signed: [bool; 3],
    /// The part of the destination that is replaced, and the selected parts of a and b.
    pub parts: [Part; 3],
    pub saturates: bool,
    pub secondary: SecondaryOperation,
    /// True if shift amounts wrap at 32 (`.wrap`), false if they are clamped to 32.
    pub wraps: bool,
}

/// A form of `vmad`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultiplyAddForm {
    /// True for signed a and b.
    pub signed: [bool; 2],
    /// The selected parts of a and b.
    pub parts: [Part; 2],
    pub negates_product: bool,
    pub negates_addend: bool,
    /// True if 1 is added (`.po`).
    pub plus_one: bool,
    /// The number of bits by which the result is shifted right: 0, 7 or 15.
    pub scale: u32,
    pub saturates: bool,
}

/// Writes fields of a few bits each into one number, lowest first.
#[derive(Default)]
struct Packer {
    bits: u64,
    length: u32,
}

impl Packer {
    fn push(&mut self, value: u64, width: u32) {
        self.bits |= value << self.length;
        self.length += width;
    }
}

/// Reads the fields that a [`Packer`] has written.
struct Unpacker(u64);

impl Unpacker {
    fn take(&mut self, width: u32) -> u64 {
        let value = self.0 & ((1 << width) - 1);
        self.0 >>= width;
        value
    }

    fn flag(&mut self) -> bool {
        self.take(1) == 1
    }

    fn part(&mut self) -> Part {
        Part::ALL[self.take(3) as usize % Part::ALL.len()]
    }
}

/// The shift operations are numbered after the common ones.
const SHIFT_LEFT: u64 = VideoOperation::ALL.len() as u64;

impl ScalarForm {
    /// Packs the form into the number stored in instructions.
    pub fn packed(self) -> u64 {
        let mut packer = Packer::default();
        let operation = match self.operation {
            ScalarOperation::Common(operation) => operation as u64,
            ScalarOperation::ShiftLeft => SHIFT_LEFT,
            ScalarOperation::ShiftRight => SHIFT_LEFT + 1,
        };
        packer.push(operation, 5);
        for signed in self.signed {
            packer.push(signed.into(), 1);
        }
        for part in self.parts {
            packer.push(part as u64, 3);
        }
        packer.push(self.saturates.into(), 1);
        packer.push(self.secondary as u64, 2);
        packer.push(self.wraps.into(), 1);
        packer.bits
    }

    fn of(packed: u64) -> ScalarForm {
        let mut fields = Unpacker(packed);
        ScalarForm {
            operation: match fields.take(5) {
                SHIFT_LEFT => ScalarOperation::ShiftLeft,
                number if number > SHIFT_LEFT => ScalarOperation::ShiftRight,
                number => ScalarOperation::Common(VideoOperation::ALL[number as usize]),
            },
            signed: std::array::from_fn(|_| fields.flag()),
            parts: std::array::from_fn(|_| fields.part()),
            saturates: fields.flag(),
            secondary: match fields.take(2) {
                0 => SecondaryOperation::None,
                1 => SecondaryOperation::Add,
                2 => SecondaryOperation::Min,
                _ => SecondaryOperation::Max,
            },
            wraps: fields.flag(),
        }
    }

    /// Returns the result for one lane's operands.
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let [signed, a_signed, b_signed] = self.signed;
        let [to, a_part, b_part] = self.parts;
        let a = a_part.of(a, a_signed);
        let b = b_part.of(b, b_signed);
        let amount = match self.wraps {
            true => b & 31,
            false => b.min(32),
        };
        let result = match self.operation {
            ScalarOperation::Common(operation) => operation.apply(a, b),
            ScalarOperation::ShiftLeft => a << amount,
            ScalarOperation::ShiftRight => a >> amount,
        };
        let result = match self.saturates {
            true => {
                let (min_value, max_value) = to.range(signed);
                result.clamp(min_value, max_value)
            }
            false => result,
        };
        let addend = Part::Word.of(c, signed);
        let result = match self.secondary {
            SecondaryOperation::None => result,
            SecondaryOperation::Add => result + addend,
            SecondaryOperation::Min => result.min(addend),
            SecondaryOperation::Max => result.max(addend),
        };
        to.replaced(c, result)
    }
}

impl MultiplyAddForm {
    /// Packs the form into the number stored in instructions.
    pub fn packed(self) -> u64 {
        let mut packer = Packer::default();
        for signed in self.signed {
            packer.push(signed.into(), 1);
        }
        for part in self.parts {
            packer.push(part as u64, 3);
        }
        let flags = [
            self.negates_product,
            self.negates_addend,
            self.plus_one,
            self.saturates,
        ];
        for flag in flags {
            packer.push(flag.into(), 1);
        }
        packer.push(self.scale.into(), 4);
        packer.bits
    }

    fn of(packed: u64) -> MultiplyAddForm {
        let mut fields = Unpacker(packed);
        MultiplyAddForm {
            signed: std::array::from_fn(|_| fields.flag()),
            parts: std::array::from_fn(|_| fields.part()),
            negates_product: fields.flag(),
            negates_addend: fields.flag(),
            plus_one: fields.flag(),
            saturates: fields.flag(),
            scale: fields.take(4) as u32,
        }
    }

    /// Returns the result for one lane's operands.
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let [a_signed, b_signed] = self.signed;
        let [a_part, b_part] = self.parts;
        let is_signed = a_signed || b_signed || self.negates_product || self.negates_addend;
        let product = i128::from(a_part.of(a, a_signed)) * i128::from(b_part.of(b, b_signed));
        let addend = i128::from(Part::Word.of(c, is_signed));
        let sum = match (self.negates_product, self.negates_addend) {
            (true, _) => addend - product,
            (false, true) => product - addend,
            (false, false) => product + addend + i128::from(self.plus_one),
        };
        let result = sum >> self.scale;
        let (min_value, max_value) = Part::Word.range(is_signed);
        match self.saturates {
            true => result.clamp(min_value.into(), max_value.into()) as u32,
            false => result as u32,
        }
    }
}

/// Runs a scalar video instruction. Operands: d, a, b, c; `imm` is [`ScalarForm::packed`].
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; the operands are 32-bit rows.
pub unsafe fn run(sm: &mut Sm, inst: &Inst) -> Next {
    let form = ScalarForm::of(inst.imm);
    // SAFETY: the operands are 32-bit rows, as this function requires.
    unsafe { apply(sm, inst, |a, b, c| form.apply(a, b, c)) }
}

/// Runs `vmad`. Operands: d, a, b, c; `imm` is [`MultiplyAddForm::packed`].
///
/// # Safety
/// The requirements of [`run`].
pub unsafe fn multiply_add(sm: &mut Sm, inst: &Inst) -> Next {
    let form = MultiplyAddForm::of(inst.imm);
    // SAFETY: the operands are 32-bit rows, as this function requires.
    unsafe { apply(sm, inst, |a, b, c| form.apply(a, b, c)) }
}

/// Writes the result of each active lane.
///
/// # Safety
/// The requirements of [`run`].
unsafe fn apply(sm: &mut Sm, inst: &Inst, of: impl Fn(u32, u32, u32) -> u32) -> Next {
    let mut d = [0; LANES];
    // SAFETY: the operands are 32-bit rows, as this function requires.
    unsafe {
        let [a, b, c] = [1, 2, 3].map(|operand| sm.row::<u32>(inst, operand));
        for lane in active(sm.mask) {
            d[lane] = of(a[lane], b[lane], c[lane]);
        }
        sm.write(inst, 0, d);
    }
    inst.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_round_trip_through_packing() {
        let operations = VideoOperation::ALL.map(ScalarOperation::Common);
        let shifts = [ScalarOperation::ShiftLeft, ScalarOperation::ShiftRight];
        let secondaries = [
            SecondaryOperation::None,
            SecondaryOperation::Add,
            SecondaryOperation::Min,
            SecondaryOperation::Max,
        ];
        for operation in operations.into_iter().chain(shifts) {
            for bits in 0..32_usize {
                let flag = |bit: usize| bits >> bit & 1 == 1;
                for secondary in secondaries {
                    let form = ScalarForm {
                        operation,
                        signed: [flag(0), flag(1), flag(2)],
                        parts: [0, 2, 5].map(|n| Part::ALL[(bits + n) % Part::ALL.len()]),
                        saturates: flag(3),
                        secondary,
                        wraps: flag(4),
                    };
                    assert_eq!(ScalarForm::of(form.packed()), form);
                }
                let form = MultiplyAddForm {
                    signed: [flag(0), flag(1)],
                    parts: [0, 3].map(|n| Part::ALL[(bits + n) % Part::ALL.len()]),
                    negates_product: flag(2),
                    negates_addend: flag(3),
                    plus_one: flag(4),
                    scale: [0, 7, 15][bits % 3],
                    saturates: flag(2),
                };
                assert_eq!(MultiplyAddForm::of(form.packed()), form);
            }
        }
    }
}
