//! What a function takes and gives back, and where that lies.

use super::Lowering;
use super::accesses::{pick_load, pick_store};
use super::names::Named;
use crate::device::DeviceSpec;
use crate::exec::access::local_address;
use crate::exec::lanewise::{choose, test1};
use crate::exec::state_space::ArgumentSpace;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::lower::layout::bytes_of;
use crate::lower::register::{Register, RegisterClass};
use crate::lower::{layout, limits};
use crate::ptx::ast;
use crate::ptx::ast::Type;
use std::collections::HashMap;

/// A function's results and parameters, in order.
#[derive(Debug, Clone, Default)]
pub struct Signature {
    pub returns: Vec<Formal>,
    pub params: Vec<Formal>,
}

/// A result or a parameter.
#[derive(Debug, Clone, Copy)]
pub struct Formal {
    pub bytes: u32,
    align: u32,
    /// Of an array, that of an element.
    pub ty: Type,
}

/// Those of a module's functions.
pub type Signatures<'a> = HashMap<&'a str, Signature>;

/// Of every function that the module defines or declares; nobody calls a kernel.
pub fn signatures<'a>(module: &ast::Module<'a>) -> Result<Signatures<'a>, LoadError> {
    let functions = module.functions.iter().filter(|function| !function.entry);
    let mut found = functions
        .map(|function| {
            let signature = Signature::of(&function.returns, &function.params)?;
            Ok((function.name, signature))
        })
        .collect::<Result<Signatures, LoadError>>()?;
    for alias in &module.aliases {
        if let Some(signature) = found.get(alias.function).cloned() {
            found.insert(alias.name, signature);
        }
    }
    Ok(found)
}

impl Formal {
    fn of(variable: &ast::Variable) -> Result<Formal, LoadError> {
        Ok(Formal {
            bytes: match variable.ty {
                Type::Pred => PREDICATE_BYTES,
                _ => bytes_of(variable)? as u32,
            },
            align: match variable.ty {
                Type::Pred => PREDICATE_BYTES,
                _ => variable.align.max(1),
            },
            ty: variable.ty,
        })
    }
}

/// A predicate that is passed lies in memory as a word.
const PREDICATE_BYTES: u32 = 4;

impl Signature {
    /// Refuses what a thread's local memory can not hold: there a callee finds it.
    pub fn of(returns: &[ast::Variable], params: &[ast::Variable]) -> Result<Signature, LoadError> {
        let mut end = 0;
        let mut sizes = |variables: &[ast::Variable]| {
            variables
                .iter()
                .map(|variable| {
                    let align = u64::from(variable.align.max(1));
                    end = u64::next_multiple_of(end, align) + bytes_of(variable)?;
                    if end > limits::LOCAL_BYTES {
                        return Err(too_much_local(variable));
                    }
                    Formal::of(variable)
                })
                .collect::<Result<Vec<_>, LoadError>>()
        };
        Ok(Signature {
            returns: sizes(returns)?,
            params: sizes(params)?,
        })
    }

    /// Where results and then parameters lie at the beginning of the callee's local memory.
    pub fn places(&self) -> (Vec<u32>, Vec<u32>, u32) {
        let mut end = 0u32;
        let mut place = |formal: &Formal| {
            let offset = end.next_multiple_of(formal.align);
            end = offset + formal.bytes;
            offset
        };
        let returns = self.returns.iter().map(&mut place).collect();
        let params = self.params.iter().map(&mut place).collect();
        (returns, params, end)
    }
}

pub fn too_much_local(variable: &ast::Variable) -> LoadError {
    let message = format!(
        "`{}` makes local memory larger than the 512 KB a thread has",
        variable.name
    );
    LoadError::invalid(variable.line, message)
}

impl<'a> Lowering<'_, 'a> {
    /// Parameters and results: of a kernel in the parameter space, of a device function at the
    /// beginning of its local memory.
    pub fn formals(&mut self, device: &DeviceSpec) -> Result<(), LoadError> {
        let function = self.function;
        if function.entry {
            if let Some(param) = function.params.iter().find(|param| param.register) {
                let name = param.name;
                return Err(self.error(format!(
                    "`{name}` is a register: what a kernel is given is `.param`"
                )));
            }
            let params = layout::parameters(function, device)?;
            for (param, place) in function.params.iter().zip(params) {
                let offset = place.offset;
                self.declare(param.name, Named::Param { offset })?;
                self.param_bytes = offset + place.size;
            }
            return Ok(());
        }
        let signature = Signature::of(&function.returns, &function.params)?;
        let (returns, params, end) = signature.places();
        self.local_bytes = end;
        for (variable, offset) in function.returns.iter().zip(returns) {
            if let Some(register) = self.formal(variable, offset)? {
                self.results.push((register, offset));
            }
        }
        for (variable, offset) in function.params.iter().zip(params) {
            if let Some(register) = self.formal(variable, offset)? {
                self.load_local(register, offset);
            }
        }
        Ok(())
    }

    /// Declares a parameter or result of a device function; the register that it is, if it is one.
    fn formal(
        &mut self,
        variable: &ast::Variable<'a>,
        offset: u32,
    ) -> Result<Option<Register>, LoadError> {
        if !variable.register {
            self.declare(variable.name, Named::Local(offset))?;
            return Ok(None);
        }
        let register = self.new_register(variable.ty)?;
        self.declare(variable.name, Named::Register(register))?;
        Ok(Some(register))
    }

    /// Puts the results that are registers where the caller finds them.
    pub fn store_results(&mut self) {
        for (register, offset) in self.results.clone() {
            self.store_local(register, offset);
        }
    }

    /// Loads a register from this function's local memory.
    pub fn load_local(&mut self, register: Register, offset: u32) {
        let address = self.local_row(offset);
        let (row, bytes) = (self.info(register).row, self.info(register).bytes);
        if row != RegisterClass::Predicate {
            let run = pick_load::<ArgumentSpace>(self.cpu, bits_of(bytes), 1);
            self.draft_run(run, Class::Integer, &[register], &[address]);
            self.last().x = 1;
            return;
        }
        let word = self.temporary(Type::B32);
        let run = pick_load::<ArgumentSpace>(self.cpu, Type::B32, 1);
        self.draft_run(run, Class::Integer, &[word], &[address]);
        self.last().x = 1;
        let run = test1(self.cpu, |a: u32| a != 0);
        self.draft_run(run, Class::Integer, &[register], &[word]);
    }

    /// Stores a register or a literal to this function's local memory.
    pub fn store_local(&mut self, register: Register, offset: u32) {
        let address = self.local_row(offset);
        let (row, bytes) = (self.info(register).row, self.info(register).bytes);
        let (value, ty) = if row == RegisterClass::Predicate {
            let [one, zero] = [1, 0].map(|value| self.literal(Type::B32, value));
            let word = self.temporary(Type::B32);
            let run = choose(self.cpu, |a: u32, b: u32, first| if first { a } else { b });
            self.draft_run(run, Class::Integer, &[word], &[one, zero, register]);
            (word, Type::B32)
        } else {
            (register, bits_of(bytes))
        };
        let run = pick_store::<ArgumentSpace>(self.cpu, ty, 1);
        self.draft_run(run, Class::Integer, &[], &[address, value]);
        self.last().x = 1;
    }

    /// A row with the address of a place in this function's local memory.
    fn local_row(&mut self, offset: u32) -> Register {
        let address = self.temporary(Type::U64);
        self.draft_run(local_address(self.cpu), Class::Integer, &[address], &[]);
        self.last().x = 1;
        self.last().imm = offset.into();
        address
    }
}

/// The type of so many bytes without a sign.
fn bits_of(bytes: u32) -> Type {
    match bytes {
        1 => Type::B8,
        2 => Type::B16,
        4 => Type::B32,
        _ => Type::B64,
    }
}
