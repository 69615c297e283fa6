//! Runs warps and blocks in an order that nobody can foretell, for launches that ask for one.
//!
//! A program has its code once more for it, in which each access of memory that other warps see comes to
//! [`yield_point`] first. There a warp may have to wait: it sleeps until no other warp of its block is awake,
//! and where the access is one of device memory its block may sleep, too, until no other block is awake.
//! Then one of the sleepers is woken. So whoever has read a value, and is about to write what becomes of
//! it, often waits until all others have read theirs.
//!
//! A warp that was woken mostly goes on carefully: it may fall asleep again before each access, and more
//! often before one that writes. At times it runs ahead instead, past many accesses, and overtakes
//! warps that it should have waited for. Lanes of a warp stay in step.

use crate::exec::block::Block;
use crate::exec::instrument::sanitizing;
use crate::exec::random_schedule::{Depth, Sleep, YieldPoint};
use crate::exec::sm::{Handler, Inst, Next, Program, Sm};
use crate::exec::warp::{NO_INDEX, SplitState, Warp};

/// The program's code in which warps may have to wait; `checked`: the copy that is checked as well. It is
/// made when a launch first asks for it.
pub fn code(program: &Program, sanitizing: bool) -> &[Inst] {
    let code = &program.code;
    let (copy, base) = match sanitizing {
        false => (&code.random_schedule, code.plain.as_slice()),
        true => (
            &code.sanitizing_random_schedule,
            sanitizing::code(program, false),
        ),
    };
    copy.get_or_init(|| {
        let mut copy = base.to_vec();
        for yield_point in &code.yield_points {
            copy[yield_point.address as usize].run = handler(yield_point);
        }
        copy
    })
}

fn handler(point: &YieldPoint) -> Handler {
    match (point.writes, point.device) {
        (false, false) => yield_point::<false, false>,
        (false, true) => yield_point::<false, true>,
        (true, false) => yield_point::<true, false>,
        (true, true) => yield_point::<true, true>,
    }
}

/// The running warp may fall asleep before an instruction, to go on there when it is woken; else the
/// instruction is run.
///
/// # Safety
/// As for [`Handler`], in the code that [`code`] answers with.
unsafe fn yield_point<const WRITES: bool, const DEVICE: bool>(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    // Where its turn is over it gives way at the next basic block, as ever.
    if sm.clock < sm.deadline
        && let Some(schedule) = &mut sm.schedule
        && schedule.should_sleep(WRITES, DEVICE)
    {
        let others = !sm.block.warp().ready.is_empty();
        // Lanes that went another way in this warp may come first, and do where these wait for them.
        let resume_first = schedule.coin_flip() && !(sm.spinning && others);
        let depth = match (sm.spinning && !others, WRITES) {
            (true, _) => Depth::Spinning,
            (false, true) => Depth::Write,
            (false, false) => Depth::Read,
        };
        sm.suspend(here, SplitState::Ready);
        let turn = sm.current_turn();
        let warp = sm.block.warp_mut();
        warp.turn = Some(turn);
        warp.sleep = Some(Sleep {
            depth,
            device: DEVICE,
        });
        let id = std::mem::replace(&mut warp.current, NO_INDEX);
        match resume_first {
            true => warp.ready.push_front(id),
            false => warp.ready.push_back(id),
        }
        return std::ptr::null();
    }
    sm.spinning = false;
    // SAFETY: the code underneath is this one's, instruction for instruction.
    unsafe {
        let base = sm.schedule_base.add(here as usize);
        ((*base).run)(sm, inst)
    }
}

/// Whether a warp has anything to run.
fn is_runnable(warp: &Warp) -> bool {
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
            .filter(|warp| is_runnable(warp))
            .map(depth)
            .min()?
    }
}

impl Sm {
    /// Runs any warp of the block that is awake, or, where none is, any that sleeps. Answers whether one
    /// could run.
    pub(in crate::exec) fn run_any_warp(&mut self) -> bool {
        let Some(schedule) = &mut self.schedule else {
            return false;
        };
        let warps = &mut self.block.warps;
        // Who is awake has no depth, which is less than any.
        let wake_depths = [
            None,
            Some(schedule.wake_depth()),
            Some(Depth::Write),
            Some(Depth::Spinning),
        ];
        let chosen = wake_depths.into_iter().find_map(|deepest| {
            let may_run =
                |index: &usize| is_runnable(&warps[*index]) && depth(&warps[*index]) <= deepest;
            let count = (0..warps.len()).filter(may_run).count();
            (0..warps.len())
                .filter(may_run)
                .nth(schedule.index_below(count.max(1)))
        });
        let Some(index) = chosen else {
            return false;
        };
        let slept = warps[index].sleep.take().is_some();
        schedule.resume(slept);
        self.spinning = false;
        self.run_warp(index)
    }

    /// Whether the block is to sleep now, so that another goes on.
    pub(in crate::exec) fn should_block_sleep(&mut self) -> bool {
        let Some(schedule) = &mut self.schedule else {
            return false;
        };
        let warps = &self.block.warps;
        let sleeps_before_device = |warp: &Warp| warp.sleep.is_some_and(|sleep| sleep.device);
        schedule.take_block_sleep()
            || !warps
                .iter()
                .any(|warp| is_runnable(warp) && warp.sleep.is_none())
                && warps.iter().any(sleeps_before_device)
                && schedule.should_block_sleep()
    }
}
