//! Lowering of the instructions of clusters: `barrier.cluster`, `mapa` and `getctarank`.

use super::FunctionLowering;
use super::memory::{AccessSpace, ResolvedAddress};
use super::operands::form_of;
use crate::exec::cluster;
use crate::exec::lanewise::map1;
use crate::exec::memory::state_space;
use crate::isa::Class;
use crate::lower::error::LoadError;
use crate::lower::ir::{Register, RegisterClass};
use crate::memory::SHARED_WINDOW;
use crate::ptx::ast::{AddressBase, Instruction, Operand, Type};

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `barrier.cluster.arrive` and `barrier.cluster.wait`. A wait polls, so that the warp yields to the other
    /// warps and blocks of the cluster.
    pub fn cluster_barrier(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        form.has("cluster");
        let arrives = form.has("arrive");
        let waits = form.has("wait");
        let order = form.one_of(match arrives {
            true => &["release", "relaxed"],
            false => &["acquire"],
        });
        form.has("aligned");
        if arrives == waits || form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        if !instruction.operands.is_empty() {
            return Err(self.operand_count_error(instruction, 0));
        }
        // The blocks of a cluster run on one host thread, so no order of memory accesses needs enforcing.
        let _ = order;
        if arrives {
            self.push(cluster::arrive, Class::Control, &[], &[]);
            return Ok(());
        }
        let poll = self.new_block();
        self.start_block(poll);
        let done = self.temporary(Type::Pred);
        self.push(cluster::has_completed, Class::Control, &[done], &[]);
        self.branch(done, true, poll);
        Ok(())
    }

    /// Lowers `mapa`, which returns the address of a variable in the shared memory of another block.
    pub fn map_cluster_address(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (ty, space) = self.cluster_address_form(instruction)?;
        let [to, address, rank] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 3));
        };
        let address = self.cluster_address(address, space, ty)?;
        let rank = self.source(rank, Type::U32)?;
        let to = self.destination(to, ty)?;
        let mapped = match ty {
            Type::U64 => to,
            _ => self.temporary(Type::U64),
        };
        self.push(
            cluster::map_address,
            Class::Integer,
            &[mapped],
            &[address, rank],
        );
        self.last().imm = window(space);
        if ty == Type::U32 {
            let narrow = map1(self.module.cpu, |address: u64| address as u32);
            self.push_with_handlers(narrow, Class::Integer, &[to], &[mapped]);
        }
        Ok(())
    }

    /// Lowers `getctarank`, which returns the rank of the block whose shared memory contains an address.
    pub fn cluster_rank(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (ty, space) = self.cluster_address_form(instruction)?;
        let [to, address] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 2));
        };
        let address = self.cluster_address(address, space, ty)?;
        let to = self.destination(to, Type::U32)?;
        self.push(cluster::rank_of, Class::Integer, &[to], &[address]);
        self.last().imm = window(space);
        Ok(())
    }

    /// Returns the type of the addresses and their state space.
    fn cluster_address_form(
        &self,
        instruction: &Instruction<'a>,
    ) -> Result<(Type, AccessSpace), LoadError> {
        let form = form_of(instruction);
        let space = match form.has("shared::cluster") {
            true => AccessSpace::Shared,
            false => AccessSpace::Generic,
        };
        match (form.ty(), form.end()) {
            (Ok(ty @ (Type::U32 | Type::U64)), Ok(())) => Ok((ty, space)),
            _ => Err(self.unknown(instruction)),
        }
    }

    /// Returns a 64-bit register with an address that an operand holds: a register, or a shared variable with an
    /// offset.
    fn cluster_address(
        &mut self,
        operand: &Operand<'a>,
        space: AccessSpace,
        ty: Type,
    ) -> Result<Register, LoadError> {
        if let &Operand::Name { name, offset } = operand
            && self.find_register(name)?.is_none()
        {
            let base = AddressBase::Name(name);
            let address = Operand::Address { base, offset };
            let ResolvedAddress::Register(row, offset) = self.resolve_address(&address, space)?
            else {
                return Err(self.error(format!("`{name}` is not in shared memory")));
            };
            let sum = self.temporary(Type::U64);
            let add = state_space::add_imm(self.module.cpu);
            self.push_with_handlers(add, Class::Integer, &[sum], &[row]);
            self.last().imm = offset as u64;
            return Ok(sum);
        }
        let register = self.source(operand, ty)?;
        match self.info(register).row {
            RegisterClass::Predicate => Err(self.error("a predicate is not an address")),
            _ => self.address_row(register),
        }
    }
}

/// Returns the start of the window of shared memory in a space's addresses.
fn window(space: AccessSpace) -> u64 {
    match space {
        AccessSpace::Generic => SHARED_WINDOW,
        _ => 0,
    }
}
