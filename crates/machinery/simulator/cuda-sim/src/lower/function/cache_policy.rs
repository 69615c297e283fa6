//! Cache policies: `createpolicy`, and the policy operand of accesses. Source: PTX ISA section 9.7.9
//! (`createpolicy`, cache eviction priority hints).

use super::FunctionLowering;
use super::operands::{display_name, form_of};
use crate::exec::lanewise::map1;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::ptx::ast::{Instruction, Operand, Type};

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
        self.push_with_handlers(map1(self.cpu, |a: u64| a), Class::Move, &[to], &[none]);
        Ok(())
    }
}
