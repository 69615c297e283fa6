//! Loads and stores. Source: PTX ISA section 9.7.9 (`ld`, `st`).

use super::FunctionLowering;
use super::access_handlers::{
    pick_fixed_offset_load, pick_load, pick_ordered_load, pick_ordered_store, pick_store,
};
use super::cache_policy::CACHE_HINT;
use super::names::Named;
use super::operands::{display_name, form_of, register_class};
use crate::exec::lanewise::map1;
use crate::exec::memory::state_space;
use crate::isa::{Access, AccessKind, Class, Memory, Ordered, Update};
use crate::lower::error::LoadError;
use crate::lower::layout::Symbol;
use crate::lower::register::{Register, RegisterClass};
use crate::ptx::ast::{AddressBase, Instruction, Operand, Type};

/// A state space as an instruction names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessSpace {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// Modifiers for caching and memory ordering. They need no handling here: every access reaches memory at
/// once, in program order, which satisfies all of them. Ordered accesses are recorded in [`Access::ordered`].
pub const CACHE_AND_ORDER_MODIFIERS: &[&str] = &[
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
pub enum ResolvedAddress {
    /// An address in a register, plus an offset.
    Register(Register, i64),
    /// An offset into the constant bank.
    ConstantBank(u64),
    /// An offset into the kernel's parameters.
    Param(u64),
}

/// Returns the memory whose counters an access belongs to. Parameter accesses are not counted: call arguments
/// and results are registers on a GPU, and kernel parameters are operands of the instructions that use them.
pub fn counted_memory(space: AccessSpace) -> Option<Memory> {
    match space {
        AccessSpace::Generic => Some(Memory::Generic),
        AccessSpace::Global => Some(Memory::Global),
        AccessSpace::Const => Some(Memory::Constant),
        AccessSpace::Shared => Some(Memory::Shared),
        AccessSpace::Local => Some(Memory::Local),
        AccessSpace::Param => None,
    }
}

/// Returns the ordering properties of a load or store; `None` for a weak one.
fn ordering(instruction: &Instruction) -> Option<Ordered> {
    let ordered = |name: &&str| {
        matches!(
            *name,
            "volatile" | "relaxed" | "acquire" | "release" | "mmio"
        )
    };
    let has = instruction.modifiers.iter().any(ordered);
    has.then(|| Ordered {
        releases: is_release(instruction),
        ..Ordered::default()
    })
}

/// Returns true for a release operation.
pub fn is_release(instruction: &Instruction) -> bool {
    let is_release = |name: &&str| matches!(*name, "release" | "acq_rel");
    instruction.modifiers.iter().any(is_release)
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Parses the modifiers of a load or store into state space, element count and element type.
    fn parse_access(
        &self,
        instruction: &Instruction<'a>,
    ) -> Result<(AccessSpace, u32, Type), LoadError> {
        let form = form_of(instruction);
        while form.one_of(CACHE_AND_ORDER_MODIFIERS).is_some() {}
        let space = match form.one_of(&[
            "global",
            "const",
            "shared",
            "shared::cta",
            "local",
            "param",
            "param::entry",
            "param::func",
        ]) {
            None => AccessSpace::Generic,
            Some("global") => AccessSpace::Global,
            Some("const") => AccessSpace::Const,
            Some("shared" | "shared::cta") => AccessSpace::Shared,
            Some("local") => AccessSpace::Local,
            Some(_) => AccessSpace::Param,
        };
        let count = match form.one_of(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        };
        let ty = form.ty().and_then(|ty| form.end().map(|()| ty));
        let ty =
            ty.map_err(|error| self.error(format!("`{}`: {error}", display_name(instruction))))?;
        if ty == Type::Pred || ty == Type::B128 || ty.bytes() * count > 16 {
            return Err(self.error(format!(
                "`{}` does not exist: no value has this type and length",
                display_name(instruction)
            )));
        }
        Ok((space, count, ty))
    }

    /// Resolves an address operand. Adds instructions if the address has to be computed.
    pub fn resolve_address(
        &mut self,
        operand: &Operand<'a>,
        space: AccessSpace,
    ) -> Result<ResolvedAddress, LoadError> {
        let Operand::Address { base, offset } = operand else {
            return Err(self.error("expected an address in brackets"));
        };
        let name = match base {
            AddressBase::Absolute => {
                return Ok(ResolvedAddress::Register(
                    self.literal(Type::U64, *offset as u64),
                    0,
                ));
            }
            AddressBase::Name(name) => *name,
        };
        if let Some(register) = self.find_register(name)? {
            return Ok(ResolvedAddress::Register(
                self.address_row(register)?,
                *offset,
            ));
        }
        match (self.lookup(name), self.layout.symbols.get(name).copied()) {
            (Some(Named::Param { offset: base }), _) => Ok(ResolvedAddress::Param(
                u64::from(base).wrapping_add_signed(*offset),
            )),
            (None, Some(Symbol::Const(address))) if space == AccessSpace::Const => {
                let (base, _) = self.layout.constants.unwrap_or_default();
                Ok(ResolvedAddress::ConstantBank(
                    (address - base).wrapping_add_signed(*offset),
                ))
            }
            _ => {
                let register = self.address_of(name, space == AccessSpace::Generic)?;
                Ok(ResolvedAddress::Register(register, *offset))
            }
        }
    }

    /// Returns true if an address operand names a variable in this function's local memory. In a kernel, such
    /// a `.param` name is an argument or result of a call and not a parameter of the kernel.
    fn names_local(&self, operand: &Operand<'a>) -> bool {
        matches!(operand, Operand::Address { base: AddressBase::Name(name), .. }
            if matches!(self.lookup(name), Some(Named::Local(_))))
    }

    /// Lowers `ld`. Loads into wider registers are followed by a zero or sign extension.
    pub fn load(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (space, count, ty) = self.parse_access(instruction)?;
        let [to, from] = self.operands_without_policy(instruction)? else {
            return Err(self.error("a load takes a destination and an address"));
        };
        let address = self.resolve_address(from, space)?;
        let to = match to {
            Operand::Vector(elements) => elements.clone(),
            single => vec![single.clone()],
        };
        if to.len() != count as usize {
            return Err(self.error("the length of the vector differs from that of the load"));
        }
        let loaded_row = register_class(ty);
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
        match address {
            ResolvedAddress::ConstantBank(offset) => {
                let limit = self.layout.constants.map_or(0, |(_, bytes)| bytes);
                self.check_bounds(offset, bytes, limit, "the module's constants")?;
                self.push_with_handlers(
                    pick_fixed_offset_load::<false>(self.cpu, ty),
                    Class::Move,
                    &rows,
                    &[],
                );
                self.last().imm = offset;
            }
            ResolvedAddress::Param(offset) => {
                self.check_bounds(offset, bytes, self.param_bytes.into(), "the parameters")?;
                self.push_with_handlers(
                    pick_fixed_offset_load::<true>(self.cpu, ty),
                    Class::Move,
                    &rows,
                    &[],
                );
                self.last().imm = offset;
            }
            ResolvedAddress::Register(row, offset) => {
                let cpu = self.cpu;
                let ordering = ordering(instruction);
                let ordered = ordering.is_some();
                self.volatile |=
                    ordered && matches!(space, AccessSpace::Global | AccessSpace::Generic);
                let (handler, class) = match space {
                    AccessSpace::Generic if ordered => (
                        pick_ordered_load::<state_space::GenericSpace>(ty, count),
                        Class::Global,
                    ),
                    AccessSpace::Global if ordered => (
                        pick_ordered_load::<state_space::GlobalSpace>(ty, count),
                        Class::Global,
                    ),
                    AccessSpace::Generic => (
                        pick_load::<state_space::GenericSpace>(cpu, ty, count),
                        Class::Global,
                    ),
                    AccessSpace::Global => (
                        pick_load::<state_space::GlobalSpace>(cpu, ty, count),
                        Class::Global,
                    ),
                    AccessSpace::Const => (
                        pick_load::<state_space::ConstantSpace>(cpu, ty, count),
                        Class::Constant,
                    ),
                    AccessSpace::Shared => (
                        pick_load::<state_space::SharedSpace>(cpu, ty, count),
                        Class::Shared,
                    ),
                    AccessSpace::Local => (
                        pick_load::<state_space::LocalSpace>(cpu, ty, count),
                        Class::Local,
                    ),
                    AccessSpace::Param if self.function.entry && !self.names_local(from) => (
                        pick_load::<state_space::ParamSpace>(cpu, ty, count),
                        Class::Constant,
                    ),
                    AccessSpace::Param => (
                        pick_load::<state_space::ArgumentSpace>(cpu, ty, count),
                        Class::Integer,
                    ),
                };
                self.push_with_handlers(handler, class, &rows, &[row]);
                self.last().imm = offset as u64;
                let kind = if instruction.modifiers.contains(&"nc") {
                    AccessKind::ReadOnlyLoad
                } else {
                    AccessKind::Load
                };
                self.last().access = counted_memory(space).map(|memory| Access {
                    memory,
                    kind,
                    bytes: ty.bytes() * count,
                    address: count as usize,
                    ordered: ordering,
                    update: Update::default(),
                });
            }
        }
        self.last().arg0 = count;
        for (register, narrow) in widen {
            let handler = if ty.is_signed() {
                map1(self.cpu, |a: i32| i64::from(a))
            } else {
                map1(self.cpu, |a: u32| u64::from(a))
            };
            self.push_with_handlers(handler, Class::Integer, &[register], &[narrow]);
        }
        Ok(())
    }

    /// Fails if an access at a fixed offset is out of bounds.
    fn check_bounds(
        &self,
        offset: u64,
        bytes: u64,
        limit: u64,
        region: &str,
    ) -> Result<(), LoadError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= limit => Ok(()),
            _ => Err(self.error(format!("the load is outside {region} ({limit} bytes)"))),
        }
    }

    /// Lowers `st`. Values in wider registers are truncated first.
    pub fn store(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (space, count, ty) = self.parse_access(instruction)?;
        let [to, from] = self.operands_without_policy(instruction)? else {
            return Err(self.error("a store takes an address and a value"));
        };
        let from = match from {
            Operand::Vector(elements) => elements.clone(),
            single => vec![single.clone()],
        };
        if from.len() != count as usize {
            return Err(self.error("the length of the vector differs from that of the store"));
        }
        let row = match self.resolve_address(to, space)? {
            ResolvedAddress::Register(row, offset) => (row, offset),
            ResolvedAddress::ConstantBank(_) | ResolvedAddress::Param(_) => {
                return Err(self.error("constants and kernel parameters cannot be written"));
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
            uses.push(if info.row == register_class(ty) {
                register
            } else {
                let narrow = self.temporary(ty);
                let handler = map1(self.cpu, |a: u64| a as u32);
                self.push_with_handlers(handler, Class::Integer, &[narrow], &[register]);
                narrow
            });
        }
        let cpu = self.cpu;
        let ordering = ordering(instruction);
        let ordered = ordering.is_some();
        self.volatile |= ordered && matches!(space, AccessSpace::Global | AccessSpace::Generic);
        let (handler, class) = match space {
            AccessSpace::Generic if ordered => (
                pick_ordered_store::<state_space::GenericSpace>(ty, count),
                Class::Global,
            ),
            AccessSpace::Global if ordered => (
                pick_ordered_store::<state_space::GlobalSpace>(ty, count),
                Class::Global,
            ),
            AccessSpace::Generic => (
                pick_store::<state_space::GenericSpace>(cpu, ty, count),
                Class::Global,
            ),
            AccessSpace::Global => (
                pick_store::<state_space::GlobalSpace>(cpu, ty, count),
                Class::Global,
            ),
            AccessSpace::Shared => (
                pick_store::<state_space::SharedSpace>(cpu, ty, count),
                Class::Shared,
            ),
            AccessSpace::Local => (
                pick_store::<state_space::LocalSpace>(cpu, ty, count),
                Class::Local,
            ),
            AccessSpace::Param => (
                pick_store::<state_space::ArgumentSpace>(cpu, ty, count),
                Class::Integer,
            ),
            AccessSpace::Const => return Err(self.error("constant memory cannot be written")),
        };
        self.push_with_handlers(handler, class, &[], &uses);
        self.last().arg0 = count;
        self.last().imm = row.1 as u64;
        self.last().access = counted_memory(space).map(|memory| Access {
            memory,
            kind: AccessKind::Store,
            bytes: ty.bytes() * count,
            address: 0,
            ordered: ordering,
            update: Update::default(),
        });
        Ok(())
    }
}
