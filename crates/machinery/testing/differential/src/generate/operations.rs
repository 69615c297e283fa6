//! Register instructions, in any form of the catalogue.

use super::{Generator, bytes};
use crate::forms::{TargetedForm, form_name};
use crate::kernel::{Node, Slot};
use crate::values::{self, Kind};
use cuda_sim::lower::InstructionForm;
use cuda_sim::ptx::ast::Type;

impl Generator<'_> {
    /// Generates an instruction with an exact result.
    pub fn operation(&mut self) -> Node {
        let forms = self.forms;
        let form = forms.exact.pick(&mut self.dice, self.target);
        let guard = if ignores_guard(form) {
            String::new()
        } else {
            self.guard()
        };
        let defs = self.destinations(form);
        let mut lines = Vec::new();
        let uses = self.sources(form, &mut lines);
        let name = form_name(form);
        if has_unspecified_nan(form) {
            let ty = form.defs[0];
            let result = self.temporary(temporary_letter(ty));
            lines.push(format!("{name} {result}, {};", uses.join(", ")));
            self.canonicalize_nan(ty, &result, &mut lines);
            let bits = 8 * ty.bytes();
            lines.push(format!("{guard}mov.b{bits} {}, {result};", defs[0]));
        } else if is_fusable(form) || may_widen(form) {
            // The assembler cannot optimize across the `xor`, because it does not know that the register is
            // zero.
            let bits = 8 * form.defs[0].bytes();
            let result = self.temporary(temporary_letter(form.defs[0]));
            lines.push(format!("{name} {result}, {};", uses.join(", ")));
            lines.push(format!(
                "{guard}xor.b{bits} {}, {result}, %zero{bits};",
                defs[0]
            ));
        } else {
            let operands = operands(form, &defs, &uses);
            lines.push(format!("{guard}{name} {operands};"));
        }
        self.code(lines)
    }

    /// Generates an approximate instruction. Writes its result and operands to slots, where results are
    /// compared within bounds.
    pub fn approximation(&mut self) -> Node {
        if self.approximate.len() >= 5 {
            return self.operation();
        }
        let forms = self.forms;
        let form = forms.approximate.pick(&mut self.dice, self.target);
        let slot = self.approximate.len();
        let mut lines = Vec::new();
        let mut uses = Vec::new();
        for (n, &ty) in form.uses.iter().enumerate() {
            let source = self.register(ty, ty.bytes());
            lines.push(store_bits(ty, &format!("%A{slot}_{n}"), &source));
            uses.push(source);
        }
        let letter = match form.defs[0].bytes() {
            2 => 'v',
            4 => 't',
            _ => 'u',
        };
        let result = self.temporary(letter);
        lines.push(format!(
            "{} {result}, {};",
            form_name(form),
            uses.join(", ")
        ));
        lines.push(store_bits(form.defs[0], &format!("%A{slot}_r"), &result));
        self.approximate.push(Slot::Approximate {
            form: form_name(form),
            operands: form.uses.len(),
        });
        self.code(lines)
    }

    /// Generates a carry chain (`add.cc`, `addc.cc`, …) of two to five instructions in a row, because other
    /// instructions may clobber the carry flag.
    pub fn carry_chain(&mut self) -> Node {
        let forms = self.forms;
        let fits_chain = |candidate: &TargetedForm, first: bool, bytes: u32| {
            let form = &candidate.form;
            let reads = form.mnemonic.ends_with('c');
            reads != first && form.defs[0].bytes() == bytes
        };
        let bytes = if self.dice.chance(50) { 4 } else { 8 };
        let mut lines = Vec::new();
        for step in 0..self.dice.between(2, 5) {
            let fits: Vec<&TargetedForm> = forms
                .carry
                .all
                .iter()
                .filter(|form| fits_chain(form, step == 0, bytes))
                .collect();
            let form = &fits[self.dice.below(fits.len())].form;
            let defs = self.destinations(form);
            let uses = self.sources(form, &mut Vec::new());
            lines.push(format!(
                "{} {};",
                form_name(form),
                operands(form, &defs, &uses)
            ));
        }
        self.code(lines)
    }

    /// Returns distinct registers for the results.
    fn destinations(&mut self, form: &InstructionForm) -> Vec<String> {
        match form.defs[..] {
            [ty] => {
                let width = self.width(form, ty);
                vec![self.register(ty, width)]
            }
            [Type::Pred, _] => {
                let all = self.pools.predicates();
                let numbers = self.dice.sample(2, all);
                numbers.iter().map(|n| format!("%p{n}")).collect()
            }
            [ty, ..] => self.distinct_registers(ty, ty.bytes(), form.defs.len()),
            [] => Vec::new(),
        }
    }

    /// Returns the width in bytes of an operand's register: the type's, or more if the form allows it.
    fn width(&mut self, form: &InstructionForm, ty: Type) -> u32 {
        let natural = ty.bytes().max(2);
        let exact = ty.is_float() || ty == Type::B32 || form.modifiers.contains(&"bf16");
        if form.mnemonic != "cvt" || exact {
            return natural;
        }
        [natural, natural, (2 * natural).min(8), 8][self.dice.below(4)]
    }

    /// Returns the source operands: registers, and sometimes a literal. Preparatory instructions are appended
    /// to `lines`.
    fn sources(&mut self, form: &InstructionForm, lines: &mut Vec<String>) -> Vec<String> {
        let mut literals = 0;
        let mut sources = Vec::new();
        for (n, &ty) in form.uses.iter().enumerate() {
            let is_count = is_bit_count(form, n);
            if is_count && !form.carries && self.dice.chance(75) {
                // The assembler sometimes miscompiles literals beyond the word: a bit field that
                // begins there, or a shift by 64 bits under a predicate.
                let max = 8 * form.defs[0].bytes() as usize;
                if self.dice.chance(50) {
                    sources.push(self.dice.below(max).to_string());
                } else {
                    sources.push(self.masked(63, lines));
                }
                continue;
            }
            // Larger values give undefined results.
            let max = match (form.mnemonic, n) {
                ("fns", 1) => Some(31),
                ("bfe" | "bfi", _) if is_count => Some(255),
                _ => None,
            };
            if let Some(max) = max {
                sources.push(self.masked(max, lines));
                continue;
            }
            let literal =
                literals == 0 && !is_count && may_be_literal(form, n) && self.dice.chance(12);
            literals += usize::from(literal);
            let width = self.width(form, ty);
            sources.push(match ty {
                Type::Pred if matches!(form.mnemonic, "setp" | "set") => {
                    self.maybe_negated_predicate()
                }
                _ if literal => self.literal(ty),
                // The assembler misreads the amount of a 64-bit shift, too, if the register held a float.
                Type::U32 if is_count => {
                    let register = self.register(ty, width);
                    let opaque = self.temporary('t');
                    lines.push(format!("xor.b32 {opaque}, {register}, %zero32;"));
                    opaque
                }
                _ => {
                    let register = self.register(ty, width);
                    self.opaque_bits(register, ty, width, lines)
                }
            });
        }
        if form.literal {
            sources.push(self.dice.below(256).to_string());
        }
        sources
    }

    /// Generates code that replaces any NaN in a register by the canonical one.
    fn canonicalize_nan(&mut self, ty: Type, register: &str, lines: &mut Vec<String>) {
        let is_nan = self.temporary('q');
        match ty {
            Type::F32 | Type::F64 => {
                let name = ty.modifier();
                let bits = 8 * ty.bytes();
                let nan = if bits == 32 {
                    "0x7fffffff"
                } else {
                    "0x7ff8000000000000"
                };
                lines.push(format!("testp.notanumber.{name} {is_nan}, {register};"));
                lines.push(format!("@{is_nan} mov.b{bits} {register}, {nan};"));
            }
            Type::F16x2 | Type::BF16x2 => {
                let single = if ty == Type::F16x2 {
                    Type::F16
                } else {
                    Type::BF16
                };
                let (low, high) = (self.temporary('v'), self.temporary('v'));
                lines.push(format!("mov.b32 {{{low}, {high}}}, {register};"));
                self.canonicalize_nan(single, &low, lines);
                self.canonicalize_nan(single, &high, lines);
                lines.push(format!("mov.b32 {register}, {{{low}, {high}}};"));
            }
            _ => {
                let infinity = if ty == Type::F16 { "0x7c00" } else { "0x7f80" };
                let magnitude = self.temporary('v');
                lines.push(format!("and.b16 {magnitude}, {register}, 0x7fff;"));
                lines.push(format!("setp.gt.u16 {is_nan}, {magnitude}, {infinity};"));
                lines.push(format!("@{is_nan} mov.b16 {register}, 0x7fff;"));
            }
        }
    }

    /// Returns a source operand whose origin is hidden from the assembler if its register is wider than the
    /// type: if the bits came from a float, the assembler would convert it.
    pub fn opaque_bits(
        &mut self,
        register: String,
        ty: Type,
        width: u32,
        lines: &mut Vec<String>,
    ) -> String {
        if ty == Type::Pred || width <= ty.bytes() {
            return register;
        }
        let bits = 8 * width;
        let opaque = self.temporary(match width {
            2 => 'v',
            4 => 't',
            _ => 'u',
        });
        lines.push(format!("xor.b{bits} {opaque}, {register}, %zero{bits};"));
        opaque
    }

    /// Returns a register with the masked bits of another one.
    fn masked(&mut self, mask: u32, lines: &mut Vec<String>) -> String {
        let source = self.register(Type::U32, 4);
        let small = self.temporary('t');
        lines.push(format!("and.b32 {small}, {source}, {mask};"));
        small
    }

    /// Returns a literal of the type. Zero is excluded because division by it is undefined.
    pub fn literal(&mut self, ty: Type) -> String {
        loop {
            let text = match ty {
                Type::F32 => {
                    let value = values::single(&mut self.dice);
                    (!f32::from_bits(value).is_nan()).then(|| format!("0f{value:08X}"))
                }
                Type::F64 => {
                    let value = values::double(&mut self.dice);
                    (!f64::from_bits(value).is_nan()).then(|| format!("0d{value:016X}"))
                }
                _ => {
                    let bits = 8 * ty.bytes();
                    let value = values::integer(&mut self.dice, bits);
                    let signed = (value << (64 - bits)) as i64 >> (64 - bits);
                    (value != 0).then(|| {
                        if ty.is_signed() && signed != i64::MIN {
                            signed.to_string()
                        } else {
                            format!("0x{value:x}")
                        }
                    })
                }
            };
            if let Some(text) = text {
                return text;
            }
        }
    }

    /// Generates a load of a fresh value from the inputs, so that not all values decay to NaN or zero.
    pub fn refresh(&mut self) -> Node {
        let kind = Kind::ALL[self.dice.below(Kind::ALL.len())];
        let register = self.register_of_kind(kind);
        let (index, offset) = (self.temporary('t'), self.temporary('u'));
        let salt = self.dice.below(64);
        let base = 512 * kind as usize;
        let code = vec![
            format!("add.u32 {index}, %thread, {salt};"),
            format!("and.b32 {index}, {index}, 63;"),
            format!("mul.wide.u32 {offset}, {index}, 8;"),
            format!("add.s64 {offset}, {offset}, %inputs;"),
            format!(
                "ld.volatile.global.b{} {register}, [{offset}+{base}];",
                8 * bytes(kind)
            ),
        ];
        self.code(code)
    }
}

/// Returns an instruction that moves an operand's bits to a 64-bit register.
pub fn store_bits(ty: Type, to: &str, from: &str) -> String {
    match ty.bytes() {
        2 => format!("cvt.u64.u16 {to}, {from};"),
        4 => format!("cvt.u64.u32 {to}, {from};"),
        _ => format!("mov.b64 {to}, {from};"),
    }
}

/// Returns true for a product that the assembler may fuse with a sum, because no rounding mode is given.
fn is_fusable(form: &InstructionForm) -> bool {
    let rounds = ["rn", "rz", "rm", "rp"];
    form.mnemonic == "mul"
        && form.defs[0].is_float()
        && !form.modifiers.iter().any(|name| rounds.contains(name))
}

/// Returns true for forms whose guard NVIDIA's assembler (ptxas of CUDA 13.0, at every level) ignores: `testp`
/// writes its predicate even if the guard is false, and so does a `set` with a float result or one that
/// compares halves.
fn ignores_guard(form: &InstructionForm) -> bool {
    matches!(form.mnemonic, "set" | "testp")
}

/// Returns true if PTX does not specify which NaN the form returns: for two NaN doubles it may be either,
/// because the assembler may reorder operands; a negation, the minimum of a register and itself, and a
/// conversion to the same type may be optimized away.
fn has_unspecified_nan(form: &InstructionForm) -> bool {
    let ty = form.defs[0];
    ty.is_float()
        && match form.mnemonic {
            "min" | "max" | "neg" | "abs" => true,
            "cvt" => form.uses[0] == ty,
            "add" | "sub" | "mul" | "fma" | "mad" | "div" => ty == Type::F64,
            _ => false,
        }
}

/// Returns true for 16-bit sums and similar forms whose result the assembler (ptxas of CUDA 13.0, from -O1
/// on) may leave in 32 bits: it compares the negation of -32768 as 32768.
fn may_widen(form: &InstructionForm) -> bool {
    form.defs[0] == Type::S16 && form.mnemonic != "cvt"
}

/// Returns the letter of the temporary registers for a type.
fn temporary_letter(ty: Type) -> char {
    match ty.bytes() {
        2 => 'v',
        4 => 't',
        _ => 'u',
    }
}

/// Returns true if this source is a number of bits.
fn is_bit_count(form: &InstructionForm, source: usize) -> bool {
    match form.mnemonic {
        "shl" | "shr" | "szext" => source == 1,
        "shf" => source == 2,
        "bfe" => source >= 1,
        "bfi" => source >= 2,
        "bmsk" => true,
        "fns" => source == 2,
        _ => false,
    }
}

/// Returns true if this source may be a literal.
fn may_be_literal(form: &InstructionForm, source: usize) -> bool {
    let ty = form.uses[source];
    let has_literals = !matches!(
        ty,
        Type::Pred
            | Type::F16
            | Type::F16x2
            | Type::BF16
            | Type::BF16x2
            | Type::U16x2
            | Type::S16x2
    );
    has_literals && form.uses.len() > 1 && form.operand_lengths.iter().all(|&length| length == 1)
}

/// Formats the operands: vectors in braces, pairs of predicates as `p|q`.
fn operands(form: &InstructionForm, defs: &[String], uses: &[String]) -> String {
    let mut flat = defs.iter().chain(uses).cloned();
    let mut texts = Vec::new();
    for &length in &form.operand_lengths {
        let parts: Vec<String> = flat.by_ref().take(length).collect();
        texts.push(match length {
            1 => parts[0].clone(),
            _ if form.defs[0] == Type::Pred => parts.join("|"),
            _ => format!("{{{}}}", parts.join(", ")),
        });
    }
    texts.extend(flat);
    texts.join(", ")
}
