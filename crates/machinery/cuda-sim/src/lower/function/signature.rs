//! What a function takes and gives back, and where that lies.

use super::Lowering;
use super::names::Named;
use crate::device::DeviceSpec;
use crate::lower::error::LoadError;
use crate::lower::layout::bytes_of;
use crate::lower::{layout, limits};
use crate::ptx::ast;
use std::collections::HashMap;

/// Sizes and alignments of a function's results and parameters, in order.
#[derive(Debug, Clone, Default)]
pub struct Signature {
    pub returns: Vec<(u32, u32)>,
    pub params: Vec<(u32, u32)>,
}

/// Those of a module's functions.
pub type Signatures<'a> = HashMap<&'a str, Signature>;

/// Of every function that the module defines or declares; nobody calls a kernel.
pub fn signatures<'a>(module: &ast::Module<'a>) -> Result<Signatures<'a>, LoadError> {
    module
        .functions
        .iter()
        .filter(|function| !function.entry)
        .map(|function| {
            let signature = Signature::of(&function.returns, &function.params)?;
            Ok((function.name, signature))
        })
        .collect()
}

impl Signature {
    /// Refuses what a thread's local memory can not hold: there a callee finds it.
    pub fn of(returns: &[ast::Variable], params: &[ast::Variable]) -> Result<Signature, LoadError> {
        let mut end = 0;
        let mut sizes = |variables: &[ast::Variable]| {
            variables
                .iter()
                .map(|variable| {
                    let align = variable.align.max(1);
                    end = u64::next_multiple_of(end, align.into()) + bytes_of(variable)?;
                    if end > limits::LOCAL_BYTES {
                        return Err(too_much_local(variable));
                    }
                    Ok((bytes_of(variable)? as u32, align))
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
        let mut place = |&(bytes, align): &(u32, u32)| {
            let offset = end.next_multiple_of(align);
            end = offset + bytes;
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

impl Lowering<'_, '_> {
    /// Parameters and results: of a kernel in the parameter space, of a device function at the
    /// beginning of its local memory.
    pub fn formals(&mut self, device: &DeviceSpec) -> Result<(), LoadError> {
        let function = self.function;
        for variable in function.returns.iter().chain(&function.params) {
            if variable.ty == ast::Type::Pred {
                return Err(self.error("a predicate can not be a parameter"));
            }
        }
        if function.entry {
            let params = layout::parameters(function, device)?;
            for (param, place) in function.params.iter().zip(params) {
                let offset = place.offset;
                self.declare(param.name, Named::Param { offset })?;
                self.param_bytes = offset + place.size;
            }
        } else {
            let signature = Signature::of(&function.returns, &function.params)?;
            let (returns, params, end) = signature.places();
            let variables = function.returns.iter().chain(&function.params);
            for (variable, offset) in variables.zip(returns.into_iter().chain(params)) {
                self.declare(variable.name, Named::Local(offset))?;
            }
            self.local_bytes = end;
        }
        Ok(())
    }
}
