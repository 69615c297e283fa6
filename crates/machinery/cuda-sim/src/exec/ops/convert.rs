//! `cvt`: between all integer and floating-point types. Source: PTX ISA, section 9.7.9, `cvt`.
//!
//! Registers may be wider than the types: a source is read from the low bits, a result is sign-
//! or zero-extended to its register. Conversions as compilers write them have a handler each; the
//! rest (8-bit results, `.sat`, directed roundings, half precision) goes one lane at a time
//! through [`Conversion`], which travels in the immediate.

use super::form::{Form, FormError, Op, no_such_type};
use super::half;
use super::rounding::{Direction, canonical, flush, quiet, saturate};
use super::value::{Row, Value};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map1_imm, map2_imm};
use crate::exec::sm::Run;
use crate::isa::Class;
use crate::ptx::ast::Type;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert as _};

const INTEGERS: [Type; 8] = [
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
];
const FLOATS: [Type; 4] = [Type::F16, Type::BF16, Type::F32, Type::F64];

/// `cvt`
pub fn cvt(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    if form.shows("tf32") {
        return to_tf32(form, cpu);
    }
    let float = Direction::float(form);
    let integer = Direction::integer(form);
    let to = form.ty()?;
    if matches!(to, Type::F16x2 | Type::BF16x2) {
        return pack(form, to, float, cpu);
    }
    let from = form.ty()?;
    let known = |ty: &Type| INTEGERS.contains(ty) || FLOATS.contains(ty);
    if let Some(unknown) = [to, from].into_iter().find(|ty| !known(ty)) {
        return no_such_type(unknown);
    }
    let single = to == Type::F32 || from == Type::F32;
    let conversion = Conversion {
        to,
        from,
        direction: direction(to, from, float, integer)?,
        integral: integer.is_some(),
        // Of what becomes .f16 nothing is flushed: an H200 takes `.ftz` there and does not do it.
        ftz: single && form.has("ftz") && to != Type::F16,
        sat: form.has("sat"),
        relu: matches!(to, Type::F16 | Type::BF16) && from.is_float() && form.has("relu"),
        register: form.def_bytes.unwrap_or(to.bytes()),
    };
    form.end()?;
    let source = form.use_bytes.unwrap_or(from.bytes());
    for (register, ty) in [(conversion.register, to), (source, from)] {
        if register < ty.bytes() {
            return Err(FormError::Narrow {
                register,
                ty: ty.modifier(),
            });
        }
    }
    let run = match common(cpu, conversion, source) {
        Some(handler) => handler,
        None => match (source, conversion.register) {
            (8, 8) => map1_imm(cpu, |a: u64, code| convert(a, code)),
            (8, _) => map1_imm(cpu, |a: u64, code| convert(a, code) as u32),
            (_, 8) => map1_imm(cpu, |a: u32, code| convert(a.into(), code)),
            (_, _) => map1_imm(cpu, |a: u32, code| convert(a.into(), code) as u32),
        },
    };
    let class = match (to.is_float(), from.is_float()) {
        (false, false) => Class::Integer,
        _ => Class::Special,
    };
    let def = in_register(to, conversion.register);
    Ok(Op::new(class, &[def], &[in_register(from, source)], run).with_imm(conversion.code()))
}

/// The type an operand is checked against: its own, or plain bits where the register is wider.
fn in_register(ty: Type, register: u32) -> Type {
    match register {
        _ if register == ty.bytes() => ty,
        2 => Type::B16,
        4 => Type::B32,
        _ => Type::B64,
    }
}

/// The rounding a conversion is written with: an integer rounding from float to integer or
/// between equal floats, a float rounding where bits can be lost, none elsewhere.
fn direction(
    to: Type,
    from: Type,
    float: Option<Direction>,
    integer: Option<Direction>,
) -> Result<Direction, FormError> {
    const INTEGER: FormError = FormError::Missing(".rni, .rzi, .rmi, .rpi");
    const FLOAT: FormError = FormError::Missing(".rn, .rz, .rm, .rp");
    let refuse = |name: &str| Err(FormError::Modifier(name.to_owned()));
    let needs_float = match (to.is_float(), from.is_float()) {
        (true, false) => true,
        (true, true) => to != from && (to.bytes() < from.bytes() || to.bytes() == from.bytes()),
        _ => false,
    };
    let takes_integer = from.is_float() && (!to.is_float() || to == from);
    match (float, integer) {
        (Some(_), Some(_)) => refuse("rni, .rzi, .rmi or .rpi beside a float rounding"),
        (Some(direction), None) if needs_float => Ok(direction),
        (Some(_), None) => refuse("rn, .rz, .rm or .rp"),
        (None, Some(direction)) if takes_integer => Ok(direction),
        (None, Some(_)) => refuse("rni, .rzi, .rmi or .rpi"),
        (None, None) if needs_float => Err(FLOAT),
        (None, None) if from.is_float() && !to.is_float() => Err(INTEGER),
        (None, None) => Ok(Direction::Nearest),
    }
}

/// A conversion as written.
#[derive(Debug, Clone, Copy)]
struct Conversion {
    to: Type,
    from: Type,
    direction: Direction,
    /// A float rounded to an integral value (`.rni` and its like).
    integral: bool,
    ftz: bool,
    sat: bool,
    relu: bool,
    /// Bytes of the destination register.
    register: u32,
}

/// Types by their number in a code.
const TYPES: [Type; 12] = [
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
    Type::F16,
    Type::BF16,
    Type::F32,
    Type::F64,
];

impl Conversion {
    fn code(self) -> u64 {
        let number = |ty| TYPES.iter().position(|known| *known == ty).unwrap_or(0) as u64;
        number(self.to)
            | number(self.from) << 4
            | (self.direction as u64) << 8
            | u64::from(self.integral) << 12
            | u64::from(self.ftz) << 13
            | u64::from(self.sat) << 14
            | u64::from(self.relu) << 15
            | u64::from(self.register) << 16
    }

    fn from_code(code: u64) -> Conversion {
        let ty = |at: u32| TYPES[(code >> at & 15) as usize % TYPES.len()];
        let flag = |at: u32| code >> at & 1 == 1;
        let direction = match code >> 8 & 3 {
            0 => Direction::Nearest,
            1 => Direction::Zero,
            2 => Direction::Down,
            _ => Direction::Up,
        };
        Conversion {
            to: ty(0),
            from: ty(4),
            direction,
            integral: flag(12),
            ftz: flag(13),
            sat: flag(14),
            relu: flag(15),
            register: (code >> 16) as u32,
        }
    }
}

/// Conversions that run often: a handler each. None where the general way must be taken.
fn common(cpu: Cpu, conversion: Conversion, source: u32) -> Option<Run> {
    let Conversion {
        to,
        from,
        direction,
        integral,
        ftz,
        sat,
        relu,
        register,
    } = conversion;
    // A type narrower than its register is fine where the row is the same.
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
        (true, false) if direction == Direction::Nearest && !sat => from_integer(cpu, to, from),
        (false, true) => to_integer(cpu, to, from, direction, ftz),
        (true, true) if !relu => float_to_float(cpu, to, from, direction, integral, ftz, sat),
        _ => None,
    }
}

/// Integers, extended or cut off.
fn resize(cpu: Cpu, to: Type, from: Type) -> Option<Run> {
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

/// Integers to the nearest float.
fn from_integer(cpu: Cpu, to: Type, from: Type) -> Option<Run> {
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

/// Floats to integers of 32 and 64 bits, clamped to the type's range.
fn to_integer(cpu: Cpu, to: Type, from: Type, direction: Direction, ftz: bool) -> Option<Run> {
    // Flushing matters only where a subnormal would round away from zero.
    if ftz && matches!(direction, Direction::Down | Direction::Up) {
        return None;
    }
    macro_rules! to_type {
        ($float:ty, $clamp:ident) => {
            match direction {
                Direction::Nearest => map1(cpu, |a: $float| $clamp(a.round_ties_even())),
                Direction::Zero => map1(cpu, |a: $float| $clamp(a)),
                Direction::Down => map1(cpu, |a: $float| $clamp(a.floor())),
                Direction::Up => map1(cpu, |a: $float| $clamp(a.ceil())),
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

// The range is tested before the conversion, so that the conversion is the CPU's bare one, which
// vectorises. What a NaN becomes is the ISA's table: zero from .f32 to 32 bits, else the top bit.

#[inline(always)]
fn s32_of_f32(a: f32) -> i32 {
    let clamped = if a >= 2147483648.0 {
        i32::MAX
    } else if a > -2147483648.0 {
        // SAFETY: between the bounds above, whose neighbours are 128 and more away.
        unsafe { a.to_int_unchecked() }
    } else {
        i32::MIN
    };
    if a.is_nan() { 0 } else { clamped }
}

#[inline(always)]
fn u32_of_f32(a: f32) -> u32 {
    // Above 2^31 the value is shifted into the range of a signed conversion, and back after.
    let upper = a >= 2147483648.0;
    let shifted = if upper { a - 2147483648.0 } else { a };
    let bits = if (shifted > 0.0) & (shifted < 2147483648.0) {
        // SAFETY: between 0 and 2^31.
        unsafe { shifted.to_int_unchecked::<i32>() as u32 }
    } else {
        0
    };
    let whole = if upper {
        bits.wrapping_add(1 << 31)
    } else {
        bits
    };
    if a >= 4294967296.0 { u32::MAX } else { whole }
}

#[inline(always)]
fn s64_of_f32(a: f32) -> i64 {
    if a.is_nan() { i64::MIN } else { a as i64 }
}

#[inline(always)]
fn u64_of_f32(a: f32) -> u64 {
    if a.is_nan() { 1 << 63 } else { a as u64 }
}

#[inline(always)]
fn s32_of_f64(a: f64) -> i32 {
    if a.is_nan() { i32::MIN } else { a as i32 }
}

#[inline(always)]
fn u32_of_f64(a: f64) -> u32 {
    if a.is_nan() { 1 << 31 } else { a as u32 }
}

#[inline(always)]
fn s64_of_f64(a: f64) -> i64 {
    if a.is_nan() { i64::MIN } else { a as i64 }
}

#[inline(always)]
fn u64_of_f64(a: f64) -> u64 {
    if a.is_nan() { 1 << 63 } else { a as u64 }
}

fn float_to_float(
    cpu: Cpu,
    to: Type,
    from: Type,
    direction: Direction,
    integral: bool,
    ftz: bool,
    sat: bool,
) -> Option<Run> {
    use Direction::{Down, Nearest, Up, Zero};
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
        (Type::F16, Type::F32) if !sat && !ftz && direction == Nearest => map1(cpu, |a: f32| {
            let bits = ::half::f16::from_f32(a).to_bits();
            u32::from(if a.is_nan() { 0x7fff } else { bits })
        }),
        _ => return None,
    })
}

#[inline(always)]
fn quiet_nan(a: f64, result: f64) -> f64 {
    if a.is_nan() { quiet(a) } else { result }
}

/// Single to double: exact; a NaN keeps its payload and becomes quiet.
#[inline(always)]
fn widen(a: f32) -> f64 {
    quiet_nan(f64::from(a), f64::from(a))
}

/// Double to the nearest single. A NaN keeps its sign and what fits of its payload.
#[inline(always)]
fn nearest_single(a: f64) -> f32 {
    let bits = a.to_bits();
    let nan = (bits >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x003f_ffff;
    // As bits, for the reason `canonical` gives.
    let is_nan = bits << 1 > 0x7ff0_0000_0000_0000 << 1;
    f32::from_bits(if is_nan { nan } else { (a as f32).to_bits() })
}

/// Any conversion, one lane: register bits in, register bits out.
#[inline(never)]
fn convert(bits: u64, code: u64) -> u64 {
    let how = Conversion::from_code(code);
    match (how.to.is_float(), how.from.is_float()) {
        (false, false) => store(integer(bits, how.from), how, how.sat),
        (false, true) => match to_whole(float(bits, how), how) {
            Some(whole) => store(whole, how, true),
            None => store(nan_as_integer(how), how, false),
        },
        (true, false) => integer_to_float(integer(bits, how.from), how),
        (true, true) => narrow(float(bits, how), how),
    }
}

/// The integer in the low bits of a register.
fn integer(bits: u64, ty: Type) -> i128 {
    let spare = 64 - 8 * ty.bytes();
    if ty.is_signed() {
        i128::from((bits << spare) as i64 >> spare)
    } else {
        i128::from(bits << spare >> spare)
    }
}

/// An integer in its register: clamped to the type or cut off, then extended.
fn store(value: i128, how: Conversion, clamp: bool) -> u64 {
    let width = 8 * how.to.bytes();
    let (least, most) = if how.to.is_signed() {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    };
    let value = if clamp {
        value.clamp(least, most)
    } else {
        value
    };
    let extended = integer(value as u64, how.to) as u64;
    extended & (u64::MAX >> (64 - 8 * how.register.clamp(1, 8)))
}

/// The value of a float, exact, flushed if the form says so.
fn float(bits: u64, how: Conversion) -> f64 {
    match how.from {
        Type::F16 => widen(half::f16(bits as u32)),
        Type::BF16 => widen(half::bf16(bits as u32)),
        // What flushes makes any NaN the one NaN.
        Type::F32 if how.ftz => widen(canonical(flush(f32::from_bits(bits as u32)))),
        Type::F32 => widen(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Rounded to an integer; None for NaN. Beyond 2^100 the exact value no longer matters.
fn to_whole(a: f64, how: Conversion) -> Option<i128> {
    let whole = round_to_whole(a, how.direction);
    (!whole.is_nan()).then_some(whole as i128)
}

fn round_to_whole(a: f64, direction: Direction) -> f64 {
    match direction {
        Direction::Nearest => a.round_ties_even(),
        Direction::Zero => a.trunc(),
        Direction::Down => a.floor(),
        Direction::Up => a.ceil(),
    }
}

/// What a NaN becomes: zero unless one of the types is of 64 bits, else the type's top bit.
fn nan_as_integer(how: Conversion) -> i128 {
    if how.from.bytes() < 8 && how.to.bytes() < 8 {
        0
    } else {
        1 << (8 * how.to.bytes() - 1)
    }
}

fn integer_to_float(value: i128, how: Conversion) -> u64 {
    fn bits<F: Float>(value: i128, how: Conversion) -> u64 {
        F::from_i128_r(value, how.direction.round()).value.to_bits() as u64
    }
    let result = match how.to {
        Type::F16 => bits::<Half>(value, how),
        Type::BF16 => bits::<BFloat>(value, how),
        Type::F32 => bits::<Single>(value, how),
        _ => bits::<Double>(value, how),
    };
    clamp_float(result, how)
}

/// A float brought to the destination's format.
fn narrow(a: f64, how: Conversion) -> u64 {
    let a = if how.integral {
        round_to_whole(a, how.direction)
    } else {
        a
    };
    let double = Double::from_bits(a.to_bits().into());
    let (round, mut lossy) = (how.direction.round(), false);
    let result = match how.to {
        Type::F64 => quiet_nan(a, a).to_bits(),
        // A double's NaN keeps its sign and what fits of its payload; others are the one NaN.
        Type::F16 if a.is_nan() && keeps_nan(how) => cut_nan(a, 10),
        Type::BF16 if a.is_nan() && keeps_nan(how) => cut_nan(a, 7),
        Type::F16 | Type::BF16 if a.is_nan() => 0x7fff,
        Type::F32 if a.is_nan() && how.from == Type::F64 => u64::from(nearest_single(a).to_bits()),
        Type::F32 if a.is_nan() => u64::from(canonical(f32::NAN).to_bits()),
        Type::F16 => {
            let half: Half = double.convert_r(round, &mut lossy).value;
            half.to_bits() as u64
        }
        Type::BF16 => {
            let half: BFloat = double.convert_r(round, &mut lossy).value;
            half.to_bits() as u64
        }
        _ => {
            let single: Single = double.convert_r(round, &mut lossy).value;
            let single = f32::from_bits(single.to_bits() as u32);
            u64::from(if how.ftz { flush(single) } else { single }.to_bits())
        }
    };
    clamp_float(result, how)
}

/// Whether a NaN made 16 bits wide is more than the one NaN.
fn keeps_nan(how: Conversion) -> bool {
    how.from == Type::F64 && !how.relu
}

/// A NaN as 16 bits, `fraction` of which are fraction: cut off, and quiet.
fn cut_nan(a: f64, fraction: u32) -> u64 {
    let quiet = a.to_bits() | 1 << 51;
    let magnitude = (1 << 15) - 1;
    quiet >> 48 & 1 << 15 | (0x7fff << fraction | quiet << 12 >> (64 - fraction)) & magnitude
}

/// `.sat`: into [0, 1], NaN becomes 0. `.relu`: negative numbers become 0.
fn clamp_float(bits: u64, how: Conversion) -> u64 {
    let value = float(
        bits,
        Conversion {
            from: how.to,
            ftz: false,
            ..how
        },
    );
    let one = match how.to {
        Type::F16 => 0x3c00,
        Type::BF16 => 0x3f80,
        Type::F32 => u64::from(1f32.to_bits()),
        _ => 1f64.to_bits(),
    };
    if how.sat {
        if value >= 1.0 {
            one
        } else if value > 0.0 {
            bits
        } else {
            0
        }
    } else if how.relu && value.is_sign_negative() {
        0
    } else {
        bits
    }
}

/// `cvt.rn.f16x2.f32 d, a, b`: a in the upper half, b in the lower.
fn pack(form: &Form, to: Type, direction: Option<Direction>, cpu: Cpu) -> Result<Op, FormError> {
    let from = form.ty_among(&[Type::F32])?;
    let direction = match direction {
        Some(direction @ (Direction::Nearest | Direction::Zero)) => direction,
        _ => return Err(FormError::Missing(".rn, .rz")),
    };
    let relu = form.has("relu");
    form.end()?;
    let half = Conversion {
        to: if to == Type::F16x2 {
            Type::F16
        } else {
            Type::BF16
        },
        from,
        direction,
        integral: false,
        ftz: false,
        sat: false,
        relu,
        register: 2,
    };
    let run = map2_imm(cpu, |a: u32, b: u32, code| {
        (convert(a.into(), code) << 16 | convert(b.into(), code)) as u32
    });
    Ok(Op::new(Class::Special, &[to], &[from, from], run).with_imm(half.code()))
}

/// `cvt.rna.tf32.f32`: to the 10 bits of fraction that tensor cores take, halves away from zero.
/// Source: PTX ISA; what an H200 does with NaN (cut off as it is) and with numbers that become too
/// large (infinity).
fn to_tf32(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    const LOST: u32 = 0x1fff;
    const HALF: u32 = 0x1000;
    form.required(&["rna"], ".rna")?;
    form.has("tf32");
    form.ty_among(&[Type::F32])?;
    form.end()?;
    let run = map1(cpu, |bits: u32| {
        let special = f32::from_bits(bits).is_nan();
        let half = if special { 0 } else { HALF };
        (bits + half) & !LOST
    });
    Ok(Op::new(Class::Special, &[Type::B32], &[Type::F32], run))
}
