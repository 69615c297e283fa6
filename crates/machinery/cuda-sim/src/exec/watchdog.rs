//! Looks at the clock while a launch runs, and what is said of one whose time is up.

use super::fault::{Fault, FaultKind, FaultPlace};
use super::interrupt::is_asked;
use super::sm::Sm;
use super::time_limit::{BEGINNING, Call, SHORT, TimeLimit, Timing};
use super::warp::{SplitState, Warp};
use std::time::Instant;

/// Warp instructions that blocks may run between two looks at the clock.
const LOOK: u64 = 1 << 16;

impl Sm {
    /// A block is about to begin or to go on: whether the launch's time is up. The fault is set then.
    pub(super) fn time_is_up_between_blocks(&mut self) -> bool {
        self.looks.next = self.looks.next.saturating_sub(BEGINNING);
        self.time_is_up()
    }

    /// Whether the launch's time is up, where it is time to look. The fault is set then.
    #[inline]
    pub(super) fn time_is_up(&mut self) -> bool {
        self.clock >= self.looks.next && self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.looks.next = self.clock + LOOK;
        match std::mem::take(&mut self.looks.call) {
            Call::Never => {}
            Call::Later => {
                self.looks.call = Call::Next;
                self.looks.next = self.clock + SHORT;
            }
            Call::Next => self.grid.call_others(),
        }
        if is_asked() {
            let place = Some(Box::new(self.stands()));
            self.fault = Some(Fault::new(FaultKind::Interrupted, place));
            return true;
        }
        let Some(Timing { began, limit }) = self.grid.timing else {
            return false;
        };
        let now = Instant::now();
        let ended = self.grid.progress.ended();
        let up = match limit {
            TimeLimit::Launch(limit) => now - began >= limit,
            TimeLimit::Standstill(limit) => {
                let since = match self.looks.ended {
                    Some((before, since)) if before == ended => since,
                    _ => now,
                };
                self.looks.ended = Some((ended, since));
                now - since >= limit
            }
        };
        if up {
            let kind = FaultKind::Timeout {
                limit,
                ended,
                blocks: self.grid.progress.blocks,
            };
            self.fault = Some(Fault::new(kind, Some(Box::new(self.stands()))));
        }
        up
    }

    /// Where the block is, as its first warp stands that could go on; else as its first that lives.
    fn stands(&self) -> FaultPlace {
        let warps = &self.block.warps;
        let goes_on = |warp: &&Warp| warp.alive != 0 && !warp.ready.is_empty();
        let lives = |warp: &&Warp| warp.alive != 0;
        let warp = warps.iter().find(goes_on);
        let warp = warp.or_else(|| warps.iter().find(lives));
        let split = warp.and_then(|warp| match warp.ready.front() {
            Some(&id) => warp.splits.get(id as usize),
            None => {
                let mut splits = warp.splits.iter();
                splits.find(|split| split.state != SplitState::Free)
            }
        });
        let entry = || self.grid.program.functions[self.grid.function()].entry;
        let lane = split.map_or(0, |split| split.mask.trailing_zeros());
        let warp = warp.map_or(0, |warp| warp.index);
        let address = split.map_or_else(entry, |split| split.pc);
        FaultPlace {
            kernel: self.grid.kernel_name().to_owned(),
            block: self.block.id,
            warp,
            thread: self.grid.dims.thread_index(warp * 32 + lane),
            source: self.grid.program.listing.source_of(address),
        }
    }
}
