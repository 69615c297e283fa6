//! Lowering of barriers in shared memory. Source: PTX ISA section 9.7.13.15 (`mbarrier`).

use super::Lowering;
use super::load_store::{At, Place};
use super::operands::{form_of, written};
use crate::exec::atomic::Atomic;
use crate::exec::lanewise::map1;
use crate::exec::mbarrier::{self, Change};
use crate::exec::sm::Handler;
use crate::exec::{address, async_copy};
use crate::isa::check_event::{Checked, Waiting};
use crate::isa::{Access, AccessKind, Class, Memory, Ordered, Update};
use crate::lower::error::LoadError;
use crate::lower::register::Register;
use crate::memory::SHARED_WINDOW;
use crate::ptx::ast::{Instruction, Operand, Type};

/// Modifiers for memory ordering and scope. They need no handling: every arrival is a release and every
/// completed wait
/// an acquire, for all threads.
const ORDER: &[&str] = &["acquire", "release", "relaxed", "cta", "cluster"];

impl<'a> Lowering<'_, 'a> {
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
        let [expects, stays, parity] =
            ["expect_tx", "noComplete", "parity"].map(|name| form.has(name));
        while form.one_of(ORDER).is_some() {}
        let at = match form.one_of(&["shared", "shared::cta", "shared::cluster"]) {
            Some(_) => At::Shared,
            None => At::Generic,
        };
        let Some(operation) = operation else {
            return Err(self.unknown(instruction));
        };
        if form.ty() != Ok(Type::B64) || form.end().is_err() {
            return Err(self.unknown(instruction));
        }
        let arrives = matches!(operation, "arrive" | "arrive_drop");
        let waits = matches!(operation, "test_wait" | "try_wait");
        if expects && !arrives || stays && (!arrives || expects) || parity && !waits {
            return Err(self.unknown(instruction));
        }
        match (operation, &instruction.operands[..]) {
            ("init", [place, count]) => {
                let count = self.source(count, Type::U32)?;
                self.replaces(place, at, mbarrier::init, &[count])
            }
            ("inval", [place]) => self.replaces(place, at, mbarrier::invalidate, &[]),
            ("pending_count", [to, state]) => {
                let to = self.destination(to, Type::B32)?;
                let state = self.source(state, Type::B64)?;
                let run = map1(self.cpu, mbarrier::pending);
                self.draft_run(run, Class::Integer, &[to], &[state]);
                Ok(())
            }
            ("expect_tx" | "complete_tx", [place, bytes]) => {
                let bytes = self.source(bytes, Type::U32)?;
                let state = self.temporary(Type::B64);
                let how = match operation {
                    "expect_tx" => Change::Expect,
                    _ => Change::Complete,
                };
                self.changes(place, at, how, (state, bytes))
            }
            ("arrive" | "arrive_drop", [state, place, count @ ..]) if count.len() <= 1 => {
                let state = self.destination(state, Type::B64)?;
                let count = match (count, expects) {
                    ([count], _) => self.source(count, Type::U32)?,
                    (_, false) => self.literal(Type::U32, 1),
                    (_, true) => return Err(self.operands_wanted(instruction)),
                };
                let how = match (operation, expects) {
                    ("arrive", false) => Change::Arrive,
                    ("arrive", true) => Change::ExpectAndArrive,
                    (_, false) => Change::Drop,
                    (_, true) => Change::ExpectAndDrop,
                };
                self.changes(place, at, how, (state, count))?;
                self.last().y = u32::from(stays);
                Ok(())
            }
            ("test_wait", [over, place, of]) | ("try_wait", [over, place, of]) => {
                self.waits(over, (place, at), (of, parity), operation == "try_wait")
            }
            // The suspend-time hint is ignored because `try_wait` never suspends here.
            ("try_wait", [over, place, of, hint]) => {
                self.source(hint, Type::U32)?;
                self.waits(over, (place, at), (of, parity), true)
            }
            _ => Err(self.operands_wanted(instruction)),
        }
    }

    /// Lowers `cp.async.mbarrier.arrive`, which arrives when the thread's prior copies have completed. The
    /// simulator
    /// completes them immediately, which is one of the permitted orders.
    pub fn arrive_when_copied(&mut self, instruction: &Instruction<'a>) -> Result<(), LoadError> {
        let (counts, at) = match &instruction.modifiers[..] {
            ["async", "mbarrier", "arrive", rest @ ..] => {
                let (counts, rest) = match rest {
                    ["noinc", rest @ ..] => (true, rest),
                    rest => (false, rest),
                };
                match rest {
                    ["b64"] => (counts, At::Generic),
                    ["shared" | "shared::cta", "b64"] => (counts, At::Shared),
                    _ => return Err(self.unknown(instruction)),
                }
            }
            _ => return Err(self.unknown(instruction)),
        };
        let [place] = &instruction.operands[..] else {
            return Err(self.operands_wanted(instruction));
        };
        self.draft(async_copy::wait_all, Class::Control, &[], &[]);
        self.last().waiting = Waiting::All;
        // Without `noinc` the instruction also increments the pending count, which cancels the arrival.
        let count = self.literal(Type::U32, counts.into());
        let state = self.temporary(Type::B64);
        self.changes(place, at, Change::Arrive, (state, count))
    }

    /// Resolves an operand that must be a shared-memory address in a register plus an offset.
    pub fn shared_place(
        &mut self,
        operand: &Operand<'a>,
        at: At,
    ) -> Result<(Register, i64), LoadError> {
        let Place::Register(row, offset) = self.place(operand, at)? else {
            return Err(self.error("this is no address of shared memory"));
        };
        if at == At::Shared {
            return Ok((row, offset));
        }
        let within = self.temporary(Type::U64);
        self.draft_run(address::plus(self.cpu), Class::Integer, &[within], &[row]);
        self.last().imm = SHARED_WINDOW.wrapping_neg();
        Ok((within, offset))
    }

    /// Appends an instruction that overwrites a barrier.
    fn replaces(
        &mut self,
        place: &Operand<'a>,
        at: At,
        run: Handler,
        uses: &[Register],
    ) -> Result<(), LoadError> {
        let (row, offset) = self.shared_place(place, at)?;
        let uses: Vec<Register> = [row].iter().chain(uses).copied().collect();
        self.draft(run, Class::Shared, &[], &uses);
        self.last().x = Atomic::Exchange as u32;
        self.looked_at(offset, 0, None);
        Ok(())
    }

    /// Appends an instruction that updates a barrier by a count and returns its previous state.
    fn changes(
        &mut self,
        place: &Operand<'a>,
        at: At,
        how: Change,
        (state, count): (Register, Register),
    ) -> Result<(), LoadError> {
        let (row, offset) = self.shared_place(place, at)?;
        self.draft(mbarrier::change, Class::Shared, &[state], &[row, count]);
        self.last().x = how.number();
        let ordered = Ordered {
            releases: true,
            ..Ordered::default()
        };
        self.looked_at(offset, 1, Some(ordered));
        Ok(())
    }

    /// Appends an instruction that tests whether the phase given by a state or a parity has completed.
    fn waits(
        &mut self,
        over: &Operand<'a>,
        (place, at): (&Operand<'a>, At),
        (of, parity): (&Operand<'a>, bool),
        gives_way: bool,
    ) -> Result<(), LoadError> {
        let over = self.destination(over, Type::Pred)?;
        let of = self.source(of, if parity { Type::U32 } else { Type::B64 })?;
        let (row, offset) = self.shared_place(place, at)?;
        self.draft(mbarrier::wait, Class::Shared, &[over], &[row, of]);
        (self.last().x, self.last().y) = (parity.into(), gives_way.into());
        let ordered = Ordered {
            polls: true,
            ..Ordered::default()
        };
        self.looked_at(offset, 1, Some(ordered));
        Ok(())
    }

    /// Records the access to the barrier for the sanitizer: an atomic, so that concurrent use is not a data
    /// race. The
    /// profiler counts loads and stores only, so `access` stays empty.
    fn looked_at(&mut self, offset: i64, address: usize, ordered: Option<Ordered>) {
        self.last().imm = offset as u64;
        self.last().orders = Checked::Access(Access {
            memory: Memory::Shared,
            kind: AccessKind::Atomic,
            bytes: 8,
            address,
            ordered,
            update: Update::default(),
        });
    }

    fn operands_wanted(&self, instruction: &Instruction) -> LoadError {
        self.error(format!(
            "`{}` has too few operands, or too many",
            written(instruction)
        ))
    }
}
