//! Instruction forms: the parsed modifiers of a PTX instruction (`add.rn.ftz.f32`), the operation they select, and the
//! comparison operators, their names and their encoding (PTX ISA, section 9.7.6).

use crate::exec::cpu::Cpu;
use crate::exec::sm::Handlers;
use crate::isa::Class;
use crate::ptx::ast::Type;
use std::cell::Cell;

/// A selected operation: operand types and handlers.
pub struct Op {
    pub run: Handlers,
    pub class: Class,
    /// Types of the destinations, in the order written.
    pub defs: Vec<Type>,
    /// Types of the sources, in the order written. Literal operands are converted to these types.
    pub uses: Vec<Type>,
    /// True if the last written operand is a literal that becomes the immediate (`lop3`'s truth table). It
    /// has no entry in `uses`.
    pub literal: bool,
    /// True if it reads or writes the condition-code register (`add.cc`, `addc`). The lowering then inserts
    /// carry-out and carry-in after the destination, as [`crate::exec::lanewise::carry`] requires.
    pub carries: bool,
    /// The immediate, if none is written: the modifiers of a rare form, which its handler decodes at run
    /// time. Never set together with `literal`.
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

    /// Creates an operation whose destination and `sources` sources all have type `ty`.
    pub fn of_one_type(class: Class, ty: Type, sources: usize, run: Handlers) -> Op {
        Op::new(class, &[ty], &vec![ty; sources], run)
    }

    /// Sets the immediate that the handler reads.
    pub fn with_imm(self, imm: u64) -> Op {
        Op { imm, ..self }
    }
}

/// The reason for which a form is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    #[error("`.{0}` is not a modifier of this instruction")]
    Modifier(String),
    #[error("a type modifier is missing")]
    NoType,
    #[error("`.{0}` is not a type of this instruction")]
    Type(String),
    #[error("values of type `.{0}` are not simulated")]
    NotSimulated(String),
    #[error("a modifier is missing: one of {0}")]
    Missing(&'static str),
    #[error("a register of {register} bytes is too narrow for `.{ty}`")]
    Narrow { register: u32, ty: &'static str },
    #[error("`{0}` does not split into {1} registers")]
    Vector(&'static str, usize),
}

/// Selects the operation of a form. Each register instruction has such a function, in the file of its family.
pub type Select = fn(&Form, Cpu) -> Result<Op, FormError>;

/// The text after a mnemonic. Selection functions take each modifier once, and [`Form::end`] rejects the rest.
pub struct Form<'a> {
    modifiers: Vec<(&'a str, Cell<bool>)>,
    /// Number of registers in each written operand: 1, the length of a vector `{a, b}`, or 2 for `p|q`.
    pub operand_lengths: Vec<usize>,
    /// Bytes of the destination register; `None` for a predicate or a sink. Only used by `cvt`.
    pub def_bytes: Option<u32>,
    /// Bytes of the first source register; `None` for a literal.
    pub use_bytes: Option<u32>,
}

impl<'a> Form<'a> {
    /// Creates a form with `operands` written operands of one register each.
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

    /// Returns true if the modifier is present, without taking it.
    pub fn contains(&self, name: &str) -> bool {
        self.modifiers.iter().any(|(text, _)| *text == name)
    }

    /// Returns the first type among the modifiers, without taking it.
    pub fn first_type(&self) -> Option<Type> {
        self.modifiers
            .iter()
            .find_map(|(text, _)| Type::from_modifier(text))
    }

    /// Takes the modifier. Returns true if it was present.
    pub fn has(&self, name: &str) -> bool {
        self.one_of(&[name]).is_some()
    }

    /// Takes the first remaining modifier that is among `names`.
    pub fn one_of(&self, names: &[&str]) -> Option<&'a str> {
        let (text, taken) = self
            .modifiers
            .iter()
            .find(|(text, taken)| !taken.get() && names.contains(text))?;
        taken.set(true);
        Some(text)
    }

    /// Takes the first remaining modifier that is a type. Fails if there is none.
    pub fn ty(&self) -> Result<Type, FormError> {
        for (text, taken) in &self.modifiers {
            if !taken.get()
                && let Some(ty) = Type::from_modifier(text)
            {
                taken.set(true);
                return Ok(ty);
            }
        }
        let mut remaining = self.modifiers.iter().filter(|(_, taken)| !taken.get());
        match remaining.find(|(text, _)| Type::is_unsupported(text)) {
            Some((text, _)) => Err(FormError::NotSimulated((*text).to_owned())),
            None => Err(FormError::NoType),
        }
    }

    /// Takes the modifier that is among `names`. Fails if there is none; `all` lists the choices for the
    /// message.
    pub fn required(&self, names: &[&str], all: &'static str) -> Result<&'a str, FormError> {
        self.one_of(names).ok_or(FormError::Missing(all))
    }

    /// Takes the type, which must be one of `allowed`.
    pub fn ty_among(&self, allowed: &[Type]) -> Result<Type, FormError> {
        let ty = self.ty()?;
        if allowed.contains(&ty) {
            Ok(ty)
        } else {
            no_such_type(ty)
        }
    }

    /// Fails if any modifier was not taken.
    pub fn end(&self) -> Result<(), FormError> {
        match self.modifiers.iter().find(|(_, taken)| !taken.get()) {
            Some((text, _)) => Err(FormError::Modifier((*text).to_owned())),
            None => Ok(()),
        }
    }
}

/// Rejects a type that the instruction does not have.
pub fn no_such_type<T>(ty: Type) -> Result<T, FormError> {
    Err(FormError::Type(ty.modifier().to_owned()))
}

// A comparison is the set of orderings for which it is true, one bit each.
const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const UNORDERED: u8 = 8;

pub const EQ: u8 = EQUAL;
pub const NE: u8 = LESS | GREATER;
pub const LT: u8 = LESS;
pub const LE: u8 = LESS | EQUAL;
pub const GT: u8 = GREATER;
pub const GE: u8 = GREATER | EQUAL;
pub const EQU: u8 = EQ | UNORDERED;
pub const NEU: u8 = NE | UNORDERED;
pub const LTU: u8 = LT | UNORDERED;
pub const LEU: u8 = LE | UNORDERED;
pub const GTU: u8 = GT | UNORDERED;
pub const GEU: u8 = GE | UNORDERED;
pub const NUM: u8 = LESS | EQUAL | GREATER;
const NAN: u8 = UNORDERED;

/// Comparison operators: for every type, for all except untyped bits, for unsigned integers, for floats.
const ANY: [(&str, u8); 2] = [("eq", EQ), ("ne", NE)];
const ORDERED: [(&str, u8); 4] = [("lt", LT), ("le", LE), ("gt", GT), ("ge", GE)];
const UNSIGNED: [(&str, u8); 4] = [("lo", LT), ("ls", LE), ("hi", GT), ("hs", GE)];
const FLOAT: [(&str, u8); 8] = [
    ("equ", EQU),
    ("neu", NEU),
    ("ltu", LTU),
    ("leu", LEU),
    ("gtu", GTU),
    ("geu", GEU),
    ("num", NUM),
    ("nan", NAN),
];

/// Takes the comparison of a form, which must be valid for its operands' type.
pub fn relation(form: &Form, ty: Type) -> Result<u8, FormError> {
    let bits = matches!(ty, Type::B16 | Type::B32 | Type::B64);
    let unsigned = matches!(ty, Type::U16 | Type::U32 | Type::U64);
    let tables: [(&[(&str, u8)], bool); 4] = [
        (&ANY, true),
        (&ORDERED, !bits),
        (&UNSIGNED, unsigned),
        (&FLOAT, ty.is_float()),
    ];
    let entries = tables
        .iter()
        .filter(|(_, applies)| *applies)
        .flat_map(|(table, _)| *table);
    for (name, relation) in entries {
        if form.has(name) {
            return Ok(*relation);
        }
    }
    Err(FormError::Missing(if bits {
        ".eq, .ne"
    } else if ty.is_float() {
        ".eq, .ne, .lt, .le, .gt, .ge, .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan"
    } else {
        ".eq, .ne, .lt, .le, .gt, .ge, and for unsigned types .lo, .ls, .hi, .hs"
    }))
}

/// Takes `.and`, `.or` or `.xor`, encoded as in [`Relate::combine`].
pub fn combination(form: &Form) -> u8 {
    match form.one_of(&["and", "or", "xor"]) {
        Some("and") => 1,
        Some("or") => 2,
        Some(_) => 3,
        None => 0,
    }
}

/// Returns the bit of the ordering of two values.
#[inline(always)]
pub fn bit<T: PartialOrd>(a: T, b: T) -> u8 {
    // Branch-free, so that it vectorizes.
    let (less, equal, greater) = (a < b, a == b, a > b);
    let ordered =
        (u8::from(less) * LESS) | (u8::from(equal) * EQUAL) | (u8::from(greater) * GREATER);
    if less | equal | greater {
        ordered
    } else {
        UNORDERED
    }
}
