//! Lowering of address computations. Source: PTX ISA sections 6.4.1 and 9.7.9 (`mov`, `cvta`, `isspacep`, `mapa`,
//! `getctarank`).

use super::memory::{AccessSpace, ResolvedAddress};
use super::names::Named;
use super::operands::form_of;
use super::{FunctionLowering, names};
use crate::exec::lanewise::{map1, map2, map2_imm, test1};
use crate::exec::memory::state_space;
use crate::exec::memory::state_space::local_address;
use crate::exec::ops::Form;
use crate::exec::sm::{Handler, Handlers};
use crate::isa::Class;
use crate::isa::check_event::SharedArray;
use crate::isa::operation::{EXTENSION, Operation, TRUNCATION};
use crate::lower::analysis::vectorizer::MAX_ACCESS_BYTES;
use crate::lower::error::LoadError;
use crate::lower::ir::{Arithmetic, Register, RegisterClass};
use crate::lower::layout::Symbol;
use crate::memory::{
    FUNCTION_BASE, FUNCTION_STEP, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window,
};
use crate::ptx::ast::{AddressBase, Instruction, Operand, Type};

impl<'a> FunctionLowering<'_, 'a> {
    /// Returns true if a `mov` moves the address of a variable, and not a register, special register or
    /// constant.
    pub fn moves_address(&mut self, instruction: &Instruction<'a>) -> bool {
        match instruction.operands.get(1) {
            Some(Operand::Address {
                base: AddressBase::Indexed { .. },
                ..
            }) => true,
            Some(Operand::Name { name, offset }) => {
                *offset != 0
                    || !matches!(self.find_register(name), Ok(Some(_)))
                        && names::find_special_register(name).is_none()
                        && names::constant_special_register(name).is_none()
            }
            _ => false,
        }
    }

    /// Lowers a `mov` of a variable's address.
    pub fn move_address(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let [to, from] = &instruction.operands[..] else {
            return Err(self.error("`mov` takes a destination and a source"));
        };
        let Operand::Name {
            name: to,
            offset: 0,
        } = to
        else {
            return Err(self.error("the destination must be a register"));
        };
        let to = self.register(to)?;
        let (name, offset) = match from {
            Operand::Name { name, offset } => (name, offset),
            Operand::Address { base, offset } => {
                let wide = self.element_address(*base, *offset, false)?;
                return self.fit_address(to, wide);
            }
            _ => return Err(self.error("`mov` takes a destination and a source")),
        };
        let address = self.address_of(name, false)?;
        // Folding the offset into a literal row would save the extra instruction.
        let wide = self.temporary(Type::U64);
        self.push_with_handlers(
            state_space::add_imm(self.module.cpu),
            Class::Integer,
            &[wide],
            &[address],
        );
        self.last().operation = Some(Operation::AddImmediate);
        self.last().imm = *offset as u64;
        if let Some(array) = self.array_of(name) {
            self.registers.arrays.insert(wide, array);
        }
        self.last().arithmetic = Some(Arithmetic::Offset);
        self.fit_address(to, wide)
    }

    /// Returns a register that holds the address of an array's element, whose index is in a register. The offset
    /// from a 32-bit index is an unsigned 32-bit number, as on an H200.
    pub fn element_address(
        &mut self,
        base: AddressBase<'a>,
        offset: i64,
        generic: bool,
    ) -> Result<Register, LoadError> {
        let AddressBase::Indexed {
            array,
            register,
            element_bytes,
        } = base
        else {
            return Err(self.error("expected an element of an array"));
        };
        let index = self.register(register)?;
        let cpu = self.module.cpu;
        let start = self.address_of(array, generic)?;
        // A register of its own names the array for the checks; that of the address may be a shared literal.
        let first = self.temporary(Type::U64);
        let add = state_space::add_imm(cpu);
        self.push_with_handlers(add, Class::Integer, &[first], &[start]);
        self.last().operation = Some(Operation::AddImmediate);
        self.last().arithmetic = Some(Arithmetic::Offset);
        if let Some(array) = self.array_of(array) {
            self.registers.arrays.insert(first, array);
        }
        let offset = self.literal(Type::U64, offset as u64);
        let info = self.info(index);
        let handlers = match (info.row, info.bytes) {
            (RegisterClass::Wide, _) => map2_imm(cpu, |index: u64, offset: u64, bytes| {
                index.wrapping_mul(bytes).wrapping_add(offset)
            }),
            (RegisterClass::Narrow, 4) => map2_imm(cpu, |index: u32, offset: u64, bytes| {
                let scaled = index.wrapping_mul(bytes as u32);
                u64::from(scaled.wrapping_add(offset as u32))
            }),
            _ => {
                return Err(self.error(format!(
                    "`{register}` is not an array index: a register of 32 or 64 bits is required"
                )));
            }
        };
        let distance = self.temporary(Type::U64);
        self.push_with_handlers(handlers, Class::Integer, &[distance], &[index, offset]);
        self.last().imm = element_bytes;
        let element = self.temporary(Type::U64);
        let sum = map2(cpu, |first: u64, distance: u64| {
            first.wrapping_add(distance)
        });
        self.push_with_handlers(sum, Class::Integer, &[element], &[first, distance]);
        self.last().operation = Some(Operation::Add(Type::U64));
        self.last().arithmetic = Some(Arithmetic::Sum);
        Ok(element)
    }

    /// Moves a 64-bit address into a register of either width.
    fn fit_address(&mut self, to: Register, wide: Register) -> Result<(), LoadError> {
        let (handler, operation) = match self.info(to).row {
            RegisterClass::Wide => (map1(self.module.cpu, |a: u64| a), Operation::Copy),
            RegisterClass::Narrow => (map1(self.module.cpu, |a: u64| a as u32), TRUNCATION),
            RegisterClass::Predicate => {
                return Err(self.error("a predicate cannot hold an address"));
            }
        };
        self.push_with_handlers(handler, Class::Integer, &[to], &[wide]);
        self.last().operation = Some(operation);
        self.last().arithmetic = Some(Arithmetic::Sum);
        Ok(())
    }

    /// Lowers `cvta`, which converts between a state space's addresses and generic addresses.
    pub fn cvta(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = Form::new(&instruction.modifiers, 2);
        let to_space = form.has("to");
        let window = match form.one_of(&[
            "global",
            "const",
            "shared",
            "shared::cta",
            "shared::cluster",
            "local",
            "param",
            "param::entry",
        ]) {
            Some("global" | "const") => 0,
            Some("shared" | "shared::cta" | "shared::cluster") => SHARED_WINDOW,
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
                self.push_with_handlers(
                    state_space::add_imm(self.module.cpu),
                    Class::Integer,
                    &[sum],
                    &[base],
                );
                self.last().operation = Some(Operation::AddImmediate);
                self.last().imm = *offset as u64;
                self.last().arithmetic = Some(Arithmetic::Offset);
                sum
            }
            Operand::Address {
                base: base @ AddressBase::Indexed { .. },
                offset,
            } => self.element_address(*base, *offset, false)?,
            other => {
                let register = self.any_source(other, Type::U64)?;
                self.address_row(register)?
            }
        };
        let to = self.register(to)?;
        let shifted = self.temporary(Type::U64);
        self.push_with_handlers(
            state_space::add_imm(self.module.cpu),
            Class::Integer,
            &[shifted],
            &[from],
        );
        self.last().operation = Some(Operation::AddImmediate);
        self.last().imm = if to_space {
            window.wrapping_neg()
        } else {
            window
        };
        self.last().arithmetic = Some(Arithmetic::Offset);
        self.fit_address(to, shifted)
    }

    /// Lowers `isspacep`.
    pub fn isspacep(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let [to, from] = &instruction.operands[..] else {
            return Err(self.error("`isspacep` takes a predicate and an address"));
        };
        let to = self.destination(to, Type::Pred)?;
        let from = self.any_source(from, Type::U64)?;
        let from = self.address_row(from)?;
        let cpu = self.module.cpu;
        let handler = match instruction.modifiers.first() {
            Some(&("shared" | "shared::cta")) => {
                Handlers::from(state_space::is_own_shared as Handler)
            }
            Some(&"shared::cluster") => test1(cpu, |a: u64| in_window(a, SHARED_WINDOW)),
            Some(&"local") => test1(cpu, |a: u64| in_window(a, LOCAL_WINDOW)),
            Some(&("param" | "param::entry")) => test1(cpu, |a: u64| in_window(a, PARAM_WINDOW)),
            Some(&"global") => state_space::is_global(cpu),
            Some(&"const") => Handlers::from(state_space::is_constant as Handler),
            _ => return Err(self.unknown(instruction)),
        };
        self.push_with_handlers(handler, Class::Integer, &[to], &[from]);
        Ok(())
    }

    /// Lowers `mapa`, which returns the address of a variable in the shared memory of another block.
    pub fn map_cluster_address(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (ty, space) = self.cluster_address_form(instruction)?;
        let [to, address, rank] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 3));
        };
        let address = self.cluster_address(address, space, ty)?;
        let rank = self.source(rank, Type::U32)?;
        let to = self.destination(to, ty)?;
        let mapped = match ty {
            Type::U64 => to,
            _ => self.temporary(Type::U64),
        };
        self.push(
            state_space::map_cluster_address,
            Class::Integer,
            &[mapped],
            &[address, rank],
        );
        self.last().imm = window(space);
        if ty == Type::U32 {
            let narrow = map1(self.module.cpu, |address: u64| address as u32);
            self.push_with_handlers(narrow, Class::Integer, &[to], &[mapped]);
        }
        Ok(())
    }

    /// Lowers `getctarank`, which returns the rank of the block whose shared memory contains an address.
    pub fn cluster_rank(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (ty, space) = self.cluster_address_form(instruction)?;
        let [to, address] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 2));
        };
        let address = self.cluster_address(address, space, ty)?;
        let to = self.destination(to, Type::U32)?;
        self.push(state_space::cluster_rank, Class::Integer, &[to], &[address]);
        self.last().imm = window(space);
        Ok(())
    }

    /// Returns the type of the addresses and their state space.
    fn cluster_address_form(
        &self,
        instruction: &Instruction<'a>,
    ) -> Result<(Type, AccessSpace), LoadError> {
        let form = form_of(instruction);
        let space = match form.has("shared::cluster") {
            true => AccessSpace::Shared,
            false => AccessSpace::Generic,
        };
        match (form.ty(), form.end()) {
            (Ok(ty @ (Type::U32 | Type::U64)), Ok(())) => Ok((ty, space)),
            _ => Err(self.unknown(instruction)),
        }
    }

    /// Returns a 64-bit register with an address that an operand holds: a register, or a shared variable with an
    /// offset.
    fn cluster_address(
        &mut self,
        operand: &Operand<'a>,
        space: AccessSpace,
        ty: Type,
    ) -> Result<Register, LoadError> {
        if let &Operand::Name { name, offset } = operand
            && self.find_register(name)?.is_none()
        {
            let base = AddressBase::Name(name);
            let address = Operand::Address { base, offset };
            let ResolvedAddress::Register(row, offset) = self.resolve_address(&address, space)?
            else {
                return Err(self.error(format!("`{name}` is not in shared memory")));
            };
            let sum = self.temporary(Type::U64);
            let add = state_space::add_imm(self.module.cpu);
            self.push_with_handlers(add, Class::Integer, &[sum], &[row]);
            self.last().imm = offset as u64;
            return Ok(sum);
        }
        let register = self.source(operand, ty)?;
        match self.info(register).row {
            RegisterClass::Predicate => Err(self.error("a predicate is not an address")),
            _ => self.address_row(register),
        }
    }

    /// Returns the array in shared memory that a name refers to; `None` if it is not a static shared variable.
    fn array_of(&self, name: &str) -> Option<SharedArray> {
        let (start, function) = match self.lookup(name) {
            Some(Named::Shared(start)) => (start, self.function.name),
            Some(_) => return None,
            None => match self.module.layout.symbols.get(name) {
                Some(&Symbol::Shared(start)) => (start, ""),
                _ => return None,
            },
        };
        let key = (function.to_owned(), name.to_owned());
        let (bytes, name) = *self.module.layout.shared_sizes.get(&key)?;
        Some(SharedArray {
            start: u32::try_from(start).ok()?,
            end: u32::try_from(start + bytes).ok()?,
            name,
        })
    }

    /// Returns a register that holds the address of a variable or function; with `generic`, a generic address.
    pub fn address_of(&mut self, name: &'a str, generic: bool) -> Result<Register, LoadError> {
        let window = |window: u64| if generic { window } else { 0 };
        if let Some(named) = self.lookup(name) {
            return match named {
                Named::Local(offset) => {
                    let register = self.temporary(Type::U64);
                    self.push_with_handlers(
                        local_address(self.module.cpu),
                        Class::Integer,
                        &[register],
                        &[],
                    );
                    self.last().arg0 = 1;
                    self.last().imm = window(LOCAL_WINDOW) + u64::from(offset);
                    self.last().arithmetic = Some(Arithmetic::Offset);
                    Ok(register)
                }
                Named::Param { offset } => {
                    Ok(self.literal(Type::U64, window(PARAM_WINDOW) + u64::from(offset)))
                }
                Named::Shared(offset) => {
                    Ok(self.literal(Type::U64, window(SHARED_WINDOW) + offset))
                }
                Named::Global(address) => Ok(self.literal(Type::U64, address)),
                Named::Register(_)
                | Named::Range { .. }
                | Named::Vector { .. }
                | Named::VectorRange { .. }
                | Named::Variables { .. } => Err(self.error(format!("`{name}` has no address"))),
            };
        }
        match self.module.layout.symbols.get(name).copied() {
            Some(
                Symbol::Global(address) | Symbol::Const(address) | Symbol::Reference(_, address),
            ) => Ok(self.literal(Type::U64, address)),
            Some(Symbol::Shared(offset)) => {
                Ok(self.literal(Type::U64, window(SHARED_WINDOW) + offset))
            }
            Some(Symbol::DynamicShared { align }) => {
                let register = self.temporary(Type::U64);
                let handler = state_space::dynamic_shared(self.module.cpu);
                self.push_with_handlers(handler, Class::Integer, &[register], &[]);
                self.last().arg0 = 1;
                self.last().imm = window(SHARED_WINDOW);
                if align >= MAX_ACCESS_BYTES {
                    // The base of shared memory is aligned to `align`, so the result is as aligned as the
                    // immediate.
                    self.last().arithmetic = Some(Arithmetic::Offset);
                }
                Ok(register)
            }
            Some(Symbol::Function(number)) => {
                // A kernel's address serves for launches.
                self.calls.through_pointers |= !self.module.is_kernel(name);
                Ok(self.literal(Type::U64, FUNCTION_BASE + number as u64 * FUNCTION_STEP))
            }
            None => Err(self.error(format!("`{name}` is not declared"))),
        }
    }

    /// Returns a 64-bit register with the address in `register`; 32-bit addresses are zero-extended.
    pub fn address_row(&mut self, register: Register) -> Result<Register, LoadError> {
        match self.info(register).row {
            RegisterClass::Wide => Ok(register),
            RegisterClass::Narrow => {
                let wide = self.temporary(Type::U64);
                let handler = map1(self.module.cpu, |a: u32| u64::from(a));
                self.push_with_handlers(handler, Class::Integer, &[wide], &[register]);
                self.last().operation = Some(EXTENSION);
                self.last().arithmetic = Some(Arithmetic::Sum);
                Ok(wide)
            }
            RegisterClass::Predicate => Err(self.error("a predicate is not an address")),
        }
    }
}

/// Returns the start of the window of shared memory in a space's addresses.
fn window(space: AccessSpace) -> u64 {
    match space {
        AccessSpace::Generic => SHARED_WINDOW,
        _ => 0,
    }
}
