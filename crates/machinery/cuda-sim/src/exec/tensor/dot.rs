//! A row times a column, plus a number, as the tensor cores of an NVIDIA H200 add up.
//!
//! Products are exact. All of them and the number that is added are aligned to the largest exponent
//! among them and cut off 25 bits below its unit, towards zero; the sum of what is left is exact,
//! and is rounded once: towards zero to 32 bits, to the nearest to 16. An exponent is that of the
//! bits as written, so that a product of two fractions near 2 counts with the exponents' sum, and a
//! subnormal with the least normal exponent. A zero has none, -133 is the least that counts, and a
//! result of zero is positive.
//!
//! Found by comparing bits on an NVIDIA H200 (driver 580.159.04): random numbers, far apart, that
//! cancel, subnormal, near overflow, infinities and NaN, for all forms of [`super::SHAPES`]. Of 5.8
//! million sums every one is equal (`h200.txt`; `scripts/products.cu` makes the matrices).

/// The types of elements that are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplicand {
    /// A 32-bit float of whose fraction the first 10 bits count.
    Tf32,
    F16,
    Bf16,
}

/// The types of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulator {
    F32,
    F16,
}

impl Multiplicand {
    /// Bytes that an element takes.
    pub const fn bytes(self) -> usize {
        match self {
            Multiplicand::Tf32 => 4,
            Multiplicand::F16 | Multiplicand::Bf16 => 2,
        }
    }

    pub(super) const fn format(self) -> Format {
        match self {
            Multiplicand::Tf32 => TF32,
            Multiplicand::F16 => F16,
            Multiplicand::Bf16 => BF16,
        }
    }

    /// The signs of the elements in a word.
    pub(super) const fn signs(self) -> u32 {
        match self {
            Multiplicand::Tf32 => 0x8000_0000,
            Multiplicand::F16 | Multiplicand::Bf16 => 0x8000_8000,
        }
    }

    /// The lowest bits of an element, which do not count.
    pub(super) const fn unused_bits(self) -> u32 {
        match self {
            Multiplicand::Tf32 => F32.fraction_bits - TF32.fraction_bits,
            Multiplicand::F16 | Multiplicand::Bf16 => 0,
        }
    }
}

impl Accumulator {
    /// Where a lane has its element `n` of a result: the register, and the bits before it.
    pub(super) const fn place(self, n: usize) -> (usize, u32) {
        match self {
            Accumulator::F32 => (n, 0),
            Accumulator::F16 => (n / 2, n as u32 % 2 * 16),
        }
    }
}

/// How far below the unit of the largest exponent a term is cut off, bits.
pub(super) const KEPT_BITS: i32 = 25;

/// What terms are aligned to where all of their exponents are less.
const LEAST: i32 = -133;

/// A floating-point format.
#[derive(Clone, Copy)]
pub(super) struct Format {
    pub(super) exponent_bits: u32,
    pub(super) fraction_bits: u32,
}

const TF32: Format = Format::new(8, 10);
pub(super) const F32: Format = Format::new(8, 23);
const F16: Format = Format::new(5, 10);
const BF16: Format = Format::new(8, 7);

impl Format {
    const fn new(exponent_bits: u32, fraction_bits: u32) -> Format {
        Format {
            exponent_bits,
            fraction_bits,
        }
    }

    /// The exponent field of infinities and NaN.
    pub(super) fn special(self) -> u32 {
        (1 << self.exponent_bits) - 1
    }

    pub(super) fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn infinity(self, negative: bool) -> u32 {
        self.special() << self.fraction_bits
            | u32::from(negative) << (self.exponent_bits + self.fraction_bits)
    }

    /// The NaN that tensor cores answer with.
    fn nan(self) -> u32 {
        (1 << (self.exponent_bits + self.fraction_bits)) - 1
    }
}

/// A number taken apart.
#[derive(Clone, Copy, Default)]
pub(super) struct Unpacked {
    /// The fraction with its leading one and its sign.
    digits: i32,
    /// That of the leading one; a subnormal has the least normal one.
    exponent: i32,
    /// The exponent of the last digit.
    unit: i32,
    kind: Kind,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Finite,
    Infinite {
        negative: bool,
    },
    Nan,
}

impl Unpacked {
    /// An element that is multiplied: the lowest bits of a register.
    pub fn of(ty: Multiplicand, bits: u32) -> Unpacked {
        Unpacked::read(ty.format(), bits >> ty.unused_bits())
    }

    fn read(format: Format, bits: u32) -> Unpacked {
        let fraction = bits & ((1 << format.fraction_bits) - 1);
        let field = bits >> format.fraction_bits & format.special();
        let negative = bits >> (format.exponent_bits + format.fraction_bits) & 1 == 1;
        let leading = u32::from(field != 0) << format.fraction_bits;
        let digits = (fraction | leading) as i32;
        let exponent = field.max(1) as i32 - format.bias();
        Unpacked {
            digits: if negative { -digits } else { digits },
            exponent,
            unit: exponent - format.fraction_bits as i32,
            kind: match (field == format.special(), fraction) {
                (false, _) => Kind::Finite,
                (true, 0) => Kind::Infinite { negative },
                (true, _) => Kind::Nan,
            },
        }
    }

    fn is_zero(self) -> bool {
        self.digits == 0
    }
}

/// A product, or the number that is added: `digits` in units of 2 to the `unit`.
#[derive(Clone, Copy, Default)]
struct Term {
    digits: i64,
    exponent: i32,
    unit: i32,
}

impl Term {
    /// In units of 2 to the `unit`, cut off towards zero.
    fn cut(self, unit: i32) -> i64 {
        match self.unit - unit {
            _ if self.digits == 0 => 0,
            // No more than the digits that are kept beyond a term's own.
            by @ 0.. => self.digits << by,
            by @ -63.. => self.digits.signum() * (self.digits.abs() >> -by),
            _ => 0,
        }
    }
}

/// Adds up into one type.
pub(super) struct Dot {
    to: Accumulator,
    pub(super) format: Format,
}

impl Dot {
    pub fn new(to: Accumulator) -> Dot {
        let format = match to {
            Accumulator::F32 => F32,
            Accumulator::F16 => F16,
        };
        Dot { to, format }
    }

    /// The sum of the products of `left` and `right`, as many of one type, and of `added`, whose
    /// bits above the type's own do not matter.
    pub fn sum(&self, left: &[Unpacked], right: &[Unpacked], added: u32) -> u32 {
        let added = Unpacked::read(self.format, added);
        let mut terms = [Term::default(); super::MOST_DEEP + 1];
        let mut largest = LEAST;
        let mut special = added.kind;
        let count = left.len();
        for ((term, l), r) in terms.iter_mut().zip(left).zip(right) {
            special = together(special, product_kind(*l, *r));
            *term = Term {
                digits: i64::from(l.digits) * i64::from(r.digits),
                exponent: l.exponent + r.exponent,
                unit: l.unit + r.unit,
            };
        }
        terms[count] = Term {
            digits: added.digits.into(),
            exponent: added.exponent,
            unit: added.unit,
        };
        match special {
            Kind::Finite => {}
            Kind::Infinite { negative } => return self.format.infinity(negative),
            Kind::Nan => return self.format.nan(),
        }
        for term in &terms[..=count] {
            if term.digits != 0 {
                largest = largest.max(term.exponent);
            }
        }
        let unit = largest - KEPT_BITS;
        let sum = terms[..=count].iter().map(|term| term.cut(unit)).sum();
        self.round(sum, unit)
    }

    /// `digits` in units of 2 to the `unit`, rounded as the type asks.
    pub(super) fn round(&self, digits: i64, unit: i32) -> u32 {
        let Format {
            exponent_bits,
            fraction_bits,
        } = self.format;
        let size = digits.unsigned_abs();
        let Some(top) = size.checked_ilog2() else {
            return 0;
        };
        let least = 1 - self.format.bias();
        let mut last = (top as i32 + unit).max(least) - fraction_bits as i32;
        let by = last - unit;
        let mut kept = match by {
            ..=0 => size << -by,
            64.. => 0,
            _ => size >> by,
        };
        if self.to == Accumulator::F16 && (1..64).contains(&by) {
            let (rest, half) = (size & ((1 << by) - 1), 1 << (by - 1));
            kept += u64::from(rest > half || rest == half && kept & 1 == 1);
        }
        if kept >> (fraction_bits + 1) != 0 {
            kept >>= 1;
            last += 1;
        }
        if kept == 0 {
            return 0;
        }
        let negative = digits < 0;
        let fraction = kept as u32 & ((1 << fraction_bits) - 1);
        let field = match kept >> fraction_bits {
            0 => 0,
            _ => last + fraction_bits as i32 + self.format.bias(),
        };
        if field >= self.format.special() as i32 {
            return self.format.infinity(negative);
        }
        fraction
            | (field as u32) << fraction_bits
            | u32::from(negative) << (exponent_bits + fraction_bits)
    }
}

/// What the product of two numbers is.
fn product_kind(left: Unpacked, right: Unpacked) -> Kind {
    use Kind::{Finite, Infinite, Nan};
    match (left.kind, right.kind) {
        (Finite, Finite) => Finite,
        (Nan, _) | (_, Nan) => Nan,
        _ if left.kind == Finite && left.is_zero() || right.kind == Finite && right.is_zero() => {
            Nan
        }
        _ => Infinite {
            negative: (left.digits < 0) != (right.digits < 0),
        },
    }
}

/// What the sum of two numbers is.
fn together(one: Kind, other: Kind) -> Kind {
    match (one, other) {
        (Kind::Finite, kind) | (kind, Kind::Finite) => kind,
        (one, other) if one == other => one,
        _ => Kind::Nan,
    }
}
