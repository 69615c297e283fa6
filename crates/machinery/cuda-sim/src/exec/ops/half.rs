//! Half precision: `.f16`, `.bf16` and pairs of them in one register. Source: PTX ISA, section
//! 9.7.4.
//!
//! One handler for all, with the form in the immediate. Sums and products of halves are exact
//! enough in single precision that rounding twice changes nothing; a fused multiply-add is not,
//! and goes through software floating point.

use super::form::{Form, FormError, Op, no_such_type};
use super::rounding;
use super::special::{hyperbolic_tangent, power_of_two};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1_imm, map2_imm, map3_imm};
use crate::isa::Class;
use crate::ptx::ast::Type;
use rustc_apfloat::ieee::{BFloat, Half};
use rustc_apfloat::{Float as _, Round};

const HALVES: [Type; 4] = [Type::F16, Type::F16x2, Type::BF16, Type::BF16x2];
/// A 1 in each format.
pub const ONE_F16: u16 = 0x3c00;
pub const ONE_BF16: u16 = 0x3f80;
/// The NaN that arithmetic answers with, in either format.
const NAN: u16 = 0x7fff;

/// The value of an `.f16` register.
#[inline(always)]
pub fn f16(bits: u32) -> f32 {
    half::f16::from_bits(bits as u16).to_f32()
}

/// The value of a `.bf16` register.
#[inline(always)]
pub fn bf16(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// 2^-14
const SMALLEST_NORMAL: f32 = 1.0 / 16384.0;

/// `.ftz` of an `.f16` value.
#[inline(always)]
pub fn flush(a: f32) -> f32 {
    if a.abs() < SMALLEST_NORMAL {
        0f32.copysign(a)
    } else {
        a
    }
}

/// What a form says, packed into its immediate.
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
enum HalfOperation {
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

/// Functions by their number in a code, which is their place in the enum.
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
    /// Without modifiers but the type.
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

/// `add`
pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    rounded(form, cpu, HalfOperation::Add)
}

/// `sub`
pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    rounded(form, cpu, HalfOperation::Sub)
}

/// `mul`
pub fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    rounded(form, cpu, HalfOperation::Mul)
}

/// `fma`
pub fn fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    form.required(&["rn"], ".rn")?;
    let (ty, how) = written(form, HalfOperation::Fma)?;
    let sat = !how.bfloat && form.has("sat");
    let relu = form.has("relu");
    form.end()?;
    Ok(op(ty, HalfForm { sat, relu, ..how }, cpu))
}

/// `neg`
pub fn neg(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    sign(form, cpu, HalfOperation::Neg)
}

/// `abs`
pub fn abs(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    sign(form, cpu, HalfOperation::Abs)
}

/// `min`
pub fn min(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    one_of_two(form, cpu, HalfOperation::Min)
}

/// `max`
pub fn max(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    one_of_two(form, cpu, HalfOperation::Max)
}

/// `ex2`
pub fn ex2(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    form.required(&["approx"], ".approx")?;
    let ty = form.ty_among(&HALVES)?;
    let how = HalfForm::plain(HalfOperation::Ex2, ty);
    if how.bfloat {
        form.required(&["ftz"], ".ftz")?;
    }
    form.end()?;
    let ftz = how.bfloat;
    Ok(special(ty, HalfForm { ftz, ..how }, cpu))
}

/// `tanh`
pub fn tanh(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    form.required(&["approx"], ".approx")?;
    let ty = form.ty_among(&HALVES)?;
    form.end()?;
    Ok(special(ty, HalfForm::plain(HalfOperation::Tanh, ty), cpu))
}

/// Refuses an instruction that has no form in half precision.
pub fn none(form: &Form, _: Cpu) -> Result<Op, FormError> {
    no_such_type(form.ty_among(&HALVES)?)
}

/// `add`, `sub`, `mul`: rounded to nearest, whether `.rn` stands there or not.
fn rounded(form: &Form, cpu: Cpu, function: HalfOperation) -> Result<Op, FormError> {
    form.has("rn");
    let (ty, how) = written(form, function)?;
    let sat = !how.bfloat && form.has("sat");
    form.end()?;
    Ok(op(ty, HalfForm { sat, ..how }, cpu))
}

fn sign(form: &Form, cpu: Cpu, function: HalfOperation) -> Result<Op, FormError> {
    let (ty, how) = written(form, function)?;
    form.end()?;
    Ok(op(ty, how, cpu))
}

fn one_of_two(form: &Form, cpu: Cpu, function: HalfOperation) -> Result<Op, FormError> {
    let (ty, how) = written(form, function)?;
    let xor_sign = form.has("xorsign");
    if xor_sign && !form.has("abs") {
        return Err(FormError::Missing(".abs"));
    }
    let nan = form.has("NaN");
    form.end()?;
    let how = HalfForm {
        xor_sign,
        nan,
        ..how
    };
    Ok(op(ty, how, cpu))
}

/// The type and what all forms but those of the special functions may say: `.ftz`, where it is no
/// `.bf16`.
fn written(form: &Form, function: HalfOperation) -> Result<(Type, HalfForm), FormError> {
    let ty = form.ty_among(&HALVES)?;
    let how = HalfForm::plain(function, ty);
    let ftz = !how.bfloat && form.has("ftz");
    Ok((ty, HalfForm { ftz, ..how }))
}

fn special(ty: Type, how: HalfForm, cpu: Cpu) -> Op {
    Op {
        class: Class::Special,
        ..op(ty, how, cpu)
    }
}

fn op(ty: Type, how: HalfForm, cpu: Cpu) -> Op {
    let (sources, run) = match how.function {
        HalfOperation::Fma => (3, map3_imm(cpu, |a, b, c, code| lane([a, b, c], code))),
        HalfOperation::Neg | HalfOperation::Abs | HalfOperation::Ex2 | HalfOperation::Tanh => {
            (1, map1_imm(cpu, |a, code| lane([a, 0, 0], code)))
        }
        _ => (2, map2_imm(cpu, |a, b, code| lane([a, b, 0], code))),
    };
    Op::of_one_type(Class::Float, ty, sources, run).with_imm(how.code())
}

/// One lane's register: one value, or two.
#[inline(never)]
fn lane(operands: [u32; 3], code: u64) -> u32 {
    let how = HalfForm::from_code(code);
    let low = u32::from(value(operands.map(|x| x as u16), how));
    if !how.packed {
        return low;
    }
    low | u32::from(value(operands.map(|x| (x >> 16) as u16), how)) << 16
}

/// Sums of the halves of a word, 16 bits each; those that are not used are left to whoever cuts them off.
pub fn add_all(a: u64, b: u64, bfloat: bool) -> u64 {
    let ty = if bfloat { Type::BF16x2 } else { Type::F16x2 };
    let code = HalfForm::plain(HalfOperation::Add, ty).code();
    lane([a as u32, b as u32, 0], code).into()
}

fn value(operands: [u16; 3], how: HalfForm) -> u16 {
    let widen = |bits: u16| {
        if how.bfloat {
            bf16(bits.into())
        } else {
            f16(bits.into())
        }
    };
    let narrow = |x: f32| {
        if how.bfloat {
            half::bf16::from_f32(x).to_bits()
        } else {
            half::f16::from_f32(x).to_bits()
        }
    };
    let is_nan = |bits: u16| widen(bits).is_nan();
    let canonical = |bits: u16| if is_nan(bits) { NAN } else { bits };
    let flushed = |bits: u16| {
        let flush = if how.bfloat { rounding::flush } else { flush };
        if how.ftz && flush(widen(bits)) == 0.0 {
            bits & 0x8000
        } else {
            bits
        }
    };

    let operands = operands.map(flushed);
    let [a, b, _] = operands;
    let [x, y, _] = operands.map(widen);
    let result = match how.function {
        HalfOperation::Neg => a ^ 0x8000,
        HalfOperation::Abs => a & 0x7fff,
        HalfOperation::Add => narrow(x + y),
        HalfOperation::Sub => narrow(x - y),
        HalfOperation::Mul => narrow(x * y),
        HalfOperation::Fma => fused(operands, how.bfloat),
        HalfOperation::Ex2 => narrow(power_of_two(x)),
        HalfOperation::Tanh => narrow(hyperbolic_tangent(x)),
        HalfOperation::Min | HalfOperation::Max => extremum([a, b], how, widen),
    };
    let result = if how.ftz && tiny(how, x * y) {
        result & 0x8000
    } else {
        flushed(canonical(result))
    };
    if how.sat {
        narrow(rounding::saturate(widen(result)))
    } else if how.relu && result & 0x8000 != 0 {
        0
    } else {
        result
    }
}

/// Whether a product, which is exact in single precision, is subnormal as an `.f16` before it is rounded:
/// an H200 flushes one that would be rounded up to a normal number. A fused sum it rounds first.
fn tiny(how: HalfForm, product: f32) -> bool {
    how.function == HalfOperation::Mul && product.abs() < SMALLEST_NORMAL
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

/// The operand that is a number, unless `.NaN`; -0 is less than +0.
fn extremum([a, b]: [u16; 2], how: HalfForm, widen: impl Fn(u16) -> f32) -> u16 {
    let sign = if how.xor_sign { (a ^ b) & 0x8000 } else { 0 };
    let [a, b] = if how.xor_sign {
        [a & 0x7fff, b & 0x7fff]
    } else {
        [a, b]
    };
    let (x, y) = (widen(a), widen(b));
    if x.is_nan() || y.is_nan() {
        let neither = how.nan || (x.is_nan() && y.is_nan());
        return if neither {
            NAN
        } else {
            sign | if x.is_nan() { b } else { a }
        };
    }
    let less = x.total_cmp(&y).is_lt();
    sign | if less == (how.function == HalfOperation::Min) {
        a
    } else {
        b
    }
}
