//! Gangs: several warps of a block executed in lockstep, one handler call per instruction for all of them.
//!
//! Dispatching an instruction costs as much as executing it for 32 lanes. While several warps of a block are at
//! the same instruction with all their live lanes, one handler executes it for all of them: a loop over the
//! warps around the loop over the lanes. Values that are uniform over the warps, such as parameters, loop
//! counters and everything computed from them (see `lower/analysis/uniformity.rs`), are computed once, in a
//! frame that belongs to the gang.
//!
//! A program has a copy of its code for gangs, instruction for instruction, so warps can switch between the
//! copies at any address:
//!
//! * At a divergent branch, every warp continues alone up to the branch's reconvergence point, the immediate
//!   post-dominator. There the gang forms again if all its warps arrive in this turn. The code in between is
//!   known statically: values that it reads are also kept in the warps' own frames, and it writes no uniform
//!   value.
//! * At a branch one of whose paths ends the thread, as in `if (i >= n) return;`, some lanes end and the gang
//!   continues.
//! * An instruction without a gang handler runs warp by warp.
//! * A gang reports no faults: it disbands before the faulting instruction, and the warps run one after the
//!   other, as they would have without a gang. The first of them to fault is reported.
//! * Warps wait at barriers as usual and form a gang again if they leave in lockstep. A gang that holds all
//!   live threads of its block passes the barrier at once.
//!
//! Warps never wait for each other just to form a gang, so gangs cannot change which warp blocks which. Kernels
//! whose results depend on the order of their warps (they print, use order-dependent atomics or read the clock)
//! run warp by warp. So does the first of every sixteen blocks, because a bug can make results depend on the
//! order: in a gang no warp runs ahead of the others, which would hide a missing barrier.
//!
//! The warps of a profiled block run one slice of their turn at a time, one after the other, and access the
//! block's caches in this order (see [`super::profiler`]). A gang runs one slice of all its warps; its cache
//! accesses are deferred and replayed warp by warp at the end of the slice. At a divergent branch every warp
//! continues alone to the end of its slice. Warps that are then at one address with equal parts of their turns
//! left form a gang again for the next slice.

mod control;

pub use control::{
    ExitPath, barrier, branch_if, branch_unless, diverge, enter, exit, warp_by_warp,
};

use super::lanewise::Lane;
use super::sm::{Inst, Next, Sm};
use super::warp::gang_state::{Gang, StopReason};
use super::warp::{NO_INDEX, SplitState, Turn};
use crate::lanes::LANES;
use std::ops::Range;

/// Execution of a group of warps: as a gang while they are converged, otherwise one by one.
impl Sm {
    /// Runs a group of warps until they block, end or use up their turn. Returns true if any of them could run.
    pub fn run_group(&mut self, number: usize) -> bool {
        let first = number * self.gang_size;
        let warps = first..(first + self.gang_size).min(self.block.warps.len());
        self.waiting.made_progress = true;
        if self.profiler.is_some() {
            return self.run_counted_slice(number, warps);
        }
        let until = self.clock + self.slice.length * warps.len() as u64;
        let mut ran = false;
        while self.form_gang(number, warps.clone()) {
            ran = true;
            self.deadline = until;
            match self.run_gang(number, warps.clone()) {
                StopReason::Blocked | StopReason::Yielded => return true,
                StopReason::Diverged => {
                    if !self.run_diverged() {
                        return true;
                    }
                }
                StopReason::Faulting => break,
            }
        }
        if !ran || self.gang.stopped == StopReason::Faulting {
            return self.run_separately(warps) || ran;
        }
        true
    }

    /// Runs one slice of a group of warps of a profiled block. Returns true if any of them could run.
    fn run_counted_slice(&mut self, number: usize, warps: Range<usize>) -> bool {
        if !self.form_gang(number, warps.clone()) {
            return self.run_separately(warps);
        }
        let turn = self.take_shared_turn();
        let slice = turn.remaining.min(self.slice.length);
        let reads = self.counts.reads;
        self.deadline = self.clock + slice * self.gang.count as u64;
        self.set_deferred(true);
        let stopped = self.run_gang(number, warps.clone());
        self.set_deferred(false);
        let ran = slice.wrapping_sub(self.gang.remaining(self.deadline, self.clock));
        let read = self.counts.reads > reads;
        let after = Turn {
            remaining: turn.remaining.saturating_sub(ran),
            read: turn.read || read,
            ..turn
        };
        match stopped {
            StopReason::Blocked => self.replay_in_order(warps),
            StopReason::Yielded => {
                for &index in &self.gang.warps[..self.gang.count] {
                    self.block.warps[index].yield_turn(after);
                }
                self.replay_in_order(warps);
            }
            StopReason::Diverged => {
                self.scatter_uniform(number, warps.clone());
                for index in warps {
                    self.replay_warp(index);
                    if self.gang.warps[..self.gang.count].contains(&index) {
                        self.block.running = index;
                        self.slice.turn = turn;
                        self.slice.start = self.clock.wrapping_sub(ran);
                        self.deadline = self.clock.wrapping_add(slice).wrapping_sub(ran);
                        self.slice.reads_before = self.counts.reads - u64::from(read);
                        self.run_slice();
                        if self.fault.is_some() {
                            break;
                        }
                    }
                }
            }
            StopReason::Faulting => {
                // The counters of a launch that faults are discarded, so the replay is not needed.
                self.run_separately(warps);
            }
        }
        true
    }

    /// Takes the turn of the gang's warps out of them. All warps of a gang have used equal parts of their
    /// turns.
    fn take_shared_turn(&mut self) -> Turn {
        let mut turn = Turn::NEW;
        for &index in &self.gang.warps[..self.gang.count] {
            turn = self.block.warps[index].turn.take().unwrap_or(Turn::NEW);
        }
        turn
    }

    /// Runs each warp by itself. Returns false if none could run or one faulted.
    fn run_separately(&mut self, warps: Range<usize>) -> bool {
        let mut ran = false;
        for warp in warps {
            ran |= self.run_warp(warp);
            if self.fault.is_some() {
                return false;
            }
        }
        ran
    }

    /// Runs each warp of a diverged gang by itself, except those already at the reconvergence point. Returns
    /// false if there was nothing to run or one faulted.
    fn run_diverged(&mut self) -> bool {
        let Gang {
            warps,
            count,
            at_reconvergence,
            ..
        } = self.gang;
        let mut ran = false;
        for (&index, arrived) in warps[..count].iter().zip(at_reconvergence) {
            ran |= arrived || self.run_warp(index);
            if self.fault.is_some() {
                return false;
            }
        }
        ran
    }

    /// Runs the gang from its program counter until it stops.
    fn run_gang(&mut self, number: usize, warps: Range<usize>) -> StopReason {
        if self.gang.started {
            self.resume_members();
        }
        self.gang.stopped = StopReason::Blocked;
        self.reconverge = NO_INDEX;
        self.local_base = 0;
        self.activate_all_lanes();
        self.code = self.codes.gang;
        let mut next = self.at(self.gang.pc);
        while !next.is_null() {
            // SAFETY: `next` points into the program's code, which outlives the launch, and the instruction was
            // lowered for the function whose frames the gang has.
            unsafe {
                let inst = &*next;
                next = (inst.run)(self, inst);
            }
        }
        self.code = self.codes.warp;
        if self.gang.stopped == StopReason::Faulting {
            self.scatter_uniform(number, warps.clone());
        }
        if self.gang.started {
            self.release_finished(number, warps);
        }
        self.gang.stopped
    }

    /// Releases the registers and local memory of the group's warps that have ended.
    fn release_finished(&mut self, number: usize, warps: Range<usize>) {
        let mut any_alive = false;
        for warp in &mut self.block.warps[warps] {
            any_alive |= warp.alive != 0;
            if warp.alive == 0 {
                self.locals.recycle(warp.local.take());
            }
        }
        if !any_alive && let Some(window) = self.block.groups[number].window.take() {
            self.windows.recycle(window);
        }
    }
}

/// Formation of a gang from the warps of a group, and the reverse.
impl Sm {
    /// Makes a group of warps the running gang. Returns false if the warps are not at one instruction with all
    /// their live lanes, or disagree on a value that should be uniform.
    fn form_gang(&mut self, number: usize, warps: Range<usize>) -> bool {
        self.gang.group = number;
        self.gang.group_warps = warps.len() as u64;
        if !std::mem::replace(&mut self.block.groups[number].started, true) {
            self.form_new_gang(warps);
            return true;
        }
        let profiled = self.profiler.is_some();
        let (mut pc, mut turn) = (None, None);
        let (mut ready, mut in_step) = (false, true);
        for warp in &self.block.warps[warps.clone()] {
            ready |= !warp.ready.is_empty();
            if warp.alive != 0 {
                let here = warp.converged_pc();
                in_step &= here.is_some() && pc.is_none_or(|pc| Some(pc) == here);
                // In a profiled block, the warps' slices must also end together.
                in_step &= !profiled || *turn.get_or_insert(warp.turn) == warp.turn;
                pc = here;
            }
        }
        if !ready {
            return false;
        }
        if !in_step {
            self.scatter_uniform(number, warps);
            return false;
        }
        self.gang.count = 0;
        self.gang.started = true;
        for index in warps {
            let warp = &mut self.block.warps[index];
            if warp.alive != 0 {
                self.gang
                    .add(index, warp.alive, warp.frames[0].registers.base());
            }
        }
        let function = &self.grid.program.functions[self.grid.function()];
        let group = &mut self.block.groups[number];
        let window = group
            .window
            .get_or_insert_with(|| self.windows.take_kernel(&self.grid.program.functions));
        self.gang.seal(window.base());
        self.gang.pc = pc.unwrap_or(function.entry);
        group.formed = group.formed || self.gang.uniform_values_agree(function);
        group.formed
    }

    /// Makes warps that have not run yet the running gang, which is always possible.
    fn form_new_gang(&mut self, warps: Range<usize>) {
        let program = &self.grid.program;
        let gang = &mut self.gang;
        while gang.windows.len() < warps.len() {
            gang.windows
                .push(self.windows.take_kernel(&program.functions));
        }
        gang.count = 0;
        gang.started = false;
        for (member, index) in warps.enumerate() {
            let frame = gang.windows[member].base();
            gang.add(index, self.block.warps[index].alive, frame);
        }
        let window = gang
            .uniform_window
            .get_or_insert_with(|| self.windows.take_kernel(&program.functions));
        let common = window.base();
        gang.seal(common);
        gang.pc = program.functions[self.grid.function()].entry;
        self.block.groups[gang.group].formed = true;
    }

    /// Copies the group's uniform values to the frame of every live warp.
    fn scatter_uniform(&mut self, number: usize, warps: Range<usize>) {
        let rows = &self.grid.program.functions[self.grid.function()].uniform;
        let group = &mut self.block.groups[number];
        if !std::mem::take(&mut group.formed) {
            return;
        }
        let Some(window) = &mut group.window else {
            return;
        };
        for warp in &mut self.block.warps[warps] {
            if warp.alive != 0 {
                for range in [&rows.wide, &rows.narrow, &rows.predicates] {
                    let (from, bytes) = (range.start as usize, range.len());
                    let to = warp.frames[0].registers.base();
                    // SAFETY: both windows are frames of the kernel's function, which contains these rows.
                    unsafe { to.add(from).copy_from(window.base().add(from), bytes) };
                }
            }
        }
    }
}

/// Access to the single warps of the running gang, and its disbanding.
impl Sm {
    /// Makes warp `member` of the gang the running warp.
    #[inline(always)]
    pub fn select_warp(&mut self, member: usize) {
        self.gang.member = member;
        self.frame = self.gang.frames[member][0];
        self.block.running = self.gang.warps[member];
        if !self.gang.is_full {
            self.set_active_lanes(self.gang.masks[member]);
        }
    }

    /// Removes each warp of the gang from its ready queue and marks its split as running.
    fn resume_members(&mut self) {
        for &index in &self.gang.warps[..self.gang.count] {
            let warp = &mut self.block.warps[index];
            if let Some(id) = warp.ready.pop_front() {
                warp.current = id;
                warp.splits[id as usize].state = SplitState::Running;
            }
        }
    }

    /// Gives each warp of the gang its registers and a split, which code that handles single warps requires.
    pub fn materialize_warps(&mut self) {
        if std::mem::replace(&mut self.gang.started, true) {
            return;
        }
        let Gang {
            windows,
            warps,
            count,
            ..
        } = &mut self.gang;
        for (window, &index) in windows.drain(..*count).zip(&*warps) {
            let warp = &mut self.block.warps[index];
            warp.start(NO_INDEX, window);
            warp.local = self.locals.take();
        }
        self.block.groups[self.gang.group].window = self.gang.uniform_window.take();
        self.resume_members();
    }

    /// Fills operand `n` in all frames that the instruction writes.
    ///
    /// # Safety
    /// The requirements of [`Sm::write`].
    #[inline(always)]
    pub unsafe fn write_all_frames<T: Lane>(&mut self, inst: &Inst, n: usize, values: [T; LANES]) {
        for member in self.gang.members_written(inst.gang_scope) {
            let [frame, _] = self.gang.frames[member];
            // SAFETY: operand `n` is a row of `T`'s width in every frame of the function.
            unsafe { *frame.add(inst.operands[n] as usize).cast::<[T; LANES]>() = values };
        }
    }

    /// Disbands the gang: warp `member` continues alone at `pc_of(member)`. It stops at the reconvergence point
    /// `reconvergence`, so that the gang can form again, except in a profiled block, where its slice continues.
    pub fn disband(&mut self, reconvergence: u32, pc_of: impl Fn(usize) -> u32) -> Next {
        self.materialize_warps();
        let reconvergence = match self.profiler {
            Some(_) => NO_INDEX,
            None => reconvergence,
        };
        for member in 0..self.gang.count {
            let warp = &mut self.block.warps[self.gang.warps[member]];
            self.gang.at_reconvergence[member] = false;
            if warp.current != NO_INDEX {
                let pc = pc_of(member);
                let arrived = pc == reconvergence;
                self.gang.at_reconvergence[member] = arrived;
                warp.resume_at(pc, if arrived { NO_INDEX } else { reconvergence });
            }
        }
        std::ptr::null()
    }

    /// Disbands the gang because its running member faulted at `inst`, which the warps before it have
    /// completed.
    #[cold]
    pub fn fail_in_gang(&mut self, inst: &Inst) -> Next {
        let (here, failing) = (self.address_of(inst), self.gang.member);
        self.fail_from(here, here + 1, failing)
    }

    /// Disbands the gang before a fault is reported: warps from `failing` on execute the instruction at `here`
    /// alone, where the first of them faults again; the warps before it continue at `next`.
    pub fn fail_from(&mut self, here: u32, next: u32, failing: usize) -> Next {
        self.fault = None;
        self.gang.stopped = StopReason::Faulting;
        self.disband(
            NO_INDEX,
            |member| if member < failing { next } else { here },
        )
    }
}
