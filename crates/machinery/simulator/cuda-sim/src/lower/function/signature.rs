//! Function signatures, and the stack layout of parameters and results.

use super::FunctionLowering;
use super::access_handlers::{pick_load, pick_store};
use super::names::Named;
use crate::device::DeviceSpec;
use crate::exec::lanewise::{choose, test1};
use crate::exec::memory::state_space::ArgumentSpace;
use crate::exec::memory::state_space::local_address;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::lower::layout::bytes_of;
use crate::lower::register::{Register, RegisterClass};
use crate::lower::{layout, limits};
use crate::ptx::ast;
use crate::ptx::ast::Type;
use std::collections::HashMap;

/// The results and parameters of a function, in order.
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
    /// The type; for an array, its element type.
    pub ty: Type,
}

/// The signatures of a module's functions, by name.
pub type Signatures<'a> = HashMap<&'a str, Signature>;

/// Returns the signature of each function that the module defines or declares, except for kernels, which
/// cannot be called.
pub fn signatures<'a>(module: &ast::Module<'a>) -> Result<Signatures<'a>, LoadError> {
    let functions = module.functions.iter().filter(|function| !function.entry);
    let mut all = functions
        .map(|function| {
            let signature = Signature::of(&function.returns, &function.params)?;
            Ok((function.name, signature))
        })
        .collect::<Result<Signatures, LoadError>>()?;
    for alias in &module.aliases {
        if let Some(signature) = all.get(alias.function).cloned() {
            all.insert(alias.name, signature);
        }
    }
    Ok(all)
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

/// The size of a predicate that is passed through memory, as a 32-bit word.
const PREDICATE_BYTES: u32 = 4;

impl Signature {
    /// Creates a signature. Fails if the values do not fit into a thread's local memory, where a callee finds
    /// them.
    pub fn of(returns: &[ast::Variable], params: &[ast::Variable]) -> Result<Signature, LoadError> {
        let mut end = 0;
        let mut sizes = |variables: &[ast::Variable]| {
            variables
                .iter()
                .map(|variable| {
                    let align = u64::from(variable.align.max(1));
                    end = u64::next_multiple_of(end, align) + bytes_of(variable)?;
                    if end > limits::LOCAL_BYTES {
                        return Err(local_memory_error(variable));
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

    /// Returns the offsets of the results and of the parameters from the start of the callee's stack frame,
    /// and their total size in bytes.
    pub fn offsets(&self) -> (Vec<u32>, Vec<u32>, u32) {
        let mut end = 0u32;
        let mut allocate = |formal: &Formal| {
            let offset = end.next_multiple_of(formal.align);
            end = offset + formal.bytes;
            offset
        };
        let returns = self.returns.iter().map(&mut allocate).collect();
        let params = self.params.iter().map(&mut allocate).collect();
        (returns, params, end)
    }
}

/// Creates the error for a variable that exceeds a thread's local memory.
pub fn local_memory_error(variable: &ast::Variable) -> LoadError {
    let message = format!(
        "`{}` exceeds the 512 KB of local memory per thread",
        variable.name
    );
    LoadError::invalid(variable.line, message)
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Declares the function's parameters and results: a kernel's in the parameter space, a device function's
    /// at the start of its stack frame.
    pub fn declare_formals(&mut self, device: &DeviceSpec) -> Result<(), LoadError> {
        let function = self.function;
        if function.entry {
            if let Some(param) = function.params.iter().find(|param| param.register) {
                let name = param.name;
                return Err(self.error(format!(
                    "`{name}` is a register, but kernel parameters must be `.param`"
                )));
            }
            let params = layout::parameters(function, device)?;
            for (param, location) in function.params.iter().zip(params) {
                let offset = location.offset;
                self.declare(param.name, Named::Param { offset })?;
                self.param_bytes = offset + location.size;
            }
            return Ok(());
        }
        let signature = Signature::of(&function.returns, &function.params)?;
        let (returns, params, end) = signature.offsets();
        self.local_bytes = end;
        for (variable, offset) in function.returns.iter().zip(returns) {
            if let Some(register) = self.declare_formal(variable, offset)? {
                self.results.push((register, offset));
            }
        }
        for (variable, offset) in function.params.iter().zip(params) {
            if let Some(register) = self.declare_formal(variable, offset)? {
                self.load_local(register, offset);
            }
        }
        Ok(())
    }

    /// Declares a parameter or result of a device function. Returns its register, if it is one.
    fn declare_formal(
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

    /// Stores the results that are registers to the locations from which the caller reads them.
    pub fn store_results(&mut self) {
        for (register, offset) in self.results.clone() {
            self.store_local(register, offset);
        }
    }

    /// Loads a register from this function's local memory.
    pub fn load_local(&mut self, register: Register, offset: u32) {
        let address = self.local_address_register(offset);
        let (row, bytes) = (self.info(register).row, self.info(register).bytes);
        if row != RegisterClass::Predicate {
            let handler = pick_load::<ArgumentSpace>(self.cpu, bits_type(bytes), 1);
            self.push_with_handlers(handler, Class::Integer, &[register], &[address]);
            self.last().arg0 = 1;
            return;
        }
        let word = self.temporary(Type::B32);
        let handler = pick_load::<ArgumentSpace>(self.cpu, Type::B32, 1);
        self.push_with_handlers(handler, Class::Integer, &[word], &[address]);
        self.last().arg0 = 1;
        let handler = test1(self.cpu, |a: u32| a != 0);
        self.push_with_handlers(handler, Class::Integer, &[register], &[word]);
    }

    /// Stores a register or a literal to this function's local memory.
    pub fn store_local(&mut self, register: Register, offset: u32) {
        let address = self.local_address_register(offset);
        let (row, bytes) = (self.info(register).row, self.info(register).bytes);
        let (value, ty) = if row == RegisterClass::Predicate {
            let [one, zero] = [1, 0].map(|value| self.literal(Type::B32, value));
            let word = self.temporary(Type::B32);
            let handler = choose(self.cpu, |a: u32, b: u32, first| if first { a } else { b });
            self.push_with_handlers(handler, Class::Integer, &[word], &[one, zero, register]);
            (word, Type::B32)
        } else {
            (register, bits_type(bytes))
        };
        let handler = pick_store::<ArgumentSpace>(self.cpu, ty, 1);
        self.push_with_handlers(handler, Class::Integer, &[], &[address, value]);
        self.last().arg0 = 1;
    }

    /// Returns a register that holds the address of an offset in this function's local memory.
    fn local_address_register(&mut self, offset: u32) -> Register {
        let address = self.temporary(Type::U64);
        self.push_with_handlers(local_address(self.cpu), Class::Integer, &[address], &[]);
        self.last().arg0 = 1;
        self.last().imm = offset.into();
        address
    }
}

/// Returns the untyped-bits type of a size in bytes.
fn bits_type(bytes: u32) -> Type {
    match bytes {
        1 => Type::B8,
        2 => Type::B16,
        4 => Type::B32,
        _ => Type::B64,
    }
}
