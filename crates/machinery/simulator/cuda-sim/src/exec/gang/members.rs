//! Access to the single warps of the running gang, and its disbanding.

use crate::exec::lanewise::Lane;
use crate::exec::sm::{Inst, Next, Sm};
use crate::exec::warp::gang_state::{Gang, StopReason};
use crate::exec::warp::{NO_INDEX, SplitState};
use crate::lanes::LANES;

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
    pub fn resume_members(&mut self) {
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
