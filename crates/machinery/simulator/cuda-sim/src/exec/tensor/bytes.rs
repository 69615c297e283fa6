//! Multiplications of matrices with 8-bit elements: integers, and floats in two formats.
//!
//! Integer sums are exact, then wrapped or clamped to 32 bits. The tensor cores of an H200 have no `mma` for
//! 8-bit floats: its assembler emits two multiplications of 16-bit floats, which represent all 8-bit values,
//! one after the other starting from zero: the first for the lower two elements of each register, the second
//! for the upper two. Matrix C is added last, rounded to nearest. (From the machine code, driver 580.159.04;
//! `products-h200.txt` holds the results of an H200, which are equal bit for bit.)

use super::{Accumulator, Multiplicand, ProductShape, Registers, product};
use crate::exec::ops::rounding::canonical;
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::LANES;

/// 8-bit element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Byte {
    S8,
    U8,
    /// 4 exponent bits and 3 fraction bits.
    E4m3,
    /// 5 exponent bits and 2 fraction bits.
    E5m2,
}

/// A shape of `mma` with 8-bit elements. Matrix B has 8 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteShape {
    /// Rows of matrix A: 8 or 16.
    pub rows: u32,
    /// Columns of matrix A: 16 or 32.
    pub k: u32,
    pub left: Byte,
    pub right: Byte,
    /// True if integer sums are clamped.
    pub clamps: bool,
}

/// Columns of matrix B.
const COLUMNS: usize = 8;
/// Elements per register.
const PACKED: usize = 4;

impl ByteShape {
    /// Returns the number of registers per lane for the result, matrix A and matrix B.
    pub fn registers(self) -> [usize; 3] {
        let (rows, k) = (self.rows as usize, self.k as usize);
        [
            rows * COLUMNS / LANES,
            rows * k / PACKED / LANES,
            COLUMNS * k / PACKED / LANES,
        ]
    }

    /// Returns true for integers and false for floats, or `None` if the two types cannot be multiplied.
    pub fn is_integer(self) -> Option<bool> {
        let is_integer = |ty| matches!(ty, Byte::S8 | Byte::U8);
        (is_integer(self.left) == is_integer(self.right)).then_some(is_integer(self.left))
    }

    /// Packs the shape into the number stored in instructions.
    pub fn packed(self) -> u32 {
        self.rows
            | self.k << 8
            | (self.left as u32) << 16
            | (self.right as u32) << 18
            | u32::from(self.clamps) << 20
    }

    fn of(packed: u32) -> ByteShape {
        const TYPES: [Byte; 4] = [Byte::S8, Byte::U8, Byte::E4m3, Byte::E5m2];
        let ty = |shift: u32| TYPES[(packed >> shift & 3) as usize];
        ByteShape {
            rows: packed & 0xff,
            k: packed >> 8 & 0xff,
            left: ty(16),
            right: ty(18),
            clamps: packed >> 20 == 1,
        }
    }
}

/// Runs `mma` on integers. `arg0` is [`ByteShape::packed`]; the operand list is `imm`.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; every entry of the operand list is a 32-bit row.
pub unsafe fn integers(sm: &mut Sm, inst: &Inst) -> Next {
    let shape = ByteShape::of(inst.arg0);
    // SAFETY: every entry of the operand list is a 32-bit row, as this function requires.
    unsafe {
        super::multiply_add(sm, inst, shape.registers(), |a, b, c| {
            integer_product(shape, a, b, c)
        })
    }
}

/// Runs `mma` on floats. `arg0` is [`ByteShape::packed`]; the operand list is `imm`.
///
/// # Safety
/// The requirements of [`integers`].
pub unsafe fn floats(sm: &mut Sm, inst: &Inst) -> Next {
    let shape = ByteShape::of(inst.arg0);
    // SAFETY: every entry of the operand list is a 32-bit row, as this function requires.
    unsafe {
        super::multiply_add(sm, inst, shape.registers(), |a, b, c| {
            float_product(shape, a, b, c)
        })
    }
}

/// Computes `A × B + C` of integers.
fn integer_product(shape: ByteShape, a: &Registers, b: &Registers, c: &Registers) -> Registers {
    let mut d = [[0; LANES]; 4];
    let groups = shape.rows as usize / 8;
    for row in 0..shape.rows as usize {
        for column in 0..COLUMNS {
            let lane = row % 8 * 4 + column / 2;
            let register = row / 8 * 2 + column % 2;
            let mut sum = i64::from(c[register][lane] as i32);
            for part in 0..shape.k as usize / 16 {
                for thread in 0..4 {
                    let left = a[part * groups + row / 8][row % 8 * 4 + thread];
                    let right = b[part][column * 4 + thread];
                    for n in 0..PACKED {
                        sum += number(shape.left, left >> (8 * n))
                            * number(shape.right, right >> (8 * n));
                    }
                }
            }
            d[register][lane] = if shape.clamps {
                sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
            } else {
                sum as u32
            };
        }
    }
    d
}

/// Returns the lowest byte of a word as a number.
fn number(ty: Byte, word: u32) -> i64 {
    match ty {
        Byte::S8 => i64::from(word as i8),
        _ => i64::from(word as u8),
    }
}

/// Computes `A × B + C` of floats by two multiplications of 16-bit floats.
fn float_product(shape: ByteShape, a: &Registers, b: &Registers, c: &Registers) -> Registers {
    let half_shape = ProductShape {
        k: shape.k as usize / 2,
        multiplicand: Multiplicand::F16,
        accumulator: Accumulator::F32,
    };
    let unpacked = |registers: &Registers, ty, shift: u32| {
        registers.map(|row| {
            row.map(|word| half(ty, word >> shift) | half(ty, word >> (shift + 8)) << 16)
        })
    };
    let mut sum = [[0; LANES]; 4];
    for shift in [0, 16] {
        let (left, right) = (
            unpacked(a, shape.left, shift),
            unpacked(b, shape.right, shift),
        );
        sum = product(half_shape, &left, &right, &sum);
    }
    for (sum, added) in sum.iter_mut().zip(c) {
        for (sum, added) in sum.iter_mut().zip(added) {
            *sum = canonical(f32::from_bits(*added) + f32::from_bits(*sum)).to_bits();
        }
    }
    sum
}

/// Converts the float in the lowest byte of a word to 16 bits, which is exact.
fn half(ty: Byte, word: u32) -> u32 {
    let byte = word & 0xff;
    if ty == Byte::E5m2 {
        return byte << 8;
    }
    let (sign, field, fraction) = ((byte & 0x80) << 8, byte >> 3 & 15, byte & 7);
    match (field, fraction) {
        (15, 7) => sign | 0x7fff,
        (0, 0) => sign,
        // Subnormal numbers, multiples of 2^-9 below 2^-6, are normal as 16-bit floats.
        (0, _) => {
            let top = fraction.ilog2();
            sign | (top + 6) << 10 | (fraction << (10 - top) & 0x3ff)
        }
        _ => sign | (field + 8) << 10 | fraction << 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the definition of the format: ±2^(e-7) × 1.fff, or ±2^-6 × 0.fff if e is 0.
    #[test]
    fn e4m3_converts_exactly_to_f16() {
        for byte in 0..=255u32 {
            let actual = half::f16::from_bits(half(Byte::E4m3, byte) as u16);
            let (field, fraction) = (byte >> 3 & 15, f64::from(byte & 7) / 8.0);
            if byte & 0x7f == 0x7f {
                assert!(actual.is_nan());
                continue;
            }
            let magnitude = match field {
                0 => fraction * 2f64.powi(-6),
                _ => (1.0 + fraction) * 2f64.powi(field as i32 - 7),
            };
            let expected = if byte >= 128 { -magnitude } else { magnitude };
            assert_eq!(actual.to_f64().to_bits(), expected.to_bits(), "{byte:#x}");
        }
        assert_eq!(half(Byte::E5m2, 0x1c2), 0xc200);
    }

    #[test]
    fn byte_shapes_round_trip_through_packing() {
        for (rows, k, left, right, clamps) in [
            (8, 16, Byte::S8, Byte::U8, true),
            (16, 32, Byte::E5m2, Byte::E4m3, false),
            (16, 16, Byte::U8, Byte::S8, true),
        ] {
            let shape = ByteShape {
                rows,
                k,
                left,
                right,
                clamps,
            };
            assert_eq!(ByteShape::of(shape.packed()), shape);
        }
    }
}
