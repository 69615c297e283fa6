//! Packed pairs in one register: 16-bit integers, comparisons of halves, and single precision. (Arithmetic on
//! pairs of halves is in `half`.) Source: PTX ISA, sections 9.7.1, 9.7.3, 9.7.5.

use super::form::{Form, FormError, Op, bit, combination, no_such_type, relation};
use super::half;
use super::rounding::{
    Mode, Operation, RoundingDirection, canonical, flush as flush_single, flush_rounded,
    fused_round_to_odd, single,
};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{Relate, map2, map2_imm, map3_imm, relate_pairs, set_pairs};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

/// Applies `f` to both halves of a register.
#[inline(always)]
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    let low = f(a as u16, b as u16);
    let high = f((a >> 16) as u16, (b >> 16) as u16);
    u32::from(low) | u32::from(high) << 16
}

/// Applies `$body` to the halves as numbers of type `$t`.
macro_rules! integers {
    ($cpu:expr, $t:ty, |$a:ident, $b:ident| $body:expr) => {
        map2($cpu, |a: u32, b: u32| {
            halves(a, b, |a, b| {
                let ($a, $b) = (a as $t, b as $t);
                $body as u16
            })
        })
    };
}

pub fn add(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = integers!(cpu, u16, |a, b| a.wrapping_add(b));
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

pub fn min(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (ty, relu) = extremum(form)?;
    let run = match (ty, relu) {
        (Type::U16x2, _) => integers!(cpu, u16, |a, b| a.min(b)),
        (_, false) => integers!(cpu, i16, |a, b| a.min(b)),
        (_, true) => integers!(cpu, i16, |a, b| a.min(b).max(0)),
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

pub fn max(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (ty, relu) = extremum(form)?;
    let run = match (ty, relu) {
        (Type::U16x2, _) => integers!(cpu, u16, |a, b| a.max(b)),
        (_, false) => integers!(cpu, i16, |a, b| a.max(b)),
        (_, true) => integers!(cpu, i16, |a, b| a.max(b).max(0)),
    };
    Ok(Op::of_one_type(Class::Integer, ty, 2, run))
}

/// Takes the form of `min` or `max`. Returns its type, and true if negative results become zero.
fn extremum(form: &Form) -> Result<(Type, bool), FormError> {
    let ty = form.ty_among(&[Type::U16x2, Type::S16x2])?;
    let relu = ty == Type::S16x2 && form.has("relu");
    form.end()?;
    Ok((ty, relu))
}

/// Computes the orderings of the lower and the upper halves. `$read` converts 16 bits to a number.
macro_rules! orderings {
    ($shape:ident, $cpu:expr, $read:expr) => {
        $shape($cpu, |a: u32, b: u32| {
            let order = |a: u32, b: u32| bit($read(a), $read(b));
            [order(a & 0xffff, b & 0xffff), order(a >> 16, b >> 16)]
        })
    };
}

macro_rules! by_orderings {
    ($shape:ident, $cpu:expr, $ty:expr, $ftz:expr) => {
        match $ty {
            Type::F16x2 if $ftz => orderings!($shape, $cpu, |a| half::flush(half::f16(a))),
            Type::F16x2 => orderings!($shape, $cpu, half::f16),
            _ => orderings!($shape, $cpu, half::bf16),
        }
    };
}

/// The form of a comparison of pairs, and its operand types.
struct Comparison {
    ty: Type,
    ftz: bool,
    modifiers: Relate,
    uses: Vec<Type>,
}

impl Comparison {
    fn of(form: &Form, truth: u32, pair: bool) -> Result<Comparison, FormError> {
        let ty = form.ty_among(&[Type::F16x2, Type::BF16x2])?;
        let relation = relation(form, ty)?;
        let combine = combination(form);
        let ftz = ty == Type::F16x2 && form.has("ftz");
        form.end()?;
        let mut uses = vec![ty, ty];
        uses.extend((combine != 0).then_some(Type::Pred));
        let modifiers = Relate {
            relation,
            combine,
            pair,
            truth,
        };
        Ok(Comparison {
            ty,
            ftz,
            modifiers,
            uses,
        })
    }
}

/// Selects `setp`: one predicate for the lower halves and one for the upper.
pub fn setp(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let Comparison {
        ty,
        ftz,
        modifiers,
        uses,
    } = Comparison::of(form, 0, true)?;
    if form.operand_lengths.first() != Some(&2) {
        return Err(FormError::Missing("`p|q`, a predicate for each half"));
    }
    let run = by_orderings!(relate_pairs, cpu, ty, ftz);
    Ok(Op::new(Class::Integer, &[Type::Pred; 2], &uses, run).with_imm(modifiers.code()))
}

/// Selects `set`: each half of the result is all ones, or a 1 of the sources' type.
pub fn set(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let to = form.ty_among(&[Type::U32, Type::S32, Type::F16x2, Type::BF16x2])?;
    let truth = match to {
        Type::F16x2 => half::ONE_F16,
        Type::BF16x2 => half::ONE_BF16,
        _ => u16::MAX,
    };
    let Comparison {
        ty,
        ftz,
        modifiers,
        uses,
    } = Comparison::of(form, truth.into(), false)?;
    if to.is_float() && to != ty {
        return no_such_type(ty);
    }
    let run = by_orderings!(set_pairs, cpu, ty, ftz);
    Ok(Op::new(Class::Integer, &[to], &uses, run).with_imm(modifiers.code()))
}

/// Applies `f` to both numbers of a register.
#[inline(always)]
fn singles<const N: usize>(operands: [u64; N], f: impl Fn([f32; N]) -> f32) -> u64 {
    let low = f(operands.map(|x| f32::from_bits(x as u32)));
    let high = f(operands.map(|x| f32::from_bits((x >> 32) as u32)));
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

/// Rounds to nearest, applying `.ftz` to operands and result. `exact` is the result before rounding, or a
/// number that compares in the same way.
#[inline(always)]
fn nearest<const N: usize>(
    operands: [f32; N],
    code: u64,
    f: impl Fn([f32; N]) -> f32,
    exact: impl Fn([f32; N]) -> f64,
) -> f32 {
    if Mode::from_code(code).ftz {
        let operands = operands.map(flush_single);
        flush_rounded(canonical(f(operands)), exact(operands))
    } else {
        canonical(f(operands))
    }
}

/// Generates the functions that select `$name` of `f32x2`. For roundings other than to nearest, `$operation` computes the
/// result from the first operand and `$second`.
macro_rules! binary_singles {
    ($($(#[$doc:meta])* $name:ident $operator:tt, $operation:ident [$b:ident => $second:expr];)+) => {$(
        $(#[$doc])*
        pub fn $name(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
            let mode = mode(form, true)?;
            let run = match mode.direction {
                RoundingDirection::Nearest => map2_imm(cpu, |a: u64, b: u64, code| {
                    singles([a, b], |pair| {
                        let exact = |[a, b]: [f32; 2]| f64::from(a) $operator f64::from(b);
                        nearest(pair, code, |[a, b]| a $operator b, exact)
                    })
                }),
                _ => map2_imm(cpu, |a: u64, b: u64, code| {
                    singles([a, b], |[a, $b]| single(Operation::$operation, [a, $second, $b], code))
                }),
            };
            Ok(op(mode, 2, run))
        }
    )+};
}

binary_singles! {
    /// Selects `add` of `f32x2`.
    add_singles +, Add [b => b];
    /// Selects `sub` of `f32x2`.
    sub_singles -, Add [b => -b];
    /// Selects `mul` of `f32x2`.
    mul_singles *, Mul [b => b];
}

/// Selects `fma` of `f32x2`.
pub fn fma_singles(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let mode = mode(form, false)?;
    let run = match mode.direction {
        RoundingDirection::Nearest => map3_imm(cpu, |a: u64, b: u64, c: u64, code| {
            singles([a, b, c], |all| {
                nearest(
                    all,
                    code,
                    |[a, b, c]| a.mul_add(b, c),
                    |[a, b, c]| fused_round_to_odd(a, b, c),
                )
            })
        }),
        _ => map3_imm(cpu, |a: u64, b: u64, c: u64, code| {
            singles([a, b, c], |all| single(Operation::Fma, all, code))
        }),
    };
    Ok(op(mode, 3, run))
}

/// Takes the mode of a `f32x2` form. The rounding is optional if `rounding_is_optional` is true.
fn mode(form: &Form, rounding_is_optional: bool) -> Result<Mode, FormError> {
    let direction = match RoundingDirection::float(form) {
        Some(direction) => direction,
        None if rounding_is_optional => RoundingDirection::Nearest,
        None => return Err(FormError::Missing(".rn, .rz, .rm, .rp")),
    };
    form.ty_among(&[Type::F32x2])?;
    let ftz = form.has("ftz");
    form.end()?;
    Ok(Mode {
        direction,
        ftz,
        sat: false,
    })
}

fn op(mode: Mode, sources: usize, run: Handlers) -> Op {
    Op::of_one_type(Class::Float, Type::F32x2, sources, run).with_imm(mode.code())
}
