//! `cvt.pack`: packs two integers, each clamped to a few bits, into one register. Source: PTX ISA, section
//! 9.7.9.

use crate::exec::cpu::Cpu;
use crate::exec::lanewise::{map2_imm, map3_imm};
use crate::exec::ops::form::{Form, FormError, Op};
use crate::isa::Class;
use crate::ptx::ast::Type;

/// Target types and their widths in bits.
const TARGETS: [(&str, u32); 8] = [
    ("s16", 16),
    ("u16", 16),
    ("s8", 8),
    ("u8", 8),
    ("s4", 4),
    ("u4", 4),
    ("s2", 2),
    ("u2", 2),
];

/// Selects `cvt.pack`.
pub fn pack(form: &Form, cpu: Cpu) -> Result<Op, FormError> {
    form.has("pack");
    form.required(&["sat"], ".sat")?;
    // The first type is the target type.
    const ALL: &str = ".s16, .u16, .s8, .u8, .s4, .u4, .s2, .u2";
    let mut names = TARGETS.map(|(name, _)| name).to_vec();
    names.push("s32");
    let first = form.required(&names, ALL)?;
    let target = TARGETS.iter().find(|(name, _)| *name == first);
    let &(target, bits) = target.ok_or(FormError::Missing(ALL))?;
    form.required(&["s32"], ".s32 after the target type")?;
    let code = u64::from(bits) | u64::from(target.starts_with('s')) << 8;
    let mut uses = vec![Type::S32, Type::S32];
    let run = if bits == 16 {
        map2_imm(cpu, |a: i32, b: i32, code| pack_clamped(a, b, 0, code))
    } else {
        // Previous contents move up.
        form.required(&["b32"], ".b32")?;
        uses.push(Type::B32);
        map3_imm(cpu, |a: i32, b: i32, c: u32, code| {
            pack_clamped(a, b, c, code)
        })
    };
    form.end()?;
    Ok(Op::new(Class::Integer, &[Type::B32], &uses, run).with_imm(code))
}

/// Returns `b` in the lowest bits, `a` above it, and the part of `before` that fits above both.
#[inline(always)]
fn pack_clamped(a: i32, b: i32, before: u32, code: u64) -> u32 {
    let (bits, signed) = (code as u32 & 0xff, code >> 8 != 0);
    let (min, max) = if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    let clamped = |x: i32| x.clamp(min, max) as u32 & ((1 << bits) - 1);
    let previous = if bits == 16 { 0 } else { before << (2 * bits) };
    previous | clamped(a) << bits | clamped(b)
}
