//! Policies for caches: `createpolicy`, and the operand of an access that has one. Source: PTX ISA, section
//! 9.7.9 (`createpolicy`, cache eviction priority hints).

use super::Lowering;
use super::operands::{form_of, written};
use crate::exec::lanewise::map1;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::ptx::ast::{Instruction, Operand, Type};

/// The modifier of an access whose last operand is a policy for caches, as `createpolicy` makes one.
pub const CACHE_HINT: &str = "L2::cache_hint";

/// What a policy says of lines in the L2 cache.
const POLICIES: &[&str] = &[
    "L2",
    "L2::evict_last",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_unchanged",
];

impl<'a> Lowering<'_, 'a> {
    /// The operands of an access without the policy for caches, which nothing here depends on.
    pub fn without_hint<'i>(
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

    /// `createpolicy`: what it makes of a policy is known to nobody but the caches. Here it is 0.
    pub fn create_policy(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        let kind = form.one_of(&["fractional", "range", "cvt"]);
        form.has("global");
        while form.one_of(POLICIES).is_some() {}
        let operands = &instruction.operands[..];
        let fits = match kind {
            Some("fractional") => matches!(operands.len(), 1 | 2),
            Some("range") => operands.len() == 4,
            Some(_) => operands.len() == 2,
            None => false,
        };
        if form.ty() != Ok(Type::B64) || form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        if !fits {
            let written = written(instruction);
            return Err(self.error(format!("`{written}` has another number of operands")));
        }
        let to = self.destination(&operands[0], Type::B64)?;
        let none = self.literal(Type::B64, 0);
        self.draft_run(map1(self.cpu, |a: u64| a), Class::Move, &[to], &[none]);
        Ok(())
    }
}
