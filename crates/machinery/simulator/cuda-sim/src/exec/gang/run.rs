//! Execution of a group of warps: as a gang while they are converged, otherwise one by one.

use crate::exec::sm::Sm;
use crate::exec::warp::gang_state::{Gang, StopReason};
use crate::exec::warp::{NO_INDEX, Turn};
use std::ops::Range;

impl Sm {
    /// Runs a group of warps until they block, end or use up their turn. Returns true if any of them could run.
    pub fn run_group(&mut self, number: usize) -> bool {
        let first = number * self.gang_size;
        let warps = first..(first + self.gang_size).min(self.block.warps.len());
        self.made_progress = true;
        if self.profiler.is_some() {
            return self.run_counted_slice(number, warps);
        }
        let until = self.clock + self.slice * warps.len() as u64;
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
        let slice = turn.remaining.min(self.slice);
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
                        self.turn = turn;
                        self.slice_start = self.clock.wrapping_sub(ran);
                        self.deadline = self.clock.wrapping_add(slice).wrapping_sub(ran);
                        self.reads_before = self.counts.reads - u64::from(read);
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
