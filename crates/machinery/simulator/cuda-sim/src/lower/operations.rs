//! The operations of instructions, for the compiler: each is derived from the form of a register instruction, or from a
//! special register. Other instructions get theirs where they are lowered.

use crate::exec::ops::Form;
use crate::exec::ops::form::relation;
use crate::exec::special_registers::Special;
use crate::isa::operation::{Operation, Rounding, SpecialFunction};
use crate::ptx::ast::Type;

/// The instructions that only read and write registers and of which no form is compiled.
pub const STAYS_INTERPRETED: &[&str] = &[
    "addc", "bfe", "bfi", "bfind", "bmsk", "cnot", "copysign", "cvt.pack", "dp2a", "dp4a", "fns",
    "lop3", "mad24", "madc", "mul24", "prmt", "sad", "set", "slct", "subc", "szext", "testp",
];

const INTEGERS: [Type; 4] = [Type::U32, Type::S32, Type::U64, Type::S64];
const FLOATS: [Type; 2] = [Type::F32, Type::F64];

/// Returns the operation of a register instruction, or `None` if its form stays interpreted. `bytes` are the sizes of
/// the first destination's and the first source's registers, where they are registers.
pub fn of_registers(
    mnemonic: &str,
    modifiers: &[&str],
    lengths: &[usize],
    bytes: [Option<u32>; 2],
) -> Option<Operation> {
    let mut types = modifiers
        .iter()
        .filter_map(|text| Type::from_modifier(text));
    let (ty, second) = (types.next()?, types.next());
    let rest: Vec<&str> = modifiers
        .iter()
        .copied()
        .filter(|text| Type::from_modifier(text).is_none())
        .collect();
    let integer = INTEGERS.contains(&ty).then_some(ty);
    let float = FLOATS.contains(&ty).then_some(ty);
    let word = matches!(ty, Type::B32 | Type::B64);
    let narrow = matches!(ty, Type::U32 | Type::S32);
    let single_registers = lengths.iter().all(|&length| length == 1);
    // Forms of one type with an optional rounding to nearest.
    let by_type = |operation: fn(Type) -> Operation| match (integer, float, &rest[..]) {
        (Some(ty), _, []) | (_, Some(ty), [] | ["rn"]) => Some(operation(ty)),
        _ => None,
    };
    let of_float = |operation: fn(Type) -> Operation| match (float, &rest[..]) {
        (Some(Type::F32), ["rn" | "approx"]) | (Some(Type::F64), ["rn"]) => float.map(operation),
        _ => None,
    };
    let function = |function| match (ty, &rest[..]) {
        (Type::F32, ["approx"]) => Some(Operation::SpecialFunction(function)),
        _ => None,
    };
    // Sums of mixed precision name two types, too.
    let is_mixed = second.is_some() && mnemonic != "cvt";
    if is_mixed || !single_registers && mnemonic != "mov" {
        return None;
    }
    match (mnemonic, &rest[..]) {
        ("add", _) => by_type(Operation::Add),
        ("sub", _) => by_type(Operation::Subtract),
        ("mul", ["lo"]) => integer.map(Operation::Multiply),
        ("mul", ["hi"]) if narrow => Some(Operation::MultiplyHigh(ty)),
        ("mul", ["wide"]) if narrow => Some(Operation::MultiplyWide(ty)),
        ("mul", [] | ["rn"]) => float.map(Operation::Multiply),
        ("mad", ["lo"]) => integer.map(Operation::MultiplyAdd),
        ("mad", ["wide"]) if narrow => Some(Operation::MultiplyAddWide(ty)),
        ("mad" | "fma", ["rn"]) => float.map(Operation::FusedMultiplyAdd),
        ("div", []) => integer.map(Operation::Divide),
        ("div", ["rn"]) => float.map(Operation::Divide),
        ("div", ["full"]) if ty == Type::F32 => Some(Operation::Divide(ty)),
        ("rem", []) => integer.map(Operation::Remainder),
        ("rcp", _) => of_float(Operation::Reciprocal),
        ("sqrt", _) => of_float(Operation::SquareRoot),
        ("rsqrt", ["approx"]) if ty == Type::F32 => Some(Operation::ReciprocalSquareRoot),
        ("sin", _) => function(SpecialFunction::Sine),
        ("cos", _) => function(SpecialFunction::Cosine),
        ("ex2", _) => function(SpecialFunction::PowerOfTwo),
        ("lg2", _) => function(SpecialFunction::Logarithm),
        ("tanh", _) => function(SpecialFunction::HyperbolicTangent),
        ("min", []) if lengths.len() == 3 => integer.or(float).map(Operation::Minimum),
        ("max", []) if lengths.len() == 3 => integer.or(float).map(Operation::Maximum),
        ("neg", []) => integer.or(float).map(Operation::Negate),
        ("abs", []) => integer.or(float).map(Operation::Absolute),
        ("and", []) if word || ty == Type::Pred => Some(Operation::And),
        ("or", []) if word || ty == Type::Pred => Some(Operation::Or),
        ("xor", []) if word || ty == Type::Pred => Some(Operation::Xor),
        ("not", []) if word || ty == Type::Pred => Some(Operation::Not),
        ("shl", []) if word => Some(Operation::ShiftLeft(ty)),
        ("shr", []) if word || integer.is_some() => Some(Operation::ShiftRight(ty)),
        ("shf", [side @ ("l" | "r"), amount @ ("wrap" | "clamp")]) if ty == Type::B32 => {
            Some(Operation::FunnelShift {
                left: *side == "l",
                wrap: *amount == "wrap",
            })
        }
        ("popc", []) if word => Some(Operation::CountOnes(ty)),
        ("clz", []) if word => Some(Operation::LeadingZeros(ty)),
        ("brev", []) if word => Some(Operation::ReverseBits(ty)),
        ("setp", [_]) if lengths.len() == 3 => {
            let comparable = word || integer.is_some() || float.is_some();
            let form = Form::new(modifiers, 3);
            form.ty().ok()?;
            let relation = relation(&form, ty).ok()?;
            comparable.then_some(Operation::Compare { ty, relation })
        }
        ("selp", []) if ty.bytes() >= 4 => Some(Operation::Select),
        ("mov", []) => match (lengths, ty) {
            ([1, 1], _) if ty == Type::Pred || ty.bytes() >= 4 => Some(Operation::Copy),
            ([1, 2], Type::B64) => Some(Operation::Pack),
            ([2, 1], Type::B64) => Some(Operation::Unpack),
            _ => None,
        },
        ("cvt", rest) => conversion(rest, ty, second?, bytes),
        _ => None,
    }
}

/// Returns the operation of a conversion from `from` to `to`.
fn conversion(rest: &[&str], to: Type, from: Type, bytes: [Option<u32>; 2]) -> Option<Operation> {
    let of_row = |ty: Type, register: Option<u32>| {
        register.is_none_or(|bytes| bytes == ty.bytes() || bytes.max(4) == ty.bytes().max(4))
    };
    // A narrow result in a wider register is extended to it, which the general handler does.
    let is_exact = bytes[0].is_none_or(|bytes| bytes == to.bytes() || !to.is_signed());
    if !of_row(to, bytes[0]) || !of_row(from, bytes[1]) {
        return None;
    }
    let is_integer = |ty: Type| !ty.is_float() && ty.bytes() > 0;
    let is_word = |ty: Type| INTEGERS.contains(&ty);
    match (to, from, rest) {
        (_, _, []) if is_integer(to) && is_integer(from) && is_exact => {
            Some(Operation::Resize { to, from })
        }
        (Type::F32 | Type::F64, _, ["rn"]) if is_word(from) => {
            Some(Operation::FromInteger { to, from })
        }
        (_, Type::F32 | Type::F64, ["rzi"]) if is_word(to) => {
            Some(Operation::Truncate { to, from })
        }
        (Type::F32, Type::F32, ["rni"]) => Some(Operation::Round(Rounding::Nearest)),
        (Type::F32, Type::F32, ["rzi"]) => Some(Operation::Round(Rounding::Zero)),
        (Type::F32, Type::F32, ["rmi"]) => Some(Operation::Round(Rounding::Down)),
        (Type::F32, Type::F32, ["rpi"]) => Some(Operation::Round(Rounding::Up)),
        (Type::F64, Type::F32, []) => Some(Operation::Widen),
        (Type::F32, Type::F64, ["rn"]) => Some(Operation::Narrow),
        _ => None,
    }
}

/// Returns the operation that reads a special register; `None` if it stays interpreted.
pub fn of_special(special: Special) -> Option<Operation> {
    use Special::*;
    Some(match special {
        TidX => Operation::Thread(0),
        TidY => Operation::Thread(1),
        TidZ => Operation::Thread(2),
        LaneId => Operation::Lane,
        CtaidX => Operation::Block(0),
        CtaidY => Operation::Block(1),
        CtaidZ => Operation::Block(2),
        NtidX => Operation::Block(3),
        NtidY => Operation::Block(4),
        NtidZ => Operation::Block(5),
        NctaidX => Operation::Block(6),
        NctaidY => Operation::Block(7),
        NctaidZ => Operation::Block(8),
        _ => return None,
    })
}
