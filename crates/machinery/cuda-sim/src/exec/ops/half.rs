//! Half precision: `.f16`, `.bf16` and pairs of them in one register. Source: PTX ISA, section
//! 9.7.4.
//!
//! One handler for all, with the form in the immediate. Sums and products of halves are exact
//! enough in single precision that rounding twice changes nothing; a fused multiply-add is not,
//! and goes through software floating point.

use super::form::{Form, FormError, Op};
use super::rounding;
use super::special::{hyperbolic_tangent, power_of_two};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1_imm, map2_imm, map3_imm};
use crate::isa::Class;
use crate::ptx::ast::Type;
use rustc_apfloat::ieee::{BFloat, Half};
use rustc_apfloat::{Float as _, Round};

const HALVES: [Type; 4] = [Type::F16, Type::F16x2, Type::BF16, Type::BF16x2];
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
struct How {
    function: Function,
    bfloat: bool,
    packed: bool,
    ftz: bool,
    sat: bool,
    relu: bool,
    nan: bool,
    xor_sign: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Function {
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

const FUNCTIONS: [(&str, Function); 10] = [
    ("add", Function::Add),
    ("sub", Function::Sub),
    ("mul", Function::Mul),
    ("fma", Function::Fma),
    ("neg", Function::Neg),
    ("abs", Function::Abs),
    ("min", Function::Min),
    ("max", Function::Max),
    ("ex2", Function::Ex2),
    ("tanh", Function::Tanh),
];

impl How {
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

    fn from_code(code: u64) -> How {
        let flag = |n: u32| code >> n & 1 == 1;
        How {
            function: FUNCTIONS[(code >> 8) as usize % FUNCTIONS.len()].1,
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

/// The operation of a half-precision form.
pub fn select(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let function = function(form);
    let arithmetic = matches!(
        function,
        Some(Function::Add | Function::Sub | Function::Mul)
    );
    let fused = function == Some(Function::Fma);
    let extremum = matches!(function, Some(Function::Min | Function::Max));
    if fused {
        form.required(&["rn"], ".rn")?;
    } else if arithmetic {
        form.has("rn");
    }
    let ty = form.ty_among(&HALVES)?;
    let Some(function) = function else {
        return super::form::no_such_type(ty);
    };
    let bfloat = matches!(ty, Type::BF16 | Type::BF16x2);
    let xor_sign = extremum && form.has("xorsign");
    if xor_sign && !form.has("abs") {
        return Err(FormError::Missing(".abs"));
    }
    let how = How {
        function,
        bfloat,
        packed: matches!(ty, Type::F16x2 | Type::BF16x2),
        ftz: !bfloat && form.has("ftz"),
        sat: !bfloat && (arithmetic || fused) && form.has("sat"),
        relu: fused && form.has("relu"),
        nan: extremum && form.has("NaN"),
        xor_sign,
    };
    form.end()?;
    Ok(op(ty, how, cpu))
}

/// `ex2.approx` and `tanh.approx` in half precision; `.approx` is taken already.
pub fn special(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&HALVES)?;
    let Some(function) = function(form) else {
        return super::form::no_such_type(ty);
    };
    let bfloat = matches!(ty, Type::BF16 | Type::BF16x2);
    let ftz = bfloat && function == Function::Ex2;
    if ftz {
        form.required(&["ftz"], ".ftz")?;
    }
    form.end()?;
    let how = How {
        function,
        bfloat,
        packed: matches!(ty, Type::F16x2 | Type::BF16x2),
        ftz,
        sat: false,
        relu: false,
        nan: false,
        xor_sign: false,
    };
    let op = op(ty, how, cpu);
    Ok(Op {
        class: Class::Special,
        ..op
    })
}

/// What the mnemonic asks for; None for a mnemonic that has no half-precision form (`div`).
fn function(form: &Form) -> Option<Function> {
    FUNCTIONS
        .iter()
        .find(|(name, _)| *name == form.mnemonic)
        .map(|(_, function)| *function)
}

fn op(ty: Type, how: How, cpu: Cpu) -> Op {
    let (sources, run) = match how.function {
        Function::Fma => (3, map3_imm(cpu, |a, b, c, code| lane([a, b, c], code))),
        Function::Neg | Function::Abs | Function::Ex2 | Function::Tanh => {
            (1, map1_imm(cpu, |a, code| lane([a, 0, 0], code)))
        }
        _ => (2, map2_imm(cpu, |a, b, code| lane([a, b, 0], code))),
    };
    Op::new(Class::Float, &[ty], &vec![ty; sources], run).with_imm(how.code())
}

/// One lane's register: one value, or two.
#[inline(never)]
fn lane(operands: [u32; 3], code: u64) -> u32 {
    let how = How::from_code(code);
    let low = u32::from(value(operands.map(|x| x as u16), how));
    if !how.packed {
        return low;
    }
    low | u32::from(value(operands.map(|x| (x >> 16) as u16), how)) << 16
}

fn value(operands: [u16; 3], how: How) -> u16 {
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
        Function::Neg => a ^ 0x8000,
        Function::Abs => a & 0x7fff,
        Function::Add => narrow(x + y),
        Function::Sub => narrow(x - y),
        Function::Mul => narrow(x * y),
        Function::Fma => fused(operands, how.bfloat),
        Function::Ex2 => narrow(power_of_two(x)),
        Function::Tanh => narrow(hyperbolic_tangent(x)),
        Function::Min | Function::Max => extremum([a, b], how, widen),
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
fn tiny(how: How, product: f32) -> bool {
    how.function == Function::Mul && product.abs() < SMALLEST_NORMAL
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
fn extremum([a, b]: [u16; 2], how: How, widen: impl Fn(u16) -> f32) -> u16 {
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
    sign | if less == (how.function == Function::Min) {
        a
    } else {
        b
    }
}
