//! Atomics and reductions. Source: PTX ISA sections 9.7.13.5 (`atom`) and 9.7.13.6 (`red`).

use super::FunctionLowering;
use super::load_store::{
    AccessSpace, CACHE_AND_ORDER_MODIFIERS, ResolvedAddress, counted_memory, is_release,
};
use super::operands::{display_name, form_of};
use crate::exec::memory::atomic::{Atomic, atomic16, atomic32, atomic64};
use crate::exec::memory::state_space;
use crate::exec::sm::Handler;
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

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `atom`, which returns the old value.
    pub fn atomic(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.lower_atomic(instruction, true)
    }

    /// Lowers `red`, which does not return the old value.
    pub fn reduction(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        self.lower_atomic(instruction, false)
    }

    fn lower_atomic(
        &mut self,
        instruction: &Instruction<'a>,
        returns_old_value: bool,
    ) -> Result<(), LoadError> {
        let form = form_of(instruction);
        while form.one_of(CACHE_AND_ORDER_MODIFIERS).is_some() {}
        let space = match form.one_of(&["global", "shared", "shared::cta"]) {
            None => AccessSpace::Generic,
            Some("global") => AccessSpace::Global,
            Some(_) => AccessSpace::Shared,
        };
        let operation = form.one_of(&[
            "add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max",
        ]);
        let ty = form
            .ty()
            .and_then(|ty| form.end().map(|()| ty))
            .map_err(|error| self.error(format!("`{}`: {error}", display_name(instruction))))?;
        use Type::*;
        let noftz = instruction.modifiers.contains(&"noftz");
        let operation = match (operation, ty) {
            (Some("add"), U32 | S32 | U64 | S64) => Atomic::Add,
            (Some("add"), F32 | F64) => Atomic::AddFloat,
            (Some("add"), F16 | F16x2) if noftz => Atomic::AddHalf,
            (Some("add"), BF16 | BF16x2) if noftz => Atomic::AddBrain,
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
        let expected =
            2 + usize::from(returns_old_value) + usize::from(operation == Atomic::CompareAndSwap);
        let operands = self.operands_without_policy(instruction)?;
        if operands.len() != expected {
            return Err(self.error(format!(
                "`{}` takes {expected} operands",
                display_name(instruction)
            )));
        }
        let (to, sources) = if returns_old_value {
            (self.destination(&operands[0], ty)?, &operands[1..])
        } else {
            (self.temporary(ty), operands)
        };
        let ResolvedAddress::Register(row, offset) = self.resolve_address(&sources[0], space)?
        else {
            return Err(self.error("constants and kernel parameters cannot be written"));
        };
        let b = self.source(&sources[1], ty)?;
        let c = match sources.get(2) {
            Some(operand) => self.source(operand, ty)?,
            None => b,
        };
        let handler = match space {
            AccessSpace::Global => pick::<state_space::GlobalSpace>(ty),
            AccessSpace::Shared => pick::<state_space::SharedSpace>(ty),
            _ => pick::<state_space::GenericSpace>(ty),
        };
        if space != AccessSpace::Shared {
            self.ordered |= operation.is_order_dependent();
            self.old_values.insert(to);
        }
        let class = if space == AccessSpace::Shared {
            Class::Shared
        } else {
            Class::Global
        };
        self.push(handler, class, &[to], &[row, b, c]);
        self.last().arg0 = operation as u32;
        self.last().imm = offset as u64;
        self.last().access = counted_memory(space).map(|memory| Access {
            memory,
            kind: AccessKind::Atomic,
            bytes: ty.bytes(),
            address: 1,
            ordered: Some(Ordered {
                releases: is_release(instruction),
                ..Ordered::default()
            }),
            // The analysis of the whole function fills this in (`analysis::atomics`).
            update: Update::default(),
        });
        Ok(())
    }
}
