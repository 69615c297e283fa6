//! Atomics and reductions. Source: PTX ISA sections 9.7.13.5 (`atom`) and 9.7.13.6 (`red`).

use super::Lowering;
use super::load_store::{At, ORDER, Place, memory_of, releases};
use super::operands::{form_of, written};
use crate::exec::atomic::{Atomic, atomic16, atomic32, atomic64};
use crate::exec::sm::Handler;
use crate::exec::state_space;
use crate::isa::{Access, AccessKind, Class, Ordered, Update};
use crate::lower::error::LoadError;
use crate::ptx::ast::{Instruction, Type};

/// Selects the handler of an atomic by the size of its type.
fn pick<S: state_space::SpaceAccess + 'static>(ty: Type) -> Handler {
    match ty.bytes() {
        2 => atomic16::<S>(),
        4 => atomic32::<S>(),
        _ => atomic64::<S>(),
    }
}

impl<'a> Lowering<'_, 'a> {
    /// Lowers `atom`, which returns the old value.
    pub fn atomic(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.change_memory(instruction, true)
    }

    /// Lowers `red`, which does not return the old value.
    pub fn reduction(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.change_memory(instruction, false)
    }

    fn change_memory(
        &mut self,
        instruction: &Instruction<'a>,
        returns: bool,
    ) -> Result<(), LoadError> {
        let form = form_of(instruction);
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
            .map_err(|error| self.error(format!("`{}`: {error}", written(instruction))))?;
        use Type::*;
        let flushes_nothing = instruction.modifiers.contains(&"noftz");
        let operation = match (operation, ty) {
            (Some("add"), U32 | S32 | U64 | S64) => Atomic::Add,
            (Some("add"), F32 | F64) => Atomic::AddFloat,
            (Some("add"), F16 | F16x2) if flushes_nothing => Atomic::AddHalf,
            (Some("add"), BF16 | BF16x2) if flushes_nothing => Atomic::AddBrain,
            (Some("cas"), B16) => Atomic::CompareAndSwap,
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
        let wanted = 2 + usize::from(returns) + usize::from(operation == Atomic::CompareAndSwap);
        let operands = self.without_hint(instruction)?;
        if operands.len() != wanted {
            return Err(self.error(format!(
                "`{}` takes {wanted} operands",
                written(instruction)
            )));
        }
        let (to, rest) = if returns {
            (self.destination(&operands[0], ty)?, &operands[1..])
        } else {
            (self.temporary(ty), operands)
        };
        let Place::Register(row, offset) = self.place(&rest[0], at)? else {
            return Err(self.error("constants and kernel parameters can not be written"));
        };
        let b = self.source(&rest[1], ty)?;
        let c = match rest.get(2) {
            Some(operand) => self.source(operand, ty)?,
            None => b,
        };
        let run = match at {
            At::Global => pick::<state_space::GlobalSpace>(ty),
            At::Shared => pick::<state_space::SharedSpace>(ty),
            _ => pick::<state_space::GenericSpace>(ty),
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
        self.last().access = memory_of(at).map(|memory| Access {
            memory,
            kind: AccessKind::Atomic,
            bytes: ty.bytes(),
            address: 1,
            ordered: Some(Ordered {
                releases: releases(instruction),
                ..Ordered::default()
            }),
            // The analysis of the whole function fills this in (`analysis::atomics`).
            update: Update::default(),
        });
        Ok(())
    }
}
