//! Loads, stores, atomics and addresses. Source: PTX ISA sections 9.7.9 and 9.7.13.5.

use super::operands::row_of;
use super::{Lowering, Named, special};
use crate::exec::access::{Element, load, load_constant_operand, load_param, local_address, store};
use crate::exec::atomic::{Atomic, atomic32, atomic64};
use crate::exec::cpu::Cpu;
use crate::exec::lanes::{map1, test1};
use crate::exec::ops::{Class, Form};
use crate::exec::{address, space};
use crate::memory::{
    FUNCTION_BASE, FUNCTION_STEP, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES,
};
use crate::program::code::Handler;
use crate::program::error::LoadError;
use crate::program::layout::Symbol;
use crate::program::registers::{Register, Row};
use crate::ptx::ast::{AddressBase, Instruction, Operand, Type};

/// A space as an instruction names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// Modifiers that say how an access is cached or ordered. Every access here is in order and
/// reaches memory at once, which satisfies them all.
const ORDER: &[&str] = &[
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
    "noftz",
];

/// Where an address operand leads.
enum Place {
    /// An address in a register, plus an offset.
    Register(Register, i64),
    /// An offset into the constant bank.
    Bank(u64),
    /// An offset into the kernel's parameters.
    Param(u64),
}

/// Which memory element a type is, and whether its sign is to be extended.
fn element(ty: Type) -> (u32, bool) {
    (ty.bytes(), ty.is_signed())
}

fn pick_load<S: space::Space + 'static>(cpu: Cpu, ty: Type) -> Handler {
    match element(ty) {
        (1, false) => load::<S, u8>(cpu),
        (1, true) => load::<S, i8>(cpu),
        (2, false) => load::<S, u16>(cpu),
        (2, true) => load::<S, i16>(cpu),
        (8, _) => load::<S, u64>(cpu),
        _ => load::<S, u32>(cpu),
    }
}

fn pick_store<S: space::Space + 'static>(cpu: Cpu, ty: Type) -> Handler {
    match ty.bytes() {
        1 => store::<S, u8>(cpu),
        2 => store::<S, u16>(cpu),
        8 => store::<S, u64>(cpu),
        _ => store::<S, u32>(cpu),
    }
}

fn known<const PARAM: bool>(ty: Type) -> Handler {
    fn pick<const PARAM: bool, M: Element>() -> Handler {
        if PARAM {
            load_param::<M>
        } else {
            load_constant_operand::<M>
        }
    }
    match element(ty) {
        (1, false) => pick::<PARAM, u8>(),
        (1, true) => pick::<PARAM, i8>(),
        (2, false) => pick::<PARAM, u16>(),
        (2, true) => pick::<PARAM, i16>(),
        (8, _) => pick::<PARAM, u64>(),
        _ => pick::<PARAM, u32>(),
    }
}

impl<'a> Lowering<'_, 'a> {
    /// What the modifiers of a load or store say: space, elements, type.
    fn access(&self, instruction: &Instruction<'a>) -> Result<(At, u32, Type), LoadError> {
        let form = Form::new(
            instruction.mnemonic,
            &instruction.modifiers,
            instruction.operands.len(),
        );
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
        let ty = ty.map_err(|error| {
            self.error(format!(
                "`{}`: {error}",
                super::operands::written(instruction)
            ))
        })?;
        if ty == Type::Pred || ty == Type::B128 || ty.bytes() * count > 16 {
            return Err(self.error(format!(
                "`{}` moves no value that exists",
                super::operands::written(instruction)
            )));
        }
        Ok((at, count, ty))
    }

    fn place(&mut self, operand: &Operand<'a>, at: At) -> Result<Place, LoadError> {
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

    /// Whether an address operand names a variable of this function's local memory: in a kernel,
    /// an argument or result of a call, not a parameter of its own.
    fn names_local(&self, operand: &Operand<'a>) -> bool {
        matches!(operand, Operand::Address { base: AddressBase::Name(name), .. }
            if matches!(self.lookup(name), Some(Named::Local(_))))
    }

    /// A 64-bit row with the address in `register`: 32-bit addresses are widened.
    fn address_row(&mut self, register: Register) -> Result<Register, LoadError> {
        match self.info(register).row {
            Row::Wide => Ok(register),
            Row::Narrow => {
                let wide = self.temporary(Type::U64);
                let run = map1(self.cpu, |a: u32| u64::from(a));
                self.draft(run, Class::Integer, &[wide], &[register]);
                Ok(wide)
            }
            Row::Predicate => Err(self.error("a predicate is not an address")),
        }
    }

    /// A row with the address of a variable or function; generic where asked.
    fn address_of(&mut self, name: &'a str, generic: bool) -> Result<Register, LoadError> {
        let window = |window: u64| if generic { window } else { 0 };
        if let Some(named) = self.lookup(name) {
            return match named {
                Named::Local(offset) => {
                    let register = self.temporary(Type::U64);
                    self.draft(local_address, Class::Integer, &[register], &[]);
                    self.last().imm = window(LOCAL_WINDOW) + u64::from(offset);
                    Ok(register)
                }
                Named::Param { offset } => {
                    Ok(self.literal(Type::U64, window(PARAM_WINDOW) + u64::from(offset)))
                }
                Named::Shared(offset) => {
                    Ok(self.literal(Type::U64, window(SHARED_WINDOW) + offset))
                }
                Named::Register(_) | Named::Range { .. } => {
                    Err(self.error(format!("`{name}` has no address")))
                }
            };
        }
        match self.layout.symbols.get(name).copied() {
            Some(Symbol::Global(address) | Symbol::Const(address)) => {
                Ok(self.literal(Type::U64, address))
            }
            Some(Symbol::Shared(offset)) => {
                Ok(self.literal(Type::U64, window(SHARED_WINDOW) + offset))
            }
            Some(Symbol::DynamicShared) => {
                let register = self.temporary(Type::U64);
                self.draft(address::dynamic_shared, Class::Integer, &[register], &[]);
                self.last().imm = window(SHARED_WINDOW);
                Ok(register)
            }
            Some(Symbol::Function(number)) => {
                self.calls_pointers = true;
                Ok(self.literal(Type::U64, FUNCTION_BASE + number as u64 * FUNCTION_STEP))
            }
            None => Err(self.error(format!("`{name}` is not declared"))),
        }
    }

    pub fn load(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (at, count, ty) = self.access(instruction)?;
        let [to, from] = &instruction.operands[..] else {
            return Err(self.error("a load takes a destination and an address"));
        };
        // The last operands of a load with a cache policy and the like are not simulated.
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
                Operand::Name { name, offset: 0 } => {
                    let register = self.register(name)?;
                    let info = self.info(register);
                    if info.row == Row::Predicate || info.bytes < ty.bytes() {
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
                self.draft(known::<false>(ty), Class::Integer, &rows, &[]);
                self.last().imm = offset;
            }
            Place::Param(offset) => {
                self.known_place(offset, bytes, self.param_bytes.into(), "the parameters")?;
                self.draft(known::<true>(ty), Class::Integer, &rows, &[]);
                self.last().imm = offset;
            }
            Place::Register(row, offset) => {
                let cpu = self.cpu;
                let (run, class) = match at {
                    At::Generic => (pick_load::<space::Generic>(cpu, ty), Class::Global),
                    At::Global => (pick_load::<space::Global>(cpu, ty), Class::Global),
                    At::Const => (pick_load::<space::Constant>(cpu, ty), Class::Constant),
                    At::Shared => (pick_load::<space::Shared>(cpu, ty), Class::Shared),
                    At::Local => (pick_load::<space::Local>(cpu, ty), Class::Local),
                    At::Param if self.function.entry && !self.names_local(from) => {
                        (pick_load::<space::Param>(cpu, ty), Class::Constant)
                    }
                    At::Param => (pick_load::<space::Argument>(cpu, ty), Class::Integer),
                };
                self.draft(run, class, &rows, &[row]);
                self.last().imm = offset as u64;
            }
        }
        self.last().x = count;
        for (register, narrow) in widen {
            let run = if ty.is_signed() {
                map1(self.cpu, |a: i32| i64::from(a))
            } else {
                map1(self.cpu, |a: u32| u64::from(a))
            };
            self.draft(run, Class::Integer, &[register], &[narrow]);
        }
        Ok(())
    }

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

    pub fn store(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (at, count, ty) = self.access(instruction)?;
        let [to, from] = &instruction.operands[..] else {
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
            if info.row == Row::Predicate || info.bytes < ty.bytes() {
                return Err(self.error("the value is narrower than the store"));
            }
            uses.push(if info.row == row_of(ty) {
                register
            } else {
                let narrow = self.temporary(ty);
                let run = map1(self.cpu, |a: u64| a as u32);
                self.draft(run, Class::Integer, &[narrow], &[register]);
                narrow
            });
        }
        let cpu = self.cpu;
        let (run, class) = match at {
            At::Generic => (pick_store::<space::Generic>(cpu, ty), Class::Global),
            At::Global => (pick_store::<space::Global>(cpu, ty), Class::Global),
            At::Shared => (pick_store::<space::Shared>(cpu, ty), Class::Shared),
            At::Local => (pick_store::<space::Local>(cpu, ty), Class::Local),
            At::Param => (pick_store::<space::Argument>(cpu, ty), Class::Integer),
            At::Const => return Err(self.error("constant memory can not be written")),
        };
        self.draft(run, class, &[], &uses);
        self.last().x = count;
        self.last().imm = row.1 as u64;
        Ok(())
    }

    pub fn atomic(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = Form::new(
            instruction.mnemonic,
            &instruction.modifiers,
            instruction.operands.len(),
        );
        while form.one_of(ORDER).is_some() {}
        let at = match form.one_of(&["global", "shared", "shared::cta"]) {
            None => At::Generic,
            Some("global") => At::Global,
            Some(_) => At::Shared,
        };
        let operation = form.one_of(&[
            "add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max",
        ]);
        let ty = form
            .ty()
            .and_then(|ty| form.end().map(|()| ty))
            .map_err(|error| {
                self.error(format!(
                    "`{}`: {error}",
                    super::operands::written(instruction)
                ))
            })?;
        use Type::*;
        let operation = match (operation, ty) {
            (Some("add"), U32 | S32 | U64 | S64) => Atomic::Add,
            (Some("add"), F32 | F64) => Atomic::AddFloat,
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
        let returns = instruction.mnemonic == "atom";
        let wanted = 2 + usize::from(returns) + usize::from(operation == Atomic::CompareAndSwap);
        let operands = &instruction.operands;
        if operands.len() != wanted {
            return Err(self.error(format!(
                "`{}` takes {wanted} operands",
                super::operands::written(instruction)
            )));
        }
        let (to, rest) = if returns {
            (self.destination(&operands[0], ty)?, &operands[1..])
        } else {
            (self.temporary(ty), &operands[..])
        };
        let Place::Register(row, offset) = self.place(&rest[0], at)? else {
            return Err(self.error("constants and kernel parameters can not be written"));
        };
        let b = self.source(&rest[1], ty)?;
        let c = match rest.get(2) {
            Some(operand) => self.source(operand, ty)?,
            None => b,
        };
        let wide = ty.bytes() == 8;
        let run = match (at, wide) {
            (At::Global, false) => atomic32::<space::Global>(),
            (At::Global, true) => atomic64::<space::Global>(),
            (At::Shared, false) => atomic32::<space::Shared>(),
            (At::Shared, true) => atomic64::<space::Shared>(),
            (_, false) => atomic32::<space::Generic>(),
            (_, true) => atomic64::<space::Generic>(),
        };
        if at != At::Shared {
            self.ordered |= operation.order_shows();
            self.old_values.insert(to);
        }
        let class = if at == At::Shared {
            Class::Shared
        } else {
            Class::Global
        };
        self.draft(run, class, &[to], &[row, b, c]);
        self.last().x = operation as u32;
        self.last().imm = offset as u64;
        Ok(())
    }

    /// `mov` of a variable's address or a special register.
    pub fn moves_address(&mut self, instruction: &Instruction<'a>) -> bool {
        match instruction.operands.get(1) {
            Some(Operand::Name { name, offset }) => {
                *offset != 0
                    || !matches!(self.find_register(name), Ok(Some(_)))
                        && special::find(name).is_none()
                        && *name != "WARP_SZ"
            }
            _ => false,
        }
    }

    pub fn move_address(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let [to, Operand::Name { name, offset }] = &instruction.operands[..] else {
            return Err(self.error("`mov` takes a destination and a source"));
        };
        let address = self.address_of(name, false)?;
        let Operand::Name {
            name: to,
            offset: 0,
        } = to
        else {
            return Err(self.error("the destination must be a register"));
        };
        let to = self.register(to)?;
        // A literal row plus an offset could be folded; the copy costs one instruction.
        let wide = self.temporary(Type::U64);
        self.draft(address::plus, Class::Integer, &[wide], &[address]);
        self.last().imm = *offset as u64;
        self.fit_address(to, wide)
    }

    /// Moves a 64-bit address into a register of either width.
    fn fit_address(&mut self, to: Register, wide: Register) -> Result<(), LoadError> {
        let run = match self.info(to).row {
            Row::Wide => map1(self.cpu, |a: u64| a),
            Row::Narrow => map1(self.cpu, |a: u64| a as u32),
            Row::Predicate => return Err(self.error("a predicate holds no address")),
        };
        self.draft(run, Class::Integer, &[to], &[wide]);
        Ok(())
    }

    /// `cvta`: between a space's addresses and generic ones.
    pub fn cvta(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = Form::new("cvta", &instruction.modifiers, 2);
        let to_space = form.has("to");
        let window = match form.one_of(&[
            "global",
            "const",
            "shared",
            "shared::cta",
            "local",
            "param",
            "param::entry",
        ]) {
            Some("global" | "const") => 0,
            Some("shared" | "shared::cta") => SHARED_WINDOW,
            Some("local") => LOCAL_WINDOW,
            Some(_) => PARAM_WINDOW,
            None => return Err(self.unknown(instruction)),
        };
        let [
            Operand::Name {
                name: to,
                offset: 0,
            },
            from,
        ] = &instruction.operands[..]
        else {
            return Err(self.error("`cvta` takes a register and an address"));
        };
        let from = match from {
            Operand::Name { name, offset } if !matches!(self.find_register(name), Ok(Some(_))) => {
                let base = self.address_of(name, false)?;
                let sum = self.temporary(Type::U64);
                self.draft(address::plus, Class::Integer, &[sum], &[base]);
                self.last().imm = *offset as u64;
                sum
            }
            other => {
                let register = self.any_source(other, Type::U64)?;
                self.address_row(register)?
            }
        };
        let to = self.register(to)?;
        let shifted = self.temporary(Type::U64);
        self.draft(address::plus, Class::Integer, &[shifted], &[from]);
        self.last().imm = if to_space {
            window.wrapping_neg()
        } else {
            window
        };
        self.fit_address(to, shifted)
    }

    pub fn isspacep(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let [to, from] = &instruction.operands[..] else {
            return Err(self.error("`isspacep` takes a predicate and an address"));
        };
        let to = self.destination(to, Type::Pred)?;
        let from = self.any_source(from, Type::U64)?;
        let from = self.address_row(from)?;
        let cpu = self.cpu;
        let run = match instruction.modifiers.first() {
            Some(&("shared" | "shared::cta")) => {
                test1(cpu, |a: u64| a.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES)
            }
            Some(&"local") => test1(cpu, |a: u64| a.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES),
            Some(&("param" | "param::entry")) => {
                test1(cpu, |a: u64| a.wrapping_sub(PARAM_WINDOW) < WINDOW_BYTES)
            }
            Some(&"global") => address::is_global,
            Some(&"const") => address::is_constant,
            _ => return Err(self.unknown(instruction)),
        };
        self.draft(run, Class::Integer, &[to], &[from]);
        Ok(())
    }
}
