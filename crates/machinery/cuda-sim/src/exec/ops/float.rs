//! Floating-point arithmetic in single and double precision. Source: PTX ISA, section 9.7.3.
//!
//! Round-to-nearest forms are the CPU's own operations. The `.approx` forms answer with the
//! correctly rounded value, which is within every error bound the ISA states, and follow its
//! tables for special values.

use super::form::{Form, FormError, Op, no_such_type};
use super::rounding::{
    Direction, Mode, Operation, canonical, double, flush, pass_nan, quiet, saturate, single,
};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map1, map1_imm, map2, map2_imm, map3, map3_imm, test1};
use crate::exec::sm::Run;
use crate::isa::Class;
use crate::ptx::ast::Type;

const DIRECTIONS: &str = ".rn, .rz, .rm, .rp";

/// The operation of a floating-point form.
pub fn select(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    match form.mnemonic {
        "add" | "sub" | "mul" => {
            let direction = Direction::float(form).unwrap_or(Direction::Nearest);
            arithmetic(form, cpu, direction)
        }
        "fma" | "mad" => {
            let direction = Direction::float(form).ok_or(FormError::Missing(DIRECTIONS))?;
            arithmetic(form, cpu, direction)
        }
        "div" => divide(form, cpu),
        "rcp" => reciprocal(form, cpu),
        "sqrt" => square_root(form, cpu),
        "rsqrt" => reciprocal_root(form, cpu),
        "min" | "max" => extremum(form, cpu),
        "testp" => test_property(form, cpu),
        _ => sign(form, cpu),
    }
}

/// A single-precision operation rounded to nearest, with or without `.ftz` and `.sat`.
macro_rules! nearest {
    ($map:ident, $cpu:expr, $mode:expr, |$($x:ident),+| $body:expr) => {
        match ($mode.ftz, $mode.sat) {
            (false, false) => $map($cpu, |$($x: f32),+| canonical($body)),
            (false, true) => $map($cpu, |$($x: f32),+| saturate($body)),
            (true, false) => $map($cpu, |$($x: f32),+| {
                $(let $x = flush($x);)+
                flush(canonical($body))
            }),
            (true, true) => $map($cpu, |$($x: f32),+| {
                $(let $x = flush($x);)+
                saturate(flush($body))
            }),
        }
    };
}

/// `add`, `sub`, `mul`, `fma` (`mad` is its older name).
fn arithmetic(form: &Form, cpu: Cpu, direction: Direction) -> Result<Op, FormError> {
    let ty = form.ty()?;
    let mode = if ty == Type::F32 {
        mode(form, direction)
    } else {
        exact(direction)
    };
    form.end()?;
    let near = direction == Direction::Nearest;
    let run: Run = match (ty, form.mnemonic) {
        (Type::F32, "add") if near => nearest!(map2, cpu, mode, |a, b| a + b),
        (Type::F32, "sub") if near => nearest!(map2, cpu, mode, |a, b| a - b),
        (Type::F32, "mul") if near => nearest!(map2, cpu, mode, |a, b| a * b),
        (Type::F32, _) if near => nearest!(map3, cpu, mode, |a, b, c| a.mul_add(b, c)),
        (Type::F32, "add") => map2_imm(cpu, |a, b, mode| single(Operation::Add, [a, b, b], mode)),
        (Type::F32, "sub") => map2_imm(cpu, |a, b: f32, mode| {
            single(Operation::Add, [a, -b, b], mode)
        }),
        (Type::F32, "mul") => map2_imm(cpu, |a, b, mode| single(Operation::Mul, [a, b, b], mode)),
        (Type::F32, _) => map3_imm(cpu, |a, b, c, mode| single(Operation::Fma, [a, b, c], mode)),
        (Type::F64, "add") if near => map2(cpu, |a: f64, b| pass_nan([b, a], a + b)),
        (Type::F64, "sub") if near => map2(cpu, |a: f64, b| pass_nan([b, a], a - b)),
        (Type::F64, "mul") if near => map2(cpu, |a: f64, b| pass_nan([b, a], a * b)),
        (Type::F64, _) if near => map3(cpu, |a: f64, b, c| pass_nan([b, c, a], a.mul_add(b, c))),
        (Type::F64, "add") => map2_imm(cpu, |a, b, mode| double(Operation::Add, [a, b, b], mode)),
        (Type::F64, "sub") => map2_imm(cpu, |a: f64, b: f64, mode| {
            // Negating b would also turn the sign of a NaN, which must pass through.
            let minus_b = if b.is_nan() { b } else { -b };
            double(Operation::Add, [a, minus_b, b], mode)
        }),
        (Type::F64, "mul") => map2_imm(cpu, |a, b, mode| double(Operation::Mul, [a, b, b], mode)),
        (Type::F64, _) => map3_imm(cpu, |a, b, c, mode| double(Operation::Fma, [a, b, c], mode)),
        _ => return no_such_type(ty),
    };
    let sources = if matches!(form.mnemonic, "fma" | "mad") {
        3
    } else {
        2
    };
    let class = if ty == Type::F64 {
        Class::Double
    } else {
        Class::Float
    };
    Ok(Op::new(class, &[ty], &vec![ty; sources], run).with_imm(mode.code()))
}

/// `.ftz` and `.sat` as written.
fn mode(form: &Form, direction: Direction) -> Mode {
    Mode {
        direction,
        ftz: form.has("ftz"),
        sat: form.has("sat"),
    }
}

/// No `.ftz`, no `.sat`: double precision has neither.
fn exact(direction: Direction) -> Mode {
    Mode {
        direction,
        ftz: false,
        sat: false,
    }
}

/// What a division or root is written with: a direction, or one of the approximate kinds.
enum Accuracy {
    Rounded(Direction),
    Approximate,
    /// `div.full`
    FullRange,
}

fn accuracy(form: &Form, full: bool) -> Result<Accuracy, FormError> {
    if let Some(direction) = Direction::float(form) {
        Ok(Accuracy::Rounded(direction))
    } else if form.has("approx") {
        Ok(Accuracy::Approximate)
    } else if full && form.has("full") {
        Ok(Accuracy::FullRange)
    } else if full {
        Err(FormError::Missing(".approx, .full, .rn, .rz, .rm, .rp"))
    } else {
        Err(FormError::Missing(".approx, .rn, .rz, .rm, .rp"))
    }
}

/// The parts of a division or root: how exact, how clamped, of which type.
fn parts(form: &Form) -> Result<(Accuracy, Mode, Type, Class), FormError> {
    let accuracy = accuracy(form, form.mnemonic == "div")?;
    let direction = match accuracy {
        Accuracy::Rounded(direction) => direction,
        _ => Direction::Nearest,
    };
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    let double_approximate = ty == Type::F64 && matches!(accuracy, Accuracy::Approximate);
    let ftz = (ty == Type::F32 || double_approximate) && form.has("ftz");
    form.end()?;
    let class = if ty == Type::F64 {
        Class::Double
    } else {
        Class::Special
    };
    Ok((
        accuracy,
        Mode {
            direction,
            ftz,
            sat: false,
        },
        ty,
        class,
    ))
}

fn divide(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    use Accuracy::{Approximate, FullRange, Rounded};
    let (accuracy, mode, ty, class) = parts(form)?;
    let run: Run = match (ty, accuracy) {
        (Type::F32, Approximate) => nearest!(map2, cpu, mode, |a, b| divide_approximately(a, b)),
        (Type::F32, FullRange | Rounded(Direction::Nearest)) => {
            nearest!(map2, cpu, mode, |a, b| a / b)
        }
        (Type::F32, Rounded(_)) => {
            map2_imm(cpu, |a, b, mode| single(Operation::Div, [a, b, b], mode))
        }
        (_, Rounded(Direction::Nearest)) => map2(cpu, |a: f64, b| pass_nan([a, b], a / b)),
        (_, Rounded(_)) => map2_imm(cpu, |a, b, mode| double(Operation::Div, [a, b, b], mode)),
        (_, Approximate | FullRange) => return no_such_type(ty),
    };
    Ok(Op::new(class, &[ty], &[ty, ty], run).with_imm(mode.code()))
}

/// `div.approx`: a times the reciprocal of b, which is lost above 2^126.
#[inline(always)]
fn divide_approximately(a: f32, b: f32) -> f32 {
    /// 2^126
    const LARGEST: f32 = f32::from_bits(0x7e80_0000);
    let reciprocal_lost = b.abs() > LARGEST && b.abs() < f32::INFINITY;
    if reciprocal_lost {
        a * 0f32.copysign(b)
    } else {
        a / b
    }
}

fn reciprocal(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    use Accuracy::{Approximate, FullRange, Rounded};
    let (accuracy, mode, ty, class) = parts(form)?;
    let run: Run = match (ty, accuracy) {
        (Type::F32, Approximate | FullRange | Rounded(Direction::Nearest)) => {
            nearest!(map1, cpu, mode, |a| 1.0 / a)
        }
        (Type::F32, Rounded(_)) => {
            map1_imm(cpu, |a, mode| single(Operation::Div, [1.0, a, a], mode))
        }
        (_, Rounded(Direction::Nearest)) => map1(cpu, |a: f64| pass_nan([a], 1.0 / a)),
        (_, Rounded(_)) => map1_imm(cpu, |a, mode| double(Operation::Div, [1.0, a, a], mode)),
        (_, Approximate | FullRange) if mode.ftz => {
            map1(cpu, |a: f64| upper_result(1.0 / upper_word(a)))
        }
        (_, Approximate | FullRange) => return Err(FormError::Missing(".ftz")),
    };
    Ok(Op::new(class, &[ty], &[ty], run).with_imm(mode.code()))
}

/// The upper 32 bits of a double, subnormals flushed: all that the `.approx.ftz.f64` forms read
/// and write.
#[inline(always)]
fn upper_word(a: f64) -> f64 {
    let bits = a.to_bits() & 0xffff_ffff_0000_0000;
    f64::from_bits(if bits << 1 >> 53 == 0 {
        bits & 1 << 63
    } else {
        bits
    })
}

/// A result of those forms: any NaN is one NaN.
#[inline(always)]
fn upper_result(a: f64) -> f64 {
    let is_nan = a.to_bits() << 1 > 0x7ff0_0000_0000_0000 << 1;
    f64::from_bits(if is_nan {
        0x7fff_ffff << 32
    } else {
        upper_word(a).to_bits()
    })
}

fn square_root(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    use Accuracy::{Approximate, FullRange, Rounded};
    let (accuracy, mode, ty, class) = parts(form)?;
    let run: Run = match (ty, accuracy) {
        (Type::F32, Approximate | FullRange | Rounded(Direction::Nearest)) => {
            nearest!(map1, cpu, mode, |a| a.sqrt())
        }
        (Type::F32, Rounded(_)) => {
            map1_imm(cpu, |a, mode| single(Operation::Sqrt, [a, a, a], mode))
        }
        (_, Rounded(Direction::Nearest)) => map1(cpu, |a: f64| pass_nan([a], a.sqrt())),
        (_, Rounded(_)) => map1_imm(cpu, |a, mode| double(Operation::Sqrt, [a, a, a], mode)),
        (_, Approximate | FullRange) => return no_such_type(ty),
    };
    Ok(Op::new(class, &[ty], &[ty], run).with_imm(mode.code()))
}

fn reciprocal_root(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let (accuracy, mode, ty, class) = parts(form)?;
    if let Accuracy::Rounded(_) = accuracy {
        return Err(FormError::Missing(".approx"));
    }
    let run: Run = match ty {
        Type::F32 => nearest!(map1, cpu, mode, |a| (1.0 / f64::from(a).sqrt()) as f32),
        _ if mode.ftz => map1(cpu, |a: f64| upper_result(1.0 / upper_word(a).sqrt())),
        _ => map1(cpu, |a: f64| pass_nan([a], 1.0 / a.sqrt())),
    };
    Ok(Op::new(class, &[ty], &[ty], run))
}

/// `min`, `max`: the operand that is a number, unless `.NaN`; -0 is less than +0.
fn extremum(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    let single = ty == Type::F32;
    let ftz = single && form.has("ftz");
    let nan = single && form.has("NaN");
    let xor_sign = single && form.has("xorsign");
    if xor_sign && !form.has("abs") {
        return Err(FormError::Missing(".abs"));
    }
    form.end()?;
    /// `$pick` with the modifiers of this form around it.
    macro_rules! single {
        ($pick:ident) => {
            match (ftz, nan, xor_sign) {
                (false, false, false) => map2(cpu, |a: f32, b: f32| $pick(a, b)),
                (true, false, false) => map2(cpu, |a: f32, b: f32| $pick(flush(a), flush(b))),
                (false, true, false) => map2(cpu, |a: f32, b: f32| nan_wins(a, b, $pick(a, b))),
                (true, true, false) => map2(cpu, |a: f32, b: f32| {
                    let (a, b) = (flush(a), flush(b));
                    nan_wins(a, b, $pick(a, b))
                }),
                (ftz, nan, true) => {
                    let handler: Run = match (ftz, nan) {
                        (false, false) => map2(cpu, |a: f32, b: f32| {
                            xor_of_signs(a, b, $pick(a.abs(), b.abs()))
                        }),
                        (true, false) => map2(cpu, |a: f32, b: f32| {
                            let (a, b) = (flush(a), flush(b));
                            xor_of_signs(a, b, $pick(a.abs(), b.abs()))
                        }),
                        (false, true) => map2(cpu, |a: f32, b: f32| {
                            xor_of_signs(a, b, nan_wins(a, b, $pick(a.abs(), b.abs())))
                        }),
                        (true, true) => map2(cpu, |a: f32, b: f32| {
                            let (a, b) = (flush(a), flush(b));
                            xor_of_signs(a, b, nan_wins(a, b, $pick(a.abs(), b.abs())))
                        }),
                    };
                    handler
                }
            }
        };
    }
    let run: Run = match (single, form.mnemonic) {
        (true, "min") => single!(smaller),
        (true, _) => single!(larger),
        (false, "min") => map2(cpu, smaller_double),
        (false, _) => map2(cpu, larger_double),
    };
    let class = if single { Class::Float } else { Class::Double };
    Ok(Op::new(class, &[ty], &[ty, ty], run))
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
    number_wins(a, b, ordered)
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
    number_wins(a, b, ordered)
}

#[inline(always)]
fn number_wins(a: f32, b: f32, ordered: f32) -> f32 {
    let or_b = if a.is_nan() { canonical(b) } else { ordered };
    if b.is_nan() { canonical(a) } else { or_b }
}

#[inline(always)]
fn nan_wins(a: f32, b: f32, number: f32) -> f32 {
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
    number_wins_double(a, b, ordered)
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
    number_wins_double(a, b, ordered)
}

#[inline(always)]
fn number_wins_double(a: f64, b: f64, ordered: f64) -> f64 {
    let or_b = if a.is_nan() { b } else { ordered };
    let number = if b.is_nan() { a } else { or_b };
    if number.is_nan() { quiet(b) } else { number }
}

/// `abs`, `neg`, `copysign`. The first two are arithmetic to a NaN: it keeps its sign and becomes
/// quiet, or canonical in single precision. `copysign` moves a bit, whatever it is given.
fn sign(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    let ty = form.ty_among(&[Type::F32, Type::F64])?;
    let ftz = ty == Type::F32 && form.mnemonic != "copysign" && form.has("ftz");
    form.end()?;
    let run: Run = match (ty, form.mnemonic) {
        (Type::F32, "abs") if ftz => map1(cpu, |a: f32| canonical(flush(a).abs())),
        (Type::F32, "neg") if ftz => map1(cpu, |a: f32| canonical(-flush(a))),
        (Type::F32, "abs") => map1(cpu, |a: f32| canonical(a.abs())),
        (Type::F32, "neg") => map1(cpu, |a: f32| canonical(-a)),
        // The magnitude is the second operand's.
        (Type::F32, _) => map2(cpu, |a: f32, b: f32| b.copysign(a)),
        (_, "abs") => map1(cpu, |a: f64| pass_nan([a], a.abs())),
        (_, "neg") => map1(cpu, |a: f64| pass_nan([a], -a)),
        _ => map2(cpu, |a: f64, b: f64| b.copysign(a)),
    };
    let sources = if form.mnemonic == "copysign" { 2 } else { 1 };
    let class = if ty == Type::F64 {
        Class::Double
    } else {
        Class::Float
    };
    Ok(Op::new(class, &[ty], &vec![ty; sources], run))
}

/// `testp`: what kind of number it is.
fn test_property(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
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
    let run: Run = super::value::for_type!(ty, [F32 F64], T => match kind {
        "finite" => test1(cpu, |a: T| a.is_finite()),
        "infinite" => test1(cpu, |a: T| a.is_infinite()),
        "number" => test1(cpu, |a: T| !a.is_nan()),
        "notanumber" => test1(cpu, |a: T| a.is_nan()),
        // The ISA counts zeros among them.
        "normal" => test1(cpu, |a: T| a.is_normal() || a == 0.0),
        _ => test1(cpu, |a: T| a.is_subnormal()),
    });
    Ok(Op::new(Class::Integer, &[Type::Pred], &[ty], run))
}
