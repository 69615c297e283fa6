//! Lowering of loads, stores, cache policies, atomics and reductions. Source: PTX ISA sections 9.7.9 (`ld`, `st`,
//! `createpolicy`, cache eviction priority hints), 9.7.13.5 (`atom`) and 9.7.13.6 (`red`).

use super::FunctionLowering;
use super::names::Named;
use super::operands::{display_name, elements, form_of, register_class};
use crate::exec::cpu::Cpu;
use crate::exec::lanewise::map1;
use crate::exec::memory::access::{load, load_constant_operand, load_param, store};
use crate::exec::memory::atomic::{Atomic, atomic16, atomic32, atomic64};
use crate::exec::memory::memory_order;
use crate::exec::memory::state_space;
use crate::exec::memory::state_space::SpaceAccess;
use crate::exec::sm::{Handler, Handlers};
use crate::isa::operation::{EXTENSION, Operation, TRUNCATION, Transfer as TypedTransfer};
use crate::isa::{Access, AccessKind, Class, Element, LoadedValue, Memory, Ordered, Update};
use crate::lower::error::LoadError;
use crate::lower::ir::{ByteFlow, Register, RegisterClass};
use crate::lower::layout::Symbol;
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
const CACHE_AND_ORDER_MODIFIERS: &[&str] = &[
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

/// The parsed modifiers of a load, a store or an atomic.
struct AccessForm {
    space: AccessSpace,
    /// The number of elements: 1, 2 or 4.
    count: u32,
    /// The type of an element.
    ty: Type,
    /// The ordering properties; `None` for a weak access.
    ordered: Option<Ordered>,
}

impl AccessForm {
    /// Returns the size of the access in bytes per lane.
    fn bytes(&self) -> u32 {
        self.ty.bytes() * self.count
    }

    /// Returns true if accesses of this form are compiled: weak ones, except to a thread's own memory.
    fn compilable(&self) -> bool {
        self.ordered.is_none() && !matches!(self.space, AccessSpace::Param | AccessSpace::Local)
    }

    /// Returns the access for the compiler.
    fn transfer(&self) -> TypedTransfer {
        TypedTransfer {
            memory: match self.space {
                AccessSpace::Generic | AccessSpace::Param => Memory::Generic,
                AccessSpace::Global => Memory::Global,
                AccessSpace::Const => Memory::Constant,
                AccessSpace::Shared => Memory::Shared,
                AccessSpace::Local => Memory::Local,
            },
            bytes: self.ty.bytes(),
            signed: self.ty.is_signed(),
            count: self.count,
        }
    }

    /// Returns the access for the profiler and the sanitizer; `address` is the index of the address operand.
    /// Returns `None` for parameters, which are not counted: call arguments and results are registers on a GPU,
    /// and kernel parameters are operands of the instructions that use them.
    fn access(&self, kind: AccessKind, address: usize) -> Option<Access> {
        let memory = match self.space {
            AccessSpace::Generic => Memory::Generic,
            AccessSpace::Global => Memory::Global,
            AccessSpace::Const => Memory::Constant,
            AccessSpace::Shared => Memory::Shared,
            AccessSpace::Local => Memory::Local,
            AccessSpace::Param => return None,
        };
        Some(Access {
            memory,
            kind,
            bytes: self.bytes(),
            element: Element {
                bytes: self.ty.bytes(),
                is_float: matches!(self.ty, Type::F16 | Type::F32 | Type::F64),
            },
            address,
            ordered: self.ordered,
            // The analysis of the whole function fills this in for atomics (`analysis::machine_code`).
            loaded: LoadedValue::default(),
            update: Update::default(),
        })
    }
}

/// Returns the ordering properties of a load or store; `None` for a weak one, unless it names the level-2 cache.
fn ordering(instruction: &Instruction) -> Option<Ordered> {
    let is_strong = has_any(
        instruction,
        &["volatile", "relaxed", "acquire", "release", "mmio"],
    );
    let at_l2 = !is_strong && has_any(instruction, &["cg", "cv", "wt"]);
    (is_strong || at_l2).then(|| Ordered {
        at_l2,
        ..named_order(instruction)
    })
}

/// Returns the ordering properties that an instruction's modifiers name.
fn named_order(instruction: &Instruction) -> Ordered {
    Ordered {
        releases: has_any(instruction, &["release", "acq_rel"]),
        is_system: has_any(instruction, &["volatile", "mmio", "sys"]),
        is_block: has_any(instruction, &["cta"]),
        names_order: has_any(instruction, &["relaxed", "acquire", "release", "acq_rel"]),
        ..Ordered::default()
    }
}

/// Returns true if an instruction has one of these modifiers.
fn has_any(instruction: &Instruction, names: &[&str]) -> bool {
    let mut modifiers = instruction.modifiers.iter();
    modifiers.any(|modifier| names.contains(modifier))
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Parses the modifiers of a load or store.
    fn parse_access(&self, instruction: &Instruction<'a>) -> Result<AccessForm, LoadError> {
        let form = form_of(instruction);
        while form.one_of(CACHE_AND_ORDER_MODIFIERS).is_some() {}
        let space = match form.one_of(&[
            "global",
            "const",
            "shared",
            "shared::cta",
            "shared::cluster",
            "local",
            "param",
            "param::entry",
            "param::func",
        ]) {
            None => AccessSpace::Generic,
            Some("global") => AccessSpace::Global,
            Some("const") => AccessSpace::Const,
            Some("shared" | "shared::cta" | "shared::cluster") => AccessSpace::Shared,
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
        Ok(AccessForm {
            space,
            count,
            ty,
            ordered: ordering(instruction),
        })
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
            AddressBase::Indexed { .. } => {
                let generic = space == AccessSpace::Generic;
                let element = self.element_address(*base, *offset, generic)?;
                return Ok(ResolvedAddress::Register(element, 0));
            }
            AddressBase::Name(name) => *name,
        };
        if let Some(register) = self.find_register(name)? {
            return Ok(ResolvedAddress::Register(
                self.address_row(register)?,
                *offset,
            ));
        }
        match (
            self.lookup(name),
            self.module.layout.symbols.get(name).copied(),
        ) {
            (Some(Named::Param { offset: base }), _) => Ok(ResolvedAddress::Param(
                u64::from(base).wrapping_add_signed(*offset),
            )),
            (None, Some(Symbol::Const(address))) if space == AccessSpace::Const => {
                let (base, _) = self.module.layout.constants.unwrap_or_default();
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
        matches!(operand, Operand::Address {
            base: AddressBase::Name(name) | AddressBase::Indexed { array: name, .. }, ..
        } if matches!(self.lookup(name), Some(Named::Local(_))))
    }

    /// Lowers `ld`. Loads into wider registers are followed by a zero or sign extension.
    pub fn load(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = self.parse_access(instruction)?;
        let ty = form.ty;
        let [to, from] = self.operands_without_policy(instruction)? else {
            return Err(self.error("a load takes a destination and an address"));
        };
        let address = self.resolve_address(from, form.space)?;
        let to = elements(to);
        if to.len() != form.count as usize {
            return Err(self.error("the length of the vector differs from that of the load"));
        }
        let loaded_row = register_class(ty);
        let mut rows = Vec::new();
        let mut widen = Vec::new();
        for operand in to {
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
        let bytes = u64::from(form.bytes());
        match address {
            ResolvedAddress::ConstantBank(offset) => {
                let limit = self.module.layout.constants.map_or(0, |(_, bytes)| bytes);
                self.check_bounds(offset, bytes, limit, "the module's constants")?;
                self.push_with_handlers(
                    fixed_offset_load::<false>(self.module.cpu, ty),
                    Class::Move,
                    &rows,
                    &[],
                );
                self.last().operation = Some(Operation::ConstantBank(form.transfer()));
                self.last().imm = offset;
            }
            ResolvedAddress::Param(offset) => {
                self.check_bounds(
                    offset,
                    bytes,
                    self.stack.param_bytes.into(),
                    "the parameters",
                )?;
                self.push_with_handlers(
                    fixed_offset_load::<true>(self.module.cpu, ty),
                    Class::Move,
                    &rows,
                    &[],
                );
                self.last().operation = Some(Operation::Parameter(form.transfer()));
                self.last().imm = offset;
            }
            ResolvedAddress::Register(row, offset) => {
                let (handlers, class) = match form.space {
                    AccessSpace::Param if self.function.entry && !self.names_local(from) => (
                        Load::weak::<state_space::ParamSpace>(self.module.cpu, ty, form.count),
                        Class::Constant,
                    ),
                    _ => self.select_handlers::<Load>(&form)?,
                };
                self.push_with_handlers(handlers, class, &rows, &[row]);
                let kind = if instruction.modifiers.contains(&"nc") {
                    AccessKind::ReadOnlyLoad
                } else {
                    AccessKind::Load
                };
                self.last().imm = offset as u64;
                self.last().access = form.access(kind, rows.len());
                self.last().operation = form.compilable().then(|| Operation::Load(form.transfer()));
            }
        }
        self.last().arg0 = form.count;
        for (register, narrow) in widen {
            let handler = if ty.is_signed() {
                map1(self.module.cpu, |a: i32| i64::from(a))
            } else {
                map1(self.module.cpu, |a: u32| u64::from(a))
            };
            self.push_with_handlers(handler, Class::Integer, &[register], &[narrow]);
            self.last().operation = Some(match ty.is_signed() {
                true => Operation::Resize {
                    to: Type::S64,
                    from: Type::S32,
                },
                false => EXTENSION,
            });
            self.last().byte_flow = Some(ByteFlow::Converted(ty.bytes()));
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
        let form = self.parse_access(instruction)?;
        let ty = form.ty;
        let [to, from] = self.operands_without_policy(instruction)? else {
            return Err(self.error("a store takes an address and a value"));
        };
        let from = elements(from);
        if from.len() != form.count as usize {
            return Err(self.error("the length of the vector differs from that of the store"));
        }
        let ResolvedAddress::Register(row, offset) = self.resolve_address(to, form.space)? else {
            return Err(self.error("constants and kernel parameters cannot be written"));
        };
        let mut uses = vec![row];
        for operand in from {
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
                let handler = map1(self.module.cpu, |a: u64| a as u32);
                self.push_with_handlers(handler, Class::Integer, &[narrow], &[register]);
                self.last().operation = Some(TRUNCATION);
                self.last().byte_flow = Some(ByteFlow::Converted(ty.bytes()));
                narrow
            });
        }
        let (handlers, class) = self.select_handlers::<Store>(&form)?;
        self.push_with_handlers(handlers, class, &[], &uses);
        let inst = self.last();
        inst.arg0 = form.count;
        inst.imm = offset as u64;
        inst.access = form.access(AccessKind::Store, 0);
        inst.operation = form.compilable().then(|| Operation::Store(form.transfer()));
        inst.byte_flow = inst.access.is_none().then_some(ByteFlow::Passed);
        Ok(())
    }

    /// Selects the handlers and the class of a load or store with an address in a register. A parameter is
    /// that of a call.
    fn select_handlers<T: Transfer>(
        &mut self,
        form: &AccessForm,
    ) -> Result<(Handlers, Class), LoadError> {
        use state_space::{ArgumentSpace, GenericSpace, GlobalSpace, LocalSpace, SharedSpace};
        let (cpu, ty, count) = (self.module.cpu, form.ty, form.count);
        let is_ordered = form.ordered.is_some_and(|ordered| !ordered.at_l2);
        self.effects.volatile |= form.ordered.is_some()
            && matches!(form.space, AccessSpace::Global | AccessSpace::Generic);
        Ok(match form.space {
            AccessSpace::Generic if is_ordered => {
                (T::ordered::<GenericSpace>(ty, count), Class::Global)
            }
            AccessSpace::Global if is_ordered => {
                (T::ordered::<GlobalSpace>(ty, count), Class::Global)
            }
            AccessSpace::Generic => (T::weak::<GenericSpace>(cpu, ty, count), Class::Global),
            AccessSpace::Global => (T::weak::<GlobalSpace>(cpu, ty, count), Class::Global),
            AccessSpace::Shared => (T::weak::<SharedSpace>(cpu, ty, count), Class::Shared),
            AccessSpace::Local => (T::weak::<LocalSpace>(cpu, ty, count), Class::Local),
            AccessSpace::Param => (T::weak::<ArgumentSpace>(cpu, ty, count), Class::Integer),
            AccessSpace::Const => match T::constant(cpu, ty, count) {
                Some(handlers) => (handlers, Class::Constant),
                None => return Err(self.error("constant memory cannot be written")),
            },
        })
    }
}

/// The direction of a transfer between registers and memory, which selects the handlers.
pub trait Transfer {
    /// Selects the handlers of a weak access of one, two or four elements.
    fn weak<S: SpaceAccess + 'static>(cpu: Cpu, ty: Type, count: u32) -> Handlers;

    /// Selects the handlers of an ordered access, which other threads' accesses may race with.
    fn ordered<S: SpaceAccess + 'static>(ty: Type, count: u32) -> Handlers;

    /// Selects the handlers of a weak access to constant memory; `None` if the direction is not possible.
    fn constant(cpu: Cpu, ty: Type, count: u32) -> Option<Handlers>;
}

/// Loads, which extend the sign of narrow integers.
pub struct Load;

/// Stores, for which only the size of an element matters.
pub struct Store;

/// Evaluates a handler for the element type `M` and the vector length `N` of an access.
macro_rules! for_vector {
    (loads of $ty:expr, $count:expr; $M:ident, $N:ident => $handler:expr) => {
        match ($ty.bytes(), $ty.is_signed()) {
            (1, true) => for_vector!($count, i8; $M, $N => $handler),
            (2, true) => for_vector!($count, i16; $M, $N => $handler),
            _ => for_vector!(stores of $ty, $count; $M, $N => $handler),
        }
    };
    (stores of $ty:expr, $count:expr; $M:ident, $N:ident => $handler:expr) => {
        match $ty.bytes() {
            1 => for_vector!($count, u8; $M, $N => $handler),
            2 => for_vector!($count, u16; $M, $N => $handler),
            // No access is wider than 16 bytes.
            8 if $count == 1 => for_vector!(u64, 1; $M, $N => $handler),
            8 => for_vector!(u64, 2; $M, $N => $handler),
            _ => for_vector!($count, u32; $M, $N => $handler),
        }
    };
    ($count:expr, $element:ty; $M:ident, $N:ident => $handler:expr) => {
        match $count {
            1 => for_vector!($element, 1; $M, $N => $handler),
            2 => for_vector!($element, 2; $M, $N => $handler),
            _ => for_vector!($element, 4; $M, $N => $handler),
        }
    };
    ($element:ty, $length:literal; $M:ident, $N:ident => $handler:expr) => {{
        type $M = $element;
        const $N: usize = $length;
        $handler
    }};
}

impl Transfer for Load {
    fn weak<S: SpaceAccess + 'static>(cpu: Cpu, ty: Type, count: u32) -> Handlers {
        for_vector!(loads of ty, count; M, N => load::<S, M, N>(cpu))
    }

    fn ordered<S: SpaceAccess + 'static>(ty: Type, count: u32) -> Handlers {
        for_vector!(loads of ty, count; M, N => memory_order::load::<S, M, N>().into())
    }

    fn constant(cpu: Cpu, ty: Type, count: u32) -> Option<Handlers> {
        Some(Self::weak::<state_space::ConstantSpace>(cpu, ty, count))
    }
}

impl Transfer for Store {
    fn weak<S: SpaceAccess + 'static>(cpu: Cpu, ty: Type, count: u32) -> Handlers {
        for_vector!(stores of ty, count; M, N => store::<S, M, N>(cpu))
    }

    fn ordered<S: SpaceAccess + 'static>(ty: Type, count: u32) -> Handlers {
        for_vector!(stores of ty, count; M, N => memory_order::store::<S, M, N>().into())
    }

    fn constant(_cpu: Cpu, _ty: Type, _count: u32) -> Option<Handlers> {
        None
    }
}

/// Selects the handlers of a load of one element at a fixed offset of the kernel's parameters (`PARAM`) or the
/// constant bank.
fn fixed_offset_load<const PARAM: bool>(cpu: Cpu, ty: Type) -> Handlers {
    for_vector!(loads of ty, 1; M, _N => if PARAM {
        load_param::<M>(cpu)
    } else {
        load_constant_operand::<M>(cpu)
    })
}

/// The modifier of an access whose last operand is a cache policy, as created by `createpolicy`.
pub const CACHE_HINT: &str = "L2::cache_hint";

/// Eviction priorities of `createpolicy`.
const POLICIES: &[&str] = &[
    "L2",
    "L2::evict_last",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_unchanged",
];

impl<'a> FunctionLowering<'_, 'a> {
    /// Returns the operands of an access without its cache policy, which has no effect in the simulator.
    pub fn operands_without_policy<'i>(
        &mut self,
        instruction: &'i Instruction<'a>,
    ) -> Result<&'i [Operand<'a>], LoadError> {
        let operands = &instruction.operands[..];
        if !instruction.modifiers.contains(&CACHE_HINT) {
            return Ok(operands);
        }
        let [operands @ .., policy] = operands else {
            return Err(self.error("an access with a cache hint takes a policy"));
        };
        self.source(policy, Type::B64)?;
        Ok(operands)
    }

    /// Lowers `createpolicy`. The encoding of a policy is opaque to programs; here it is 0.
    pub fn create_policy(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        let kind = form.one_of(&["fractional", "range", "cvt"]);
        form.has("global");
        while form.one_of(POLICIES).is_some() {}
        let operands = &instruction.operands[..];
        let has_valid_count = match kind {
            Some("fractional") => matches!(operands.len(), 1 | 2),
            Some("range") => operands.len() == 4,
            Some(_) => operands.len() == 2,
            None => false,
        };
        if form.ty() != Ok(Type::B64) || form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        if !has_valid_count {
            let display_name = display_name(instruction);
            return Err(self.error(format!("`{display_name}` has the wrong number of operands")));
        }
        let to = self.destination(&operands[0], Type::B64)?;
        let none = self.literal(Type::B64, 0);
        self.push_with_handlers(
            map1(self.module.cpu, |a: u64| a),
            Class::Move,
            &[to],
            &[none],
        );
        Ok(())
    }
}

/// Selects the handler of an atomic by the size of its type.
fn atomic_handler<S: SpaceAccess + 'static>(ty: Type) -> Handler {
    match ty.bytes() {
        2 => atomic16::<S>(),
        4 => atomic32::<S>(),
        _ => atomic64::<S>(),
    }
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `atom`, which returns the old value.
    pub fn atomic(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.lower_atomic(instruction, true)
    }

    /// Lowers `red`, which does not return the old value.
    pub fn reduction(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.lower_atomic(instruction, false)
    }

    fn lower_atomic(
        &mut self,
        instruction: &Instruction<'a>,
        returns_old_value: bool,
    ) -> Result<(), LoadError> {
        let form = form_of(instruction);
        while form.one_of(CACHE_AND_ORDER_MODIFIERS).is_some() {}
        let space = match form.one_of(&["global", "shared", "shared::cta", "shared::cluster"]) {
            None => AccessSpace::Generic,
            Some("global") => AccessSpace::Global,
            Some(_) => AccessSpace::Shared,
        };
        let operation = form.one_of(&[
            "add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max",
        ]);
        let count = match form.one_of(&["v2", "v4", "v8"]) {
            None => 1,
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
        };
        let ty = form
            .ty()
            .and_then(|ty| form.end().map(|()| ty))
            .map_err(|error| self.error(format!("`{}`: {error}", display_name(instruction))))?;
        use Type::*;
        let noftz = instruction.modifiers.contains(&"noftz");
        let operation = match (operation, ty) {
            (Some("add"), U32 | S32 | U64 | S64) => Atomic::Add,
            (Some("add"), F32 | F64) => Atomic::AddFloat,
            (Some("add"), F16 | F16x2) if noftz => Atomic::AddHalf,
            (Some("add"), BF16 | BF16x2) if noftz => Atomic::AddBrain,
            (Some("min"), F16 | F16x2) if noftz && count > 1 => Atomic::MinHalf,
            (Some("max"), F16 | F16x2) if noftz && count > 1 => Atomic::MaxHalf,
            (Some("min"), BF16 | BF16x2) if noftz && count > 1 => Atomic::MinBrain,
            (Some("max"), BF16 | BF16x2) if noftz && count > 1 => Atomic::MaxBrain,
            (Some("cas"), B16) => Atomic::CompareAndSwap,
            (Some("and"), B32 | B64) => Atomic::And,
            (Some("or"), B32 | B64) => Atomic::Or,
            (Some("xor"), B32 | B64) => Atomic::Xor,
            (Some("exch"), B32 | B64 | U32 | U64 | S32 | S64 | F32 | F64) => Atomic::Exchange,
            (Some("cas"), B32 | B64 | U32 | U64 | S32 | S64) => Atomic::CompareAndSwap,
            (Some("inc"), U32) => Atomic::Increment,
            (Some("dec"), U32) => Atomic::Decrement,
            (Some("min"), U32 | U64) => Atomic::MinUnsigned,
            (Some("max"), U32 | U64) => Atomic::MaxUnsigned,
            (Some("min"), S32 | S64) => Atomic::MinSigned,
            (Some("max"), S32 | S64) => Atomic::MaxSigned,
            _ => return Err(self.unknown(instruction)),
        };
        if count > 1 {
            let longest = match ty {
                F32 | F16x2 | BF16x2 => 4,
                F16 | BF16 => 8,
                _ => 1,
            };
            if space == AccessSpace::Shared || operation == Atomic::Exchange || count > longest {
                return Err(self.unknown(instruction));
            }
        }
        let expected =
            2 + usize::from(returns_old_value) + usize::from(operation == Atomic::CompareAndSwap);
        let operands = self.operands_without_policy(instruction)?;
        if operands.len() != expected {
            return Err(self.error(format!(
                "`{}` takes {expected} operands",
                display_name(instruction)
            )));
        }
        let (to, sources) = match operands {
            [to, sources @ ..] if returns_old_value => (elements(to), sources),
            sources => (&[][..], sources),
        };
        let values = elements(&sources[1]);
        if values.len() != count || returns_old_value && to.len() != count {
            return Err(self.error("the length of the vector differs from that of the atomic"));
        }
        let ResolvedAddress::Register(row, offset) = self.resolve_address(&sources[0], space)?
        else {
            return Err(self.error("constants and kernel parameters cannot be written"));
        };
        let values = values
            .iter()
            .map(|value| self.source(value, ty))
            .collect::<Result<Vec<_>, _>>()?;
        let c = match sources.get(2) {
            Some(operand) => self.source(operand, ty)?,
            None => values[0],
        };
        let handler = match space {
            AccessSpace::Global => atomic_handler::<state_space::GlobalSpace>(ty),
            AccessSpace::Shared => atomic_handler::<state_space::SharedSpace>(ty),
            _ => atomic_handler::<state_space::GenericSpace>(ty),
        };
        let class = if space == AccessSpace::Shared {
            Class::Shared
        } else {
            Class::Global
        };
        let form = AccessForm {
            space,
            count: 1,
            ty,
            ordered: Some(named_order(instruction)),
        };
        // A vector is as many atomics, one per element. An old value must not overwrite the value of a later element, so
        // those of a vector are moved to their registers at the end.
        let mut moves = Vec::new();
        for (index, &value) in values.iter().enumerate() {
            let old = match to.get(index) {
                None => self.temporary(ty),
                Some(operand) if count == 1 => self.destination(operand, ty)?,
                Some(operand) => {
                    let old = self.temporary(ty);
                    moves.push((self.destination(operand, ty)?, old));
                    old
                }
            };
            if space != AccessSpace::Shared {
                self.effects.ordered |= operation.is_order_dependent();
                self.effects.old_values.insert(old);
            }
            let c = if count == 1 { c } else { value };
            self.push(handler, class, &[old], &[row, value, c]);
            self.last().arg0 = operation as u32;
            self.last().imm = (offset as u64).wrapping_add(index as u64 * u64::from(ty.bytes()));
            self.last().access = form.access(AccessKind::Atomic, 1);
        }
        for (register, old) in moves {
            let handlers = map1(self.module.cpu, |a: u32| a);
            self.push_with_handlers(handlers, Class::Move, &[register], &[old]);
        }
        Ok(())
    }
}
