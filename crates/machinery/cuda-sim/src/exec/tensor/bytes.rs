//! Products of matrices whose elements have 8 bits: whole numbers, and floats of two kinds.
//!
//! Sums of whole numbers are exact, and then wrapped or clamped to 32 bits. For floats of 8 bits an H200's
//! tensor cores have no `mma`: its assembler makes of it two products of 16-bit floats, which have all
//! values of 8 bits, one after the other and from zero: of the lower two elements of each register, and of
//! the upper two. What is added comes last, rounded to the nearest. (From the machine code, driver
//! 580.159.04; `products-h200.txt` holds the results against an H200's, bit for bit.)

use super::{Accumulator, Multiplicand, ProductShape, Registers, product};
use crate::exec::ops::rounding::canonical;
use crate::exec::sm::{Inst, Next, Sm};
use crate::lanes::LANES;

/// Types of elements of 8 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Byte {
    S8,
    U8,
    /// 4 bits of exponent, 3 of fraction.
    E4m3,
    /// 5 bits of exponent, 2 of fraction.
    E5m2,
}

/// A form of `mma` of such elements. The second matrix has 8 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteShape {
    /// Rows of the first matrix: 8 or 16.
    pub rows: u32,
    /// Its columns: 16 or 32.
    pub deep: u32,
    pub left: Byte,
    pub right: Byte,
    /// Sums of whole numbers are clamped.
    pub clamps: bool,
}

/// Columns of the second matrix.
const COLUMNS: usize = 8;
/// Elements in a register.
const PACKED: usize = 4;

impl ByteShape {
    /// Registers of a lane for the result, the first matrix and the second.
    pub fn registers(self) -> [usize; 3] {
        let (rows, deep) = (self.rows as usize, self.deep as usize);
        [
            rows * COLUMNS / LANES,
            rows * deep / PACKED / LANES,
            COLUMNS * deep / PACKED / LANES,
        ]
    }

    /// Whether the elements are whole numbers; none where there is no product of the two types.
    pub fn is_whole(self) -> Option<bool> {
        let whole = |ty| matches!(ty, Byte::S8 | Byte::U8);
        (whole(self.left) == whole(self.right)).then_some(whole(self.left))
    }

    /// The same as a number that an instruction carries.
    pub fn packed(self) -> u32 {
        self.rows
            | self.deep << 8
            | (self.left as u32) << 16
            | (self.right as u32) << 18
            | u32::from(self.clamps) << 20
    }

    fn of(packed: u32) -> ByteShape {
        const TYPES: [Byte; 4] = [Byte::S8, Byte::U8, Byte::E4m3, Byte::E5m2];
        let ty = |shift: u32| TYPES[(packed >> shift & 3) as usize];
        ByteShape {
            rows: packed & 0xff,
            deep: packed >> 8 & 0xff,
            left: ty(16),
            right: ty(18),
            clamps: packed >> 20 == 1,
        }
    }
}

/// `mma` of whole numbers; `x`: [`ByteShape::packed`], and its operand list is `imm`.
///
/// # Safety
/// As for [`crate::exec::sm::Handler`]; every entry of the operand list is a 32-bit row. So for each here.
pub unsafe fn whole(sm: &mut Sm, inst: &Inst) -> Next {
    let shape = ByteShape::of(inst.arg0);
    // SAFETY: the caller's promise.
    unsafe { super::multiply_add(sm, inst, shape.registers(), |a, b, c| sums(shape, a, b, c)) }
}

/// `mma` of floats, likewise.
///
/// # Safety
/// As for [`whole`].
pub unsafe fn floats(sm: &mut Sm, inst: &Inst) -> Next {
    let shape = ByteShape::of(inst.arg0);
    // SAFETY: the caller's promise.
    unsafe {
        super::multiply_add(sm, inst, shape.registers(), |a, b, c| {
            halves(shape, a, b, c)
        })
    }
}

/// Whole numbers of each row and column, multiplied and added up.
fn sums(shape: ByteShape, a: &Registers, b: &Registers, c: &Registers) -> Registers {
    let mut d = [[0; LANES]; 4];
    let groups = shape.rows as usize / 8;
    for row in 0..shape.rows as usize {
        for column in 0..COLUMNS {
            let lane = row % 8 * 4 + column / 2;
            let register = row / 8 * 2 + column % 2;
            let mut sum = i64::from(c[register][lane] as i32);
            for part in 0..shape.deep as usize / 16 {
                for thread in 0..4 {
                    let left = a[part * groups + row / 8][row % 8 * 4 + thread];
                    let right = b[part][column * 4 + thread];
                    for n in 0..PACKED {
                        sum += number(shape.left, left >> (8 * n))
                            * number(shape.right, right >> (8 * n));
                    }
                }
            }
            d[register][lane] = match shape.clamps {
                true => sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
                false => sum as u32,
            };
        }
    }
    d
}

/// The lowest byte of a word as a number.
fn number(ty: Byte, word: u32) -> i64 {
    match ty {
        Byte::S8 => i64::from(word as i8),
        _ => i64::from(word as u8),
    }
}

/// Floats, by way of 16-bit ones.
fn halves(shape: ByteShape, a: &Registers, b: &Registers, c: &Registers) -> Registers {
    let by_halves = ProductShape {
        deep: shape.deep as usize / 2,
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
        sum = product(by_halves, &left, &right, &sum);
    }
    for (sum, added) in sum.iter_mut().zip(c) {
        for (sum, added) in sum.iter_mut().zip(added) {
            *sum = canonical(f32::from_bits(*added) + f32::from_bits(*sum)).to_bits();
        }
    }
    sum
}

/// The float in the lowest byte of a word, as one of 16 bits: it has all of its values.
fn half(ty: Byte, word: u32) -> u32 {
    let byte = word & 0xff;
    if ty == Byte::E5m2 {
        return byte << 8;
    }
    let (sign, field, fraction) = ((byte & 0x80) << 8, byte >> 3 & 15, byte & 7);
    match (field, fraction) {
        (15, 7) => sign | 0x7fff,
        (0, 0) => sign,
        // Below 2 to the -6 in steps of 2 to the -9, all of which 16 bits have as normal numbers.
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

    /// By the definition of the format: ±2^(e-7) × 1.fff, and ±2^-6 × 0.fff where e is 0.
    #[test]
    fn floats_of_8_bits_become_those_of_16() {
        for byte in 0..=255u32 {
            let found = half::f16::from_bits(half(Byte::E4m3, byte) as u16);
            let (field, fraction) = (byte >> 3 & 15, f64::from(byte & 7) / 8.0);
            if byte & 0x7f == 0x7f {
                assert!(found.is_nan());
                continue;
            }
            let size = match field {
                0 => fraction * 2f64.powi(-6),
                _ => (1.0 + fraction) * 2f64.powi(field as i32 - 7),
            };
            let wanted = if byte >= 128 { -size } else { size };
            assert_eq!(found.to_f64().to_bits(), wanted.to_bits(), "{byte:#x}");
        }
        assert_eq!(half(Byte::E5m2, 0x1c2), 0xc200);
    }

    #[test]
    fn shapes_are_read_as_they_were_packed() {
        for (rows, deep, left, right, clamps) in [
            (8, 16, Byte::S8, Byte::U8, true),
            (16, 32, Byte::E5m2, Byte::E4m3, false),
            (16, 16, Byte::U8, Byte::S8, true),
        ] {
            let shape = ByteShape {
                rows,
                deep,
                left,
                right,
                clamps,
            };
            assert_eq!(ByteShape::of(shape.packed()), shape);
        }
    }
}
