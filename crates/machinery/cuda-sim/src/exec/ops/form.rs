//! A written form (`add.rn.ftz.f32`) taken apart, and the operation it stands for.

use crate::exec::cpu::Cpu;
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;
use std::cell::Cell;

/// An operation: the types of its operands and the handler that runs it.
pub struct Op {
    pub run: Handlers,
    pub class: Class,
    /// Destinations, in the order they are written.
    pub defs: Vec<Type>,
    /// Sources, in the order they are written. A literal operand is converted to this type.
    pub uses: Vec<Type>,
    /// The last written operand is a literal that becomes the instruction's immediate
    /// (`lop3`'s truth table); it has no entry in `uses`.
    pub literal: bool,
    /// Reads or writes the condition-code register (`add.cc`, `addc`): the lowering inserts
    /// carry-out and carry-in after the destination, as [`crate::exec::lanewise::carry`] wants.
    pub carries: bool,
    /// The instruction's immediate where none is written: the modifiers of a rarely used form,
    /// which its handler reads while it runs. Never set together with `literal`.
    pub imm: u64,
}

impl Op {
    pub fn new(class: Class, defs: &[Type], uses: &[Type], run: Handlers) -> Op {
        Op {
            run,
            class,
            defs: defs.to_vec(),
            uses: uses.to_vec(),
            literal: false,
            carries: false,
            imm: 0,
        }
    }

    /// One whose destination and `sources` sources all have the one type that it names.
    pub fn of_one_type(class: Class, ty: Type, sources: usize, run: Handlers) -> Op {
        Op::new(class, &[ty], &vec![ty; sources], run)
    }

    /// The same with the immediate its handler reads.
    pub fn with_imm(self, imm: u64) -> Op {
        Op { imm, ..self }
    }
}

/// Why a form is not an instruction here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    #[error("`.{0}` is not a modifier of this instruction")]
    Modifier(String),
    #[error("a type modifier is missing")]
    NoType,
    #[error("`.{0}` is not a type this instruction takes")]
    Type(String),
    #[error("values of type `.{0}` are not simulated here")]
    NotSimulated(String),
    #[error("a modifier is missing: one of {0}")]
    Missing(&'static str),
    #[error("a register of {register} bytes is too narrow for `.{ty}`")]
    Narrow { register: u32, ty: &'static str },
    #[error("`{0}` does not split into {1} registers")]
    Vector(&'static str, usize),
}

/// Finds the operation that a form of one mnemonic stands for. Each register instruction has such a
/// function, in the file of its family.
pub type Select = fn(&Form, Cpu) -> Result<Op, FormError>;

/// What is written after a mnemonic: each modifier is taken once, and [`Form::end`] refuses what is
/// left.
pub struct Form<'a> {
    modifiers: Vec<(&'a str, Cell<bool>)>,
    /// Registers in each written operand: 1, the length of a vector `{a, b}`, 2 for `p|q`.
    pub operand_lengths: Vec<usize>,
    /// Bytes of the register written to; None where it is a predicate or a sink. Only `cvt` asks.
    pub def_bytes: Option<u32>,
    /// Bytes of the first source register; None for a literal.
    pub use_bytes: Option<u32>,
}

impl<'a> Form<'a> {
    /// A form with `operands` written operands of one register each.
    pub fn new(modifiers: &[&'a str], operands: usize) -> Form<'a> {
        let modifiers = modifiers
            .iter()
            .map(|text| (*text, Cell::new(false)))
            .collect();
        Form {
            modifiers,
            operand_lengths: vec![1; operands],
            def_bytes: None,
            use_bytes: None,
        }
    }

    /// Whether this modifier stands there, without taking it.
    pub fn shows(&self, name: &str) -> bool {
        self.modifiers.iter().any(|(text, _)| *text == name)
    }

    /// The first type among the modifiers, without taking it.
    pub fn first_type(&self) -> Option<Type> {
        self.modifiers
            .iter()
            .find_map(|(text, _)| Type::from_modifier(text))
    }

    /// Whether this modifier stands there (and takes it).
    pub fn has(&self, name: &str) -> bool {
        self.one_of(&[name]).is_some()
    }

    /// The first modifier not yet taken that is among `names` (and takes it).
    pub fn one_of(&self, names: &[&str]) -> Option<&'a str> {
        let (text, taken) = self
            .modifiers
            .iter()
            .find(|(text, taken)| !taken.get() && names.contains(text))?;
        taken.set(true);
        Some(text)
    }

    /// The first modifier not yet taken that names a type (and takes it).
    pub fn ty(&self) -> Result<Type, FormError> {
        for (text, taken) in &self.modifiers {
            if !taken.get()
                && let Some(ty) = Type::from_modifier(text)
            {
                taken.set(true);
                return Ok(ty);
            }
        }
        let mut left = self.modifiers.iter().filter(|(_, taken)| !taken.get());
        match left.find(|(text, _)| Type::is_unknown_one(text)) {
            Some((text, _)) => Err(FormError::NotSimulated((*text).to_owned())),
            None => Err(FormError::NoType),
        }
    }

    /// The one of `names` that stands there, which must: `all` lists them for the reader.
    pub fn required(&self, names: &[&str], all: &'static str) -> Result<&'a str, FormError> {
        self.one_of(names).ok_or(FormError::Missing(all))
    }

    /// The type, which must be one of these.
    pub fn ty_among(&self, allowed: &[Type]) -> Result<Type, FormError> {
        let ty = self.ty()?;
        if allowed.contains(&ty) {
            Ok(ty)
        } else {
            no_such_type(ty)
        }
    }

    /// Refuses a form with modifiers nobody took.
    pub fn end(&self) -> Result<(), FormError> {
        match self.modifiers.iter().find(|(_, taken)| !taken.get()) {
            Some((text, _)) => Err(FormError::Modifier((*text).to_owned())),
            None => Ok(()),
        }
    }
}

/// Refuses a type the instruction does not have.
pub fn no_such_type<T>(ty: Type) -> Result<T, FormError> {
    Err(FormError::Type(ty.modifier().to_owned()))
}
