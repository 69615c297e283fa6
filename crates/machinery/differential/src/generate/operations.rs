//! Register instructions: any form of the catalogue.

use super::{Generator, pools};
use crate::forms::{Form, written};
use crate::kernel::Slot;
use crate::tree::Node;
use crate::values::{self, Kind};
use cuda_sim::exec::Known;
use cuda_sim::ptx::ast::Type;

impl Generator<'_> {
    /// One ordinary instruction.
    pub fn operation(&mut self) -> Node {
        let forms = self.forms;
        let known = loop {
            let known = forms.exact.pick(&mut self.dice, self.target);
            if self.assembles(known) {
                break known;
            }
        };
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
            let (letter, bits, nan) = match known.defs[0] {
                Type::F32 => ('t', 32, "0x7fffffff"),
                _ => ('u', 64, "0x7ff8000000000000"),
            };
            let (result, is_nan) = (self.temporary(letter), self.temporary('q'));
            lines.push(format!("{name} {result}, {};", uses.join(", ")));
            lines.push(format!("testp.notanumber.f{bits} {is_nan}, {result};"));
            lines.push(format!("@{is_nan} mov.b{bits} {result}, {nan};"));
            lines.push(format!("{guard}mov.b{bits} {}, {result};", defs[0]));
        } else if is_contractable(known) {
            // A register that is zero, which the assembler does not know: the product cannot be
            // fused with a sum any more.
            let (letter, zero, bits) = match known.defs[0].bytes() {
                2 => ('v', "%zero16", 16),
                4 => ('t', "%zero32", 32),
                _ => ('u', "%zero64", 64),
            };
            let product = self.temporary(letter);
            lines.push(format!("{name} {product}, {};", uses.join(", ")));
            lines.push(format!(
                "{guard}xor.b{bits} {}, {product}, {zero};",
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
        let of_chain = |form: &Form, adds: bool, first: bool, bytes: u32| {
            let known = &form.known;
            let adding = !known.mnemonic.starts_with("sub");
            let reads = known.mnemonic.ends_with('c');
            adding == adds && reads != first && known.defs[0].bytes() == bytes
        };
        let adds = self.dice.chance(70);
        let bytes = if self.dice.chance(50) { 4 } else { 8 };
        let mut lines = Vec::new();
        for step in 0..self.dice.between(2, 5) {
            let fits: Vec<&Form> = forms
                .carrying
                .all
                .iter()
                .filter(|form| of_chain(form, adds, step == 0, bytes))
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

    /// Whether the assembler makes of the form what it should. In larger kernels `set` of 1.0 becomes an
    /// integer 1 (ptxas of CUDA 13.0, from -O1 on; at -O0 it is right).
    fn assembles(&self, known: &Known) -> bool {
        self.plainly || known.mnemonic != "set" || known.defs[0] != Type::F32
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
                // A field that begins beyond the word is folded wrongly where it is a literal.
                let most = if known.mnemonic == "bfe" { 32 } else { 70 };
                if self.dice.chance(50) {
                    sources.push(self.dice.below(most).to_string());
                } else {
                    sources.push(self.masked(63, lines));
                }
                continue;
            }
            if amount && matches!(known.mnemonic, "bfe" | "bfi") {
                // Only these are defined.
                sources.push(self.masked(255, lines));
                continue;
            }
            let literal =
                literals == 0 && !amount && takes_literal(known, n) && self.dice.chance(12);
            literals += usize::from(literal);
            let width = self.width(known, ty);
            sources.push(match ty {
                Type::Pred if matches!(known.mnemonic, "setp" | "set") => self.maybe_not(),
                _ if literal => self.literal(ty),
                _ => self.register(ty, width),
            });
        }
        if known.literal {
            sources.push(self.dice.below(256).to_string());
        }
        sources
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
                "ld.global.b{} {register}, [{offset}+{base}];",
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

/// Whether it is open which NaN comes out: of two NaNs either, as the assembler orders operands; and
/// the minimum of a register and itself is the register.
fn leaves_nan_open(known: &Known) -> bool {
    let extremum = matches!(known.mnemonic, "min" | "max");
    let arithmetic = matches!(
        known.mnemonic,
        "add" | "sub" | "mul" | "fma" | "mad" | "div"
    );
    match known.defs[0] {
        Type::F32 => extremum,
        Type::F64 => extremum || arithmetic,
        _ => false,
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
        "fns" => source >= 1,
        _ => false,
    }
}

/// Whether a literal may stand there.
fn takes_literal(known: &Known, source: usize) -> bool {
    let ty = known.uses[source];
    let plain = !matches!(
        ty,
        Type::Pred | Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2
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
