//! Runs warps and blocks in an order that nobody can foretell, for launches that ask for one.
//!
//! A program has its code once more for it, in which each access of memory that other warps see comes to
//! [`pause`] first. There a warp may have to wait: it sleeps until no other warp of its block is awake,
//! and where the access is one of device memory its block may sleep, too, until no other block is awake.
//! Then one of the sleepers is woken. So whoever has read a value, and is about to write what becomes of
//! it, often waits until all others have read theirs.
//!
//! A warp that was woken mostly goes on carefully: it may fall asleep again before each access, and more
//! often before one that writes. At times it runs ahead instead, past many accesses, and overtakes
//! warps that it should have waited for. Lanes of a warp stay in step.

use crate::exec::block::Block;
use crate::exec::instrument::sanitizing;
use crate::exec::random_schedule::{Depth, Pause, Sleep};
use crate::exec::sm::{Handler, Inst, Next, Program, Sm};
use crate::exec::warp::{NOWHERE, SplitState, Warp};

/// The program's code in which warps may have to wait; `checked`: the copy that is checked as well. It is
/// made when a launch first asks for it.
pub fn code(program: &Program, checked: bool) -> &[Inst] {
    let code = &program.code;
    let (copy, under) = match checked {
        false => (&code.pausing, code.plain.as_slice()),
        true => (&code.checked_pausing, sanitizing::code(program, false)),
    };
    copy.get_or_init(|| {
        let mut pausing = under.to_vec();
        for pause in &code.pauses {
            pausing[pause.address as usize].run = handler(pause);
        }
        pausing
    })
}

fn handler(of: &Pause) -> Handler {
    match (of.writes, of.device) {
        (false, false) => pause::<false, false>,
        (false, true) => pause::<false, true>,
        (true, false) => pause::<true, false>,
        (true, true) => pause::<true, true>,
    }
}

/// The running warp may fall asleep before an instruction, to go on there when it is woken; else the
/// instruction is run.
///
/// # Safety
/// As for [`Handler`], in the code that [`code`] answers with.
unsafe fn pause<const WRITES: bool, const DEVICE: bool>(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    // Where its turn is over it gives way at the next basic block, as ever.
    if sm.clock < sm.deadline
        && let Some(order) = &mut sm.order
        && order.falls_asleep(WRITES, DEVICE)
    {
        let others = !sm.block.warp().ready.is_empty();
        // Lanes that went another way in this warp may come first, and do where these wait for them.
        let first = order.either() && !(sm.asked && others);
        let depth = match (sm.asked && !others, WRITES) {
            (true, _) => Depth::Waits,
            (false, true) => Depth::Write,
            (false, false) => Depth::Read,
        };
        sm.suspend(here, SplitState::Ready);
        let turn = sm.turn_so_far();
        let warp = sm.block.warp_mut();
        warp.turn = Some(turn);
        warp.sleep = Some(Sleep {
            depth,
            device: DEVICE,
        });
        let id = std::mem::replace(&mut warp.current, NOWHERE);
        match first {
            true => warp.ready.push_front(id),
            false => warp.ready.push_back(id),
        }
        return std::ptr::null();
    }
    sm.asked = false;
    // SAFETY: the code underneath is this one's, instruction for instruction.
    unsafe {
        let under = sm.unpausing.add(here as usize);
        ((*under).run)(sm, inst)
    }
}

/// Whether a warp has anything to run.
fn runs(warp: &Warp) -> bool {
    warp.alive != 0 && (!warp.started() || !warp.ready.is_empty())
}

/// How deep a warp sleeps that has something to run; none where it is awake.
fn depth(warp: &Warp) -> Option<Depth> {
    warp.sleep.map(|sleep| sleep.depth)
}

impl Block {
    /// How deep the block sleeps: as deep as that of its warps which sleeps the least.
    pub fn depth(&self) -> Option<Depth> {
        self.warps
            .iter()
            .filter(|warp| runs(warp))
            .map(depth)
            .min()?
    }
}

impl Sm {
    /// Runs any warp of the block that is awake, or, where none is, any that sleeps. Answers whether one
    /// could run.
    pub(in crate::exec) fn run_any_warp(&mut self) -> bool {
        let Some(order) = &mut self.order else {
            return false;
        };
        let warps = &mut self.block.warps;
        // Who is awake has no depth, which is less than any.
        let wakes = [
            None,
            Some(order.wakes()),
            Some(Depth::Write),
            Some(Depth::Waits),
        ];
        let chosen = wakes.into_iter().find_map(|deepest| {
            let may_run = |index: &usize| runs(&warps[*index]) && depth(&warps[*index]) <= deepest;
            let count = (0..warps.len()).filter(may_run).count();
            (0..warps.len())
                .filter(may_run)
                .nth(order.below(count.max(1)))
        });
        let Some(index) = chosen else {
            return false;
        };
        let slept = warps[index].sleep.take().is_some();
        order.go_on(slept);
        self.asked = false;
        self.run_warp(index)
    }

    /// Whether the block is to sleep now, so that another goes on.
    pub(in crate::exec) fn block_sleeps(&mut self) -> bool {
        let Some(order) = &mut self.order else {
            return false;
        };
        let warps = &self.block.warps;
        let before_device = |warp: &Warp| warp.sleep.is_some_and(|sleep| sleep.device);
        order.block_sleeps_at_once()
            || !warps.iter().any(|warp| runs(warp) && warp.sleep.is_none())
                && warps.iter().any(before_device)
                && order.block_sleeps_at_last()
    }
}
