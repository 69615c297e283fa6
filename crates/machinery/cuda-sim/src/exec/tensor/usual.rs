//! The sums of [`super::dot`] for the numbers that usually come, eight columns at a time.
//!
//! The rule is the same one. A product of two elements is exact in 32-bit floating point; times a
//! power of two and made an integer, it is cut off towards zero at the unit that is kept. The sum of
//! the integers times that unit is exact in 64-bit floating point, whose last bits are cleared to
//! round to 32 bits towards zero. All that holds while the largest exponent of each sum is between
//! [`LEAST`] and [`MOST`].

use super::dot::{Accumulator, Dot, F32, Format, KEPT_BITS, Multiplicand};
use super::{COLUMNS, ProductShape, ROWS, Registers};
use crate::lanes::LANES;

/// Columns side by side: first those that a lane has in its even places, then the others.
type Columns<T> = [T; COLUMNS];

/// Elements of a row, or of a column, that a register has in each of its halves.
const ACROSS: usize = 4;

/// The least exponent of a sum, if it is not zero: below its unit products may be subnormal.
const LEAST: i32 = -100;
/// The most: a sum stays below 2 to the 127.
const MOST: i32 = 120;

/// The exponent of a zero: with that of a number it is less than [`ZERO_SUM`], with a special one
/// more than [`MOST`].
const ZERO: i32 = -(1 << 20);
/// The exponent of an infinity or NaN.
const SPECIAL: i32 = 1 << 22;
/// Less than this is the largest exponent of a sum of zeros.
const ZERO_SUM: i32 = ZERO / 2;

/// An element as a number, and its exponent as written.
#[inline(always)]
fn element(ty: Multiplicand, bits: u32) -> (f32, i32) {
    let exponent = exponent(ty.format(), bits >> ty.unused_bits());
    let value = match ty {
        Multiplicand::Tf32 => f32::from_bits(bits >> ty.unused_bits() << ty.unused_bits()),
        Multiplicand::Bf16 => f32::from_bits(bits << 16),
        Multiplicand::F16 => from_f16(bits),
    };
    (value, exponent)
}

#[inline(always)]
fn exponent(format: Format, bits: u32) -> i32 {
    let field = bits >> format.fraction_bits & format.special();
    let size = bits & ((1 << (format.exponent_bits + format.fraction_bits)) - 1);
    let exponent = field.max(1) as i32 - format.bias();
    let exponent = if size == 0 { ZERO } else { exponent };
    if field == format.special() {
        SPECIAL
    } else {
        exponent
    }
}

/// The lower half of a word; not of an infinity or NaN.
#[inline(always)]
fn from_f16(bits: u32) -> f32 {
    /// 2 to the 127 - 15: what the exponents' biases differ by.
    const REBIAS: f32 = f32::from_bits((127 + 127 - 15) << 23);
    let size = f32::from_bits((bits & 0x7fff) << 13) * REBIAS;
    f32::from_bits(size.to_bits() | (bits & 0x8000) << 16)
}

/// The elements of a first matrix, as numbers, and their exponents as written.
pub struct Left {
    values: [[f32; LANES]; 8],
    exponents: [[i32; LANES]; 8],
}

impl Left {
    #[inline(always)]
    pub fn of(shape: ProductShape, a: &Registers) -> Left {
        let packed = shape.packed();
        let mut left = Left {
            values: [[0.0; LANES]; 8],
            exponents: [[0; LANES]; 8],
        };
        for part in 0..shape.deep / ACROSS {
            for lower in 0..2 {
                let row = &a[part / packed * 2 + lower];
                for lane in 0..LANES {
                    let bits = row[lane] >> half(packed, part);
                    let (value, exponent) = element(shape.multiplicand, bits);
                    left.values[2 * part + lower][lane] = value;
                    left.exponents[2 * part + lower][lane] = exponent;
                }
            }
        }
        left
    }
}

/// Bits before the elements of a part, in registers that hold so many elements.
#[inline(always)]
fn half(packed: usize, part: usize) -> usize {
    part % packed * 16
}

/// The product of two matrices plus a third, as [`super::any_product`]; none where an exponent is
/// too large or too small, or an element infinite or NaN.
#[inline(always)]
pub fn product(
    shape: ProductShape,
    left: &Left,
    b: &Registers,
    c: &Registers,
) -> Option<Registers> {
    let dot = Dot::new(shape.accumulator);
    // Four elements of each row and column, and as many more in each part that follows.
    let parts = shape.deep / ACROSS;
    let packed = shape.packed();
    let mut right: [Columns<f32>; 16] = [[0.0; COLUMNS]; 16];
    let mut right_exponents: [Columns<i32>; 16] = [[0; COLUMNS]; 16];
    for part in 0..parts {
        let row = &b[part / packed];
        for k in 0..ACROSS {
            let mut words = [0; COLUMNS];
            for n in 0..COLUMNS {
                words[n] = row[column(n) * ACROSS + k];
            }
            for n in 0..COLUMNS {
                let (value, exponent) = element(shape.multiplicand, words[n] >> half(packed, part));
                right[part * ACROSS + k][n] = value;
                right_exponents[part * ACROSS + k][n] = exponent;
            }
        }
    }

    let mut d = [[0; LANES]; 4];
    for row in 0..ROWS {
        let (lower, first) = (row / 8, row % 8 * ACROSS);
        // Four of them are of one register, or in one half of it; so are the others.
        let mut added = [0; COLUMNS];
        let mut largest = [0; COLUMNS];
        for odd in 0..2 {
            let (register, shift) = shape.accumulator.place(2 * lower + odd);
            for n in 0..ACROSS {
                added[odd * ACROSS + n] = c[register][first + n] >> shift;
            }
        }
        for n in 0..COLUMNS {
            largest[n] = exponent(dot.format, added[n]);
        }
        for k in 0..shape.deep {
            let exponent = left.exponents[k / ACROSS * 2 + lower][first + k % ACROSS];
            for n in 0..COLUMNS {
                largest[n] = largest[n].max(exponent + right_exponents[k][n]);
            }
        }
        let mut unusual = false;
        for n in 0..COLUMNS {
            unusual |= (largest[n] < LEAST) & (largest[n] >= ZERO_SUM) | (largest[n] > MOST);
            largest[n] = largest[n].max(LEAST);
        }
        if unusual {
            return None;
        }
        // Eight products and what is added fit 32 bits; more may not.
        let mut sums = [[0; COLUMNS]; 2];
        let mut unit = [0.0; COLUMNS];
        for n in 0..COLUMNS {
            unit[n] = power(KEPT_BITS - largest[n]);
            let added = match shape.accumulator {
                Accumulator::F32 => f32::from_bits(added[n]),
                Accumulator::F16 => from_f16(added[n]),
            };
            // SAFETY: the exponent is at most the largest, which is at most the most: the number is
            // finite, and less than 2 to the 27 of its unit.
            sums[0][n] = unsafe { (added * unit[n]).to_int_unchecked() };
        }
        for k in 0..shape.deep {
            let value = left.values[k / ACROSS * 2 + lower][first + k % ACROSS];
            for n in 0..COLUMNS {
                let product = value * right[k][n] * unit[n];
                // SAFETY: likewise, and less than 2 to the 28: two numbers below 2 are below 4.
                sums[k / 8][n] += unsafe { product.to_int_unchecked::<i32>() };
            }
        }
        let mut results = [0; COLUMNS];
        for n in 0..COLUMNS {
            results[n] = match shape.accumulator {
                Accumulator::F32 => {
                    let sum = f64::from(sums[0][n]) + f64::from(sums[1][n]);
                    to_f32(sum * f64::from(power(largest[n] - KEPT_BITS)))
                }
                Accumulator::F16 => {
                    let sum = i64::from(sums[0][n]) + i64::from(sums[1][n]);
                    dot.round(sum, largest[n] - KEPT_BITS)
                }
            };
        }
        for odd in 0..2 {
            let (register, shift) = shape.accumulator.place(2 * lower + odd);
            for n in 0..ACROSS {
                d[register][first + n] |= results[odd * ACROSS + n] << shift;
            }
        }
    }
    Some(d)
}

/// The column at a place of [`Columns`].
const fn column(place: usize) -> usize {
    place % ACROSS * 2 + place / ACROSS
}

/// 2 to an exponent of a normal number.
#[inline(always)]
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + F32.bias()) as u32) << F32.fraction_bits)
}

/// Rounded towards zero; of a number whose exponent a 32-bit one has as well.
#[inline(always)]
fn to_f32(value: f64) -> u32 {
    const CLEARED: u64 = (1 << (f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS)) - 1;
    (f64::from_bits(value.to_bits() & !CLEARED) as f32).to_bits()
}
