//! A catalogue of all valid forms of the register instructions, for tests that must cover the whole
//! instruction set.
//!
//! The forms are found by search: the functions that select an operation are called with candidate modifiers,
//! and a [`FormError::Missing`] names the modifiers to try next.

use super::function::instructions::{Entry, Lowering, TABLE};
use crate::exec::cpu::Cpu;
use crate::exec::ops::{Form, FormError, Op, Select};
use crate::ptx::ast::Type;
use std::collections::BTreeSet;

/// A valid form of a register instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionForm {
    pub mnemonic: &'static str,
    /// The modifiers, in the order in which the PTX ISA writes them.
    pub modifiers: Vec<&'static str>,
    /// The number of registers in each written operand: 1, the length of a vector, or 2 for `p|q`.
    pub operand_lengths: Vec<usize>,
    /// The type of each destination register.
    pub defs: Vec<Type>,
    /// The type of each source register.
    pub uses: Vec<Type>,
    /// True if a literal follows the sources.
    pub literal: bool,
    /// True if the instruction reads or writes the carry flag.
    pub carries: bool,
}

/// Modifiers that precede the types, in their order.
const MODIFIERS_BEFORE_TYPES: &[&str] = &[
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "lo",
    "ls",
    "hi",
    "hs",
    "equ",
    "neu",
    "ltu",
    "leu",
    "gtu",
    "geu",
    "num",
    "nan",
    "wide",
    "l",
    "r",
    "clamp",
    "wrap",
    "shiftamt",
    "finite",
    "infinite",
    "number",
    "notanumber",
    "normal",
    "subnormal",
    "approx",
    "full",
    "rn",
    "rz",
    "rm",
    "rp",
    "rni",
    "rzi",
    "rmi",
    "rpi",
    "rna",
    "and",
    "or",
    "xor",
    "ftz",
    "NaN",
    "xorsign",
    "abs",
    "sat",
    "relu",
    "cc",
];

/// Modifiers that follow the types (`prmt`, and the third type of `cvt.pack`).
const MODIFIERS_AFTER_TYPES: &[&str] = &["f4e", "b4e", "rc8", "ecl", "ecr", "rc16", "b32"];

/// Types that a form may name. No register has type `tf32` or a type of 2 or 4 bits.
const TYPES: &[&str] = &[
    "b16", "b32", "b64", "u2", "u4", "u8", "u16", "u16x2", "u32", "u64", "s2", "s4", "s8", "s16",
    "s16x2", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "tf32", "f32", "f32x2", "f64", "pred",
];

/// Returns all forms of the register instructions, grouped by mnemonic.
pub fn catalogue() -> Vec<InstructionForm> {
    let mut forms = Vec::new();
    for entry in &TABLE {
        let Lowering::Registers(select) = entry.lowering else {
            continue;
        };
        for types in type_lists(entry) {
            for lengths in entry.lengths {
                Search {
                    mnemonic: entry.name,
                    select,
                    types: &types,
                    lengths,
                    tried: BTreeSet::new(),
                    forms: &mut forms,
                }
                .from(Vec::new());
            }
        }
    }
    forms
}

/// Returns the candidate type lists: single types, or pairs if the instruction names two types.
fn type_lists(entry: &Entry) -> Vec<Vec<&'static str>> {
    let single = TYPES.iter().map(|&ty| vec![ty]);
    let pairs = TYPES
        .iter()
        .flat_map(|&a| TYPES.iter().map(move |&b| vec![a, b]));
    if entry.two_types {
        pairs.collect()
    } else {
        single.collect()
    }
}

/// A search for the modifiers that are valid with a list of types.
struct Search<'a> {
    mnemonic: &'static str,
    select: Select,
    types: &'a [&'static str],
    lengths: &'static [usize],
    tried: BTreeSet<Vec<usize>>,
    forms: &'a mut Vec<InstructionForm>,
}

impl Search<'_> {
    /// Tries the modifiers at the given indices of [`MODIFIERS_BEFORE_TYPES`] followed by
    /// [`MODIFIERS_AFTER_TYPES`], then recurses with one more.
    fn from(&mut self, indices: Vec<usize>) {
        if !self.tried.insert(indices.clone()) {
            return;
        }
        let name = |index: usize| match MODIFIERS_BEFORE_TYPES.get(index) {
            Some(name) => *name,
            None => MODIFIERS_AFTER_TYPES[index - MODIFIERS_BEFORE_TYPES.len()],
        };
        let (before, after): (Vec<usize>, Vec<usize>) = indices
            .iter()
            .partition(|&&index| index < MODIFIERS_BEFORE_TYPES.len());
        let modifiers: Vec<&'static str> = before
            .into_iter()
            .map(name)
            .chain(self.types.iter().copied())
            .chain(after.into_iter().map(name))
            .collect();
        let mut form = Form::new(&modifiers, self.lengths.len());
        form.operand_lengths = self.lengths.to_vec();
        // If a modifier is missing, only the modifiers that the error names are worth trying.
        let missing = match (self.select)(&form, Cpu::detect()) {
            Ok(op) => {
                self.record(modifiers, op);
                None
            }
            Err(FormError::Missing(names)) => Some(names),
            _ => return,
        };
        for index in 0..MODIFIERS_BEFORE_TYPES.len() + MODIFIERS_AFTER_TYPES.len() {
            let is_missing = |names: &str| {
                names
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|word| word == name(index))
            };
            if !indices.contains(&index) && missing.is_none_or(is_missing) {
                let mut more = indices.clone();
                more.push(index);
                more.sort_unstable();
                self.from(more);
            }
        }
    }

    fn record(&mut self, modifiers: Vec<&'static str>, op: Op) {
        let registers = op.defs.len() + op.uses.len();
        // Registers beyond the listed lengths are scalar operands.
        let mut operand_lengths = self.lengths.to_vec();
        while operand_lengths.iter().sum::<usize>() < registers {
            operand_lengths.push(1);
        }
        self.forms.push(InstructionForm {
            mnemonic: self.mnemonic,
            modifiers,
            operand_lengths,
            defs: op.defs,
            uses: op.uses,
            literal: op.literal,
            carries: op.carries,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::function::instructions::find;

    #[test]
    fn has_forms_of_every_family() {
        let spelled: Vec<String> = catalogue()
            .iter()
            .map(|form| format!("{}.{}", form.mnemonic, form.modifiers.join(".")))
            .collect();
        for form in [
            "mad.hi.sat.s32",
            "madc.lo.cc.u32",
            "fma.rz.ftz.sat.f32",
            "min.ftz.NaN.xorsign.abs.f32",
            "fma.rn.relu.bf16x2",
            "setp.geu.xor.ftz.f32",
            "set.lo.u32.u64",
            "cvt.rn.relu.f16x2.f32",
            "cvt.rpi.ftz.sat.f32.f32",
            "cvt.rna.tf32.f32",
            "prmt.b32.rc16",
            "bfind.shiftamt.s64",
            "rcp.approx.ftz.f64",
            "mov.pred",
            "add.s16x2",
            "max.relu.s16x2",
            "set.ltu.ftz.f16x2.f16x2",
            "setp.num.xor.bf16x2",
            "set.eq.f16.u64",
            "cvt.pack.sat.u16.s32",
            "cvt.pack.sat.s2.s32.b32",
            "fma.rz.ftz.f32x2",
            "min.ftz.NaN.abs.f32",
        ] {
            assert!(spelled.iter().any(|name| name == form), "{form}");
        }
        assert!(spelled.len() > 1000, "{}", spelled.len());
    }

    #[test]
    fn has_forms_of_every_register_instruction_and_of_no_other() {
        let forms = catalogue();
        for entry in &TABLE {
            let has_forms = forms.iter().any(|form| form.mnemonic == entry.name);
            let registers = matches!(entry.lowering, Lowering::Registers(_));
            assert_eq!(has_forms, registers, "{}", entry.name);
        }
        // Instructions with lowering methods of their own.
        for mnemonic in ["ld", "st", "atom", "bra", "shfl", "cvta", "mma"] {
            let elsewhere = find(mnemonic, &["f32"]).map(|entry| entry.lowering);
            assert!(
                matches!(elsewhere, Some(Lowering::Lowered(_))),
                "{mnemonic}"
            );
        }
    }
}
