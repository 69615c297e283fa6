//! Lowering of asynchronous copies and of barriers in shared memory. Source: PTX ISA sections 9.7.9.25
//! (`cp.async`) and 9.7.13.15 (`mbarrier`).

use super::FunctionLowering;
use super::memory::{AccessSpace, CACHE_HINT, ResolvedAddress};
use super::operands::{display_name, form_of};
use crate::exec::lanewise::map1;
use crate::exec::memory::async_copy;
use crate::exec::memory::async_copy::SourceBytes;
use crate::exec::memory::atomic::Atomic;
use crate::exec::memory::mbarrier::{self, Change};
use crate::exec::memory::state_space;
use crate::exec::sm::Handler;
use crate::isa::check_event::{CheckEvent, CopyGroupOp};
use crate::isa::{Access, AccessKind, Class, Element, LoadedValue, Memory, Ordered, Update};
use crate::lower::error::LoadError;
use crate::lower::ir::{Register, RegisterClass};
use crate::memory::SHARED_WINDOW;
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
            element: Element::WORD,
            address: 1,
            ordered: None,
            loaded: LoadedValue::default(),
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

/// Modifiers for memory ordering and scope. They need no handling: every arrival is a release and every
/// completed wait an acquire, for all threads.
const ORDER_MODIFIERS: &[&str] = &["acquire", "release", "relaxed", "cta", "cluster"];

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers `mbarrier.init` and the other `mbarrier` instructions.
    pub fn mbarrier(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let form = form_of(instruction);
        let operation = form.one_of(&[
            "init",
            "inval",
            "arrive",
            "arrive_drop",
            "test_wait",
            "try_wait",
            "pending_count",
            "expect_tx",
            "complete_tx",
        ]);
        let [expects, no_complete, parity] =
            ["expect_tx", "noComplete", "parity"].map(|name| form.has(name));
        while form.one_of(ORDER_MODIFIERS).is_some() {}
        let space = match form.one_of(&["shared", "shared::cta", "shared::cluster"]) {
            Some(_) => AccessSpace::Shared,
            None => AccessSpace::Generic,
        };
        let Some(operation) = operation else {
            return Err(self.unknown(instruction));
        };
        if form.ty() != Ok(Type::B64) || form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        let arrives = matches!(operation, "arrive" | "arrive_drop");
        let waits = matches!(operation, "test_wait" | "try_wait");
        if expects && !arrives || no_complete && (!arrives || expects) || parity && !waits {
            return Err(self.unknown(instruction));
        }
        match (operation, &instruction.operands[..]) {
            ("init", [address, count]) => {
                let count = self.source(count, Type::U32)?;
                self.overwrite_mbarrier(address, space, mbarrier::init, &[count])
            }
            ("inval", [address]) => {
                self.overwrite_mbarrier(address, space, mbarrier::invalidate, &[])
            }
            ("pending_count", [to, state]) => {
                let to = self.destination(to, Type::B32)?;
                let state = self.source(state, Type::B64)?;
                let handler = map1(self.module.cpu, mbarrier::pending);
                self.push_with_handlers(handler, Class::Integer, &[to], &[state]);
                Ok(())
            }
            ("expect_tx" | "complete_tx", [address, bytes]) => {
                let bytes = self.source(bytes, Type::U32)?;
                let state = self.temporary(Type::B64);
                let change = match operation {
                    "expect_tx" => Change::Expect,
                    _ => Change::Complete,
                };
                self.update_mbarrier(address, space, change, (state, bytes))
            }
            ("arrive" | "arrive_drop", [state, address, count @ ..]) if count.len() <= 1 => {
                let state = self.destination(state, Type::B64)?;
                let count = match (count, expects) {
                    ([count], _) => self.source(count, Type::U32)?,
                    (_, false) => self.literal(Type::U32, 1),
                    (_, true) => return Err(self.wrong_operand_count(instruction)),
                };
                let change = match (operation, expects) {
                    ("arrive", false) => Change::Arrive,
                    ("arrive", true) => Change::ExpectAndArrive,
                    (_, false) => Change::Drop,
                    (_, true) => Change::ExpectAndDrop,
                };
                self.update_mbarrier(address, space, change, (state, count))?;
                self.last().arg1 = u32::from(no_complete);
                Ok(())
            }
            ("test_wait", [done, address, phase]) | ("try_wait", [done, address, phase]) => self
                .test_mbarrier(
                    done,
                    (address, space),
                    (phase, parity),
                    operation == "try_wait",
                ),
            // The suspend-time hint is ignored because `try_wait` never yields here.
            ("try_wait", [done, address, phase, hint]) => {
                self.source(hint, Type::U32)?;
                self.test_mbarrier(done, (address, space), (phase, parity), true)
            }
            _ => Err(self.wrong_operand_count(instruction)),
        }
    }

    /// Lowers `cp.async.mbarrier.arrive`, which arrives when the thread's prior copies have completed. The
    /// simulator completes them immediately, which is one of the permitted orders.
    pub fn cp_async_mbarrier_arrive(
        &mut self,
        instruction: &Instruction<'a>,
    ) -> Result<(), LoadError> {
        let (is_noinc, space) = match &instruction.modifiers[..] {
            ["async", "mbarrier", "arrive", rest @ ..] => {
                let (is_noinc, rest) = match rest {
                    ["noinc", rest @ ..] => (true, rest),
                    rest => (false, rest),
                };
                match rest {
                    ["b64"] => (is_noinc, AccessSpace::Generic),
                    ["shared" | "shared::cta", "b64"] => (is_noinc, AccessSpace::Shared),
                    _ => return Err(self.unknown(instruction)),
                }
            }
            _ => return Err(self.unknown(instruction)),
        };
        let [address] = &instruction.operands[..] else {
            return Err(self.wrong_operand_count(instruction));
        };
        self.push(async_copy::wait_all, Class::Control, &[], &[]);
        self.last().copy_group_op = CopyGroupOp::WaitAll;
        // Without `noinc` the instruction also increments the pending count, which cancels the arrival.
        let count = self.literal(Type::U32, is_noinc.into());
        let state = self.temporary(Type::B64);
        self.update_mbarrier(address, space, Change::Arrive, (state, count))
    }

    /// Resolves an operand that must be a shared-memory address in a register plus an offset.
    pub fn shared_address(
        &mut self,
        operand: &Operand<'a>,
        space: AccessSpace,
    ) -> Result<(Register, i64), LoadError> {
        let ResolvedAddress::Register(row, offset) = self.resolve_address(operand, space)? else {
            return Err(self.error("this is not an address in shared memory"));
        };
        if space == AccessSpace::Shared {
            return Ok((row, offset));
        }
        let within = self.temporary(Type::U64);
        self.push_with_handlers(
            state_space::add_imm(self.module.cpu),
            Class::Integer,
            &[within],
            &[row],
        );
        self.last().imm = SHARED_WINDOW.wrapping_neg();
        Ok((within, offset))
    }

    /// Appends an instruction that overwrites a barrier.
    fn overwrite_mbarrier(
        &mut self,
        address: &Operand<'a>,
        space: AccessSpace,
        handler: Handler,
        uses: &[Register],
    ) -> Result<(), LoadError> {
        let (row, offset) = self.shared_address(address, space)?;
        let uses: Vec<Register> = [row].iter().chain(uses).copied().collect();
        self.push(handler, Class::Shared, &[], &uses);
        self.last().arg0 = Atomic::Exchange as u32;
        self.record_mbarrier_access(offset, 0, None);
        Ok(())
    }

    /// Appends an instruction that updates a barrier by a count and returns its previous state.
    fn update_mbarrier(
        &mut self,
        address: &Operand<'a>,
        space: AccessSpace,
        change: Change,
        (state, count): (Register, Register),
    ) -> Result<(), LoadError> {
        let (row, offset) = self.shared_address(address, space)?;
        self.push(mbarrier::change, Class::Shared, &[state], &[row, count]);
        self.last().arg0 = change.number();
        let ordered = Ordered {
            releases: true,
            ..Ordered::default()
        };
        self.record_mbarrier_access(offset, 1, Some(ordered));
        Ok(())
    }

    /// Appends an instruction that tests whether the phase given by a state or a parity has completed.
    fn test_mbarrier(
        &mut self,
        done: &Operand<'a>,
        (address, space): (&Operand<'a>, AccessSpace),
        (phase, parity): (&Operand<'a>, bool),
        yields: bool,
    ) -> Result<(), LoadError> {
        let done = self.destination(done, Type::Pred)?;
        let phase = self.source(phase, if parity { Type::U32 } else { Type::B64 })?;
        let (row, offset) = self.shared_address(address, space)?;
        self.push(mbarrier::wait, Class::Shared, &[done], &[row, phase]);
        (self.last().arg0, self.last().arg1) = (parity.into(), yields.into());
        let ordered = Ordered {
            polls: true,
            ..Ordered::default()
        };
        self.record_mbarrier_access(offset, 1, Some(ordered));
        Ok(())
    }

    /// Records the access to the barrier for the sanitizer: an atomic, so that concurrent use is not a data
    /// race. The profiler counts loads and stores only, so `access` stays empty.
    fn record_mbarrier_access(&mut self, offset: i64, address: usize, ordered: Option<Ordered>) {
        self.last().imm = offset as u64;
        self.last().sync_event = CheckEvent::Access(Access {
            memory: Memory::Shared,
            kind: AccessKind::Atomic,
            bytes: 8,
            element: Element::WORD,
            address,
            ordered,
            loaded: LoadedValue::default(),
            update: Update::default(),
        });
    }

    fn wrong_operand_count(&self, instruction: &Instruction) -> LoadError {
        self.error(format!(
            "`{}` has the wrong number of operands",
            display_name(instruction)
        ))
    }
}
