//! Every written form of the register instructions, found by asking what finds their operations: what it
//! answers to a form that lacks something says what to try next. Programs that test the instruction set take it from here,
//! so that none is forgotten.

use super::function::instructions::{Entry, How, TABLE};
use crate::exec::cpu::Cpu;
use crate::exec::ops::{Form, FormError, Op, Select};
use crate::ptx::ast::Type;
use std::collections::BTreeSet;

/// A form that the simulator runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub mnemonic: &'static str,
    /// In the order in which the PTX ISA writes them.
    pub modifiers: Vec<&'static str>,
    /// Registers in each written operand: 1, the length of a vector, 2 for `p|q`.
    pub operand_lengths: Vec<usize>,
    /// Types of the destinations, and of the sources, each register by itself.
    pub defs: Vec<Type>,
    pub uses: Vec<Type>,
    /// A literal follows the sources.
    pub literal: bool,
    /// Reads or writes the carry.
    pub carries: bool,
}

/// Modifiers that stand before the types, in their order.
const BEFORE: &[&str] = &[
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

/// Modifiers that stand after them (`prmt`, and the third type of `cvt.pack`).
const AFTER: &[&str] = &["f4e", "b4e", "rc8", "ecl", "ecr", "rc16", "b32"];

/// Types a form may name; `tf32` and those of 2 and 4 bits are such that no register has.
const TYPES: &[&str] = &[
    "b16", "b32", "b64", "u2", "u4", "u8", "u16", "u16x2", "u32", "u64", "s2", "s4", "s8", "s16",
    "s16x2", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "tf32", "f32", "f32x2", "f64", "pred",
];

/// Every form of the register instructions, by mnemonic.
pub fn catalogue() -> Vec<Known> {
    let mut found = Vec::new();
    for entry in &TABLE {
        let How::Registers(select) = entry.how else {
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
                    found: &mut found,
                }
                .from(Vec::new());
            }
        }
    }
    found
}

/// One type, or two where the instruction names two.
fn type_lists(entry: &Entry) -> Vec<Vec<&'static str>> {
    let one = TYPES.iter().map(|&ty| vec![ty]);
    let both = TYPES
        .iter()
        .flat_map(|&a| TYPES.iter().map(move |&b| vec![a, b]));
    if entry.two_types {
        both.collect()
    } else {
        one.collect()
    }
}

/// Looks for the modifiers that go with a list of types.
struct Search<'a> {
    mnemonic: &'static str,
    select: Select,
    types: &'a [&'static str],
    lengths: &'static [usize],
    tried: BTreeSet<Vec<usize>>,
    found: &'a mut Vec<Known>,
}

impl Search<'_> {
    /// Tries the modifiers at these places of [`BEFORE`] and [`AFTER`], in order, and those with one
    /// more.
    fn from(&mut self, places: Vec<usize>) {
        if !self.tried.insert(places.clone()) {
            return;
        }
        let name = |place: usize| match BEFORE.get(place) {
            Some(name) => *name,
            None => AFTER[place - BEFORE.len()],
        };
        let (before, after): (Vec<usize>, Vec<usize>) =
            places.iter().partition(|&&place| place < BEFORE.len());
        let modifiers: Vec<&'static str> = before
            .into_iter()
            .map(name)
            .chain(self.types.iter().copied())
            .chain(after.into_iter().map(name))
            .collect();
        let mut form = Form::new(&modifiers, self.lengths.len());
        form.operand_lengths = self.lengths.to_vec();
        // Only names that the answer asks for are worth trying where something is missing.
        let wanted = match (self.select)(&form, Cpu::detect()) {
            Ok(op) => {
                self.keep(modifiers, op);
                None
            }
            Err(FormError::Missing(names)) => Some(names),
            _ => return,
        };
        for place in 0..BEFORE.len() + AFTER.len() {
            let asked = |names: &str| {
                names
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|word| word == name(place))
            };
            if !places.contains(&place) && wanted.is_none_or(asked) {
                let mut more = places.clone();
                more.push(place);
                more.sort_unstable();
                self.from(more);
            }
        }
    }

    fn keep(&mut self, modifiers: Vec<&'static str>, op: Op) {
        let registers = op.defs.len() + op.uses.len();
        // What the lengths say nothing of stands by itself.
        let mut operand_lengths = self.lengths.to_vec();
        while operand_lengths.iter().sum::<usize>() < registers {
            operand_lengths.push(1);
        }
        self.found.push(Known {
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
        let written: Vec<String> = catalogue()
            .iter()
            .map(|known| format!("{}.{}", known.mnemonic, known.modifiers.join(".")))
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
            assert!(written.iter().any(|known| known == form), "{form}");
        }
        assert!(written.len() > 1000, "{}", written.len());
    }

    #[test]
    fn has_forms_of_every_register_instruction_and_of_no_other() {
        let known = catalogue();
        for entry in &TABLE {
            let has_forms = known.iter().any(|known| known.mnemonic == entry.name);
            let registers = matches!(entry.how, How::Registers(_));
            assert_eq!(has_forms, registers, "{}", entry.name);
        }
        // Instructions that are lowered elsewhere.
        for mnemonic in ["ld", "st", "atom", "bra", "shfl", "cvta", "mma"] {
            let elsewhere = find(mnemonic, &["f32"]).map(|entry| entry.how);
            assert!(matches!(elsewhere, Some(How::Lowered(_))), "{mnemonic}");
        }
    }
}
