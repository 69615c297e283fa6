//! Lowering of calls, and the signatures of functions. Source: PTX ISA sections 7.1 (function declarations)
//! and 9.7.12.5 (`call`).
//!
//! Arguments and results are passed through `.param` variables. Those of device functions are in local
//! memory: the caller's in its own stack frame, the callee's results and then its parameters at the start of
//! its stack frame. A call copies between the two. Arguments in registers are stored to local memory before
//! the call, and results in registers are loaded after it.

use super::FunctionLowering;
use super::memory::{Load, Store, Transfer};
use super::names::Named;
use crate::exec::lanewise::{choose, test1};
use crate::exec::memory::state_space::ArgumentSpace;
use crate::exec::memory::state_space::local_address;
use crate::exec::warp::window::CallSite;
use crate::exec::{control, device_runtime};
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::lower::ir::{ByteFlow, Register, RegisterClass};
use crate::lower::layout::{Symbol, bytes_of};
use crate::lower::{layout, limits};
use crate::ptx::ast;
use crate::ptx::ast::{Instruction, Operand, Type};
use std::collections::HashMap;

/// The results of a call: their offsets in local memory, and the registers to load from there.
struct CallResults {
    offsets: Vec<u32>,
    registers: Vec<(Register, u32)>,
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `call`.
    pub fn call(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let mut operands = instruction.operands.iter();
        let mut next = operands.next();
        let results = match next {
            Some(Operand::List(results)) => {
                next = operands.next();
                results.as_slice()
            }
            _ => &[],
        };
        let Some(Operand::Name {
            name: callee,
            offset: 0,
        }) = next
        else {
            return Err(self.error("`call` takes a function"));
        };
        let mut arguments: &[Operand] = &[];
        let mut prototype = None;
        for operand in operands {
            match operand {
                Operand::List(list) => arguments = list,
                Operand::Name { name, .. } => prototype = Some(*name),
                _ => return Err(self.error("`call` takes a list of arguments")),
            }
        }
        let pointer = self.find_register(callee)?;
        let number = match self.module.layout.symbols.get(*callee) {
            Some(Symbol::Function(number)) => Some(*number),
            _ => None,
        };
        if pointer.is_none() && number.is_none() {
            let results = self.param_offsets(results)?;
            let arguments = self.param_offsets(arguments)?;
            return self.driver_call(callee, &arguments, &results);
        }
        let signature = match pointer {
            Some(_) => self.signature_of(prototype.unwrap_or(callee))?,
            None => self.signature_of(callee)?,
        };
        if arguments.len() != signature.params.len() || results.len() != signature.returns.len() {
            return Err(self.error("the call does not match the function's prototype"));
        }
        let arguments = self.arguments(arguments, &signature.params)?;
        let results = self.results(results, &signature.returns)?;
        let site = self.push_call_site(&signature, &arguments, &results.offsets);
        if let Some(pointer) = pointer {
            self.calls.through_pointers = true;
            let pointer_row = self.temporary(Type::U64);
            self.push_with_handlers(
                crate::exec::memory::state_space::add_imm(self.module.cpu),
                Class::Integer,
                &[pointer_row],
                &[pointer],
            );
            self.push(control::call_pointer, Class::Control, &[], &[pointer_row]);
        } else if let Some(number) = number {
            self.calls.callees.push(number);
            self.push(control::call, Class::Control, &[], &[]);
            self.last().arg0 = number as u32;
        }
        self.push_take_results(site);
        for (register, offset) in results.registers {
            self.load_local(register, offset);
        }
        Ok(())
    }

    fn push_take_results(&mut self, site: u64) {
        self.last().imm = site;
        self.push(control::take_results, Class::Control, &[], &[]);
        self.last().imm = site;
    }

    fn signature_of(&self, name: &str) -> Result<Signature, LoadError> {
        self.calls
            .prototypes
            .get(name)
            .or_else(|| self.module.signatures.get(name))
            .cloned()
            .ok_or_else(|| self.error(format!("`{name}` has no prototype")))
    }

    /// Returns the offsets in this function's local memory of the `.param` variables of a call.
    fn param_offsets(&mut self, operands: &[Operand<'a>]) -> Result<Vec<u32>, LoadError> {
        operands
            .iter()
            .map(|operand| match operand {
                Operand::Name { name, offset: 0 } => match self.lookup(name) {
                    Some(Named::Local(offset)) => Ok(offset),
                    _ => Err(self.error(format!("`{name}` is not a .param variable"))),
                },
                _ => Err(self.error("arguments and results of a call must be .param variables")),
            })
            .collect()
    }

    /// Returns the offsets of a call's arguments in this function's local memory. Stores registers and
    /// literals there first.
    fn arguments(
        &mut self,
        operands: &[Operand<'a>],
        formals: &[Formal],
    ) -> Result<Vec<u32>, LoadError> {
        let mut offsets = Vec::new();
        for (operand, formal) in operands.iter().zip(formals) {
            if let Some(offset) = self.variable_offset(operand) {
                offsets.push(offset);
                continue;
            }
            let register = self.source(operand, formal.ty)?;
            let offset = self.allocate_argument(formal)?;
            self.store_local(register, offset);
            offsets.push(offset);
        }
        Ok(offsets)
    }

    /// Returns the offsets of a call's results in this function's local memory, and the registers to load
    /// from there.
    fn results(
        &mut self,
        operands: &[Operand<'a>],
        formals: &[Formal],
    ) -> Result<CallResults, LoadError> {
        let (mut offsets, mut registers) = (Vec::new(), Vec::new());
        for (operand, formal) in operands.iter().zip(formals) {
            if let Some(offset) = self.variable_offset(operand) {
                offsets.push(offset);
                continue;
            }
            let register = self.destination(operand, formal.ty)?;
            let offset = self.allocate_argument(formal)?;
            registers.push((register, offset));
            offsets.push(offset);
        }
        Ok(CallResults { offsets, registers })
    }

    /// Returns the offset of the `.param` variable that an operand names; `None` if it names none.
    fn variable_offset(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Name { name, offset: 0 } => match self.lookup(name) {
                Some(Named::Local(offset)) => Some(offset),
                _ => None,
            },
            _ => None,
        }
    }

    /// Allocates local memory for a value that a call passes in a register.
    fn allocate_argument(&mut self, formal: &Formal) -> Result<u32, LoadError> {
        let offset = self.stack.local_bytes.next_multiple_of(formal.bytes.max(1));
        let end = offset + formal.bytes;
        if u64::from(end) > limits::LOCAL_BYTES {
            return Err(self.error("the call's arguments exceed a thread's local memory"));
        }
        self.stack.local_bytes = end;
        Ok(offset)
    }

    /// Records the copies of a call. Returns the number of the call site.
    fn push_call_site(&mut self, signature: &Signature, arguments: &[u32], results: &[u32]) -> u64 {
        let (returns, params, _) = signature.offsets();
        let arguments = arguments
            .iter()
            .zip(&params)
            .zip(&signature.params)
            .map(|((&from, &to), formal)| (from, to, formal.bytes))
            .collect();
        let results = results
            .iter()
            .zip(&returns)
            .zip(&signature.returns)
            .map(|((&to, &from), formal)| (from, to, formal.bytes))
            .collect();
        // The caller's stack size is filled in when the whole function has been lowered.
        self.calls.sites.push(CallSite {
            arguments,
            results,
            caller_bytes: 0,
        });
        (self.program.call_sites.len() + self.calls.sites.len() - 1) as u64
    }

    /// Lowers a call of a function that the driver provides to kernels.
    fn driver_call(
        &mut self,
        name: &'a str,
        arguments: &[u32],
        results: &[u32],
    ) -> Result<(), LoadError> {
        let Some(function) = device_runtime::find(name) else {
            let message = format!("function `{name}` is declared but has no body");
            return Err(self.error(message));
        };
        let expected = function.arguments;
        if arguments.len() != expected {
            return Err(self.error(format!("`{name}` takes {expected} arguments")));
        }
        self.effects.uses_heap |= function.uses_heap;
        self.program.launches_kernels |= name.starts_with("cuda");
        let result = results.first().copied();
        self.calls.sites.push(CallSite {
            arguments: arguments.iter().map(|&from| (from, 0, 0)).collect(),
            results: result
                .into_iter()
                .map(|to| (0, to, function.result_bytes))
                .collect(),
            caller_bytes: 0,
        });
        let site = (self.program.call_sites.len() + self.calls.sites.len() - 1) as u64;
        self.push(function.run, Class::Control, &[], &[]);
        self.last().imm = site;
        Ok(())
    }
}

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
    let mut all = Signatures::new();
    for function in module.functions.iter().filter(|function| !function.entry) {
        let signature = Signature::of(&function.returns, &function.params)?;
        let sizes = signature.sizes();
        if let Some(earlier) = all.insert(function.name, signature)
            && earlier.sizes() != sizes
        {
            let message = format!(
                "function `{}` is declared with other parameters than it is defined with",
                function.name
            );
            return Err(LoadError::invalid(function.line, message));
        }
    }
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
    /// Returns the sizes in bytes of the results and of the parameters.
    fn sizes(&self) -> [Vec<u32>; 2] {
        [&self.returns, &self.params]
            .map(|formals| formals.iter().map(|formal| formal.bytes).collect())
    }

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
    pub fn declare_formals(&mut self) -> Result<(), LoadError> {
        let function = self.function;
        if function.entry {
            if let Some(param) = function.params.iter().find(|param| param.register) {
                let name = param.name;
                return Err(self.error(format!(
                    "`{name}` is a register, but kernel parameters must be `.param`"
                )));
            }
            let params = layout::parameters(function, self.module.device)?;
            for (param, location) in function.params.iter().zip(params) {
                let offset = location.offset;
                self.declare(param.name, Named::Param { offset })?;
                self.stack.param_bytes = offset + location.size;
            }
            return Ok(());
        }
        let signature = Signature::of(&function.returns, &function.params)?;
        let (returns, params, end) = signature.offsets();
        (self.stack.local_bytes, self.stack.variables_end) = (end, end);
        for (variable, offset) in function.returns.iter().zip(returns) {
            if let Some(register) = self.declare_formal(variable, offset)? {
                self.stack.results.push((register, offset));
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
        for (register, offset) in self.stack.results.clone() {
            self.store_local(register, offset);
        }
    }

    /// Loads a register from this function's local memory.
    fn load_local(&mut self, register: Register, offset: u32) {
        let address = self.local_address_register(offset);
        let (row, bytes) = (self.info(register).row, self.info(register).bytes);
        if row != RegisterClass::Predicate {
            let handler = Load::weak::<ArgumentSpace>(self.module.cpu, bits_type(bytes), 1);
            self.push_with_handlers(handler, Class::Integer, &[register], &[address]);
            self.last().arg0 = 1;
            return;
        }
        let word = self.temporary(Type::B32);
        let handler = Load::weak::<ArgumentSpace>(self.module.cpu, Type::B32, 1);
        self.push_with_handlers(handler, Class::Integer, &[word], &[address]);
        self.last().arg0 = 1;
        let handler = test1(self.module.cpu, |a: u32| a != 0);
        self.push_with_handlers(handler, Class::Integer, &[register], &[word]);
    }

    /// Stores a register or a literal to this function's local memory.
    fn store_local(&mut self, register: Register, offset: u32) {
        let address = self.local_address_register(offset);
        let (row, bytes) = (self.info(register).row, self.info(register).bytes);
        let (value, ty) = if row == RegisterClass::Predicate {
            let [one, zero] = [1, 0].map(|value| self.literal(Type::B32, value));
            let word = self.temporary(Type::B32);
            let handler = choose(
                self.module.cpu,
                |a: u32, b: u32, first| if first { a } else { b },
            );
            self.push_with_handlers(handler, Class::Integer, &[word], &[one, zero, register]);
            (word, Type::B32)
        } else {
            (register, bits_type(bytes))
        };
        let handler = Store::weak::<ArgumentSpace>(self.module.cpu, ty, 1);
        self.push_with_handlers(handler, Class::Integer, &[], &[address, value]);
        self.last().arg0 = 1;
        self.last().byte_flow = Some(ByteFlow::Passed);
    }

    /// Returns a register that holds the address of an offset in this function's local memory.
    fn local_address_register(&mut self, offset: u32) -> Register {
        let address = self.temporary(Type::U64);
        self.push_with_handlers(
            local_address(self.module.cpu),
            Class::Integer,
            &[address],
            &[],
        );
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
