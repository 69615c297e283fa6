//! Running a group of warps: as a gang while they stand at one place, else one by one.

use crate::exec::gang::{Gang, Stopped};
use crate::exec::sm::Sm;
use crate::exec::warp::{NOWHERE, Turn};
use std::ops::Range;

impl Sm {
    /// Lets a group of warps run until they wait, end or have had their turn. Answers whether any of them
    /// could run.
    pub fn run_group(&mut self, number: usize) -> bool {
        let first = number * self.gang_size;
        let warps = first..(first + self.gang_size).min(self.block.warps.len());
        self.busy = true;
        if self.observer.is_some() {
            return self.run_observed(number, warps);
        }
        let until = self.clock + self.slice * warps.len() as u64;
        let mut ran = false;
        while self.form(number, warps.clone()) {
            ran = true;
            self.deadline = until;
            match self.run_gang(number, warps.clone()) {
                Stopped::Together | Stopped::GivingWay => return true,
                Stopped::Parted => {
                    if !self.run_parted() {
                        return true;
                    }
                }
                Stopped::Failing => break,
            }
        }
        if !ran || self.gang.stopped == Stopped::Failing {
            return self.run_alone(warps) || ran;
        }
        true
    }

    /// Lets a group of warps of an observed block run a slice. Answers whether any of them could run.
    fn run_observed(&mut self, number: usize, warps: Range<usize>) -> bool {
        if !self.form(number, warps.clone()) {
            return self.run_alone(warps);
        }
        let turn = self.take_turns();
        let slice = turn.left.min(self.slice);
        let reads = self.counts.reads;
        self.deadline = self.clock + slice * self.gang.count as u64;
        self.note_asked(true);
        let stopped = self.run_gang(number, warps.clone());
        self.note_asked(false);
        let ran = slice.wrapping_sub(self.gang.left(self.deadline, self.clock));
        let read = self.counts.reads > reads;
        let after = Turn {
            left: turn.left.saturating_sub(ran),
            read: turn.read || read,
            ..turn
        };
        match stopped {
            Stopped::Together => self.ask_in_order(warps),
            Stopped::GivingWay => {
                for &place in &self.gang.warps[..self.gang.count] {
                    self.block.warps[place].give_way(after);
                }
                self.ask_in_order(warps);
            }
            Stopped::Parted => {
                self.fall_apart(number, warps.clone());
                for place in warps {
                    self.ask_for(place);
                    if self.gang.warps[..self.gang.count].contains(&place) {
                        self.block.running = place;
                        self.turn = turn;
                        self.slice_began = self.clock.wrapping_sub(ran);
                        self.deadline = self.clock.wrapping_add(slice).wrapping_sub(ran);
                        self.reads_before = self.counts.reads - u64::from(read);
                        self.run_slice();
                        if self.fault.is_some() {
                            break;
                        }
                    }
                }
            }
            Stopped::Failing => {
                // Nobody will look at what such a launch counted.
                self.run_alone(warps);
            }
        }
        true
    }

    /// Takes the turn that the warps of the gang are in out of them: all are equally far in theirs.
    fn take_turns(&mut self) -> Turn {
        let mut turn = Turn::NEW;
        for &place in &self.gang.warps[..self.gang.count] {
            turn = self.block.warps[place].turn.take().unwrap_or(Turn::NEW);
        }
        turn
    }

    /// Runs each warp by itself. Answers false if none could run, or if one failed.
    fn run_alone(&mut self, warps: Range<usize>) -> bool {
        let mut ran = false;
        for warp in warps {
            ran |= self.run_warp(warp);
            if self.fault.is_some() {
                return false;
            }
        }
        ran
    }

    /// Runs by itself each warp of a gang that has parted, except those that stand where the gang meets
    /// again. Answers false if there was nothing to run, or if one failed.
    fn run_parted(&mut self) -> bool {
        let Gang {
            warps,
            count,
            there,
            ..
        } = self.gang;
        let mut ran = false;
        for (&place, there) in warps[..count].iter().zip(there) {
            ran |= there || self.run_warp(place);
            if self.fault.is_some() {
                return false;
            }
        }
        ran
    }

    /// Runs the gang from where its warps stand.
    fn run_gang(&mut self, number: usize, warps: Range<usize>) -> Stopped {
        if self.gang.begun {
            self.wake();
        }
        self.gang.stopped = Stopped::Together;
        self.reconverge = NOWHERE;
        self.local_base = 0;
        self.run_all_lanes();
        self.code = self.codes.together;
        let mut next = self.at(self.gang.place);
        while !next.is_null() {
            // SAFETY: `next` points into the program's code, which outlives the launch, and the
            // instruction was lowered for the frames that the gang has.
            unsafe {
                let inst = &*next;
                next = (inst.run)(self, inst);
            }
        }
        self.code = self.codes.alone;
        if self.gang.stopped == Stopped::Failing {
            self.fall_apart(number, warps.clone());
        }
        if self.gang.begun {
            self.end_group(number, warps);
        }
        self.gang.stopped
    }

    /// Gives back the memory of the group's warps that have ended.
    fn end_group(&mut self, number: usize, warps: Range<usize>) {
        let mut living = false;
        for warp in &mut self.block.warps[warps] {
            living |= warp.alive != 0;
            if warp.alive == 0 {
                self.locals.give_back(warp.local.take());
            }
        }
        if !living && let Some(window) = self.block.groups[number].window.take() {
            self.windows.give_back(window);
        }
    }
}
