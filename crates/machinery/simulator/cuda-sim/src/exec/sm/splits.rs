//! Divergence and reconvergence of the running warp.

use super::{Next, Sm};
use crate::exec::warp::{NO_INDEX, SplitState};

impl Sm {
    /// Continues with the warp's next ready split; returns null if there is none.
    pub fn switch(&mut self) -> Next {
        let warp = self.block.warp_mut();
        let Some(id) = warp.ready.pop_front() else {
            warp.current = NO_INDEX;
            return std::ptr::null();
        };
        warp.current = id;
        self.load(id)
    }

    /// Makes split `id` of the running warp the running split.
    fn load(&mut self, id: u32) -> Next {
        self.slice.switches += 1;
        let warp = self.block.warp_mut();
        let split = &mut warp.splits[id as usize];
        split.state = SplitState::Running;
        let (mask, pc, frame) = (split.mask, split.pc, split.frame);
        self.reconverge = split.reconverge;
        let frame = &mut warp.frames[frame as usize];
        self.frame = frame.registers.base();
        self.local = frame.local.clone();
        self.set_active_lanes(mask);
        self.at(pc)
    }

    /// Suspends the running split, to continue at `pc`.
    pub fn suspend(&mut self, pc: u32, state: SplitState) {
        let mask = self.mask;
        let warp = self.block.warp_mut();
        let split = &mut warp.splits[warp.current as usize];
        split.pc = pc;
        split.mask = mask;
        split.state = state;
    }

    /// Handles the arrival of the active lanes at their split's reconvergence point.
    pub fn arrive(&mut self) -> Next {
        let id = self.block.warp().current;
        self.leave(id)
    }

    /// Removes split `id`. If it was its parent's last child, the parent continues.
    fn leave(&mut self, mut id: u32) -> Next {
        loop {
            let warp = self.block.warp_mut();
            let parent = warp.splits[id as usize].parent;
            self.release_split(id);
            if parent == NO_INDEX {
                return self.switch();
            }
            let warp = self.block.warp_mut();
            let alive = warp.alive;
            let split = &mut warp.splits[parent as usize];
            split.waiting -= 1;
            if split.waiting > 0 {
                return self.switch();
            }
            split.mask &= alive;
            if split.mask != 0 {
                if warp.stop_for_regroup(parent) {
                    return std::ptr::null();
                }
                warp.current = parent;
                return self.load(parent);
            }
            id = parent;
        }
    }

    /// Ends the active lanes.
    pub fn exit_lanes(&mut self) -> Next {
        let mask = self.mask;
        self.block.exit(mask);
        self.block.warp_mut().wake_sync_waiters();
        let id = self.block.warp().current;
        self.leave(id)
    }

    fn release_split(&mut self, id: u32) {
        let warp = self.block.warp_mut();
        let frame = warp.remove(id);
        if let Some(frame) = frame {
            self.windows.recycle(frame);
        }
    }

    /// Splits the active lanes at a divergent branch: those in `taken` go to `target`, the others to `other`.
    /// They reconverge at `reconvergence`, the branch's immediate post-dominator, or never if it is
    /// [`NO_INDEX`].
    pub fn diverge(&mut self, taken: u32, target: u32, other: u32, reconvergence: u32) -> Next {
        self.counts.divergent_branches += 1;
        let not_taken = self.mask & !taken;
        self.part(&[(not_taken, other), (taken, target)], reconvergence)
    }

    /// Splits the active lanes into `paths`, pairs of a mask and an address. The masks are disjoint and not
    /// empty. The first way runs now.
    pub fn part(&mut self, paths: &[(u32, u32)], reconvergence: u32) -> Next {
        let mask = self.mask;
        let warp = self.block.warp_mut();
        let current = warp.current;
        let (reconverge, parent) = if reconvergence == NO_INDEX || reconvergence == self.reconverge
        {
            // The ways reconverge where the whole split does, or never: no new parent is needed.
            let split = &warp.splits[current as usize];
            (split.reconverge, split.parent)
        } else {
            // The split becomes the parent, which waits at the reconvergence point.
            let split = &mut warp.splits[current as usize];
            split.pc = reconvergence;
            split.mask = mask;
            split.state = SplitState::Waiting;
            split.waiting = 0;
            (reconvergence, current)
        };
        let frame = warp.splits[current as usize].frame;
        let splits_itself = parent == current;
        let mut first = None;
        for &(lanes, pc) in paths {
            if pc == reconverge && reconverge != NO_INDEX {
                // The lanes are at the reconvergence point already: the parent's mask accounts for them.
                continue;
            }
            if first.is_none() && !splits_itself {
                first = Some(current);
                let split = &mut warp.splits[current as usize];
                split.mask = lanes;
                split.pc = pc;
                continue;
            }
            let id = warp.add(lanes, pc, reconverge, parent, frame);
            if parent != NO_INDEX {
                warp.splits[parent as usize].waiting += 1;
            }
            if first.is_none() {
                first = Some(id);
            } else {
                warp.splits[id as usize].state = SplitState::Ready;
                warp.ready.push_back(id);
            }
        }
        match first {
            Some(id) => {
                warp.current = id;
                self.load(id)
            }
            // Every way leads straight to the reconvergence point.
            None => self.arrive(),
        }
    }
}
