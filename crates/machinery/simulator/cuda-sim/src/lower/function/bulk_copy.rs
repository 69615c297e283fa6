//! Lowering of bulk asynchronous copies and of instructions on tensor maps. Source: PTX ISA, sections `cp.async.bulk`,
//! `cp.reduce.async.bulk`, their `.tensor` and `.prefetch` forms, `st.async`, `red.async` and `tensormap`.

use super::FunctionLowering;
use super::memory::{AccessSpace, CACHE_HINT, ResolvedAddress};
use super::operands::{display_name, elements, form_of};
use crate::exec::lanewise::map1;
use crate::exec::memory::bulk::tensor::Field;
use crate::exec::memory::bulk::{self, BulkForm, Direction, pack_reduction};
use crate::exec::memory::state_space;
use crate::exec::ops::Form;
use crate::exec::sm::bulk::{Operand as ReductionType, Operation, Reduction};
use crate::isa::{Access, AccessKind, Class, Element, LoadedValue, Memory, Ordered, Update};
use crate::lower::error::LoadError;
use crate::lower::ir::{Register, RegisterClass};
use crate::memory::SHARED_WINDOW;
use crate::ptx::ast::{Immediate, Instruction, Operand, Type};

/// Completion by the bytes that a barrier expects.
const BARRIER: &str = "mbarrier::complete_tx::bytes";
const DIMENSIONS: [&str; 5] = ["1d", "2d", "3d", "4d", "5d"];

/// Returns the access of a copy for the profiler and the sanitizer, which compute its addresses and its size when it
/// starts; `None` for a copy within a cluster, which reaches shared memory only.
fn bulk_access(form: BulkForm) -> Option<Access> {
    let kind = match (form.direction, form.operation) {
        (Direction::ToCluster, _) => return None,
        (Direction::Load, _) => AccessKind::BulkLoad,
        (Direction::Store, None) => AccessKind::BulkStore,
        (Direction::Store, Some(_)) => AccessKind::BulkReduction,
    };
    Some(Access {
        memory: Memory::Global,
        kind,
        bytes: 16,
        element: Element::WORD,
        address: 1,
        ordered: (kind == AccessKind::BulkReduction).then(Ordered::default),
        loaded: LoadedValue::default(),
        update: Update::default(),
    })
}

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `cp.async.bulk`, its tensor form and its groups.
    pub fn bulk_copy(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        form.has("async");
        form.has("bulk");
        if form.has("commit_group") {
            return self.bulk_group(instruction, &form);
        }
        if form.has("wait_group") {
            return self.bulk_wait(instruction, &form);
        }
        if form.has("prefetch") {
            // Prefetches change neither results nor counters.
            return self.nop();
        }
        self.copy_form(instruction, &form, false)
    }

    /// Lowers `cp.reduce.async.bulk` and its tensor form.
    pub fn bulk_reduction(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        form.has("reduce");
        form.has("async");
        form.has("bulk");
        self.copy_form(instruction, &form, true)
    }

    fn bulk_group(&mut self, instruction: &Instruction<'a>, form: &Form) -> Result<(), LoadError> {
        if form.end().is_err() || !instruction.operands.is_empty() {
            return Err(self.unknown(instruction));
        }
        self.push(bulk::commit, Class::Control, &[], &[]);
        Ok(())
    }

    fn bulk_wait(&mut self, instruction: &Instruction<'a>, form: &Form) -> Result<(), LoadError> {
        let only_reads = form.has("read");
        if form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        let [Operand::Immediate(Immediate::Int(groups))] = &instruction.operands[..] else {
            return Err(self.error(format!(
                "`{}` takes a literal number of groups",
                display_name(instruction)
            )));
        };
        let Ok(groups) = u32::try_from(*groups) else {
            return Err(self.error("the number of groups is negative or too large"));
        };
        self.push(bulk::wait_group, Class::Control, &[], &[]);
        (self.last().arg0, self.last().arg1) = (groups, only_reads.into());
        Ok(())
    }

    fn copy_form(
        &mut self,
        instruction: &Instruction<'a>,
        form: &Form,
        is_reduction: bool,
    ) -> Result<(), LoadError> {
        let is_tensor = form.has("tensor");
        let rank = match (is_tensor, form.one_of(&DIMENSIONS)) {
            (true, Some(name)) => 1 + DIMENSIONS.iter().position(|of| *of == name).unwrap_or(0),
            (false, None) => 0,
            _ => return Err(self.unknown(instruction)),
        };
        let to_global = instruction
            .modifiers
            .iter()
            .find(|name| matches!(**name, "global" | "shared::cta" | "shared::cluster"))
            == Some(&"global");
        let from_global = form.has("global") && !to_global;
        let spaces = [form.has("shared::cluster"), form.has("shared::cta")];
        let direction = match (to_global, from_global, spaces) {
            (true, _, [false, true]) => Direction::Store,
            (_, true, [true, false] | [false, true]) if !is_reduction => Direction::Load,
            (false, false, [true, true]) if !is_tensor => Direction::ToCluster,
            _ => return Err(self.unknown(instruction)),
        };
        let mode = form.one_of(&["tile", "im2col", "im2col_no_offs"]);
        let completes = form.has(match direction {
            Direction::Store => "bulk_group",
            _ => BARRIER,
        });
        let is_multicast = form.has("multicast::cluster");
        form.has(CACHE_HINT);
        let reduction = match is_reduction {
            true => Some(self.reduction_form(instruction, form, !is_tensor)?),
            false => None,
        };
        let is_im2col = matches!(mode, Some("im2col" | "im2col_no_offs"));
        if !completes
            || form.end().is_err()
            || is_multicast && direction != Direction::Load
            || mode.is_some() && !is_tensor
            || is_im2col && rank < 3
            || (mode == Some("im2col")) != (is_im2col && direction == Direction::Load)
        {
            return Err(self.unknown(instruction));
        }
        let form = BulkForm {
            direction,
            rank: rank as u32,
            is_im2col,
            is_multicast,
            operation: reduction.map(|reduction| reduction.operation),
            operand: reduction.map_or(ReductionType::U32, |reduction| reduction.operand),
        };
        self.push_bulk(instruction, form)
    }

    /// Returns the operation of a reduction, whose type a tensor copy takes from the tensor map.
    fn reduction_form(
        &mut self,
        instruction: &Instruction<'a>,
        form: &Form,
        has_type: bool,
    ) -> Result<Reduction, LoadError> {
        let name = form.one_of(&["add", "min", "max", "inc", "dec", "and", "or", "xor"]);
        let operation = match name {
            Some("add") => Operation::Add,
            Some("min") => Operation::Min,
            Some("max") => Operation::Max,
            Some("inc") => Operation::Increment,
            Some("dec") => Operation::Decrement,
            Some("and") => Operation::And,
            Some("or") => Operation::Or,
            Some("xor") => Operation::Xor,
            _ => return Err(self.unknown(instruction)),
        };
        let noftz = form.has("noftz");
        if !has_type {
            return Ok(Reduction {
                operation,
                operand: ReductionType::U32,
            });
        }
        use Operation::*;
        let operand = match (operation, form.ty()) {
            (Add | Min | Max | Increment | Decrement, Ok(Type::U32)) => ReductionType::U32,
            (Add | Min | Max, Ok(Type::S32)) => ReductionType::S32,
            (Add | Min | Max, Ok(Type::U64)) => ReductionType::U64,
            (Min | Max, Ok(Type::S64)) => ReductionType::S64,
            (And | Or | Xor, Ok(Type::B32)) => ReductionType::U32,
            (And | Or | Xor, Ok(Type::B64)) => ReductionType::U64,
            (Add, Ok(Type::F32)) => ReductionType::F32,
            (Add, Ok(Type::F64)) => ReductionType::F64,
            (Add, Ok(Type::F16)) if noftz => ReductionType::F16,
            (Add, Ok(Type::BF16)) if noftz => ReductionType::BF16,
            (Min | Max, Ok(Type::F16)) => ReductionType::F16,
            (Min | Max, Ok(Type::BF16)) => ReductionType::BF16,
            _ => return Err(self.unknown(instruction)),
        };
        Ok(Reduction { operation, operand })
    }

    /// Appends a copy with its operand list.
    fn push_bulk(
        &mut self,
        instruction: &Instruction<'a>,
        form: BulkForm,
    ) -> Result<(), LoadError> {
        let operands = self.operands_without_policy(instruction)?;
        let none = self.literal(Type::U64, 0);
        let (mut size, mut barrier) = (self.literal(Type::U32, 0), none);
        let mut coordinates = Vec::new();
        let to_shared = form.direction != Direction::Store;
        let (first, second, mut rest) = match operands {
            [to, from, rest @ ..] if to_shared => (to, from, rest),
            [to, from, rest @ ..] => (from, to, rest),
            _ => return Err(self.bulk_operand_error(instruction)),
        };
        let shared = self.bulk_address(first, AccessSpace::Shared)?;
        let other = match second {
            Operand::TextureCoordinates {
                image,
                coordinates: list,
            } if form.rank > 0 => {
                if list.len() != form.rank as usize {
                    return Err(self.error(format!(
                        "`{}` takes {} coordinates, not {}",
                        display_name(instruction),
                        form.rank,
                        list.len()
                    )));
                }
                for coordinate in list {
                    coordinates.push(self.source(coordinate, Type::S32)?);
                }
                self.map_address(image)?
            }
            address if form.rank == 0 => {
                let space = match form.direction {
                    Direction::ToCluster => AccessSpace::Shared,
                    _ => AccessSpace::Global,
                };
                self.bulk_address(address, space)?
            }
            _ => return Err(self.bulk_operand_error(instruction)),
        };
        if form.rank == 0 {
            let [bytes, after @ ..] = rest else {
                return Err(self.bulk_operand_error(instruction));
            };
            size = self.source(bytes, Type::U32)?;
            rest = after;
        }
        if to_shared {
            let [at, after @ ..] = rest else {
                return Err(self.bulk_operand_error(instruction));
            };
            barrier = self.bulk_address(at, AccessSpace::Shared)?;
            rest = after;
        }
        if form.is_im2col && to_shared {
            let [Operand::Vector(list), after @ ..] = rest else {
                return Err(self.bulk_operand_error(instruction));
            };
            if list.len() != form.rank as usize - 2 {
                return Err(self.bulk_operand_error(instruction));
            }
            for offset in list {
                coordinates.push(self.source(offset, Type::U16)?);
            }
            rest = after;
        }
        let mask = match (form.is_multicast, rest) {
            (true, [mask]) => self.source(mask, Type::U16)?,
            (false, []) => self.literal(Type::U16, 0),
            _ => return Err(self.bulk_operand_error(instruction)),
        };
        let mut uses = vec![shared, other, size, barrier, mask];
        uses.extend(coordinates);
        let class = match form.direction {
            Direction::ToCluster => Class::Shared,
            _ => Class::Global,
        };
        if let Some(operation) = form.operation
            && form.direction == Direction::Store
        {
            let operand = form.operand;
            let reduction = Reduction { operation, operand };
            // The type of a tensor's elements is unknown before the launch.
            self.effects.ordered |= form.rank > 0 || reduction.is_order_dependent();
        }
        let access = bulk_access(form);
        self.push(bulk::start, class, &[], &uses);
        let inst = self.last();
        inst.has_operand_list = true;
        inst.access = access;
        (inst.arg0, inst.arg1) = form.args();
        Ok(())
    }

    fn bulk_operand_error(&self, instruction: &Instruction) -> LoadError {
        self.error(format!(
            "`{}` has the wrong operands: see its page in the PTX ISA",
            display_name(instruction)
        ))
    }

    /// Returns a 64-bit register with the sum of an address and its offset.
    fn bulk_address(
        &mut self,
        operand: &Operand<'a>,
        space: AccessSpace,
    ) -> Result<Register, LoadError> {
        match self.resolve_address(operand, space)? {
            ResolvedAddress::Register(row, 0) => Ok(row),
            ResolvedAddress::Register(row, offset) => Ok(self.sum(row, offset as u64)),
            ResolvedAddress::ConstantBank(_) | ResolvedAddress::Param(_) => Err(self.error(
                "a bulk copy is between global and shared memory, or within the shared memory of a cluster",
            )),
        }
    }

    fn sum(&mut self, row: Register, offset: u64) -> Register {
        let sum = self.temporary(Type::U64);
        let add = state_space::add_imm(self.module.cpu);
        self.push_with_handlers(add, Class::Integer, &[sum], &[row]);
        self.last().imm = offset;
        sum
    }

    /// Returns a register with the generic address of a tensor map: a register, a parameter or a variable.
    fn map_address(&mut self, name: &'a str) -> Result<Register, LoadError> {
        match self.find_register(name)? {
            Some(register) => self.address_row(register),
            None => self.address_of(name, true),
        }
    }

    /// Lowers `st.async`, a store to the shared memory of the cluster that reports its bytes to a barrier.
    pub fn store_async(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        form.has("async");
        form.has("weak");
        let count = match form.one_of(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        };
        let is_valid = form.has("shared::cluster") & form.has(BARRIER);
        let ty = match form.ty() {
            Ok(ty @ (Type::B32 | Type::U32 | Type::S32 | Type::F32)) => ty,
            Ok(ty @ (Type::B64 | Type::U64 | Type::S64 | Type::F64)) if count < 4 => ty,
            _ => return Err(self.unknown(instruction)),
        };
        if !is_valid || form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        self.push_store_async(instruction, (ty, count), 0)
    }

    /// Lowers `red.async`, a reduction in the shared memory of the cluster that reports its bytes to a barrier.
    pub fn reduction_async(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        form.has("async");
        form.has("relaxed");
        form.has("cluster");
        let is_valid = form.has("shared::cluster") & form.has(BARRIER);
        let ty = form.first_type();
        let reduction = match ty {
            // Sums do not depend on the sign, and only `red.async` names this type for them.
            Some(Type::S64) if form.has("add") && form.ty().is_ok() => Reduction {
                operation: Operation::Add,
                operand: ReductionType::S64,
            },
            _ => self.reduction_form(instruction, &form, true)?,
        };
        let is_integer = matches!(
            reduction.operand,
            ReductionType::U32 | ReductionType::S32 | ReductionType::U64 | ReductionType::S64
        );
        match ty {
            Some(ty) if is_valid && is_integer && form.end().is_ok() => {
                let reduction = pack_reduction(Some(reduction.operation), reduction.operand);
                self.push_store_async(instruction, (ty, 1), reduction)
            }
            _ => Err(self.unknown(instruction)),
        }
    }

    fn push_store_async(
        &mut self,
        instruction: &Instruction<'a>,
        (ty, count): (Type, usize),
        reduction: u32,
    ) -> Result<(), LoadError> {
        let [to, values, barrier] = &instruction.operands[..] else {
            return Err(self.operand_count_error(instruction, 3));
        };
        let to = self.bulk_address(to, AccessSpace::Shared)?;
        let barrier = self.bulk_address(barrier, AccessSpace::Shared)?;
        let values = elements(values);
        if values.len() != count {
            return Err(self.error("the length of the vector differs from that of the store"));
        }
        let mut uses = vec![to, barrier];
        for value in values {
            uses.push(self.source(value, ty)?);
        }
        self.push(bulk::store_async, Class::Shared, &[], &uses);
        let inst = self.last();
        inst.has_operand_list = true;
        (inst.arg0, inst.arg1) = (ty.bytes(), reduction);
        Ok(())
    }

    /// Lowers `tensormap.replace`.
    pub fn replace_tensor_map(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        form.has("replace");
        let is_tile = form.has("tile");
        let names = Field::ALL.map(|(name, _)| name);
        let name = form.one_of(&names);
        let space = match form.one_of(&["global", "shared::cta"]) {
            Some("global") => AccessSpace::Global,
            Some(_) => AccessSpace::Shared,
            None => AccessSpace::Generic,
        };
        let is_descriptor = form.has("b1024");
        let ty = form.ty();
        let Some(index) = names.iter().position(|of| Some(*of) == name) else {
            return Err(self.unknown(instruction));
        };
        let (_, field) = Field::ALL[index];
        let expected = match field {
            Field::GlobalAddress | Field::GlobalStride => Type::B64,
            _ => Type::B32,
        };
        if !is_tile || !is_descriptor || ty != Ok(expected) || form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        let (address, dimension, value) = match (&instruction.operands[..], field.has_dimensions())
        {
            (
                [
                    address,
                    Operand::Immediate(Immediate::Int(dimension @ 0..5)),
                    value,
                ],
                true,
            ) => (address, *dimension as u32, value),
            ([address, value], false) => (address, 0, value),
            _ => return Err(self.bulk_operand_error(instruction)),
        };
        if field.takes_literal() && !matches!(value, Operand::Immediate(_)) {
            return Err(self.error(format!("`{}` takes a literal", display_name(instruction))));
        }
        let ResolvedAddress::Register(row, offset) = self.resolve_address(address, space)? else {
            return Err(self.error("a tensor map in constant memory or parameters is read-only"));
        };
        let offset = match space {
            AccessSpace::Shared => (offset as u64).wrapping_add(SHARED_WINDOW),
            _ => offset as u64,
        };
        let value = self.source(value, expected)?;
        let value = match self.info(value).row {
            RegisterClass::Wide => value,
            _ => {
                let wide = self.temporary(Type::U64);
                let widen = map1(self.module.cpu, |value: u32| u64::from(value));
                self.push_with_handlers(widen, Class::Integer, &[wide], &[value]);
                wide
            }
        };
        self.push(bulk::replace_field, Class::Global, &[], &[row, value]);
        let inst = self.last();
        (inst.arg0, inst.arg1, inst.imm) = (index as u32, dimension, offset);
        Ok(())
    }

    /// Lowers `tensormap.cp_fenceproxy`, which copies a tensor map from shared to device memory.
    pub fn copy_tensor_map(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let is_known = matches!(
            instruction.modifiers[..],
            [
                "cp_fenceproxy",
                "global",
                "shared::cta",
                "tensormap::generic",
                "release",
                "cta" | "cluster" | "gpu" | "sys",
                "sync",
                "aligned",
            ]
        );
        if !is_known {
            return Err(self.unknown(instruction));
        }
        let [to, from, Operand::Immediate(Immediate::Int(128))] = &instruction.operands[..] else {
            return Err(self.bulk_operand_error(instruction));
        };
        let to = self.bulk_address(to, AccessSpace::Global)?;
        let from = self.bulk_address(from, AccessSpace::Shared)?;
        self.push(bulk::copy_map, Class::Global, &[], &[to, from]);
        Ok(())
    }
}
