//! Every written form that [`select`] takes, found by asking it: what it answers to a form that
//! lacks something says what to try next. Programs that test the instruction set take it from here,
//! so that none is forgotten.

use super::form::{Form, FormError, Op};
use super::select;
use crate::exec::cpu::Cpu;
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

/// Mnemonics of the register instructions.
const MNEMONICS: &[&str] = &[
    "abs", "add", "addc", "and", "bfe", "bfi", "bfind", "bmsk", "brev", "clz", "cnot", "copysign",
    "cos", "cvt", "div", "dp2a", "dp4a", "ex2", "fma", "fns", "lg2", "lop3", "mad", "mad24",
    "madc", "max", "min", "mov", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem",
    "rsqrt", "sad", "selp", "set", "setp", "shf", "shl", "shr", "sin", "slct", "sqrt", "sub",
    "subc", "szext", "tanh", "testp", "xor",
];

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

/// Modifiers that stand after them (`prmt`).
const AFTER: &[&str] = &["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];

/// Types a form may name; `tf32` is one that no register has.
const TYPES: &[&str] = &[
    "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2",
    "bf16", "bf16x2", "tf32", "f32", "f64", "pred",
];

/// Every form of the register instructions, by mnemonic.
pub fn catalogue() -> Vec<Known> {
    let mut found = Vec::new();
    for &mnemonic in MNEMONICS {
        for types in type_lists(mnemonic) {
            for lengths in shapes(mnemonic) {
                Search {
                    mnemonic,
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

/// One type, or two where the mnemonic may have two.
fn type_lists(mnemonic: &str) -> Vec<Vec<&'static str>> {
    let two = matches!(mnemonic, "cvt" | "set" | "slct" | "dp4a" | "dp2a");
    let one = TYPES.iter().map(|&ty| vec![ty]);
    let both = TYPES
        .iter()
        .flat_map(|&a| TYPES.iter().map(move |&b| vec![a, b]));
    if two { both.collect() } else { one.collect() }
}

/// How registers stand in the operands.
fn shapes(mnemonic: &str) -> &'static [&'static [usize]] {
    match mnemonic {
        "mov" => &[&[1, 1], &[2, 1], &[4, 1], &[1, 2], &[1, 4]],
        "setp" => &[&[1, 1, 1], &[2, 1, 1]],
        _ => &[&[]],
    }
}

/// Looks for the modifiers that go with a list of types.
struct Search<'a> {
    mnemonic: &'static str,
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
        let mut form = Form::new(self.mnemonic, &modifiers, self.lengths.len());
        form.operand_lengths = self.lengths.to_vec();
        // Only names that the answer asks for are worth trying where something is missing.
        let wanted = match select(&form, Cpu::detect()) {
            Ok(Some(op)) => {
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
        let written: usize = self.lengths.iter().sum();
        if self.mnemonic == "mov" && written != registers {
            return;
        }
        self.found.push(Known {
            mnemonic: self.mnemonic,
            modifiers,
            operand_lengths: match self.mnemonic {
                "mov" => self.lengths.to_vec(),
                _ if op.defs.len() == 2 => [vec![2], vec![1; op.uses.len()]].concat(),
                _ => vec![1; registers],
            },
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
        ] {
            assert!(written.iter().any(|known| known == form), "{form}");
        }
        assert!(written.len() > 1000, "{}", written.len());
    }

    #[test]
    fn knows_every_mnemonic_that_is_taken() {
        // What takes a form without a type asks for one, or for a modifier.
        for mnemonic in MNEMONICS {
            let form = Form::new(mnemonic, &[], 0);
            assert!(
                !matches!(select(&form, Cpu::detect()), Ok(None)),
                "{mnemonic}"
            );
        }
        // The answers that name no family are those of instructions lowered elsewhere.
        for mnemonic in ["ld", "st", "atom", "bra", "shfl", "cvta", "mma"] {
            let form = Form::new(mnemonic, &["f32"], 0);
            assert!(
                matches!(select(&form, Cpu::detect()), Ok(None)),
                "{mnemonic}"
            );
        }
    }
}
