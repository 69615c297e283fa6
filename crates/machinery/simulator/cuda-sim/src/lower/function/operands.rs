//! Resolution of operands to registers, and lowering of register instructions.

use super::names::Named;
use super::{FunctionLowering, names};
use crate::exec::lanewise::{map1, test1};
use crate::exec::ops::{Form, Select};
use crate::exec::special_registers::Special;
use crate::isa::Class;
use crate::isa::operation::Operation;
use crate::lower::error::LoadError;
use crate::lower::function::instructions::{self, Entry};
use crate::lower::ir::{Arithmetic, ByteFlow, Register, RegisterClass, RegisterInfo};
use crate::lower::layout::{Symbol, immediate_bits};
use crate::lower::operations::of_registers;
use crate::ptx::ast::{Instruction, Operand, Type};
use std::borrow::Cow;

/// Returns the kind of row that holds values of a type.
pub fn register_class(ty: Type) -> RegisterClass {
    match ty.bytes() {
        0 => RegisterClass::Predicate,
        8 => RegisterClass::Wide,
        _ => RegisterClass::Narrow,
    }
}

/// Maximum number of registers per function; a real assembler's limit is lower.
const MAX_REGISTERS: usize = 1 << 20;

impl<'a> FunctionLowering<'_, 'a> {
    pub fn new_register(&mut self, ty: Type) -> Result<Register, LoadError> {
        if ty == Type::B128 {
            return Err(self.error("128-bit registers are not simulated"));
        }
        if self.registers.infos.len() >= MAX_REGISTERS {
            return Err(self.error("the function has too many registers"));
        }
        let register = self.temporary(ty);
        self.registers.infos[register.0 as usize].declared = true;
        Ok(register)
    }

    /// Creates a temporary register that the PTX does not declare.
    pub fn temporary(&mut self, ty: Type) -> Register {
        self.registers.infos.push(RegisterInfo {
            row: register_class(ty),
            bytes: ty.bytes(),
            literal: None,
            declared: false,
        });
        Register(self.registers.infos.len() as u32 - 1)
    }

    /// Returns the constant register with the value `bits`.
    pub fn literal(&mut self, ty: Type, bits: u64) -> Register {
        let row = register_class(ty);
        let bits = match row {
            RegisterClass::Predicate => {
                if bits & 1 == 1 {
                    u64::from(u32::MAX)
                } else {
                    0
                }
            }
            RegisterClass::Narrow if ty.bytes() < 4 => bits & ((1 << (ty.bytes() * 8)) - 1),
            RegisterClass::Narrow => bits & u64::from(u32::MAX),
            RegisterClass::Wide => bits,
        };
        if let Some(&register) = self.registers.literals.get(&(row as u8, bits)) {
            return register;
        }
        self.registers.infos.push(RegisterInfo {
            row,
            bytes: ty.bytes(),
            literal: Some(bits),
            declared: false,
        });
        let register = Register(self.registers.infos.len() as u32 - 1);
        self.registers.literals.insert((row as u8, bits), register);
        register
    }

    pub fn register(&mut self, name: &'a str) -> Result<Register, LoadError> {
        match self.find_register(name)? {
            Some(register) => Ok(register),
            None => Err(self.no_register(name)),
        }
    }

    /// Creates the error for a name that is not a register where one is required.
    fn no_register(&self, name: &str) -> LoadError {
        let directive = match (self.lookup(name), self.module.layout.symbols.get(name)) {
            (Some(Named::Param { .. }), _) => "param",
            (Some(Named::Local(_)), _) => "local` or `.param",
            (Some(Named::Shared(_)), _) => "shared",
            (Some(Named::Global(_)), _)
            | (None, Some(Symbol::Global(_) | Symbol::Reference(..))) => "global",
            (None, Some(Symbol::Const(_))) => "const",
            (None, Some(Symbol::Shared(_) | Symbol::DynamicShared { .. })) => "shared",
            _ => return self.error(format!("`{name}` is not a register declared here")),
        };
        self.error(format!(
            "`{name}` is a variable (`.{directive}`), but a register is required: load it first"
        ))
    }

    /// Returns the register that an operand names, of any width.
    pub fn any_register(&mut self, operand: &Operand<'a>) -> Result<Register, LoadError> {
        match (self.named_register(operand)?, operand) {
            (Some(register), _) => Ok(register),
            (None, Operand::Name { name, offset: 0 }) => Err(self.no_register(name)),
            _ => Err(self.error("the destination must be a register")),
        }
    }

    /// Returns the register that an operand names; `None` if the operand is not a register.
    fn named_register(&mut self, operand: &Operand<'a>) -> Result<Option<Register>, LoadError> {
        match operand {
            Operand::Name { name, offset: 0 } => self.find_register(name),
            Operand::Element { vector, index } => {
                let registers = self.find_vector(vector)?;
                Ok(registers.and_then(|registers| registers.get(*index).copied()))
            }
            _ => Ok(None),
        }
    }

    pub fn predicate(&mut self, name: &'a str) -> Result<Register, LoadError> {
        let register = self.register(name)?;
        self.check(register, Type::Pred, name)?;
        Ok(register)
    }

    pub fn info(&self, register: Register) -> RegisterInfo {
        self.registers.infos[register.0 as usize]
    }

    /// Returns the register of a destination operand: a register of the type's width, or a temporary for a
    /// sink.
    pub fn destination(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Register, LoadError> {
        match operand {
            Operand::Sink | Operand::Name { name: "_", .. } => Ok(self.temporary(ty)),
            Operand::Name { name, offset: 0 } | Operand::Element { vector: name, .. } => {
                let register = self.any_register(operand)?;
                self.check(register, ty, name)?;
                Ok(register)
            }
            _ => Err(self.error("the destination must be a register")),
        }
    }

    fn check(&self, register: Register, ty: Type, name: &str) -> Result<(), LoadError> {
        let info = self.info(register);
        if info.bytes == ty.bytes() {
            return Ok(());
        }
        let width = |bytes: u32| match bytes {
            0 => "a predicate".to_owned(),
            bytes => format!("{} bits wide", bytes * 8),
        };
        Err(self.error(format!(
            "`{name}` is {}, but the instruction requires a .{} ({})",
            width(info.bytes),
            ty.modifier(),
            width(ty.bytes())
        )))
    }

    /// Returns the register of a source operand of the given type. Literals get a constant register; a
    /// special register is read first.
    pub fn source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Register, LoadError> {
        let register = self.any_source(operand, ty)?;
        if self.info(register).literal.is_none()
            && let Operand::Name { name, .. }
            | Operand::Element { vector: name, .. }
            | Operand::Not(name) = operand
        {
            self.check(register, ty, name)?;
        }
        Ok(register)
    }

    /// Returns the register of a source operand, which may be wider or narrower than the type (`cvt`, `ld`,
    /// `st`).
    pub fn any_source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Register, LoadError> {
        match operand {
            Operand::Immediate(immediate) => Ok(self.literal(ty, immediate_bits(*immediate, ty))),
            Operand::Not(name) => {
                let predicate = self.predicate(name)?;
                let negated = self.temporary(Type::Pred);
                let handler = crate::exec::lanewise::masks::<u32, _>(self.module.cpu, |a, _, _| !a);
                self.push_with_handlers(handler, Class::Integer, &[negated], &[predicate]);
                self.last().operation = Some(Operation::Not);
                Ok(negated)
            }
            Operand::Name { name, offset: 0 } => {
                if let Some(register) = self.find_register(name)? {
                    return Ok(register);
                }
                if let Some(special) = names::find_special_register(name) {
                    if special == Special::IsExplicitCluster && ty == Type::Pred {
                        let number = self.temporary(Type::U32);
                        self.read_special(special, number)?;
                        let flag = self.temporary(Type::Pred);
                        let handler = test1(self.module.cpu, |a: u32| a != 0);
                        self.push_with_handlers(handler, Class::Integer, &[flag], &[number]);
                        return Ok(flag);
                    }
                    let register = self.temporary(ty);
                    self.read_special(special, register)?;
                    return Ok(register);
                }
                if let Some(value) = names::constant_special_register(name) {
                    return Ok(self.literal(ty, value));
                }
                Err(self.no_register(name))
            }
            Operand::Element { .. } => self.any_register(operand),
            other => Err(self.error(format!("{} cannot be a source here", describe(other)))),
        }
    }

    /// Lowers an instruction that only reads and writes registers.
    pub fn operation(
        &mut self,
        entry: &Entry,
        select: Select,
        instruction: &Instruction<'a>,
    ) -> Result<(), LoadError> {
        let flat = flatten(&instruction.operands);
        let modifiers = self.explicit_modifiers(instruction);
        let mut form = Form::new(&modifiers, flat.len());
        form.operand_lengths = instruction.operands.iter().map(length).collect();
        form.def_bytes = self.register_bytes(flat.first())?;
        form.use_bytes = self.register_bytes(flat.get(1))?;
        let op = select(&form, self.module.cpu)
            .map_err(|error| self.error(format!("`{}`: {error}", display_name(instruction))))?;
        let expected = op.defs.len() + op.uses.len() + usize::from(op.literal);
        if flat.len() != expected {
            return Err(self.error(format!(
                "`{}` takes {expected} operands, not {}",
                display_name(instruction),
                flat.len()
            )));
        }
        let any_width = entry.wider_registers;
        let (to, from) = flat.split_at(op.defs.len());
        let mut defs = Vec::new();
        for (operand, &ty) in to.iter().zip(&op.defs) {
            let def = match operand {
                Operand::Name { name, offset: 0 } if any_width && *name != "_" => {
                    self.register(name)?
                }
                Operand::Element { .. } if any_width => self.any_register(operand)?,
                _ => self.destination(operand, ty)?,
            };
            defs.push(def);
        }
        let mut uses = Vec::new();
        for (operand, &ty) in from.iter().zip(&op.uses) {
            uses.push(if any_width {
                self.any_source(operand, ty)?
            } else {
                self.source(operand, ty)?
            });
        }
        let mut imm = op.imm;
        if op.literal {
            let Some(Operand::Immediate(value)) = flat.last() else {
                return Err(self.error("the last operand must be a literal"));
            };
            imm = immediate_bits(*value, Type::B64);
        }
        if op.carries {
            let carry = match self.registers.carry {
                Some(carry) => carry,
                None => {
                    let carry = self.temporary(Type::Pred);
                    self.registers.carry = Some(carry);
                    carry
                }
            };
            let out = if instruction.modifiers.contains(&"cc") {
                carry
            } else {
                self.temporary(Type::Pred)
            };
            defs.push(out);
            uses.insert(0, carry);
        }
        let bytes = [form.def_bytes, form.use_bytes];
        let lengths = std::mem::take(&mut form.operand_lengths);
        self.push_with_handlers(op.run, op.class, &defs, &uses);
        self.last().operation = of_registers(instruction.mnemonic, &modifiers, &lengths, bytes);
        self.last().imm = imm;
        self.last().arithmetic = entry
            .alignment
            .and_then(|rule| rule.for_integers(&instruction.modifiers));
        self.last().byte_flow = match entry.byte_flow {
            Some(ByteFlow::Converted(_)) => converted_bytes(&instruction.modifiers),
            byte_flow => byte_flow,
        };
        if matches!(op.class, Class::Float | Class::Double | Class::Special) {
            self.last().flops = entry.flops;
        }
        Ok(())
    }

    /// Lowers `mov.v2` and `mov.v4`. All elements are read before the first one is written, because the vectors
    /// may overlap.
    pub fn move_vector(
        &mut self,
        instruction: &Instruction<'a>,
        length: usize,
    ) -> Result<(), LoadError> {
        let form = Form::new(&instruction.modifiers, 2);
        form.one_of(&["v2", "v4"]);
        let ty = form.ty().and_then(|ty| form.end().map(|()| ty));
        let ty =
            ty.map_err(|error| self.error(format!("`{}`: {error}", display_name(instruction))))?;
        let [to, from] = &instruction.operands[..] else {
            return Err(self.error("`mov` takes a destination and a source"));
        };
        let [to, from] = [elements(to), elements(from)];
        if to.len() != length || from.len() != length {
            return Err(self.error(format!(
                "`{}` takes vectors of {length} registers",
                display_name(instruction)
            )));
        }
        let handler = match register_class(ty) {
            RegisterClass::Wide => map1(self.module.cpu, |a: u64| a),
            RegisterClass::Narrow => map1(self.module.cpu, |a: u32| a),
            RegisterClass::Predicate => return Err(self.unknown(instruction)),
        };
        let mut moves = Vec::new();
        for operand in from {
            let source = self.source(operand, ty)?;
            let copy = self.temporary(ty);
            self.push_with_handlers(handler, Class::Move, &[copy], &[source]);
            self.last().byte_flow = Some(ByteFlow::Moved);
            self.last().arithmetic = Some(Arithmetic::Sum);
            moves.push(copy);
        }
        for (operand, copy) in to.iter().zip(moves) {
            let to = self.destination(operand, ty)?;
            self.push_with_handlers(handler, Class::Move, &[to], &[copy]);
            self.last().byte_flow = Some(ByteFlow::Moved);
            self.last().arithmetic = Some(Arithmetic::Sum);
        }
        Ok(())
    }

    /// Returns the modifiers of an instruction, including those that its target implies: in modules for compute
    /// capability 1, `mad.f32` has no rounding, and newer GPUs run it as `fma.rn.ftz.f32` (PTX ISA, section 9.7.3).
    fn explicit_modifiers<'i>(&self, instruction: &'i Instruction<'a>) -> Cow<'i, [&'a str]> {
        let mut modifiers = Cow::Borrowed(&instruction.modifiers[..]);
        let rounds = ["rn", "rz", "rm", "rp"];
        if self.module.ast.target.sm < 20
            && instruction.mnemonic == "mad"
            && modifiers.contains(&"f32")
            && !modifiers.iter().any(|modifier| rounds.contains(modifier))
        {
            modifiers.to_mut().extend(["rn", "ftz"]);
        }
        modifiers
    }

    /// Returns the size in bytes of the register that an operand names; `None` if it is not a register or a
    /// predicate.
    fn register_bytes(&mut self, operand: Option<&Operand<'a>>) -> Result<Option<u32>, LoadError> {
        let Some(operand) = operand else {
            return Ok(None);
        };
        let register = self.named_register(operand)?;
        Ok(register
            .map(|register| self.info(register).bytes)
            .filter(|&bytes| bytes > 0))
    }

    pub fn unknown(&self, instruction: &Instruction) -> LoadError {
        LoadError::UnknownInstruction {
            line: self.position.line,
            instruction: display_name(instruction),
            required_sm: instructions::required_capability(
                instruction.mnemonic,
                &instruction.modifiers,
            )
            .filter(|&sm| self.module.ast.target.sm < sm),
            not_in_ptx: None,
        }
    }
}

/// Flattens vectors and pairs into a list of single operands.
fn flatten<'a>(operands: &[Operand<'a>]) -> Vec<Operand<'a>> {
    let mut flat = Vec::new();
    for operand in operands {
        match operand {
            Operand::Vector(elements) => flat.extend(elements.iter().cloned()),
            Operand::Pair(first, second) => {
                flat.extend([first, second].map(|name| Operand::Name { name, offset: 0 }));
            }
            other => flat.push(other.clone()),
        }
    }
    flat
}

/// Returns the number of single operands in a written operand.
fn length(operand: &Operand) -> usize {
    match operand {
        Operand::Vector(elements) => elements.len(),
        Operand::Pair(..) => 2,
        _ => 1,
    }
}

/// Returns the bytes that a conversion with these modifiers keeps; `None` if it computes another value.
fn converted_bytes(modifiers: &[&str]) -> Option<ByteFlow> {
    let types = modifiers
        .iter()
        .filter_map(|name| Type::from_modifier(name));
    let bytes = types.clone().map(Type::bytes).min()?;
    let computes = types.clone().any(Type::is_float) || modifiers.contains(&"sat");
    (!computes).then_some(ByteFlow::Converted(bytes))
}

/// Returns the elements of a vector operand; a single one may be written without braces.
pub fn elements<'o, 'a>(operand: &'o Operand<'a>) -> &'o [Operand<'a>] {
    match operand {
        Operand::Vector(elements) => elements,
        single => std::slice::from_ref(single),
    }
}

/// Returns the form of an instruction whose operands are not flattened.
pub fn form_of<'a>(instruction: &Instruction<'a>) -> Form<'a> {
    let operands = instruction.operands.len();
    Form::new(&instruction.modifiers, operands)
}

/// Returns the instruction's mnemonic and modifiers as written, for example `add.rn.f32`.
pub fn display_name(instruction: &Instruction) -> String {
    let mut text = instruction.mnemonic.to_owned();
    for modifier in &instruction.modifiers {
        text.push('.');
        text.push_str(modifier);
    }
    text
}

fn describe(operand: &Operand) -> &'static str {
    match operand {
        Operand::Address { .. } => "an address",
        Operand::ArrayElement { .. } => "an element of an array",
        Operand::TextureCoordinates { .. } => "texture coordinates",
        Operand::Vector(_) => "a vector",
        Operand::List(_) => "a list",
        Operand::Pair(..) => "a pair",
        Operand::Sink => "`_`",
        Operand::Negated(_) => "a negated register",
        Operand::Selected { .. } => "a part of a register",
        _ => "this operand",
    }
}
