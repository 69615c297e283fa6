//! Lowering of asynchronous copies. Source: PTX ISA section 9.7.9.25 (`cp.async`).

use super::FunctionLowering;
use super::cache_policy::CACHE_HINT;
use super::load_store::{AccessSpace, ResolvedAddress};
use crate::exec::memory::async_copy;
use crate::exec::memory::async_copy::SourceBytes;
use crate::exec::sm::Handler;
use crate::isa::check_event::CopyGroupOp;
use crate::isa::{Access, AccessKind, Class, Memory, Update};
use crate::lower::error::LoadError;
use crate::lower::register::{Register, RegisterClass};
use crate::ptx::ast::{Immediate, Instruction, Operand, Type};

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `cp.async` and its `commit_group`, `wait_group` and `wait_all` forms.
    pub fn async_copy(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let ["async", modifiers @ ..] = &instruction.modifiers[..] else {
            return Err(self.unknown(instruction));
        };
        match (modifiers, &instruction.operands[..]) {
            (["commit_group"], []) => {
                self.push(async_copy::commit, Class::Control, &[], &[]);
                self.last().copy_group_op = CopyGroupOp::Commit;
            }
            (["wait_all"], []) => {
                self.push(async_copy::wait_all, Class::Control, &[], &[]);
                self.last().copy_group_op = CopyGroupOp::WaitAll;
            }
            (["wait_group"], [Operand::Immediate(Immediate::Int(groups))])
                if let Ok(groups) = u32::try_from(*groups) =>
            {
                self.push(async_copy::wait_group, Class::Control, &[], &[]);
                self.last().arg0 = groups;
                self.last().copy_group_op = CopyGroupOp::WaitGroups(groups);
            }
            (["commit_group" | "wait_all"], _) => {
                return Err(self.error(format!("`cp.async.{}` takes no operands", modifiers[0])));
            }
            (["wait_group"], _) => {
                return Err(self.error("`cp.async.wait_group` takes a literal number of groups"));
            }
            _ => self.push_copy(instruction, modifiers)?,
        }
        Ok(())
    }

    fn push_copy(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &[&str],
    ) -> Result<(), LoadError> {
        // L2 prefetches and cache hints change neither results nor counters.
        let modifiers: Vec<&str> = modifiers
            .iter()
            .copied()
            .filter(|name| !matches!(*name, "L2::64B" | "L2::128B" | "L2::256B" | CACHE_HINT))
            .collect();
        let kind = match modifiers[..] {
            ["ca", "shared" | "shared::cta", "global"] => AccessKind::AsyncCopy,
            ["cg", "shared" | "shared::cta", "global"] => AccessKind::AsyncCopyBypassL1,
            _ => return Err(self.unknown(instruction)),
        };
        let [to, from, size, source @ ..] = self.operands_without_policy(instruction)? else {
            return Err(self.error("`cp.async` takes two addresses and a size"));
        };
        let bytes = match (size, kind) {
            (Operand::Immediate(Immediate::Int(16)), _) => 16,
            (Operand::Immediate(Immediate::Int(bytes @ (4 | 8))), AccessKind::AsyncCopy) => {
                *bytes as u32
            }
            (_, AccessKind::AsyncCopy) => {
                return Err(self.error("`cp.async.ca` takes a literal size of 4, 8 or 16 bytes"));
            }
            _ => return Err(self.error("`cp.async.cg` takes a literal size of 16 bytes")),
        };
        let (to, to_offset) = self.address_in_register(to, AccessSpace::Shared)?;
        let (from, from_offset) = self.address_in_register(from, AccessSpace::Global)?;
        let Ok(to_offset) = i32::try_from(to_offset) else {
            return Err(self.error("the offset is larger than shared memory"));
        };
        let mut uses = vec![to, from];
        let source_bytes = match source {
            [] => SourceBytes::Whole,
            [source] => {
                let register = self.any_source(source, Type::U32)?;
                uses.push(register);
                match self.info(register).row {
                    RegisterClass::Predicate => SourceBytes::Unless,
                    RegisterClass::Narrow => SourceBytes::Bytes,
                    RegisterClass::Wide => {
                        return Err(self.error("the source's size must be a 32-bit register"));
                    }
                }
            }
            _ => return Err(self.error("`cp.async` takes at most four operands")),
        };
        let handler: Handler = match bytes {
            4 => async_copy::start::<4>,
            8 => async_copy::start::<8>,
            _ => async_copy::start::<16>,
        };
        self.push(handler, Class::Global, &[], &uses);
        let inst = self.last();
        inst.arg0 = source_bytes as u32;
        inst.arg1 = to_offset as u32;
        inst.imm = from_offset as u64;
        inst.access = Some(Access {
            memory: Memory::Global,
            kind,
            bytes,
            address: 1,
            ordered: None,
            update: Update::default(),
        });
        Ok(())
    }

    /// Resolves an operand that must be an address in a register plus an offset.
    fn address_in_register(
        &mut self,
        operand: &Operand<'a>,
        space: AccessSpace,
    ) -> Result<(Register, i64), LoadError> {
        match self.resolve_address(operand, space)? {
            ResolvedAddress::Register(row, offset) => Ok((row, offset)),
            ResolvedAddress::ConstantBank(_) | ResolvedAddress::Param(_) => {
                Err(self.error("an asynchronous copy must go from global to shared memory"))
            }
        }
    }
}
