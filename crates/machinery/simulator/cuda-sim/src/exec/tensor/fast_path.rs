//! Fast path of [`super::dot`] for ordinary numbers, eight columns at a time.
//!
//! The arithmetic is the same. A product of two elements is exact in single precision; scaled by a power of
//! two and converted to an integer, it is truncated towards zero at the unit that is kept. The sum of these
//! integers times the unit is exact in double precision, whose last bits are cleared to round to single
//! precision towards zero. This holds while the largest exponent of each sum is between [`MIN_EXPONENT`] and
//! [`MAX_EXPONENT`].

use super::dot::{Accumulator, Dot, F32, Format, KEPT_BITS, Multiplicand};
use super::{COLUMNS, ProductShape, ROWS, Registers};
use crate::exec::ops::half::finite_f16;
use crate::lanes::LANES;

/// Values of the columns: first those with even indices within a lane, then the others.
type Columns<T> = [T; COLUMNS];

/// Elements of a row, or of a column, in each half of a register.
const ACROSS: usize = 4;

/// Minimum exponent of a nonzero sum; below its unit, products may be subnormal.
const MIN_EXPONENT: i32 = -100;
/// Maximum exponent: a sum stays below 2 to the power 127.
const MAX_EXPONENT: i32 = 120;

/// Exponent that stands for zero: plus that of a number it is less than [`ZERO_SUM`], plus that of a special
/// value more than [`MAX_EXPONENT`].
const ZERO: i32 = -(1 << 20);
/// Exponent that stands for an infinity or NaN.
const SPECIAL: i32 = 1 << 22;
/// Upper bound of the largest exponent of a sum of zeros.
const ZERO_SUM: i32 = ZERO / 2;

/// Returns an element as a number, and the exponent of its encoding.
#[inline(always)]
fn element(ty: Multiplicand, bits: u32) -> (f32, i32) {
    let exponent = exponent(ty.format(), bits >> ty.unused_bits());
    let value = match ty {
        Multiplicand::Tf32 => f32::from_bits(bits >> ty.unused_bits() << ty.unused_bits()),
        Multiplicand::Bf16 => f32::from_bits(bits << 16),
        Multiplicand::F16 => finite_f16(bits),
    };
    (value, exponent)
}

#[inline(always)]
fn exponent(format: Format, bits: u32) -> i32 {
    let field = bits >> format.fraction_bits & format.special();
    let magnitude = bits & ((1 << (format.exponent_bits + format.fraction_bits)) - 1);
    let exponent = field.max(1) as i32 - format.bias();
    let exponent = if magnitude == 0 { ZERO } else { exponent };
    if field == format.special() {
        SPECIAL
    } else {
        exponent
    }
}

/// The elements of matrix A as numbers, and the exponents of their encodings.
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
        for part in 0..shape.k / ACROSS {
            for lower in 0..2 {
                let row = &a[part / packed * 2 + lower];
                for lane in 0..LANES {
                    let bits = row[lane] >> bit_offset(packed, part);
                    let (value, exponent) = element(shape.multiplicand, bits);
                    left.values[2 * part + lower][lane] = value;
                    left.exponents[2 * part + lower][lane] = exponent;
                }
            }
        }
        left
    }
}

/// Returns the bit offset of the elements of a part in registers that hold `packed` elements.
#[inline(always)]
fn bit_offset(packed: usize, part: usize) -> usize {
    part % packed * 16
}

/// Computes `A × B + C`, as [`super::product_general`] does. Returns `None` if an exponent is too large or too
/// small, or an element infinite or NaN.
#[inline(always)]
pub fn product(
    shape: ProductShape,
    left: &Left,
    b: &Registers,
    c: &Registers,
) -> Option<Registers> {
    let dot = Dot::new(shape.accumulator);
    // Four elements of each row and column per part.
    let parts = shape.k / ACROSS;
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
                let (value, exponent) =
                    element(shape.multiplicand, words[n] >> bit_offset(packed, part));
                right[part * ACROSS + k][n] = value;
                right_exponents[part * ACROSS + k][n] = exponent;
            }
        }
    }

    let mut d = [[0; LANES]; 4];
    for row in 0..ROWS {
        let (lower, first) = (row / 8, row % 8 * ACROSS);
        // The first four columns share a register, or one half of it; so do the others.
        let mut added = [0; COLUMNS];
        let mut largest = [0; COLUMNS];
        for odd in 0..2 {
            let (register, shift) = shape.accumulator.location(2 * lower + odd);
            for n in 0..ACROSS {
                added[odd * ACROSS + n] = c[register][first + n] >> shift;
            }
        }
        for n in 0..COLUMNS {
            largest[n] = exponent(dot.format, added[n]);
        }
        for k in 0..shape.k {
            let exponent = left.exponents[k / ACROSS * 2 + lower][first + k % ACROSS];
            for n in 0..COLUMNS {
                largest[n] = largest[n].max(exponent + right_exponents[k][n]);
            }
        }
        let mut out_of_range = false;
        for n in 0..COLUMNS {
            out_of_range |= (largest[n] < MIN_EXPONENT) & (largest[n] >= ZERO_SUM)
                | (largest[n] > MAX_EXPONENT);
            largest[n] = largest[n].max(MIN_EXPONENT);
        }
        if out_of_range {
            return None;
        }
        // Eight products and the added number fit 32 bits; more may not.
        let mut sums = [[0; COLUMNS]; 2];
        let mut unit = [0.0; COLUMNS];
        for n in 0..COLUMNS {
            unit[n] = power(KEPT_BITS - largest[n]);
            let added = match shape.accumulator {
                Accumulator::F32 => f32::from_bits(added[n]),
                Accumulator::F16 => finite_f16(added[n]),
            };
            // SAFETY: the exponent is at most `largest`, which is at most `MAX_EXPONENT`, so the scaled
            // number is finite and below 2 to the power 27.
            sums[0][n] = unsafe { (added * unit[n]).to_int_unchecked() };
        }
        for k in 0..shape.k {
            let value = left.values[k / ACROSS * 2 + lower][first + k % ACROSS];
            for n in 0..COLUMNS {
                let product = value * right[k][n] * unit[n];
                // SAFETY: the scaled product is finite and below 2 to the power 28, since both significands
                // are below 2.
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
            let (register, shift) = shape.accumulator.location(2 * lower + odd);
            for n in 0..ACROSS {
                d[register][first + n] |= results[odd * ACROSS + n] << shift;
            }
        }
    }
    Some(d)
}

/// Returns the column at a position in [`Columns`].
const fn column(position: usize) -> usize {
    position % ACROSS * 2 + position / ACROSS
}

/// Returns 2 to the power of a normal number's exponent.
#[inline(always)]
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + F32.bias()) as u32) << F32.fraction_bits)
}

/// Rounds towards zero to single precision; the exponent must fit.
#[inline(always)]
fn to_f32(value: f64) -> u32 {
    const CLEARED: u64 = (1 << (f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS)) - 1;
    (f64::from_bits(value.to_bits() & !CLEARED) as f32).to_bits()
}
