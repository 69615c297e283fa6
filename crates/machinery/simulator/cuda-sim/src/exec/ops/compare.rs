//! Comparison and selection. Source: PTX ISA, section 9.7.6.
//!
//! `setp` with one predicate is by far the most frequent form and has a handler for each comparison and type.
//! All other forms (a second destination, a source predicate, `set`, half precision) share one handler per
//! type, with the comparison in the immediate.

use super::form::{
    EQ, EQU, Form, FormError, GE, GEU, GT, GTU, LE, LEU, LT, LTU, NE, NEU, NUM, Op, bit,
    combination, no_such_type, relation,
};
use super::rounding::flush;
use super::value::{Row, Value, for_type};
use super::{half, pairs};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{Relate, choose, map3, relate, set as set_lanes, test2};
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;

/// Applies `$shape` to a closure that returns the ordering of two values of type `$ty`.
macro_rules! by_ordering {
    ($shape:ident, $cpu:expr, $ty:expr, $ftz:expr) => {
        match $ty {
            Type::F32 if $ftz => $shape($cpu, |a: f32, b: f32| bit(flush(a), flush(b))),
            Type::F16 if $ftz => $shape($cpu, |a: u32, b: u32| {
                bit(half::flush(half::f16(a)), half::flush(half::f16(b)))
            }),
            Type::F16 => $shape($cpu, |a: u32, b: u32| bit(half::f16(a), half::f16(b))),
            Type::BF16 => $shape($cpu, |a: u32, b: u32| bit(half::bf16(a), half::bf16(b))),
            ty => for_type!(ty, [B16 B32 B64 U16 S16 U32 S32 U64 S64 F32 F64], T => {
                $shape($cpu, |a: Row<T>, b: Row<T>| bit(T::read(a), T::read(b)))
            }),
        }
    };
}

/// Selects `setp`: one predicate, or two of which the second is the opposite.
pub fn setp(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if has_packed_sources(form) {
        return pairs::setp(form, cpu);
    }
    let ty = form.ty()?;
    let relation = relation(form, ty)?;
    let combine = combination(form);
    let ftz = matches!(ty, Type::F32 | Type::F16) && form.has("ftz");
    form.end()?;
    let pair = form.operand_lengths.first() == Some(&2);
    if combine == 0 && !pair && !matches!(ty, Type::F16 | Type::BF16) {
        let run = test(cpu, ty, relation, ftz)?;
        return Ok(Op::new(Class::Integer, &[Type::Pred], &[ty, ty], run));
    }
    let run = by_ordering!(relate, cpu, ty, ftz);
    let defs = if pair { 2 } else { 1 };
    let mut uses = vec![ty, ty];
    uses.extend((combine != 0).then_some(Type::Pred));
    let modifiers = Relate {
        relation,
        combine,
        pair,
        truth: 0,
    };
    Ok(Op::new(Class::Integer, &vec![Type::Pred; defs], &uses, run).with_imm(modifiers.code()))
}

/// Returns true if the sources are pairs of halves.
fn has_packed_sources(form: &Form) -> bool {
    form.contains("f16x2") || form.contains("bf16x2")
}

/// Selects `set`: the result of a comparison as a number.
pub fn set(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    use Type::*;
    if has_packed_sources(form) {
        return pairs::set(form, cpu);
    }
    let destination = form.ty_among(&[U32, S32, F32, U16, S16, F16, BF16])?;
    let ty = form.ty()?;
    let halves = matches!(ty, F16 | BF16);
    match destination {
        // 16-bit integer results exist only for halves, and half results only for halves of the same format.
        U16 | S16 if !halves => return no_such_type(destination),
        F16 | BF16 if halves && ty != destination => return no_such_type(ty),
        _ => {}
    }
    let relation = relation(form, ty)?;
    let combine = combination(form);
    // Comparisons with a `.bf16` result do not flush.
    let ftz = matches!(ty, F32 | F16) && destination != BF16 && form.has("ftz");
    form.end()?;
    let run = by_ordering!(set_lanes, cpu, ty, ftz);
    let truth = match destination {
        F32 => 1f32.to_bits(),
        F16 => half::ONE_F16.into(),
        BF16 => half::ONE_BF16.into(),
        U16 | S16 => u16::MAX.into(),
        _ => u32::MAX,
    };
    let mut uses = vec![ty, ty];
    uses.extend((combine != 0).then_some(Type::Pred));
    let modifiers = Relate {
        relation,
        combine,
        pair: false,
        truth,
    };
    Ok(Op::new(Class::Integer, &[destination], &uses, run).with_imm(modifiers.code()))
}

/// Returns the handlers for one comparison and type.
#[expect(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "an unordered comparison holds for NaN"
)]
fn test(cpu: Cpu, ty: Type, relation: u8, ftz: bool) -> Result<Handlers, FormError> {
    macro_rules! floats {
        ($t:ty, $input:path) => {{
            macro_rules! test {
                (|$a:ident, $b:ident| $holds:expr) => {
                    test2(cpu, |a: $t, b: $t| {
                        let ($a, $b) = ($input(a), $input(b));
                        $holds
                    })
                };
            }
            match relation {
                EQ => test!(|a, b| a == b),
                NE => test!(|a, b| (a < b) | (a > b)),
                LT => test!(|a, b| a < b),
                LE => test!(|a, b| a <= b),
                GT => test!(|a, b| a > b),
                GE => test!(|a, b| a >= b),
                EQU => test!(|a, b| !((a < b) | (a > b))),
                NEU => test!(|a, b| a != b),
                LTU => test!(|a, b| !(a >= b)),
                LEU => test!(|a, b| !(a > b)),
                GTU => test!(|a, b| !(a <= b)),
                GEU => test!(|a, b| !(a < b)),
                NUM => test!(|a, b| !(a.is_nan() | b.is_nan())),
                _ => test!(|a, b| a.is_nan() | b.is_nan()),
            }
        }};
    }
    Ok(match ty {
        Type::F32 if ftz => floats!(f32, flush),
        Type::F32 => floats!(f32, std::convert::identity),
        Type::F64 => floats!(f64, std::convert::identity),
        _ => for_type!(ty, [B16 B32 B64 U16 S16 U32 S32 U64 S64], T => match relation {
            EQ => test2(cpu, |a: Row<T>, b: Row<T>| T::read(a) == T::read(b)),
            NE => test2(cpu, |a: Row<T>, b: Row<T>| T::read(a) != T::read(b)),
            LT => test2(cpu, |a: Row<T>, b: Row<T>| T::read(a) < T::read(b)),
            LE => test2(cpu, |a: Row<T>, b: Row<T>| T::read(a) <= T::read(b)),
            GT => test2(cpu, |a: Row<T>, b: Row<T>| T::read(a) > T::read(b)),
            _ => test2(cpu, |a: Row<T>, b: Row<T>| T::read(a) >= T::read(b)),
        }),
    })
}

/// Selects `selp`: a if the predicate is true, otherwise b.
pub fn selp(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    form.end()?;
    let run = for_type!(ty, [B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64], T => {
        match size_of::<Row<T>>() {
            8 => choose(cpu, |a: u64, b: u64, first| if first { a } else { b }),
            _ => choose(cpu, |a: u32, b: u32, first| if first { a } else { b }),
        }
    });
    Ok(Op::new(Class::Integer, &[ty], &[ty, ty, Type::Pred], run))
}

/// Selects `slct`: a if c is not negative, otherwise b; also b if c is NaN.
pub fn slct(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let by = form.ty_among(&[Type::S32, Type::F32])?;
    let ftz = by == Type::F32 && form.has("ftz");
    form.end()?;
    let run: Handlers = for_type!(ty, [B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64], T => {
        match (size_of::<Row<T>>(), by, ftz) {
            (8, Type::S32, _) => map3(cpu, |a: u64, b: u64, c: i32| if c >= 0 { a } else { b }),
            (8, _, false) => map3(cpu, |a: u64, b: u64, c: f32| if c >= 0.0 { a } else { b }),
            (8, _, true) => {
                map3(cpu, |a: u64, b: u64, c: f32| if flush(c) >= 0.0 { a } else { b })
            }
            (_, Type::S32, _) => map3(cpu, |a: u32, b: u32, c: i32| if c >= 0 { a } else { b }),
            (_, _, false) => map3(cpu, |a: u32, b: u32, c: f32| if c >= 0.0 { a } else { b }),
            (_, _, true) => {
                map3(cpu, |a: u32, b: u32, c: f32| if flush(c) >= 0.0 { a } else { b })
            }
        }
    });
    Ok(Op::new(Class::Integer, &[ty], &[ty, ty, by], run))
}
