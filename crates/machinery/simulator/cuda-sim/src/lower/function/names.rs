//! Name resolution: scopes, registers, register ranges and variables that a function declares, and special
//! registers such as `%tid.x` (PTX ISA section 10).

use super::FunctionLowering;
use crate::exec::special_registers::Special;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::lower::ir::{BlockId, Register, RegisterClass};
use crate::lower::operations::of_special;
use crate::ptx::ast;
use crate::ptx::ast::Type;
use std::collections::{HashMap, HashSet};

/// The declarations of one scope, between two braces.
#[derive(Default)]
pub struct Scope<'a> {
    pub names: HashMap<&'a str, Named>,
    /// The members of the scope's register ranges, by full name, created on first use.
    members: HashMap<&'a str, Register>,
    /// The members of the scope's ranges of vector registers.
    vectors: HashMap<&'a str, [Register; 4]>,
    /// True if the scope declares parameterized names of variables, such as `p<3>`.
    has_variable_ranges: bool,
    /// The basic blocks of the labels that the scope defines and that are branched to.
    pub labels: HashMap<&'a str, BlockId>,
    /// The labels defined so far.
    pub defined_labels: HashSet<&'a str>,
}

impl Scope<'_> {
    /// Returns the meaning of a name that this scope declares.
    fn find(&self, name: &str) -> Option<Named> {
        if let Some(named) = self.names.get(name) {
            return Some(*named);
        }
        if !self.has_variable_ranges {
            return None;
        }
        let (prefix, number) = numbered(name)?;
        let &Named::Variables {
            first,
            count,
            stride,
        } = self.names.get(prefix)?
        else {
            return None;
        };
        (number < count).then(|| match first {
            Located::Global(address) => Named::Global(address + u64::from(stride * number)),
            Located::Local(offset) => Named::Local(offset + stride * number),
            Located::Shared(offset) => Named::Shared(offset + u64::from(stride * number)),
        })
    }
}

/// The place of a variable that a function declares.
#[derive(Debug, Clone, Copy)]
pub enum Located {
    /// A device address.
    Global(u64),
    /// An offset into this function's local memory.
    Local(u32),
    /// An offset into shared memory.
    Shared(u64),
}

impl Located {
    /// Returns the meaning of the name of a variable at this place.
    fn named(self) -> Named {
        match self {
            Located::Global(address) => Named::Global(address),
            Located::Local(offset) => Named::Local(offset),
            Located::Shared(offset) => Named::Shared(offset),
        }
    }
}

/// The meaning of a name that a function declares.
#[derive(Debug, Clone, Copy)]
pub enum Named {
    Register(Register),
    /// A register range such as `%r<5>`. The name is a prefix; the registers are created on first use.
    Range {
        count: u32,
        ty: Type,
    },
    /// A vector register (`.reg .v4 .f32 v`) of `length` elements.
    Vector {
        registers: [Register; 4],
        length: usize,
    },
    /// A range of vector registers (`.reg .v4 .f32 %v<5>`).
    VectorRange {
        count: u32,
        ty: Type,
        length: usize,
    },
    /// Variables with a parameterized name such as `p<3>`, `stride` bytes apart. The name is a prefix.
    Variables {
        first: Located,
        count: u32,
        stride: u32,
    },
    /// The device address of a global variable that the function declares.
    Global(u64),
    /// An offset into this function's local memory.
    Local(u32),
    /// An offset into shared memory.
    Shared(u64),
    /// An offset into the kernel's parameters.
    Param {
        offset: u32,
    },
}

impl<'a> FunctionLowering<'_, 'a> {
    pub fn declare(&mut self, name: &'a str, named: Named) -> Result<(), LoadError> {
        if name == "_" {
            return Ok(());
        }
        match self
            .names
            .scopes
            .last_mut()
            .and_then(|scope| scope.names.insert(name, named))
        {
            None => Ok(()),
            Some(_) => Err(self.error(format!("`{name}` is declared twice"))),
        }
    }

    /// Returns the meaning of a name inside the function.
    pub fn lookup(&self, name: &str) -> Option<Named> {
        self.names
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.find(name))
    }

    /// Declares a variable, or the variables of a parameterized name.
    pub fn declare_variable(
        &mut self,
        variable: &ast::Variable<'a>,
        place: Located,
    ) -> Result<(), LoadError> {
        if !variable.is_range {
            return self.declare(variable.name, place.named());
        }
        if let Some(scope) = self.names.scopes.last_mut() {
            scope.has_variable_ranges = true;
        }
        // The parser limits the number of variables to 65536, of at most 64 bytes each.
        let count = variable.dims.first().map_or(0, |&count| count as u32);
        let stride = variable.ty.bytes() * variable.vector;
        let range = Named::Variables {
            first: place,
            count,
            stride,
        };
        self.declare(variable.name, range)
    }

    /// Declares a register, a register range, or vectors of registers.
    pub fn declare_register(
        &mut self,
        name: &'a str,
        count: Option<u32>,
        ty: Type,
        vector: u32,
    ) -> Result<(), LoadError> {
        let length = vector as usize;
        self.names.has_vectors |= length > 1;
        let named = match (count, length) {
            (Some(count), 1) => Named::Range { count, ty },
            (Some(count), _) => Named::VectorRange { count, ty, length },
            (None, 1) => Named::Register(self.new_register(ty)?),
            (None, _) => Named::Vector {
                registers: self.new_vector(ty)?,
                length,
            },
        };
        self.declare(name, named)
    }

    /// Creates the registers of a vector of maximum length; those beyond a shorter vector's length are never
    /// used.
    fn new_vector(&mut self, ty: Type) -> Result<[Register; 4], LoadError> {
        let mut registers = [Register(0); 4];
        for register in &mut registers {
            *register = self.new_register(ty)?;
        }
        Ok(registers)
    }

    /// Returns the register with a name; `None` if the name is not that of a register.
    pub fn find_register(&mut self, name: &'a str) -> Result<Option<Register>, LoadError> {
        match self.lookup(name) {
            Some(Named::Register(register)) => return Ok(Some(register)),
            Some(_) => return Ok(None),
            None => {}
        }
        if let (true, Some((vector, element))) = (self.names.has_vectors, name.rsplit_once('.')) {
            let elements = self.find_vector(vector)?;
            let index = element_index(element);
            return Ok(elements.and_then(|registers| registers.get(index?).copied()));
        }
        let Some((prefix, number)) = numbered(name) else {
            return Ok(None);
        };
        for depth in (0..self.names.scopes.len()).rev() {
            let Some(&Named::Range { count, ty }) = self.names.scopes[depth].names.get(prefix)
            else {
                continue;
            };
            self.within(name, number, prefix, count)?;
            if let Some(&register) = self.names.scopes[depth].members.get(name) {
                return Ok(Some(register));
            }
            let register = self.new_register(ty)?;
            self.names.scopes[depth].members.insert(name, register);
            return Ok(Some(register));
        }
        Ok(None)
    }

    /// Returns the registers of the vector with a name; `None` if the name is not that of a vector.
    pub fn find_vector(&mut self, name: &'a str) -> Result<Option<Vec<Register>>, LoadError> {
        match self.lookup(name) {
            Some(Named::Vector { registers, length }) => {
                return Ok(Some(registers[..length].to_vec()));
            }
            Some(_) => return Ok(None),
            None => {}
        }
        let Some((prefix, number)) = numbered(name) else {
            return Ok(None);
        };
        for depth in (0..self.names.scopes.len()).rev() {
            let named = self.names.scopes[depth].names.get(prefix);
            let Some(&Named::VectorRange { count, ty, length }) = named else {
                continue;
            };
            self.within(name, number, prefix, count)?;
            let registers = match self.names.scopes[depth].vectors.get(name) {
                Some(&registers) => registers,
                None => self.new_vector(ty)?,
            };
            self.names.scopes[depth].vectors.insert(name, registers);
            return Ok(Some(registers[..length].to_vec()));
        }
        Ok(None)
    }

    /// Fails if a register range does not have a member with this number.
    fn within(&self, name: &str, number: u32, range: &str, count: u32) -> Result<(), LoadError> {
        if number < count {
            return Ok(());
        }
        Err(self.error(format!("`{name}` is outside `{range}<{count}>`")))
    }
}

/// Splits `%r12` into `%r` and 12.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[prefix.len()..].parse().ok()?;
    Some((prefix, number))
}

/// Returns the index of the vector element with this name.
fn element_index(element: &str) -> Option<usize> {
    ["x", "y", "z", "w"]
        .iter()
        .zip(["r", "g", "b", "a"])
        .position(|(name, color)| *name == element || color == element)
}

/// Returns the special register with this name.
pub fn find_special_register(name: &str) -> Option<Special> {
    Special::ALL
        .iter()
        .copied()
        .find(|special| special.name() == name)
}

/// Returns the value of a special register that is constant: the warp size; driver-defined registers, which
/// CUDA leaves at 0; the fourth dimension, which no grid has; and performance counters, which are never
/// started. Returns `None` for all other names.
pub fn constant_special_register(name: &str) -> Option<u64> {
    if name == "WARP_SZ" {
        return Some(32);
    }
    let driver = name.strip_prefix("%envreg").map(str::parse::<u32>);
    let unused = matches!(
        name,
        "%tid.w"
            | "%ntid.w"
            | "%ctaid.w"
            | "%nctaid.w"
            | "%clusterid.w"
            | "%nclusterid.w"
            | "%cluster_ctaid.w"
            | "%cluster_nctaid.w"
    );
    let counter = name
        .strip_prefix("%pm")
        .map(|rest| rest.strip_suffix("_64").unwrap_or(rest).parse::<u32>());
    let zero = unused || matches!(driver, Some(Ok(0 | 3..32))) || matches!(counter, Some(Ok(..8)));
    zero.then_some(0)
}

impl FunctionLowering<'_, '_> {
    /// Reads a special register into a narrow or wide row.
    pub fn read_special(&mut self, special: Special, into: Register) -> Result<(), LoadError> {
        let wide = match self.info(into).row {
            RegisterClass::Narrow => false,
            RegisterClass::Wide => true,
            RegisterClass::Predicate => {
                return Err(self.error("a special register is not a predicate"));
            }
        };
        self.effects.reads_clock |= special.is_clock();
        let handler = special.reader(self.module.cpu, wide);
        self.push_with_handlers(handler, Class::Integer, &[into], &[]);
        let inst = self.last();
        inst.operation = of_special(special).filter(|_| !wide);
        inst.arg0 = 1;
        inst.imm = special as u64;
        inst.arg1_is_remaining_count = true;
        Ok(())
    }
}
