//! Register instructions: any form of the catalogue.

use super::{Generator, pools};
use crate::forms::{Form, written};
use crate::kernel::Slot;
use crate::tree::Node;
use crate::values::{self, Kind};
use cuda_sim::lower::Known;
use cuda_sim::ptx::ast::Type;

impl Generator<'_> {
    /// One ordinary instruction.
    pub fn operation(&mut self) -> Node {
        let forms = self.forms;
        let known = forms.exact.pick(&mut self.dice, self.target);
        let guard = if loses_guard(known) {
            String::new()
        } else {
            self.guard()
        };
        let defs = self.destinations(known);
        let mut lines = Vec::new();
        let uses = self.sources(known, &mut lines);
        let name = written(known);
        if leaves_nan_open(known) {
            let ty = known.defs[0];
            let result = self.temporary(temporaries(ty));
            lines.push(format!("{name} {result}, {};", uses.join(", ")));
            self.one_nan(ty, &result, &mut lines);
            let bits = 8 * ty.bytes();
            lines.push(format!("{guard}mov.b{bits} {}, {result};", defs[0]));
        } else if is_contractable(known) || widens(known) {
            // A register that is zero, which the assembler does not know: it cannot see through.
            let bits = 8 * known.defs[0].bytes();
            let result = self.temporary(temporaries(known.defs[0]));
            lines.push(format!("{name} {result}, {};", uses.join(", ")));
            lines.push(format!(
                "{guard}xor.b{bits} {}, {result}, %zero{bits};",
                defs[0]
            ));
        } else {
            let operands = operands(known, &defs, &uses);
            lines.push(format!("{guard}{name} {operands};"));
        }
        self.code(lines)
    }

    /// An instruction whose answer is compared within bounds: it and its operands go to slots.
    pub fn approximation(&mut self) -> Node {
        if self.approximate.len() >= 5 {
            return self.operation();
        }
        let forms = self.forms;
        let known = forms.approximate.pick(&mut self.dice, self.target);
        let slot = self.approximate.len();
        let mut lines = Vec::new();
        let mut uses = Vec::new();
        for (n, &ty) in known.uses.iter().enumerate() {
            let source = self.register(ty, ty.bytes());
            lines.push(store_bits(ty, &format!("%A{slot}_{n}"), &source));
            uses.push(source);
        }
        let letter = match known.defs[0].bytes() {
            2 => 'v',
            4 => 't',
            _ => 'u',
        };
        let result = self.temporary(letter);
        lines.push(format!("{} {result}, {};", written(known), uses.join(", ")));
        lines.push(store_bits(known.defs[0], &format!("%A{slot}_r"), &result));
        self.approximate.push(Slot::Approximate {
            form: written(known),
            operands: known.uses.len(),
        });
        self.code(lines)
    }

    /// `add.cc`, `addc.cc`, …: two to five in a row, as nothing else keeps the carry.
    pub fn carry_chain(&mut self) -> Node {
        let forms = self.forms;
        let of_chain = |form: &Form, first: bool, bytes: u32| {
            let known = &form.known;
            let reads = known.mnemonic.ends_with('c');
            reads != first && known.defs[0].bytes() == bytes
        };
        let bytes = if self.dice.chance(50) { 4 } else { 8 };
        let mut lines = Vec::new();
        for step in 0..self.dice.between(2, 5) {
            let fits: Vec<&Form> = forms
                .carrying
                .all
                .iter()
                .filter(|form| of_chain(form, step == 0, bytes))
                .collect();
            let known = &fits[self.dice.below(fits.len())].known;
            let defs = self.destinations(known);
            let uses = self.sources(known, &mut Vec::new());
            lines.push(format!(
                "{} {};",
                written(known),
                operands(known, &defs, &uses)
            ));
        }
        self.code(lines)
    }

    /// Registers to write, all different.
    fn destinations(&mut self, known: &Known) -> Vec<String> {
        match known.defs[..] {
            [ty] => {
                let width = self.width(known, ty);
                vec![self.register(ty, width)]
            }
            [Type::Pred, _] => {
                let all = self.pools.predicates();
                let numbers = self.dice.different(2, all);
                numbers.iter().map(|n| format!("%p{n}")).collect()
            }
            [ty, ..] => self.different(ty, ty.bytes(), known.defs.len()),
            [] => Vec::new(),
        }
    }

    /// Bytes of the register for an operand: those of its type, or more where the form allows.
    fn width(&mut self, known: &Known, ty: Type) -> u32 {
        let least = ty.bytes().max(2);
        let exact = ty.is_float() || ty == Type::B32 || known.modifiers.contains(&"bf16");
        if known.mnemonic != "cvt" || exact {
            return least;
        }
        [least, least, (2 * least).min(8), 8][self.dice.below(4)]
    }

    /// Sources: registers, and now and then a literal. What must be prepared goes to `lines`.
    fn sources(&mut self, known: &Known, lines: &mut Vec<String>) -> Vec<String> {
        let mut literals = 0;
        let mut sources = Vec::new();
        for (n, &ty) in known.uses.iter().enumerate() {
            let amount = is_amount(known, n);
            if amount && !known.carries && self.dice.chance(75) {
                // Literals beyond the word are folded wrongly now and then: a field that begins there,
                // a shift of 64 bits under a predicate.
                let most = 8 * known.defs[0].bytes() as usize;
                if self.dice.chance(50) {
                    sources.push(self.dice.below(most).to_string());
                } else {
                    sources.push(self.masked(63, lines));
                }
                continue;
            }
            // What lies beyond is not defined.
            let most = match (known.mnemonic, n) {
                ("fns", 1) => Some(31),
                ("bfe" | "bfi", _) if amount => Some(255),
                _ => None,
            };
            if let Some(most) = most {
                sources.push(self.masked(most, lines));
                continue;
            }
            let literal =
                literals == 0 && !amount && takes_literal(known, n) && self.dice.chance(12);
            literals += usize::from(literal);
            let width = self.width(known, ty);
            sources.push(match ty {
                Type::Pred if matches!(known.mnemonic, "setp" | "set") => self.maybe_not(),
                _ if literal => self.literal(ty),
                // Of a 64-bit shift too the assembler takes the amount for a float, if it was one.
                Type::U32 if amount => {
                    let register = self.register(ty, width);
                    let plain = self.temporary('t');
                    lines.push(format!("xor.b32 {plain}, {register}, %zero32;"));
                    plain
                }
                _ => {
                    let register = self.register(ty, width);
                    self.plain_bits(register, ty, width, lines)
                }
            });
        }
        if known.literal {
            sources.push(self.dice.below(256).to_string());
        }
        sources
    }

    /// Makes any NaN in a register the same one.
    fn one_nan(&mut self, ty: Type, register: &str, lines: &mut Vec<String>) {
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
                self.one_nan(single, &low, lines);
                self.one_nan(single, &high, lines);
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

    /// A source of a form: a register whose bits the assembler cannot take for a float's where it is
    /// wider than the type, as that it would convert.
    pub fn plain_bits(
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
        let plain = self.temporary(match width {
            2 => 'v',
            4 => 't',
            _ => 'u',
        });
        lines.push(format!("xor.b{bits} {plain}, {register}, %zero{bits};"));
        plain
    }

    /// Some bits of a register.
    fn masked(&mut self, mask: u32, lines: &mut Vec<String>) -> String {
        let source = self.register(Type::U32, 4);
        let small = self.temporary('t');
        lines.push(format!("and.b32 {small}, {source}, {mask};"));
        small
    }

    /// A literal of this type, never zero: a division by it would be undefined.
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

    /// A fresh value from the inputs, lest everything becomes NaN or zero.
    pub fn refresh(&mut self) -> Node {
        let kind = Kind::ALL[self.dice.below(Kind::ALL.len())];
        let register = self.of_kind(kind);
        let (place, offset) = (self.temporary('t'), self.temporary('u'));
        let salt = self.dice.below(64);
        let base = 512 * kind as usize;
        let code = vec![
            format!("add.u32 {place}, %thread, {salt};"),
            format!("and.b32 {place}, {place}, 63;"),
            format!("mul.wide.u32 {offset}, {place}, 8;"),
            format!("add.s64 {offset}, {offset}, %inputs;"),
            format!(
                "ld.volatile.global.b{} {register}, [{offset}+{base}];",
                8 * pools::bytes(kind)
            ),
        ];
        self.code(code)
    }
}

/// Moves an operand's bits to a 64-bit register.
pub fn store_bits(ty: Type, to: &str, from: &str) -> String {
    match ty.bytes() {
        2 => format!("cvt.u64.u16 {to}, {from};"),
        4 => format!("cvt.u64.u32 {to}, {from};"),
        _ => format!("mov.b64 {to}, {from};"),
    }
}

/// A product that the assembler may fuse with a sum: no rounding is written.
fn is_contractable(known: &Known) -> bool {
    let rounds = ["rn", "rz", "rm", "rp"];
    known.mnemonic == "mul"
        && known.defs[0].is_float()
        && !known.modifiers.iter().any(|name| rounds.contains(name))
}

/// Forms whose guard NVIDIA's assembler (ptxas of CUDA 13.0, at every level) loses: `testp` writes
/// its predicate all the same, and `set` of a float or by comparing halves changes what it should
/// have left.
fn loses_guard(known: &Known) -> bool {
    matches!(known.mnemonic, "set" | "testp")
}

/// Whether it is open which NaN comes out: of two doubles' NaNs either, as the assembler orders
/// operands; a change of sign, the minimum of a register and itself, and a conversion to the same type
/// may be no instruction at all.
fn leaves_nan_open(known: &Known) -> bool {
    let ty = known.defs[0];
    ty.is_float()
        && match known.mnemonic {
            "min" | "max" | "neg" | "abs" => true,
            "cvt" => known.uses[0] == ty,
            "add" | "sub" | "mul" | "fma" | "mad" | "div" => ty == Type::F64,
            _ => false,
        }
}

/// Sums of 16 bits and their like, which the assembler (ptxas of CUDA 13.0, from -O1 on) may leave in
/// 32 bits: it compares the negative of -32768 as 32768.
fn widens(known: &Known) -> bool {
    known.defs[0] == Type::S16 && known.mnemonic != "cvt"
}

/// The letter of temporary registers for a type.
fn temporaries(ty: Type) -> char {
    match ty.bytes() {
        2 => 'v',
        4 => 't',
        _ => 'u',
    }
}

/// Whether this source counts bits.
fn is_amount(known: &Known, source: usize) -> bool {
    match known.mnemonic {
        "shl" | "shr" | "szext" => source == 1,
        "shf" => source == 2,
        "bfe" => source >= 1,
        "bfi" => source >= 2,
        "bmsk" => true,
        "fns" => source == 2,
        _ => false,
    }
}

/// Whether a literal may stand there.
fn takes_literal(known: &Known, source: usize) -> bool {
    let ty = known.uses[source];
    let plain = !matches!(
        ty,
        Type::Pred
            | Type::F16
            | Type::F16x2
            | Type::BF16
            | Type::BF16x2
            | Type::U16x2
            | Type::S16x2
    );
    plain && known.uses.len() > 1 && known.operand_lengths.iter().all(|&length| length == 1)
}

/// The operands as written: vectors in braces, `p|q`.
fn operands(known: &Known, defs: &[String], uses: &[String]) -> String {
    let mut flat = defs.iter().chain(uses).cloned();
    let mut texts = Vec::new();
    for &length in &known.operand_lengths {
        let parts: Vec<String> = flat.by_ref().take(length).collect();
        texts.push(match length {
            1 => parts[0].clone(),
            _ if known.defs[0] == Type::Pred => parts.join("|"),
            _ => format!("{{{}}}", parts.join(", ")),
        });
    }
    texts.extend(flat);
    texts.join(", ")
}
