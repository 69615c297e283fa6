//! Floating-point arithmetic in single and double precision, `min` and `max` included. Source: PTX ISA, section 9.7.3.
//!
//! Round-to-nearest forms are the CPU's own operations. If one operand of `min` or `max` is NaN, the result is the other
//! one, unless the form has `.NaN`; -0 is less than +0.

use super::form::{Form, FormError, Op, no_such_type};
use super::rounding::{
    Mode, Operation, RoundingDirection, canonical, double, flush, fused_round_to_odd, nearest,
    pass_nan, quiet, single,
};
use super::value::for_type;
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map2, map2_imm, map3, map3_imm, test1};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let parsed = ParsedMode::with_default_rounding(form)?;
    let mode = parsed.mode;
    let run = match (parsed.ty, mode.direction) {
        (Type::F32, RoundingDirection::Nearest) => nearest!(map2, cpu, mode, |a, b| a + b),
        (Type::F32, _) => map2_imm(cpu, |a, b, mode| single(Operation::Add, [a, b, b], mode)),
        (_, RoundingDirection::Nearest) => map2(cpu, |a: f64, b| pass_nan([b, a], a + b)),
        _ => map2_imm(cpu, |a, b, mode| double(Operation::Add, [a, b, b], mode)),
    };
    Ok(parsed.op(2, run))
}

pub fn sub(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let parsed = ParsedMode::with_default_rounding(form)?;
    let mode = parsed.mode;
    let run = match (parsed.ty, mode.direction) {
        (Type::F32, RoundingDirection::Nearest) => nearest!(map2, cpu, mode, |a, b| a - b),
        (Type::F32, _) => map2_imm(cpu, |a, b: f32, mode| {
            single(Operation::Add, [a, -b, b], mode)
        }),
        (_, RoundingDirection::Nearest) => map2(cpu, |a: f64, b| pass_nan([b, a], a - b)),
        _ => map2_imm(cpu, |a: f64, b: f64, mode| {
            // Negating b would also turn the sign of a NaN, which must pass through.
            let minus_b = if b.is_nan() { b } else { -b };
            double(Operation::Add, [a, minus_b, b], mode)
        }),
    };
    Ok(parsed.op(2, run))
}

pub fn mul(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let parsed = ParsedMode::with_default_rounding(form)?;
    let mode = parsed.mode;
    let run = match (parsed.ty, mode.direction) {
        (Type::F32, RoundingDirection::Nearest) => {
            nearest!(map2, cpu, mode, |a, b| a * b, exactly f64::from(a) * f64::from(b))
        }
        (Type::F32, _) => map2_imm(cpu, |a, b, mode| single(Operation::Mul, [a, b, b], mode)),
        (_, RoundingDirection::Nearest) => map2(cpu, |a: f64, b| pass_nan([b, a], a * b)),
        _ => map2_imm(cpu, |a, b, mode| double(Operation::Mul, [a, b, b], mode)),
    };
    Ok(parsed.op(2, run))
}

/// Selects `fma`, and `mad`, which is its older name.
pub fn fma(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let direction =
        RoundingDirection::float(form).ok_or(FormError::Missing(".rn, .rz, .rm, .rp"))?;
    let parsed = ParsedMode::rounded(form, direction)?;
    let mode = parsed.mode;
    let run = match (parsed.ty, direction) {
        (Type::F32, RoundingDirection::Nearest) => {
            nearest!(map3, cpu, mode, |a, b, c| a.mul_add(b, c), exactly fused_round_to_odd(a, b, c))
        }
        (Type::F32, _) => map3_imm(cpu, |a, b, c, mode| single(Operation::Fma, [a, b, c], mode)),
        (_, RoundingDirection::Nearest) => {
            map3(cpu, |a: f64, b, c| pass_nan([b, c, a], a.mul_add(b, c)))
        }
        _ => map3_imm(cpu, |a, b, c, mode| double(Operation::Fma, [a, b, c], mode)),
    };
    Ok(parsed.op(3, run))
}

/// The type and mode of an addition or multiplication.
struct ParsedMode {
    ty: Type,
    mode: Mode,
}

impl ParsedMode {
    /// Takes the form of `add`, `sub` or `mul`, which round to nearest by default.
    fn with_default_rounding(form: &Form) -> Result<ParsedMode, FormError> {
        let direction = RoundingDirection::float(form).unwrap_or(RoundingDirection::Nearest);
        ParsedMode::rounded(form, direction)
    }

    fn rounded(form: &Form, direction: RoundingDirection) -> Result<ParsedMode, FormError> {
        let ty = form.ty()?;
        // Double precision has neither `.ftz` nor `.sat`.
        let is_single = ty == Type::F32;
        let mode = Mode {
            direction,
            ftz: is_single && form.has("ftz"),
            sat: is_single && form.has("sat"),
        };
        form.end()?;
        match ty {
            Type::F32 | Type::F64 => Ok(ParsedMode { ty, mode }),
            _ => no_such_type(ty),
        }
    }

    fn op(self, sources: usize, run: Handlers) -> Op {
        Op::of_one_type(class(self.ty), self.ty, sources, run).with_imm(self.mode.code())
    }
}

/// Returns the class of operations on this type.
fn class(ty: Type) -> Class {
    if ty == Type::F64 {
        Class::Double
    } else {
        Class::Float
    }
}

// `abs` and `neg` treat NaNs arithmetically: they keep their sign and become quiet, or canonical in single
// precision. `copysign` only moves a bit.

pub fn abs(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (ty, ftz) = parse_unary(form)?;
    let run = match ty {
        Type::F32 if ftz => map1(cpu, |a: f32| canonical(flush(a).abs())),
        Type::F32 => map1(cpu, |a: f32| canonical(a.abs())),
        _ => map1(cpu, |a: f64| pass_nan([a], a.abs())),
    };
    Ok(Op::of_one_type(class(ty), ty, 1, run))
}

pub fn neg(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (ty, ftz) = parse_unary(form)?;
    let run = match ty {
        Type::F32 if ftz => map1(cpu, |a: f32| canonical(-flush(a))),
        Type::F32 => map1(cpu, |a: f32| canonical(-a)),
        _ => map1(cpu, |a: f64| pass_nan([a], -a)),
    };
    Ok(Op::of_one_type(class(ty), ty, 1, run))
}

/// Takes the form of `abs` or `neg`. Returns its type, and true if it flushes subnormal numbers.
fn parse_unary(form: &Form) -> Result<(Type, bool), FormError> {
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    let ftz = ty == Type::F32 && form.has("ftz");
    form.end()?;
    Ok((ty, ftz))
}

/// Selects `copysign`: the first operand's sign, the second's magnitude.
pub fn copysign(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    form.end()?;
    let run = match ty {
        Type::F32 => map2(cpu, |a: f32, b: f32| b.copysign(a)),
        _ => map2(cpu, |a: f64, b: f64| b.copysign(a)),
    };
    Ok(Op::of_one_type(class(ty), ty, 2, run))
}

/// Selects `testp`: tests the kind of a number.
pub fn testp(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    const KINDS: [&str; 6] = [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ];
    let kind = form.required(
        &KINDS,
        ".finite, .infinite, .number, .notanumber, .normal, .subnormal",
    )?;
    let ty = form.ty()?;
    form.end()?;
    let run: Handlers = for_type!(ty, [F32 F64], T => match kind {
        "finite" => test1(cpu, |a: T| a.is_finite()),
        "infinite" => test1(cpu, |a: T| a.is_infinite()),
        "number" => test1(cpu, |a: T| !a.is_nan()),
        "notanumber" => test1(cpu, |a: T| a.is_nan()),
        // The ISA counts zeros as normal numbers.
        "normal" => test1(cpu, |a: T| a.is_normal() || a == 0.0),
        _ => test1(cpu, |a: T| a.is_subnormal()),
    });
    Ok(Op::new(Class::Integer, &[Type::Pred], &[ty], run))
}

/// Applies `$pick` with the modifiers of a form.
macro_rules! single {
    ($cpu:expr, $modifiers:expr, $pick:ident) => {
        match ($modifiers.ftz, $modifiers.nan, $modifiers.xor_sign) {
            (false, false, false) => map2($cpu, |a: f32, b: f32| $pick(a, b)),
            (true, false, false) => map2($cpu, |a: f32, b: f32| $pick(flush(a), flush(b))),
            (false, true, false) => map2($cpu, |a: f32, b: f32| prefer_nan(a, b, $pick(a, b))),
            (true, true, false) => map2($cpu, |a: f32, b: f32| {
                let (a, b) = (flush(a), flush(b));
                prefer_nan(a, b, $pick(a, b))
            }),
            (false, false, true) => map2($cpu, |a: f32, b: f32| {
                xor_of_signs(a, b, $pick(a.abs(), b.abs()))
            }),
            (true, false, true) => map2($cpu, |a: f32, b: f32| {
                let (a, b) = (flush(a), flush(b));
                xor_of_signs(a, b, $pick(a.abs(), b.abs()))
            }),
            (false, true, true) => map2($cpu, |a: f32, b: f32| {
                xor_of_signs(a, b, prefer_nan(a, b, $pick(a.abs(), b.abs())))
            }),
            (true, true, true) => map2($cpu, |a: f32, b: f32| {
                let (a, b) = (flush(a), flush(b));
                xor_of_signs(a, b, prefer_nan(a, b, $pick(a.abs(), b.abs())))
            }),
        }
    };
}

/// Applies `$pick` to three numbers, with a [`ThreeForm`] in the immediate.
macro_rules! three {
    ($cpu:expr, $pick:ident) => {
        map3_imm($cpu, |a: f32, b: f32, c: f32, code| {
            let modifiers = ThreeForm::from_code(code);
            let [a, b, c] = [a, b, c].map(|x| modifiers.input(x));
            let pick = |a, b| {
                if modifiers.nan {
                    prefer_nan(a, b, $pick(a, b))
                } else {
                    $pick(a, b)
                }
            };
            pick(pick(a, b), c)
        })
    };
}

pub fn min(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if has_three_sources(form) {
        let modifiers = ThreeForm::of(form)?;
        let run = three!(cpu, smaller);
        return Ok(modifiers.op(run));
    }
    let parsed = ExtremumForm::of(form)?;
    let run = match parsed {
        ExtremumForm::Double => map2(cpu, smaller_double),
        ExtremumForm::Single(modifiers) => single!(cpu, modifiers, smaller),
    };
    Ok(parsed.op(run))
}

pub fn max(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if has_three_sources(form) {
        let modifiers = ThreeForm::of(form)?;
        let run = three!(cpu, larger);
        return Ok(modifiers.op(run));
    }
    let parsed = ExtremumForm::of(form)?;
    let run = match parsed {
        ExtremumForm::Double => map2(cpu, larger_double),
        ExtremumForm::Single(modifiers) => single!(cpu, modifiers, larger),
    };
    Ok(parsed.op(run))
}

/// The type, and the modifiers in single precision.
#[derive(Clone, Copy)]
enum ExtremumForm {
    Single(SingleForm),
    Double,
}

#[derive(Clone, Copy)]
struct SingleForm {
    ftz: bool,
    /// `.NaN`: a NaN takes precedence over a number.
    nan: bool,
    /// `.xorsign.abs`
    xor_sign: bool,
}

impl ExtremumForm {
    fn of(form: &Form) -> Result<ExtremumForm, FormError> {
        let ty = form.ty_among(&[Type::F32, Type::F64])?;
        if ty == Type::F64 {
            form.end()?;
            return Ok(ExtremumForm::Double);
        }
        let modifiers = SingleForm {
            ftz: form.has("ftz"),
            nan: form.has("NaN"),
            xor_sign: form.has("xorsign"),
        };
        if modifiers.xor_sign && !form.has("abs") {
            return Err(FormError::Missing(".abs"));
        }
        form.end()?;
        Ok(ExtremumForm::Single(modifiers))
    }

    fn op(self, run: Handlers) -> Op {
        match self {
            ExtremumForm::Single(_) => Op::of_one_type(Class::Float, Type::F32, 2, run),
            ExtremumForm::Double => Op::of_one_type(Class::Double, Type::F64, 2, run),
        }
    }
}

/// Returns the minimum or maximum of two numbers given by their bits. `nan`: a NaN takes precedence.
pub fn of_bits(bits: [u32; 2], larger_one: bool, nan: bool) -> u32 {
    let [a, b] = bits.map(f32::from_bits);
    let number = if larger_one {
        larger(a, b)
    } else {
        smaller(a, b)
    };
    let result = if nan {
        prefer_nan(a, b, number)
    } else {
        number
    };
    result.to_bits()
}

/// Returns true if the form has three sources.
fn has_three_sources(form: &Form) -> bool {
    form.operand_lengths.len() == 4
}

/// The modifiers of a form with three sources.
#[derive(Clone, Copy)]
struct ThreeForm {
    ftz: bool,
    nan: bool,
    /// `.abs`: compares magnitudes.
    abs: bool,
}

impl ThreeForm {
    fn of(form: &Form) -> Result<ThreeForm, FormError> {
        form.ty_among(&[Type::F32])?;
        let modifiers = ThreeForm {
            ftz: form.has("ftz"),
            nan: form.has("NaN"),
            abs: form.has("abs"),
        };
        form.end()?;
        Ok(modifiers)
    }

    fn op(self, run: Handlers) -> Op {
        let flags = [self.ftz, self.nan, self.abs].map(u64::from);
        let code = flags[0] | flags[1] << 1 | flags[2] << 2;
        Op::of_one_type(Class::Float, Type::F32, 3, run).with_imm(code)
    }

    #[inline(always)]
    fn from_code(code: u64) -> ThreeForm {
        ThreeForm {
            ftz: code & 1 != 0,
            nan: code & 2 != 0,
            abs: code & 4 != 0,
        }
    }

    #[inline(always)]
    fn input(self, a: f32) -> f32 {
        let a = if self.ftz { flush(a) } else { a };
        if self.abs { a.abs() } else { a }
    }
}

#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    // Equal numbers differ at most in the sign of zero.
    let equal = f32::from_bits(a.to_bits() | b.to_bits());
    let ordered = if a < b {
        a
    } else if a > b {
        b
    } else {
        equal
    };
    prefer_number(a, b, ordered)
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    let equal = f32::from_bits(a.to_bits() & b.to_bits());
    let ordered = if a > b {
        a
    } else if a < b {
        b
    } else {
        equal
    };
    prefer_number(a, b, ordered)
}

#[inline(always)]
fn prefer_number(a: f32, b: f32, ordered: f32) -> f32 {
    let or_b = if a.is_nan() { canonical(b) } else { ordered };
    if b.is_nan() { canonical(a) } else { or_b }
}

#[inline(always)]
fn prefer_nan(a: f32, b: f32, number: f32) -> f32 {
    if a.is_nan() | b.is_nan() {
        canonical(f32::NAN)
    } else {
        number
    }
}

/// `.xorsign.abs`: the sign is the exclusive or of the operands' signs.
#[inline(always)]
fn xor_of_signs(a: f32, b: f32, magnitude: f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    if magnitude.is_nan() {
        magnitude
    } else {
        f32::from_bits(magnitude.to_bits() | sign)
    }
}

#[inline(always)]
fn smaller_double(a: f64, b: f64) -> f64 {
    let equal = f64::from_bits(a.to_bits() | b.to_bits());
    let ordered = if a < b {
        a
    } else if a > b {
        b
    } else {
        equal
    };
    prefer_number_double(a, b, ordered)
}

#[inline(always)]
fn larger_double(a: f64, b: f64) -> f64 {
    let equal = f64::from_bits(a.to_bits() & b.to_bits());
    let ordered = if a > b {
        a
    } else if a < b {
        b
    } else {
        equal
    };
    prefer_number_double(a, b, ordered)
}

#[inline(always)]
fn prefer_number_double(a: f64, b: f64, ordered: f64) -> f64 {
    let or_b = if a.is_nan() { b } else { ordered };
    let number = if b.is_nan() { a } else { or_b };
    if number.is_nan() { quiet(b) } else { number }
}
