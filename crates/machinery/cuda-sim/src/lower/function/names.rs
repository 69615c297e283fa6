//! Names that a function declares, and what they stand for.

use super::Lowering;
use crate::lower::error::LoadError;
use crate::lower::register::Register;
use crate::ptx::ast::Type;
use std::collections::HashMap;

/// What is declared between two braces.
#[derive(Default)]
pub struct Scope<'a> {
    pub names: HashMap<&'a str, Named>,
    /// Members of its register ranges, by name.
    members: HashMap<&'a str, Register>,
}

/// What a name declared inside a function stands for.
#[derive(Debug, Clone, Copy)]
pub enum Named {
    Register(Register),
    /// `%r<5>`: the name is a prefix; the registers are made when first used.
    Range {
        count: u32,
        ty: Type,
    },
    /// An offset into this function's local memory.
    Local(u32),
    /// An offset into shared memory.
    Shared(u64),
    /// An offset into the kernel's parameters.
    Param {
        offset: u32,
    },
}

impl<'a> Lowering<'_, 'a> {
    pub fn declare(&mut self, name: &'a str, named: Named) -> Result<(), LoadError> {
        if name == "_" {
            return Ok(());
        }
        match self
            .scopes
            .last_mut()
            .and_then(|scope| scope.names.insert(name, named))
        {
            None => Ok(()),
            Some(_) => Err(self.error(format!("`{name}` is declared twice"))),
        }
    }

    /// What a name inside the function stands for.
    pub fn lookup(&self, name: &str) -> Option<Named> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name).copied())
    }

    /// The register a name stands for, if it is one.
    pub fn find_register(&mut self, name: &'a str) -> Result<Option<Register>, LoadError> {
        match self.lookup(name) {
            Some(Named::Register(register)) => return Ok(Some(register)),
            Some(_) => return Ok(None),
            None => {}
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let Ok(number) = name[prefix.len()..].parse::<u32>() else {
            return Ok(None);
        };
        for depth in (0..self.scopes.len()).rev() {
            let Some(&Named::Range { count, ty }) = self.scopes[depth].names.get(prefix) else {
                continue;
            };
            if number >= count {
                return Err(self.error(format!("`{name}` is beyond `{prefix}<{count}>`")));
            }
            if let Some(&register) = self.scopes[depth].members.get(name) {
                return Ok(Some(register));
            }
            let register = self.new_register(ty)?;
            self.scopes[depth].members.insert(name, register);
            return Ok(Some(register));
        }
        Ok(None)
    }
}
