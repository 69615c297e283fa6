//! The warps of the running gang, one by one: whose turn it is, and where each goes on alone.

use crate::exec::gang::{Gang, Stopped};
use crate::exec::lanewise::Lane;
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::warp::{NOWHERE, SplitState};
use crate::lanes::LANES;

impl Sm {
    /// Makes warp `turn` of the gang the running one.
    #[inline(always)]
    pub fn take_turn(&mut self, turn: usize) {
        self.gang.turn = turn;
        self.frame = self.gang.frames[turn][0];
        self.block.running = self.gang.warps[turn];
        if !self.gang.whole {
            self.run_lanes(self.gang.masks[turn]);
        }
    }

    /// Takes each warp of the gang out of its queue of splits that are ready: it runs now.
    pub fn wake(&mut self) {
        for &place in &self.gang.warps[..self.gang.count] {
            let warp = &mut self.block.warps[place];
            if let Some(id) = warp.ready.pop_front() {
                warp.current = id;
                warp.splits[id as usize].state = SplitState::Running;
            }
        }
    }

    /// Gives each warp its registers and a split, before something is done with the warps one by one.
    pub fn begin(&mut self) {
        if std::mem::replace(&mut self.gang.begun, true) {
            return;
        }
        let Gang {
            windows,
            warps,
            count,
            ..
        } = &mut self.gang;
        for (window, &place) in windows.drain(..*count).zip(&*warps) {
            let warp = &mut self.block.warps[place];
            warp.start(NOWHERE, window);
            warp.local = self.locals.take();
        }
        self.block.groups[self.gang.group].window = self.gang.common_window.take();
        self.wake();
    }

    /// Fills operand `n` in all the frames that an instruction writes.
    ///
    /// # Safety
    /// As for [`Sm::write`].
    #[inline(always)]
    pub unsafe fn write_in_turn<T: Lane>(&mut self, inst: &Inst, n: usize, values: [T; LANES]) {
        for turn in self.gang.turns(inst.reach) {
            let [frame, _] = self.gang.frames[turn];
            // SAFETY: the caller's promise.
            unsafe { *frame.add(inst.o[n] as usize).cast::<[T; LANES]>() = values };
        }
    }

    /// Lets warp `turn` of the gang go on alone from `place(turn)`, for all turns. It stops at `meet`,
    /// where the ways from there meet again, except in an observed block, where its slice goes on.
    pub fn go_alone(&mut self, meet: u32, place: impl Fn(usize) -> u32) -> Next {
        self.begin();
        let meet = match self.observer {
            Some(_) => NOWHERE,
            None => meet,
        };
        for turn in 0..self.gang.count {
            let warp = &mut self.block.warps[self.gang.warps[turn]];
            self.gang.there[turn] = false;
            if warp.current != NOWHERE {
                let place = place(turn);
                let there = place == meet;
                self.gang.there[turn] = there;
                warp.go_on_at(place, if there { NOWHERE } else { meet });
            }
        }
        std::ptr::null()
    }

    /// Parts the gang because the warp whose turn it is has failed at `inst`, which the warps before it
    /// have run.
    #[cold]
    pub fn fail_in_gang(&mut self, inst: &Inst) -> Next {
        let (here, failing) = (self.address_of(inst), self.gang.turn);
        self.fail_from(here, here + 1, failing)
    }

    /// Parts the gang before a fault is reported: warps from `failing` on will run the instruction at
    /// `here` alone, where the first of them fails; those before it go on at `next`.
    pub fn fail_from(&mut self, here: u32, next: u32, failing: usize) -> Next {
        self.fault = None;
        self.gang.stopped = Stopped::Failing;
        self.go_alone(NOWHERE, |turn| if turn < failing { next } else { here })
    }
}
