//! Copies of the code for launches with a random, seeded schedule.
//!
//! In these copies, every access to memory that other warps can see runs [`yield_point`] first. There a warp
//! may fall asleep. It sleeps until no other warp of its block is awake; before an access to device memory
//! its block may sleep too, until no other block is awake. Then one of the sleepers is woken. As a result, a
//! warp that has read a value and is about to write a result computed from it often waits until all others
//! have read theirs, which exposes missing synchronization.
//!
//! A woken warp mostly proceeds carefully: it may fall asleep again before each access, more often before one
//! that writes. Sometimes it runs ahead instead, past many accesses, and overtakes warps that it should have
//! waited for. The lanes of a warp stay in lockstep.

use crate::exec::instrument::sanitizing;
use crate::exec::schedule::{Depth, Sleep, YieldPoint};
use crate::exec::sm::block::Block;
use crate::exec::sm::{Handler, Inst, Next, Program, Sm};
use crate::exec::warp::{NO_INDEX, SplitState, Warp};
use crate::lanes::active;

/// Returns the copy of the program's code with yield points, on top of the sanitizing copy if `sanitizing` is
/// true. Creates the copy on first use.
pub fn code(program: &Program, sanitizing: bool) -> &[Inst] {
    let code = &program.code;
    let (copy, base) = if sanitizing {
        (
            &code.sanitizing_random_schedule,
            sanitizing::code(program, false),
        )
    } else {
        (&code.random_schedule, code.plain.as_slice())
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

/// Either puts the running warp to sleep before an instruction, where it continues when woken, or runs the
/// instruction.
///
/// # Safety
/// The requirements of [`Handler`]; the running code must be a copy returned by [`code`].
unsafe fn yield_point<const WRITES: bool, const DEVICE: bool>(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    // At the end of its turn the warp yields at the next basic block, as always.
    if sm.clock < sm.deadline
        && let Some(schedule) = &mut sm.schedule
        && schedule.should_sleep(WRITES, DEVICE)
    {
        let others = !sm.block.warp().ready.is_empty();
        // Other splits of the warp may run first; they must if this split spins on something that they do.
        let resume_first = schedule.coin_flip() && !(sm.waiting.spinning && others);
        let depth = match (sm.waiting.spinning && !others, WRITES) {
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
        if resume_first {
            warp.ready.push_front(id)
        } else {
            warp.ready.push_back(id)
        }
        return std::ptr::null();
    }
    sm.waiting.spinning = false;
    // SAFETY: `schedule_base` is the copy below, which has the same instruction with the same operands here.
    unsafe {
        let base = sm.codes.schedule_base.add(here as usize);
        ((*base).run)(sm, inst)
    }
}

/// Returns true if a warp has anything to run.
fn is_runnable(warp: &Warp) -> bool {
    // Without branches, because they would be mispredicted: see `runnable_by_depth`.
    (warp.alive != 0) & (!warp.started() | !warp.ready.is_empty())
}

/// Returns the numbers of the runnable warps of each sleep depth as bits, at the depth's [index](depth_index).
fn runnable_by_depth(warps: &[Warp]) -> [u32; 4] {
    let mut runnable = [0; 4];
    for (number, warp) in warps.iter().enumerate() {
        runnable[depth_index(depth(warp))] |= u32::from(is_runnable(warp)) << number;
    }
    runnable
}

/// Returns the position of a sleep depth, or of being awake, from awake to the deepest.
fn depth_index(depth: Option<Depth>) -> usize {
    depth.map_or(0, |depth| depth as usize + 1)
}

/// Returns the sleep depth of a runnable warp, or `None` if it is awake.
fn depth(warp: &Warp) -> Option<Depth> {
    warp.sleep.map(|sleep| sleep.depth)
}

impl Block {
    /// Returns the sleep depth of the block, which is the minimum over its runnable warps.
    pub fn depth(&self) -> Option<Depth> {
        self.warps
            .iter()
            .filter(|warp| is_runnable(warp))
            .map(depth)
            .min()?
    }
}

impl Sm {
    /// Runs a random awake warp of the block or, if none is awake, a sleeping one. Returns true if one could
    /// run.
    pub(in crate::exec) fn run_any_warp(&mut self) -> bool {
        let Some(schedule) = &mut self.schedule else {
            return false;
        };
        let warps = &mut self.block.warps;
        // Awake warps have depth `None`, which compares less than any depth.
        let wake_depths = [
            None,
            Some(schedule.wake_depth()),
            Some(Depth::Write),
            Some(Depth::Spinning),
        ];
        let runnable = runnable_by_depth(warps);
        let chosen = wake_depths.into_iter().find_map(|deepest| {
            let may_run = runnable[..=depth_index(deepest)]
                .iter()
                .fold(0, |all, warps| all | warps);
            let count = may_run.count_ones().max(1) as usize;
            active(may_run).nth(schedule.index_below(count))
        });
        let Some(index) = chosen else {
            return false;
        };
        let slept = warps[index].sleep.take().is_some();
        schedule.resume(slept);
        self.waiting.spinning = false;
        self.run_warp(index)
    }

    /// Returns true if the block should sleep now, so that another block continues.
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
