//! Dot products with the arithmetic of the tensor cores of an NVIDIA H200: a row times a column, plus a number.
//!
//! Products are exact. All of them and the added number are aligned to the largest exponent among them and
//! truncated towards zero, 25 bits below its unit. The sum of these terms is exact and is rounded once: to 32
//! bits towards zero, to 16 bits to nearest. Exponents are those of the operands' encodings: a product of two
//! significands near 2 counts with the sum of the exponents, and a subnormal number with the minimum normal
//! exponent. Zeros have no exponent, the minimum exponent considered is -133, and a zero result is positive.
//!
//! Determined by comparing bits on an NVIDIA H200 (driver 580.159.04): random numbers, widely spread,
//! cancelling, subnormal, near overflow, infinities and NaN, for all [`super::SHAPES`]. All of 5.8 million
//! sums are equal (`products-h200.txt`; `scripts/products.cu` makes the matrices).

/// Types of the multiplied elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplicand {
    /// A 32-bit float of whose fraction only the first 10 bits are used.
    Tf32,
    F16,
    Bf16,
}

/// Types of the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulator {
    F32,
    F16,
}

impl Multiplicand {
    /// Returns the bytes per element.
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

    /// Returns the mask of the sign bits in a word.
    pub(super) const fn signs(self) -> u32 {
        match self {
            Multiplicand::Tf32 => 0x8000_0000,
            Multiplicand::F16 | Multiplicand::Bf16 => 0x8000_8000,
        }
    }

    /// Returns the number of low bits of an element that are ignored.
    pub(super) const fn unused_bits(self) -> u32 {
        match self {
            Multiplicand::Tf32 => F32.fraction_bits - TF32.fraction_bits,
            Multiplicand::F16 | Multiplicand::Bf16 => 0,
        }
    }
}

impl Accumulator {
    /// Returns the location of a lane's element `n` of a result: the register and the bit offset.
    pub(super) const fn location(self, n: usize) -> (usize, u32) {
        match self {
            Accumulator::F32 => (n, 0),
            Accumulator::F16 => (n / 2, n as u32 % 2 * 16),
        }
    }
}

/// Number of bits below the unit of the largest exponent at which terms are truncated.
pub(super) const KEPT_BITS: i32 = 25;

/// Minimum exponent to which terms are aligned.
const MIN_EXPONENT: i32 = -133;

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

    /// Returns the exponent field of infinities and NaN.
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

    /// Returns the NaN that tensor cores produce.
    fn nan(self) -> u32 {
        (1 << (self.exponent_bits + self.fraction_bits)) - 1
    }
}

/// An unpacked number.
#[derive(Clone, Copy, Default)]
pub(super) struct Unpacked {
    /// Signed significand, including the implicit one.
    digits: i32,
    /// Exponent of the leading one; the minimum normal exponent for subnormal numbers.
    exponent: i32,
    /// Exponent of the last digit.
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
    /// Unpacks an element in the low bits of a register.
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

/// A product or the added number: `digits` times 2 to the power `unit`.
#[derive(Clone, Copy, Default)]
struct Term {
    digits: i64,
    exponent: i32,
    unit: i32,
}

impl Term {
    /// Returns the term in units of 2 to the power `unit`, truncated towards zero.
    fn truncate(self, unit: i32) -> i64 {
        match self.unit - unit {
            _ if self.digits == 0 => 0,
            // The shift is bounded by the number of bits significand below a term's own.
            by @ 0.. => self.digits << by,
            by @ -63.. => self.digits.signum() * (self.digits.abs() >> -by),
            _ => 0,
        }
    }
}

/// Computes sums of one type.
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

    /// Returns the sum of the products of `left` and `right`, which have equal lengths and one type, and of
    /// `added`, whose bits above its type are ignored.
    pub fn sum(&self, left: &[Unpacked], right: &[Unpacked], added: u32) -> u32 {
        let added = Unpacked::read(self.format, added);
        let mut terms = [Term::default(); super::MAX_K + 1];
        let mut largest = MIN_EXPONENT;
        let mut special = added.kind;
        let count = left.len();
        for ((term, l), r) in terms.iter_mut().zip(left).zip(right) {
            special = sum_kind(special, product_kind(*l, *r));
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
        let sum = terms[..=count].iter().map(|term| term.truncate(unit)).sum();
        self.round(sum, unit)
    }

    /// Rounds `digits` times 2 to the power `unit` to the type of the sum.
    pub(super) fn round(&self, digits: i64, unit: i32) -> u32 {
        let Format {
            exponent_bits,
            fraction_bits,
        } = self.format;
        let magnitude = digits.unsigned_abs();
        let Some(top) = magnitude.checked_ilog2() else {
            return 0;
        };
        let min_exponent = 1 - self.format.bias();
        let mut last = (top as i32 + unit).max(min_exponent) - fraction_bits as i32;
        let by = last - unit;
        let mut significand = match by {
            ..=0 => magnitude << -by,
            64.. => 0,
            _ => magnitude >> by,
        };
        if self.to == Accumulator::F16 && (1..64).contains(&by) {
            let (remainder, half) = (magnitude & ((1 << by) - 1), 1 << (by - 1));
            significand += u64::from(remainder > half || remainder == half && significand & 1 == 1);
        }
        if significand >> (fraction_bits + 1) != 0 {
            significand >>= 1;
            last += 1;
        }
        if significand == 0 {
            return 0;
        }
        let negative = digits < 0;
        let fraction = significand as u32 & ((1 << fraction_bits) - 1);
        let field = match significand >> fraction_bits {
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

/// Returns the kind of the product of two numbers.
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

/// Returns the kind of the sum of two numbers.
fn sum_kind(left: Kind, right: Kind) -> Kind {
    match (left, right) {
        (Kind::Finite, kind) | (kind, Kind::Finite) => kind,
        (left, right) if left == right => left,
        _ => Kind::Nan,
    }
}
