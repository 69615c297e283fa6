//! Loads and stores. Source: PTX ISA section 9.7.9 (`ld`, `st`).

use super::Lowering;
use super::access_handlers::{pick_known, pick_load, pick_ordered_load, pick_ordered_store, pick_store};
use super::names::Named;
use super::operands::{form_of, row_of, written};
use super::cache_policy::CACHE_HINT;
use crate::exec::lanewise::map1;
use crate::exec::state_space;
use crate::isa::{Access, AccessKind, Class, Memory, Ordered, Update};
use crate::lower::error::LoadError;
use crate::lower::layout::Symbol;
use crate::lower::register::{Register, RegisterClass};
use crate::ptx::ast::{AddressBase, Instruction, Operand, Type};

/// A state space as an instruction names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// Modifiers for caching and memory ordering. They need no handling here: every access reaches memory at
/// once, in
/// program order, which satisfies all of them. Ordered accesses are recorded in [`Access::ordered`].
pub const ORDER: &[&str] = &[
    "weak",
    "volatile",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "seq_cst",
    "mmio",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "unified",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    CACHE_HINT,
    "noftz",
];

/// The target of an address operand.
pub enum Place {
    /// An address in a register, plus an offset.
    Register(Register, i64),
    /// An offset into the constant bank.
    Bank(u64),
    /// An offset into the kernel's parameters.
    Param(u64),
}

/// Returns the memory whose counters an access belongs to. Parameter accesses are not counted: call arguments
/// and
/// results are registers on a GPU, and kernel parameters are operands of the instructions that use them.
pub fn memory_of(at: At) -> Option<Memory> {
    match at {
        At::Generic => Some(Memory::Generic),
        At::Global => Some(Memory::Global),
        At::Const => Some(Memory::Constant),
        At::Shared => Some(Memory::Shared),
        At::Local => Some(Memory::Local),
        At::Param => None,
    }
}

/// Returns the ordering properties of a load or store; `None` for a weak one.
fn ordered_of(instruction: &Instruction) -> Option<Ordered> {
    let ordered = |name: &&str| {
        matches!(
            *name,
            "volatile" | "relaxed" | "acquire" | "release" | "mmio"
        )
    };
    let has = instruction.modifiers.iter().any(ordered);
    has.then(|| Ordered {
        releases: releases(instruction),
        ..Ordered::default()
    })
}

/// Returns true for a release operation.
pub fn releases(instruction: &Instruction) -> bool {
    let releases = |name: &&str| matches!(*name, "release" | "acq_rel");
    instruction.modifiers.iter().any(releases)
}

impl<'a> Lowering<'_, 'a> {
    /// Parses the modifiers of a load or store into state space, element count and element type.
    fn access(&self, instruction: &Instruction<'a>) -> Result<(At, u32, Type), LoadError> {
        let form = form_of(instruction);
        while form.one_of(ORDER).is_some() {}
        let at = match form.one_of(&[
            "global",
            "const",
            "shared",
            "shared::cta",
            "local",
            "param",
            "param::entry",
            "param::func",
        ]) {
            None => At::Generic,
            Some("global") => At::Global,
            Some("const") => At::Const,
            Some("shared" | "shared::cta") => At::Shared,
            Some("local") => At::Local,
            Some(_) => At::Param,
        };
        let count = match form.one_of(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        };
        let ty = form.ty().and_then(|ty| form.end().map(|()| ty));
        let ty = ty.map_err(|error| self.error(format!("`{}`: {error}", written(instruction))))?;
        if ty == Type::Pred || ty == Type::B128 || ty.bytes() * count > 16 {
            return Err(self.error(format!(
                "`{}` moves no value that exists",
                written(instruction)
            )));
        }
        Ok((at, count, ty))
    }

    /// Resolves an address operand. Adds instructions if the address has to be computed.
    pub fn place(&mut self, operand: &Operand<'a>, at: At) -> Result<Place, LoadError> {
        let Operand::Address { base, offset } = operand else {
            return Err(self.error("an address in brackets is wanted"));
        };
        let name = match base {
            AddressBase::Absolute => {
                return Ok(Place::Register(self.literal(Type::U64, *offset as u64), 0));
            }
            AddressBase::Name(name) => *name,
        };
        if let Some(register) = self.find_register(name)? {
            return Ok(Place::Register(self.address_row(register)?, *offset));
        }
        match (self.lookup(name), self.layout.symbols.get(name).copied()) {
            (Some(Named::Param { offset: place }), _) => {
                Ok(Place::Param(u64::from(place).wrapping_add_signed(*offset)))
            }
            (None, Some(Symbol::Const(address))) if at == At::Const => {
                let (base, _) = self.layout.constants.unwrap_or_default();
                Ok(Place::Bank((address - base).wrapping_add_signed(*offset)))
            }
            _ => {
                let register = self.address_of(name, at == At::Generic)?;
                Ok(Place::Register(register, *offset))
            }
        }
    }

    /// Returns true if an address operand names a variable in this function's local memory. In a kernel, such
    /// a `.param`
    /// name is an argument or result of a call and not a parameter of the kernel.
    fn names_local(&self, operand: &Operand<'a>) -> bool {
        matches!(operand, Operand::Address { base: AddressBase::Name(name), .. }
            if matches!(self.lookup(name), Some(Named::Local(_))))
    }

    /// Lowers `ld`. Loads into wider registers are followed by a zero or sign extension.
    pub fn load(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (at, count, ty) = self.access(instruction)?;
        let [to, from] = self.without_hint(instruction)? else {
            return Err(self.error("a load takes a destination and an address"));
        };
        let place = self.place(from, at)?;
        let to = match to {
            Operand::Vector(parts) => parts.clone(),
            single => vec![single.clone()],
        };
        if to.len() != count as usize {
            return Err(self.error("the vector has another length than the load"));
        }
        let loaded_row = row_of(ty);
        let mut rows = Vec::new();
        let mut widen = Vec::new();
        for operand in &to {
            let row = match operand {
                Operand::Sink | Operand::Name { name: "_", .. } => self.temporary(ty),
                Operand::Name { name, offset: 0 } | Operand::Element { vector: name, .. } => {
                    let register = self.any_register(operand)?;
                    let info = self.info(register);
                    if info.row == RegisterClass::Predicate || info.bytes < ty.bytes() {
                        return Err(self.error(format!("`{name}` is too narrow for the load")));
                    }
                    if info.row == loaded_row {
                        register
                    } else {
                        let narrow = self.temporary(ty);
                        widen.push((register, narrow));
                        narrow
                    }
                }
                _ => return Err(self.error("the destination must be a register")),
            };
            rows.push(row);
        }
        let bytes = u64::from(ty.bytes() * count);
        match place {
            Place::Bank(offset) => {
                let limit = self.layout.constants.map_or(0, |(_, bytes)| bytes);
                self.known_place(offset, bytes, limit, "the module's constants")?;
                self.draft_run(pick_known::<false>(self.cpu, ty), Class::Move, &rows, &[]);
                self.last().imm = offset;
            }
            Place::Param(offset) => {
                self.known_place(offset, bytes, self.param_bytes.into(), "the parameters")?;
                self.draft_run(pick_known::<true>(self.cpu, ty), Class::Move, &rows, &[]);
                self.last().imm = offset;
            }
            Place::Register(row, offset) => {
                let cpu = self.cpu;
                let access = ordered_of(instruction);
                let ordered = access.is_some();
                self.volatile |= ordered && matches!(at, At::Global | At::Generic);
                let (run, class) = match at {
                    At::Generic if ordered => (
                        pick_ordered_load::<state_space::GenericSpace>(ty, count),
                        Class::Global,
                    ),
                    At::Global if ordered => (
                        pick_ordered_load::<state_space::GlobalSpace>(ty, count),
                        Class::Global,
                    ),
                    At::Generic => (
                        pick_load::<state_space::GenericSpace>(cpu, ty, count),
                        Class::Global,
                    ),
                    At::Global => (
                        pick_load::<state_space::GlobalSpace>(cpu, ty, count),
                        Class::Global,
                    ),
                    At::Const => (
                        pick_load::<state_space::ConstantSpace>(cpu, ty, count),
                        Class::Constant,
                    ),
                    At::Shared => (
                        pick_load::<state_space::SharedSpace>(cpu, ty, count),
                        Class::Shared,
                    ),
                    At::Local => (pick_load::<state_space::LocalSpace>(cpu, ty, count), Class::Local),
                    At::Param if self.function.entry && !self.names_local(from) => (
                        pick_load::<state_space::ParamSpace>(cpu, ty, count),
                        Class::Constant,
                    ),
                    At::Param => (
                        pick_load::<state_space::ArgumentSpace>(cpu, ty, count),
                        Class::Integer,
                    ),
                };
                self.draft_run(run, class, &rows, &[row]);
                self.last().imm = offset as u64;
                let kind = if instruction.modifiers.contains(&"nc") {
                    AccessKind::ReadOnlyLoad
                } else {
                    AccessKind::Load
                };
                self.last().access = memory_of(at).map(|memory| Access {
                    memory,
                    kind,
                    bytes: ty.bytes() * count,
                    address: count as usize,
                    ordered: access,
                    update: Update::default(),
                });
            }
        }
        self.last().x = count;
        for (register, narrow) in widen {
            let run = if ty.is_signed() {
                map1(self.cpu, |a: i32| i64::from(a))
            } else {
                map1(self.cpu, |a: u32| u64::from(a))
            };
            self.draft_run(run, Class::Integer, &[register], &[narrow]);
        }
        Ok(())
    }

    /// Fails if an access at a fixed offset is out of bounds.
    fn known_place(
        &self,
        offset: u64,
        bytes: u64,
        limit: u64,
        what: &str,
    ) -> Result<(), LoadError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= limit => Ok(()),
            _ => Err(self.error(format!("the load is outside {what} ({limit} bytes)"))),
        }
    }

    /// Lowers `st`. Values in wider registers are truncated first.
    pub fn store(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (at, count, ty) = self.access(instruction)?;
        let [to, from] = self.without_hint(instruction)? else {
            return Err(self.error("a store takes an address and a value"));
        };
        let from = match from {
            Operand::Vector(parts) => parts.clone(),
            single => vec![single.clone()],
        };
        if from.len() != count as usize {
            return Err(self.error("the vector has another length than the store"));
        }
        let row = match self.place(to, at)? {
            Place::Register(row, offset) => (row, offset),
            Place::Bank(_) | Place::Param(_) => {
                return Err(self.error("constants and kernel parameters can not be written"));
            }
        };
        let mut uses = vec![row.0];
        for operand in &from {
            let register = self.any_source(operand, ty)?;
            let info = self.info(register);
            let narrow = info.bytes < ty.bytes() && info.literal.is_none();
            if info.row == RegisterClass::Predicate || narrow {
                return Err(self.error("the value is narrower than the store"));
            }
            uses.push(if info.row == row_of(ty) {
                register
            } else {
                let narrow = self.temporary(ty);
                let run = map1(self.cpu, |a: u64| a as u32);
                self.draft_run(run, Class::Integer, &[narrow], &[register]);
                narrow
            });
        }
        let cpu = self.cpu;
        let access = ordered_of(instruction);
        let ordered = access.is_some();
        self.volatile |= ordered && matches!(at, At::Global | At::Generic);
        let (run, class) = match at {
            At::Generic if ordered => (
                pick_ordered_store::<state_space::GenericSpace>(ty, count),
                Class::Global,
            ),
            At::Global if ordered => (
                pick_ordered_store::<state_space::GlobalSpace>(ty, count),
                Class::Global,
            ),
            At::Generic => (
                pick_store::<state_space::GenericSpace>(cpu, ty, count),
                Class::Global,
            ),
            At::Global => (
                pick_store::<state_space::GlobalSpace>(cpu, ty, count),
                Class::Global,
            ),
            At::Shared => (
                pick_store::<state_space::SharedSpace>(cpu, ty, count),
                Class::Shared,
            ),
            At::Local => (
                pick_store::<state_space::LocalSpace>(cpu, ty, count),
                Class::Local,
            ),
            At::Param => (
                pick_store::<state_space::ArgumentSpace>(cpu, ty, count),
                Class::Integer,
            ),
            At::Const => return Err(self.error("constant memory can not be written")),
        };
        self.draft_run(run, class, &[], &uses);
        self.last().x = count;
        self.last().imm = row.1 as u64;
        self.last().access = memory_of(at).map(|memory| Access {
            memory,
            kind: AccessKind::Store,
            bytes: ty.bytes() * count,
            address: 0,
            ordered: access,
            update: Update::default(),
        });
        Ok(())
    }
}
