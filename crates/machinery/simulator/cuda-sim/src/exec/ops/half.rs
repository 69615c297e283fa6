//! Half precision: `.f16`, `.bf16` and pairs of them in one register, and arithmetic of halves with single precision.
//! Source: PTX ISA, section 9.7.4.
//!
//! Sums and products of halves are computed in single precision, which is accurate enough that double rounding changes
//! nothing. Sums, products and fused multiply-adds without modifiers are loops without branches, which the compiler
//! vectorizes; all other forms share one handler, with the form in the immediate, in which a fused multiply-add uses
//! software floating point.

use super::form::{Form, FormError, Op, no_such_type};
use super::functions::{hyperbolic_tangent, power_of_two};
use super::rounding::{self, Mode, Operation, RoundingDirection, single};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map_inlined, map1_imm, map2_imm, map3_imm};
use crate::isa::Class;
use crate::ptx::ast::Type;
use rustc_apfloat::ieee::{BFloat, Half};
use rustc_apfloat::{Float as _, Round};

const HALVES: [Type; 4] = [Type::F16, Type::F16x2, Type::BF16, Type::BF16x2];
/// The number 1 in each format.
pub const ONE_F16: u16 = 0x3c00;
pub const ONE_BF16: u16 = 0x3f80;
/// The NaN that arithmetic produces, in both formats.
const NAN: u16 = 0x7fff;

/// Returns the value of an `.f16` register. A NaN may become a signaling one.
#[inline(always)]
pub fn f16(bits: u32) -> f32 {
    let magnitude = bits & 0x7fff;
    let special = f32::from_bits((bits & 0x8000) << 16 | 0x7f80_0000 | (magnitude & 0x3ff) << 13);
    if magnitude >= 0x7c00 {
        special
    } else {
        finite_f16(bits)
    }
}

/// Returns the value of an `.f16` register that holds neither an infinity nor a NaN.
#[inline(always)]
pub fn finite_f16(bits: u32) -> f32 {
    /// 2 to the power 127 - 15, the difference of the exponents' biases.
    const REBIAS: f32 = f32::from_bits((127 + 127 - 15) << 23);
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * REBIAS;
    f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
}

/// Returns the value of a `.bf16` register.
#[inline(always)]
pub fn bf16(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// Rounds to the nearest `.f16`, ties to even.
#[inline(always)]
pub fn to_f16(x: f32) -> u32 {
    /// Adding this number moves the last bit of a subnormal `.f16` to the last bit of the sum.
    const SUBNORMAL: f32 = 0.5;
    let bits = x.to_bits() & 0x7fff_ffff;
    let rounded = (bits + 0xfff + (bits >> 13 & 1)).wrapping_sub((127 - 15) << 23);
    let subnormal = (f32::from_bits(bits) + SUBNORMAL).to_bits();
    let subnormal = subnormal.wrapping_sub(SUBNORMAL.to_bits());
    let magnitude = if bits >= 0x4780_0000 {
        0x7c00
    } else if bits < 0x3880_0000 {
        subnormal
    } else {
        rounded >> 13
    };
    let rounded = magnitude | x.to_bits() >> 16 & 0x8000;
    if x.is_nan() { NAN.into() } else { rounded }
}

/// Rounds to the nearest `.bf16`, ties to even.
#[inline(always)]
pub fn to_bf16(x: f32) -> u32 {
    let bits = x.to_bits();
    let rounded = (bits.wrapping_add(0x7fff + (bits >> 16 & 1))) >> 16;
    if x.is_nan() { NAN.into() } else { rounded }
}

/// Rounds two numbers to a pair: `a` in the upper half, `b` in the lower.
#[inline(always)]
pub fn to_f16x2(a: f32, b: f32) -> u32 {
    to_f16(a) << 16 | to_f16(b)
}

/// Rounds two numbers to a pair as [`to_f16x2`] does.
#[inline(always)]
pub fn to_bf16x2(a: f32, b: f32) -> u32 {
    to_bf16(a) << 16 | to_bf16(b)
}

/// 2^-14
const SMALLEST_NORMAL: f32 = 1.0 / 16384.0;

/// Applies `.ftz` to an `.f16` value.
#[inline(always)]
pub fn flush(a: f32) -> f32 {
    if a.abs() < SMALLEST_NORMAL {
        0f32.copysign(a)
    } else {
        a
    }
}

/// The modifiers of a form, packed into its immediate.
#[derive(Clone, Copy)]
struct HalfForm {
    function: HalfOperation,
    bfloat: bool,
    packed: bool,
    ftz: bool,
    sat: bool,
    relu: bool,
    nan: bool,
    xor_sign: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub enum HalfOperation {
    Add,
    Sub,
    Mul,
    Fma,
    Neg,
    Abs,
    Min,
    Max,
    Ex2,
    Tanh,
}

/// Operations, indexed by their number in the encoding.
const FUNCTIONS: [HalfOperation; 10] = [
    HalfOperation::Add,
    HalfOperation::Sub,
    HalfOperation::Mul,
    HalfOperation::Fma,
    HalfOperation::Neg,
    HalfOperation::Abs,
    HalfOperation::Min,
    HalfOperation::Max,
    HalfOperation::Ex2,
    HalfOperation::Tanh,
];

impl HalfForm {
    /// Returns a form without modifiers except the type.
    fn plain(function: HalfOperation, ty: Type) -> HalfForm {
        HalfForm {
            function,
            bfloat: matches!(ty, Type::BF16 | Type::BF16x2),
            packed: matches!(ty, Type::F16x2 | Type::BF16x2),
            ftz: false,
            sat: false,
            relu: false,
            nan: false,
            xor_sign: false,
        }
    }

    fn code(self) -> u64 {
        let flags = [
            self.bfloat,
            self.packed,
            self.ftz,
            self.sat,
            self.relu,
            self.nan,
            self.xor_sign,
        ];
        let flags = flags
            .iter()
            .enumerate()
            .map(|(n, flag)| u64::from(*flag) << n);
        flags.sum::<u64>() | (self.function as u64) << 8
    }

    fn from_code(code: u64) -> HalfForm {
        let flag = |n: u32| code >> n & 1 == 1;
        HalfForm {
            function: FUNCTIONS[(code >> 8) as usize % FUNCTIONS.len()],
            bfloat: flag(0),
            packed: flag(1),
            ftz: flag(2),
            sat: flag(3),
            relu: flag(4),
            nan: flag(5),
            xor_sign: flag(6),
        }
    }
}

pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    rounded(form, cpu, HalfOperation::Add)
}

pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    rounded(form, cpu, HalfOperation::Sub)
}

pub fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    rounded(form, cpu, HalfOperation::Mul)
}

pub fn fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    form.required(&["rn"], ".rn")?;
    let (ty, modifiers) = parse_form(form, HalfOperation::Fma)?;
    let sat = !modifiers.bfloat && form.has("sat");
    let relu = form.has("relu");
    form.end()?;
    Ok(op(
        ty,
        HalfForm {
            sat,
            relu,
            ..modifiers
        },
        cpu,
    ))
}

pub fn neg(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    sign(form, cpu, HalfOperation::Neg)
}

pub fn abs(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    sign(form, cpu, HalfOperation::Abs)
}

pub fn min(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    min_or_max(form, cpu, HalfOperation::Min)
}

pub fn max(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    min_or_max(form, cpu, HalfOperation::Max)
}

pub fn ex2(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    form.required(&["approx"], ".approx")?;
    let ty = form.ty_among(&HALVES)?;
    let modifiers = HalfForm::plain(HalfOperation::Ex2, ty);
    if modifiers.bfloat {
        form.required(&["ftz"], ".ftz")?;
    }
    form.end()?;
    let ftz = modifiers.bfloat;
    Ok(special(ty, HalfForm { ftz, ..modifiers }, cpu))
}

pub fn tanh(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    form.required(&["approx"], ".approx")?;
    let ty = form.ty_among(&HALVES)?;
    form.end()?;
    Ok(special(ty, HalfForm::plain(HalfOperation::Tanh, ty), cpu))
}

/// Rejects an instruction that has no half-precision form.
pub fn unsupported(form: &Form, _: Cpu) -> Result<Op, FormError> {
    no_such_type(form.ty_among(&HALVES)?)
}

/// Selects `add`, `sub` or `mul`, which round to nearest with or without `.rn`.
fn rounded(form: &Form, cpu: Cpu, function: HalfOperation) -> Result<Op, FormError> {
    form.has("rn");
    let (ty, modifiers) = parse_form(form, function)?;
    let sat = !modifiers.bfloat && form.has("sat");
    form.end()?;
    Ok(op(ty, HalfForm { sat, ..modifiers }, cpu))
}

fn sign(form: &Form, cpu: Cpu, function: HalfOperation) -> Result<Op, FormError> {
    let (ty, modifiers) = parse_form(form, function)?;
    form.end()?;
    Ok(op(ty, modifiers, cpu))
}

fn min_or_max(form: &Form, cpu: Cpu, function: HalfOperation) -> Result<Op, FormError> {
    let (ty, modifiers) = parse_form(form, function)?;
    let xor_sign = form.has("xorsign");
    if xor_sign && !form.has("abs") {
        return Err(FormError::Missing(".abs"));
    }
    let nan = form.has("NaN");
    form.end()?;
    let modifiers = HalfForm {
        xor_sign,
        nan,
        ..modifiers
    };
    Ok(op(ty, modifiers, cpu))
}

/// Takes the type and `.ftz`, which all forms except those of special functions may have, unless the type is
/// `.bf16`.
fn parse_form(form: &Form, function: HalfOperation) -> Result<(Type, HalfForm), FormError> {
    let ty = form.ty_among(&HALVES)?;
    let modifiers = HalfForm::plain(function, ty);
    let ftz = !modifiers.bfloat && form.has("ftz");
    Ok((ty, HalfForm { ftz, ..modifiers }))
}

fn special(ty: Type, modifiers: HalfForm, cpu: Cpu) -> Op {
    Op {
        class: Class::Special,
        ..op(ty, modifiers, cpu)
    }
}

fn op(ty: Type, modifiers: HalfForm, cpu: Cpu) -> Op {
    if let Some(op) = plain_op(ty, modifiers, cpu) {
        return op;
    }
    let (sources, run) = match modifiers.function {
        HalfOperation::Fma => (3, map3_imm(cpu, |a, b, c, code| lane([a, b, c], code))),
        HalfOperation::Neg | HalfOperation::Abs | HalfOperation::Ex2 | HalfOperation::Tanh => {
            (1, map1_imm(cpu, |a, code| lane([a, 0, 0], code)))
        }
        _ => (2, map2_imm(cpu, |a, b, code| lane([a, b, 0], code))),
    };
    Op::of_one_type(Class::Float, ty, sources, run).with_imm(modifiers.code())
}

/// Selects a sum, product or fused multiply-add without modifiers. The immediate is a mask of the result's bits, so that
/// single values and pairs share a handler.
fn plain_op(ty: Type, modifiers: HalfForm, cpu: Cpu) -> Option<Op> {
    if modifiers.ftz || modifiers.sat || modifiers.relu {
        return None;
    }
    let is_bfloat = modifiers.bfloat;
    let (sources, run) = match modifiers.function {
        HalfOperation::Add if is_bfloat => (2, map_inlined(cpu, plain::AddBf16)),
        HalfOperation::Add => (2, map_inlined(cpu, plain::AddF16)),
        HalfOperation::Sub if is_bfloat => (2, map_inlined(cpu, plain::SubBf16)),
        HalfOperation::Sub => (2, map_inlined(cpu, plain::SubF16)),
        HalfOperation::Mul if is_bfloat => (2, map_inlined(cpu, plain::MulBf16)),
        HalfOperation::Mul => (2, map_inlined(cpu, plain::MulF16)),
        HalfOperation::Fma if is_bfloat => (3, map_inlined(cpu, plain::FmaBf16)),
        HalfOperation::Fma => (3, map_inlined(cpu, plain::FmaF16)),
        _ => return None,
    };
    let mask = if modifiers.packed { u32::MAX } else { 0xffff };
    Some(Op::of_one_type(Class::Float, ty, sources, run).with_imm(mask.into()))
}

/// Sums, products and fused multiply-adds of the lower and the upper halves of registers. The immediate is a mask of the
/// result's bits.
mod plain {
    use super::{bf16, f16, to_bf16, to_f16};
    use crate::exec::lanewise::InlinedOperation;
    use std::cmp::Ordering;

    /// Defines an operation on the halves of registers.
    macro_rules! operation {
        ($name:ident, $sources:literal, ($a:ident, $b:ident, $c:ident) => $result:expr) => {
            #[derive(Clone, Copy)]
            pub struct $name;

            impl InlinedOperation<u32> for $name {
                const SOURCES: usize = $sources;

                #[inline(always)]
                fn apply([a, b, c]: [u32; 3], mask: u64) -> u32 {
                    #[inline(always)]
                    fn half($a: u32, $b: u32, $c: u32) -> u32 {
                        $result
                    }
                    let (low, high) = (half(a, b, c), half(a >> 16, b >> 16, c >> 16));
                    (low | high << 16) & mask as u32
                }
            }
        };
    }

    operation!(AddF16, 2, (a, b, _c) => to_f16(f16(a) + f16(b)));
    operation!(AddBf16, 2, (a, b, _c) => to_bf16(bf16(a) + bf16(b)));
    operation!(SubF16, 2, (a, b, _c) => to_f16(f16(a) - f16(b)));
    operation!(SubBf16, 2, (a, b, _c) => to_bf16(bf16(a) - bf16(b)));
    operation!(MulF16, 2, (a, b, _c) => to_f16(f16(a) * f16(b)));
    operation!(MulBf16, 2, (a, b, _c) => to_bf16(bf16(a) * bf16(b)));
    operation!(FmaF16, 3, (a, b, c) => fused_f16(a, b, c));
    operation!(FmaBf16, 3, (a, b, c) => fused_bf16(a, b, c));

    /// Computes `a × b + c`, rounded once. The product is exact in single precision. The sum is rounded to odd, after
    /// which rounding to fewer bits gives the nearest result. Source: Boldo and Melquiond, Emulation of a FMA and
    /// correctly rounded sums: proved algorithms using rounding to odd, 2008.
    #[inline(always)]
    fn fused_f16(a: u32, b: u32, c: u32) -> u32 {
        let (product, c) = (f16(a) * f16(b), f16(c));
        let sum = product + c;
        // Knuth's exact error of the sum.
        let part = sum - product;
        let error = (product - (sum - part)) + (c - part);
        to_f16(to_odd(sum, error))
    }

    /// Rounds `nearest + error` to odd, of which `nearest` is the nearest float.
    #[inline(always)]
    fn to_odd<E: PartialOrd + Default + Copy>(nearest: f32, error: E) -> f32 {
        let zero = E::default();
        // The next float towards zero if the error points there, then odd.
        let opposed = u32::from((error < zero) != nearest.is_sign_negative());
        let odd = nearest.to_bits().wrapping_sub(opposed) | 1;
        // The error of a sum that is not finite is NaN.
        let is_inexact = error.partial_cmp(&zero).is_some_and(Ordering::is_ne);
        f32::from_bits(if is_inexact { odd } else { nearest.to_bits() })
    }

    /// Computes `a × b + c` as [`fused_f16`] does, in double precision.
    #[inline(always)]
    fn fused_bf16(a: u32, b: u32, c: u32) -> u32 {
        let product = f64::from(bf16(a)) * f64::from(bf16(b));
        let c = f64::from(bf16(c));
        let sum = product + c;
        let part = sum - product;
        let error = (product - (sum - part)) + (c - part);
        let opposed = u64::from((error < 0.0) != (sum < 0.0));
        let odd = sum.to_bits().wrapping_sub(opposed) | 1;
        let sum = if error.abs() > 0.0 {
            f64::from_bits(odd)
        } else {
            sum
        };
        let single = sum as f32;
        to_bf16(to_odd(single, sum - f64::from(single)))
    }
}

/// Computes one lane's register, which holds one value or two.
#[inline(never)]
fn lane(operands: [u32; 3], code: u64) -> u32 {
    let modifiers = HalfForm::from_code(code);
    let low = u32::from(value(operands.map(|x| x as u16), modifiers));
    if !modifiers.packed {
        return low;
    }
    low | u32::from(value(operands.map(|x| (x >> 16) as u16), modifiers)) << 16
}

/// Adds the halves of two words, or returns their minima or maxima. For a single value, the caller truncates the result.
pub fn apply_all(function: HalfOperation, a: u64, b: u64, bfloat: bool) -> u64 {
    let ty = if bfloat { Type::BF16x2 } else { Type::F16x2 };
    let code = HalfForm::plain(function, ty).code();
    lane([a as u32, b as u32, 0], code).into()
}

fn value(operands: [u16; 3], modifiers: HalfForm) -> u16 {
    let widen = |bits: u16| {
        if modifiers.bfloat {
            bf16(bits.into())
        } else {
            f16(bits.into())
        }
    };
    let narrow = |x: f32| {
        if modifiers.bfloat {
            to_bf16(x) as u16
        } else {
            to_f16(x) as u16
        }
    };
    let is_nan = |bits: u16| widen(bits).is_nan();
    let canonical = |bits: u16| if is_nan(bits) { NAN } else { bits };
    let flushed = |bits: u16| {
        let flush = if modifiers.bfloat {
            rounding::flush
        } else {
            flush
        };
        if modifiers.ftz && flush(widen(bits)) == 0.0 {
            bits & 0x8000
        } else {
            bits
        }
    };

    let operands = operands.map(flushed);
    let [a, b, _] = operands;
    let [x, y, _] = operands.map(widen);
    let result = match modifiers.function {
        HalfOperation::Neg => a ^ 0x8000,
        HalfOperation::Abs => a & 0x7fff,
        HalfOperation::Add => narrow(x + y),
        HalfOperation::Sub => narrow(x - y),
        HalfOperation::Mul => narrow(x * y),
        HalfOperation::Fma => fused(operands, modifiers.bfloat),
        HalfOperation::Ex2 => narrow(power_of_two(x)),
        HalfOperation::Tanh => narrow(hyperbolic_tangent(x)),
        HalfOperation::Min | HalfOperation::Max => extremum([a, b], modifiers, widen),
    };
    let result = if modifiers.ftz && is_subnormal_product(modifiers, x * y) {
        result & 0x8000
    } else {
        flushed(canonical(result))
    };
    if modifiers.sat {
        narrow(rounding::saturate(widen(result)))
    } else if modifiers.relu && result & 0x8000 != 0 {
        0
    } else {
        result
    }
}

/// Returns true if a product, which is exact in single precision, is subnormal as an `.f16` before rounding.
/// An H200 flushes such a product even if it would be rounded up to a normal number, but rounds a fused sum
/// first.
fn is_subnormal_product(modifiers: HalfForm, product: f32) -> bool {
    modifiers.function == HalfOperation::Mul && product.abs() < SMALLEST_NORMAL
}

fn fused(operands: [u16; 3], bfloat: bool) -> u16 {
    let [a, b, c] = operands.map(u128::from);
    let nearest = Round::NearestTiesToEven;
    if bfloat {
        let [a, b, c] = [a, b, c].map(BFloat::from_bits);
        a.mul_add_r(b, c, nearest).value.to_bits() as u16
    } else {
        let [a, b, c] = [a, b, c].map(Half::from_bits);
        a.mul_add_r(b, c, nearest).value.to_bits() as u16
    }
}

/// Returns the operand that is a number, unless the form has `.NaN`; -0 is less than +0.
fn extremum([a, b]: [u16; 2], modifiers: HalfForm, widen: impl Fn(u16) -> f32) -> u16 {
    let sign = if modifiers.xor_sign {
        (a ^ b) & 0x8000
    } else {
        0
    };
    let [a, b] = if modifiers.xor_sign {
        [a & 0x7fff, b & 0x7fff]
    } else {
        [a, b]
    };
    let (x, y) = (widen(a), widen(b));
    if x.is_nan() || y.is_nan() {
        let neither = modifiers.nan || (x.is_nan() && y.is_nan());
        return if neither {
            NAN
        } else {
            sign | if x.is_nan() { b } else { a }
        };
    }
    let less = x.total_cmp(&y).is_lt();
    sign | if less == (modifiers.function == HalfOperation::Min) {
        a
    } else {
        b
    }
}

/// Returns true if a form names single precision and then a half type.
pub fn is_mixed(form: &Form) -> bool {
    form.first_type() == Some(Type::F32) && (form.contains("f16") || form.contains("bf16"))
}

/// Flag in the encoding of a [`Mode`]: the halves are `.bf16`.
const BFLOAT: u64 = 1 << 8;

/// Selects `add.f32.f16` and `add.f32.bf16`: a half, which is converted exactly, plus a number. Source: PTX ISA, section
/// 9.7.5.
pub fn mixed_add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (half, code) = parse_mixed_form(form, true)?;
    let run = map2_imm(cpu, |a: u32, c: f32, code| {
        single(Operation::Add, [widen_half(a, code), c, c], code)
    });
    Ok(Op::new(Class::Float, &[Type::F32], &[half, Type::F32], run).with_imm(code))
}

/// Selects `sub`: a half minus a number.
pub fn mixed_sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (half, code) = parse_mixed_form(form, true)?;
    let run = map2_imm(cpu, |a: u32, c: f32, code| {
        single(Operation::Add, [widen_half(a, code), -c, c], code)
    });
    Ok(Op::new(Class::Float, &[Type::F32], &[half, Type::F32], run).with_imm(code))
}

/// Selects `fma`: a product of halves plus a number.
pub fn mixed_fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (half, code) = parse_mixed_form(form, false)?;
    let run = map3_imm(cpu, |a: u32, b: u32, c: f32, code| {
        let [a, b] = [a, b].map(|x| widen_half(x, code));
        single(Operation::Fma, [a, b, c], code)
    });
    Ok(Op::new(Class::Float, &[Type::F32], &[half, half, Type::F32], run).with_imm(code))
}

/// Takes the type of the halves and the rounding, which is optional if `rounding_is_optional` is true.
fn parse_mixed_form(form: &Form, rounding_is_optional: bool) -> Result<(Type, u64), FormError> {
    let direction = match RoundingDirection::float(form) {
        Some(direction) => direction,
        None if rounding_is_optional => RoundingDirection::Nearest,
        None => return Err(FormError::Missing(".rn, .rz, .rm, .rp")),
    };
    form.ty_among(&[Type::F32])?;
    let half = form.ty_among(&[Type::F16, Type::BF16])?;
    let sat = form.has("sat");
    form.end()?;
    let mode = Mode {
        direction,
        ftz: false,
        sat,
    };
    let bfloat = if half == Type::BF16 { BFLOAT } else { 0 };
    Ok((half, mode.code() | bfloat))
}

#[inline(always)]
fn widen_half(half: u32, code: u64) -> f32 {
    if code & BFLOAT != 0 {
        bf16(half)
    } else {
        f16(half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::lanewise::InlinedOperation as _;

    /// Returns numbers of all kinds: subnormal, near one, large, infinite and NaN.
    fn interesting() -> Vec<u32> {
        let mut bits: Vec<u32> = (0..0x400).step_by(93).chain(0x7bf0..0x7c08).collect();
        bits.extend((0x400..0x7c00).step_by(1217));
        bits.extend([
            0x3c00, 0x3c01, 0x3bff, 0x3f80, 0x3f81, 0x7f7f, 0x7f80, 0x7fc0, 0x0080,
        ]);
        let negative: Vec<u32> = bits.iter().map(|bits| bits | 0x8000).collect();
        bits.extend(negative);
        bits
    }

    #[test]
    fn conversions_agree_with_the_half_crate() {
        for bits in 0..=0xffff {
            let expected = half::f16::from_bits(bits as u16).to_f32();
            assert!(f16(bits).to_bits() == expected.to_bits() || expected.is_nan());
            assert_eq!(f16(bits).is_nan(), expected.is_nan());
        }
        for bits in (0..=u32::MAX).step_by(997) {
            let x = f32::from_bits(bits);
            let expected = [
                half::f16::from_f32(x).to_bits(),
                half::bf16::from_f32(x).to_bits(),
            ];
            let expected = if x.is_nan() { [NAN; 2] } else { expected };
            assert_eq!([to_f16(x), to_bf16(x)], expected.map(u32::from), "{x:e}");
        }
    }

    /// The vectorized forms and the general handler give the same bits, for single values and for pairs.
    #[test]
    fn plain_forms_agree_with_the_general_handler() {
        use HalfOperation::{Add, Fma, Mul, Sub};
        let numbers = interesting();
        for ty in HALVES {
            let check = |function, [a, b, c]: [u32; 3], actual: u32| {
                let form = HalfForm::plain(function, ty);
                assert_eq!(actual, lane([a, b, c], form.code()), "{a:x} {b:x} {c:x}");
            };
            let form = HalfForm::plain(Add, ty);
            let mask = if form.packed {
                u64::from(u32::MAX)
            } else {
                0xffff
            };
            // The upper half of a pair is negated.
            let pair = |bits: u32| {
                if form.packed {
                    bits | (bits ^ 0x8000) << 16
                } else {
                    bits
                }
            };
            for a in numbers.iter().map(|&a| pair(a)) {
                for b in numbers.iter().map(|&b| pair(b)) {
                    let apply = |function| {
                        let operation: fn([u32; 3], u64) -> u32 = match (function, form.bfloat) {
                            (Add, false) => plain::AddF16::apply,
                            (Add, true) => plain::AddBf16::apply,
                            (Sub, false) => plain::SubF16::apply,
                            (Sub, true) => plain::SubBf16::apply,
                            (Mul, false) => plain::MulF16::apply,
                            (Mul, true) => plain::MulBf16::apply,
                            (_, false) => plain::FmaF16::apply,
                            (_, true) => plain::FmaBf16::apply,
                        };
                        operation
                    };
                    for function in [Add, Sub, Mul] {
                        check(function, [a, b, 0], apply(function)([a, b, b], mask));
                    }
                    for c in numbers.iter().map(|&c| pair(c)) {
                        check(Fma, [a, b, c], apply(Fma)([a, b, c], mask));
                    }
                }
            }
        }
    }
}
