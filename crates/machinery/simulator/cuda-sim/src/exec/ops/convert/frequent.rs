//! Frequent conversions, with a handler each.

use super::Conversion;
use super::general::{nearest_single, quiet_nan, widen};
use super::general::{
    s32_of_f32, s32_of_f64, s64_of_f32, s64_of_f64, u32_of_f32, u32_of_f64, u64_of_f32, u64_of_f64,
};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::map1;
use crate::exec::ops::half;
use crate::exec::ops::rounding::{RoundingDirection, canonical, flush, saturate};
use crate::exec::ops::value::{Row, Value};
use crate::exec::sm::Handlers;
use crate::ptx::ast::Type;

/// Returns the handlers of a conversion whose source register has `source` bytes, or `None` if it needs the
/// general conversion.
pub fn handler(cpu: Cpu, conversion: Conversion, source: u32) -> Option<Handlers> {
    let Conversion {
        to,
        from,
        direction,
        ftz,
        sat,
        relu,
        register,
        ..
    } = conversion;
    // A type narrower than its register is supported if the row is the same.
    let row = |bytes: u32| bytes.max(4);
    if row(source) != row(from.bytes()) || row(register) != row(to.bytes()) {
        return None;
    }
    match (to.is_float(), from.is_float()) {
        (false, false) if !sat => {
            let extended = register == to.bytes() || !to.is_signed();
            if extended {
                resize(cpu, to, from)
            } else {
                None
            }
        }
        (true, false) if direction == RoundingDirection::Nearest && !sat => {
            from_integer(cpu, to, from)
        }
        (false, true) => to_integer(cpu, to, from, direction, ftz),
        (true, true) if !relu => float_to_float(cpu, conversion),
        _ => None,
    }
}

/// Returns the handlers that extend or truncate integers.
fn resize(cpu: Cpu, to: Type, from: Type) -> Option<Handlers> {
    macro_rules! from_type {
        ($t:ty) => {
            match to.bytes() {
                1 => map1(cpu, |a: Row<$t>| <$t>::read(a) as u8 as u32),
                2 => map1(cpu, |a: Row<$t>| <$t>::read(a) as u16 as u32),
                4 => map1(cpu, |a: Row<$t>| <$t>::read(a) as u32),
                _ => map1(cpu, |a: Row<$t>| <$t>::read(a) as u64),
            }
        };
    }
    Some(match from {
        Type::U8 => from_type!(u8),
        Type::S8 => from_type!(i8),
        Type::U16 => from_type!(u16),
        Type::S16 => from_type!(i16),
        Type::U32 => from_type!(u32),
        Type::S32 => from_type!(i32),
        Type::U64 => from_type!(u64),
        Type::S64 => from_type!(i64),
        _ => return None,
    })
}

/// Returns the handlers that convert integers to the nearest float.
fn from_integer(cpu: Cpu, to: Type, from: Type) -> Option<Handlers> {
    macro_rules! from_type {
        ($t:ty) => {
            match to {
                Type::F32 => map1(cpu, |a: Row<$t>| <$t>::read(a) as f32),
                Type::F64 => map1(cpu, |a: Row<$t>| <$t>::read(a) as f64),
                _ => return None,
            }
        };
    }
    Some(match from {
        Type::U8 => from_type!(u8),
        Type::S8 => from_type!(i8),
        Type::U16 => from_type!(u16),
        Type::S16 => from_type!(i16),
        Type::U32 => from_type!(u32),
        Type::S32 => from_type!(i32),
        Type::U64 => from_type!(u64),
        Type::S64 => from_type!(i64),
        _ => return None,
    })
}

/// Returns the handlers that convert floats to 32-bit and 64-bit integers, clamped to the type's range.
fn to_integer(
    cpu: Cpu,
    to: Type,
    from: Type,
    direction: RoundingDirection,
    ftz: bool,
) -> Option<Handlers> {
    // Flushing matters only if a subnormal number would be rounded away from zero.
    if ftz && matches!(direction, RoundingDirection::Down | RoundingDirection::Up) {
        return None;
    }
    macro_rules! to_type {
        ($float:ty, $clamp:ident) => {
            match direction {
                RoundingDirection::Nearest => map1(cpu, |a: $float| $clamp(a.round_ties_even())),
                RoundingDirection::Zero => map1(cpu, |a: $float| $clamp(a)),
                RoundingDirection::Down => map1(cpu, |a: $float| $clamp(a.floor())),
                RoundingDirection::Up => map1(cpu, |a: $float| $clamp(a.ceil())),
            }
        };
    }
    Some(match (to, from) {
        (Type::S32, Type::F32) => to_type!(f32, s32_of_f32),
        (Type::U32, Type::F32) => to_type!(f32, u32_of_f32),
        (Type::S64, Type::F32) => to_type!(f32, s64_of_f32),
        (Type::U64, Type::F32) => to_type!(f32, u64_of_f32),
        (Type::S32, Type::F64) => to_type!(f64, s32_of_f64),
        (Type::U32, Type::F64) => to_type!(f64, u32_of_f64),
        (Type::S64, Type::F64) => to_type!(f64, s64_of_f64),
        (Type::U64, Type::F64) => to_type!(f64, u64_of_f64),
        _ => return None,
    })
}

fn float_to_float(cpu: Cpu, conversion: Conversion) -> Option<Handlers> {
    let Conversion {
        to,
        from,
        direction,
        integral,
        ftz,
        sat,
        ..
    } = conversion;
    use RoundingDirection::{Down, Nearest, Up, Zero};
    Some(match (to, from) {
        (Type::F32, Type::F32) if integral && !sat && !ftz => match direction {
            Nearest => map1(cpu, |a: f32| canonical(a.round_ties_even())),
            Zero => map1(cpu, |a: f32| canonical(a.trunc())),
            Down => map1(cpu, |a: f32| canonical(a.floor())),
            Up => map1(cpu, |a: f32| canonical(a.ceil())),
        },
        (Type::F32, Type::F32) if !integral => match (ftz, sat) {
            (false, false) => map1(cpu, |a: f32| a),
            (true, false) => map1(cpu, |a: f32| canonical(flush(a))),
            (false, true) => map1(cpu, saturate),
            (true, true) => map1(cpu, |a: f32| saturate(flush(a))),
        },
        (Type::F64, Type::F64) if integral && !sat => match direction {
            Nearest => map1(cpu, |a: f64| quiet_nan(a, a.round_ties_even())),
            Zero => map1(cpu, |a: f64| quiet_nan(a, a.trunc())),
            Down => map1(cpu, |a: f64| quiet_nan(a, a.floor())),
            Up => map1(cpu, |a: f64| quiet_nan(a, a.ceil())),
        },
        (Type::F64, Type::F32) if !sat && !ftz => map1(cpu, widen),
        (Type::F32, Type::F64) if !sat && !ftz && direction == Nearest => map1(cpu, nearest_single),
        (Type::F32, Type::F16) if !sat && !ftz => map1(cpu, |a: u32| canonical(half::f16(a))),
        (Type::F32, Type::BF16) if !sat && !ftz => map1(cpu, half::bf16),
        (Type::F16, Type::F32) if !sat && !ftz && direction == Nearest => map1(cpu, half::to_f16),
        (Type::BF16, Type::F32) if !sat && !ftz && direction == Nearest => map1(cpu, half::to_bf16),
        _ => return None,
    })
}
