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

use super::lanewise::Lane;
use super::sm::{Codes, Inst, Next, Sm};
use super::warp::gang_state::{Gang, MAX_WARPS, StopReason};
use super::warp::{NO_INDEX, SplitState, Turn};
use crate::lanes::{FULL, LANES};
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
        self.gang.counted_to = self.clock;
        self.reconverge = NO_INDEX;
        self.local = 0..self.grid.variables_end();
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
        self.count_instructions();
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
        let local_end = self.grid.variables_end();
        for (window, &index) in windows.drain(..*count).zip(&*warps) {
            let warp = &mut self.block.warps[index];
            warp.start(NO_INDEX, window, local_end);
            warp.local = self.locals.take(self.block.number + index as u64);
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

    /// Adds the instructions that the gang has run since the last call to those of its warps.
    fn count_instructions(&mut self) {
        let ran = self.clock.wrapping_sub(self.gang.counted_to);
        self.gang.counted_to = self.clock;
        let warps = self.gang.warp_indices();
        let each = ran / warps.len().max(1) as u64;
        for &warp in warps {
            self.block.warps[warp].clock += each;
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

/// Enters a basic block, as [`crate::exec::control::enter`] does for one warp. Every basic block starts with
/// this instruction.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`], with a gang running. All handlers of gangs share them.
pub unsafe fn enter(sm: &mut Sm, inst: &Inst) -> Next {
    if sm.clock >= sm.deadline {
        let here = sm.address_of(inst);
        sm.gang.stopped = StopReason::Yielded;
        return sm.disband(NO_INDEX, |_| here);
    }
    let warps = sm.gang.count as u64;
    sm.clock += u64::from(inst.arg1) * warps;
    let visit = &mut sm.counts.visits[inst.arg0 as usize];
    visit.warps += warps;
    visit.threads += sm.gang.threads;
    inst.next()
}

/// Runs `exit`, and `ret` in a kernel, for all threads of the gang.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn exit(sm: &mut Sm, _: &Inst) -> Next {
    sm.count_instructions();
    if sm.gang.started {
        for member in 0..sm.gang.count {
            end_lanes(sm, member, sm.gang.masks[member]);
        }
    } else {
        sm.block.alive -= sm.gang.threads as u32;
        for &warp in sm.gang.warp_indices() {
            sm.block.warps[warp].alive = 0;
        }
    }
    sm.gang.count = 0;
    std::ptr::null()
}

/// Ends `lanes` of one warp of the gang.
fn end_lanes(sm: &mut Sm, member: usize, lanes: u32) {
    let index = sm.gang.warps[member];
    sm.block.running = index;
    sm.block.exit(lanes);
    let warp = &mut sm.block.warps[index];
    if warp.alive == 0 {
        let id = std::mem::replace(&mut warp.current, NO_INDEX);
        if let Some(window) = warp.remove(id) {
            sm.windows.recycle(window);
        }
    }
}

/// The path of a branch that only ends the thread, if there is one. A gang's branch has it as its immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitPath {
    Neither,
    Taken,
    NotTaken,
}

/// Runs a branch taken where the predicate is true, as [`crate::exec::control::branch_if`] does for one warp.
/// The immediate is an [`ExitPath`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_if(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 of a branch is a predicate.
    unsafe { branch_on(sm, inst, 0) }
}

/// Runs a branch taken where the predicate is false, as [`crate::exec::control::branch_unless`] does for one
/// warp. The immediate is an [`ExitPath`].
///
/// # Safety
/// As for [`enter`].
pub unsafe fn branch_unless(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: operand 0 of a branch is a predicate.
    unsafe { branch_on(sm, inst, FULL) }
}

/// Runs a branch whose predicate is operand 0 with the bits of `flip` inverted.
///
/// # Safety
/// The requirements of [`enter`]; operand 0 is a predicate.
#[inline(always)]
unsafe fn branch_on(sm: &mut Sm, inst: &Inst, flip: u32) -> Next {
    let at = inst.operands[0] as usize;
    // SAFETY: frames of one function share a layout, so the predicate lies in each of them.
    let predicate = |frame: *mut u8| unsafe { *frame.add(at).cast::<u32>() } ^ flip;
    if inst.uniform & 1 == 1 {
        // A uniform predicate has the same value in all lanes, so one bit decides.
        return match predicate(sm.gang.uniform_frame) & 1 {
            0 => inst.next(),
            _ => sm.at(inst.arg0),
        };
    }
    let mut taken = [0; MAX_WARPS];
    let (mut any, mut missing) = (0, 0);
    for member in 0..sm.gang.count {
        let mask = sm.gang.masks[member];
        taken[member] = predicate(sm.gang.frames[member][0]) & mask;
        any |= taken[member];
        missing |= mask & !taken[member];
    }
    if any == 0 {
        inst.next()
    } else if missing == 0 {
        sm.at(inst.arg0)
    } else {
        diverge_or_exit(sm, inst, taken)
    }
}

/// Handles a branch on which the gang's lanes disagree: those in `taken` go to `arg0`, the others to the next
/// instruction. Lanes on an exit path end at once; otherwise the gang diverges.
fn diverge_or_exit(sm: &mut Sm, inst: &Inst, mut taken: [u32; MAX_WARPS]) -> Next {
    let here = sm.address_of(inst);
    // When only some lanes of a warp exit, the warp is split. The profiler counts the splits of a warp in the
    // order in which the warp runs alone, so the gang disbands if it is profiled.
    let splits_a_warp = taken
        .iter()
        .zip(sm.gang.masks)
        .any(|(&taken, mask)| taken != 0 && taken != mask);
    let (end, next) = if splits_a_warp && sm.profiler.is_some() {
        sm.gang.stopped = StopReason::Diverged;
        return sm.disband(inst.arg1, |_| here);
    } else if inst.imm == ExitPath::Taken as u64 {
        (inst.arg0, here + 1)
    } else if inst.imm == ExitPath::NotTaken as u64 {
        for (taken, mask) in taken.iter_mut().zip(sm.gang.masks) {
            *taken ^= mask;
        }
        (here + 1, inst.arg0)
    } else {
        sm.gang.stopped = StopReason::Diverged;
        let masks = sm.gang.masks;
        let profiled = sm.profiler.is_some();
        return sm.disband(inst.arg1, |member| match taken[member] {
            // The branch is counted when the warp runs it alone.
            _ if profiled => here,
            0 => here + 1,
            lanes if lanes == masks[member] => inst.arg0,
            _ => here,
        });
    };
    exit_some(sm, end, taken);
    sm.at(next)
}

/// Ends the lanes in `leaving` at the block at address `end`, which does nothing but exit. At least one lane of
/// the gang stays.
fn exit_some(sm: &mut Sm, end: u32, leaving: [u32; MAX_WARPS]) {
    sm.count_instructions();
    sm.materialize_warps();
    // SAFETY: `end` is a branch target, which the lowering checked to lie in the code.
    let block = unsafe { &*sm.at(end) };
    let mut staying = 0;
    let remaining = sm.gang.remaining(sm.deadline, sm.clock);
    for member in 0..sm.gang.count {
        let (index, mask, leaves) = (
            sm.gang.warps[member],
            sm.gang.masks[member],
            leaving[member],
        );
        if leaves != 0 {
            sm.clock += u64::from(block.arg1);
            sm.block.warps[index].clock += u64::from(block.arg1);
            let visit = &mut sm.counts.visits[block.arg0 as usize];
            visit.warps += 1;
            visit.threads += u64::from(leaves.count_ones());
            sm.counts.divergent_branches += u64::from(leaves != mask);
            end_lanes(sm, member, leaves);
        }
        if leaves != mask {
            let warp = &mut sm.block.warps[index];
            warp.splits[warp.current as usize].mask = mask & !leaves;
            sm.gang.frames[staying] = sm.gang.frames[member];
            sm.gang.warps[staying] = index;
            sm.gang.masks[staying] = mask & !leaves;
            staying += 1;
        }
    }
    sm.gang.count = staying;
    sm.gang.counted_to = sm.clock;
    sm.deadline = sm
        .clock
        .wrapping_add(remaining.wrapping_mul(staying as u64));
    sm.gang.seal(sm.gang.uniform_frame);
    sm.activate_all_lanes();
}

/// Runs an instruction at which the gang always diverges, for example an indirect branch.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn diverge(sm: &mut Sm, inst: &Inst) -> Next {
    let here = sm.address_of(inst);
    sm.gang.stopped = StopReason::Diverged;
    sm.disband(inst.arg1, |_| here)
}

/// Runs a barrier, as [`crate::exec::control::barrier`] does for one warp. If the gang holds all live threads
/// of its block, the barrier opens at once and the gang continues.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn barrier(sm: &mut Sm, inst: &Inst) -> Next {
    // A uniform barrier number and thread count are the same for all warps of the gang.
    let is_uniform = inst.uniform & 0b11 == 0b11;
    // SAFETY: operands 0 and 1 are 32-bit rows, and the uniform frame has the layout of the warps' frames.
    let [barrier, expected] = [0, 1].map(|n| unsafe {
        *sm.gang
            .uniform_frame
            .add(inst.operands[n] as usize)
            .cast::<u32>()
    });
    let all = sm.gang.threads == u64::from(sm.block.alive);
    if !(is_uniform && all && sm.passes_barrier(inst, barrier, expected)) {
        // SAFETY: `inst` is the instruction this handler was called with.
        return unsafe { warp_by_warp(sm, inst) };
    }
    sm.counts.barriers += sm.gang.count as u64;
    sm.deadline = sm.clock + sm.slice.length * sm.gang.group_warps;
    inst.next()
}

/// Runs an instruction that has no gang handler, one warp after the other.
///
/// # Safety
/// As for [`enter`].
pub unsafe fn warp_by_warp(sm: &mut Sm, inst: &Inst) -> Next {
    sm.materialize_warps();
    let here = sm.address_of(inst);
    let Codes {
        gang: gang_code,
        warp: code,
        ..
    } = sm.codes;
    sm.code = code;
    let warp_inst = sm.at(here);
    let mut next = std::ptr::null();
    for member in 0..sm.gang.count {
        sm.select_warp(member);
        // SAFETY: all copies of the code hold the same instructions, so `warp_inst` has the operands of `inst`.
        let after = unsafe { ((*warp_inst).run)(sm, &*warp_inst) };
        if sm.fault.is_some() {
            sm.code = gang_code;
            return sm.fail_from(here, Sm::index(code, next), member);
        }
        next = after;
    }
    sm.code = gang_code;
    if next.is_null() {
        return next;
    }
    sm.at(Sm::index(code, next))
}
