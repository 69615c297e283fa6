//! Blocks in which no thread can make progress: releases lanes that wait at matching `.sync` instructions in
//! different places; otherwise reports a deadlock.

use super::Sm;
use crate::exec::fault::{Fault, FaultKind, FaultLocation};
use crate::exec::warp::{Split, SplitState};

impl Sm {
    /// Releases lanes that wait at different but matching `.sync` instructions once all lanes of their mask
    /// have arrived. Called when no thread of the block can run. Returns true if there were any.
    ///
    /// By the PTX ISA (`shfl.sync` and related instructions), a lane waits until the others have executed the
    /// instruction with the same qualifiers and the same mask, which need not be the same instruction in the
    /// code.
    pub fn release_matching_syncs(&mut self) -> bool {
        let code = &self.grid.program.code.plain;
        let same_sync = |first: &Split, other: &Split| {
            let (a, b) = (&code[first.pc as usize], &code[other.pc as usize]);
            first.state == other.state && std::ptr::fn_addr_eq(a.run, b.run) && a.arg0 == b.arg0
        };
        let mut released = false;
        for warp in &mut self.block.warps {
            for id in 0..warp.splits.len() {
                let SplitState::Sync(members) = warp.splits[id].state else {
                    continue;
                };
                let first = &warp.splits[id];
                let matching: Vec<usize> = (0..warp.splits.len())
                    .filter(|&other| same_sync(first, &warp.splits[other]))
                    .collect();
                let waiting = matching
                    .iter()
                    .fold(0, |lanes, &other| lanes | warp.splits[other].mask);
                if members & warp.alive & !waiting != 0 {
                    continue;
                }
                for other in matching {
                    warp.splits[other].state = SplitState::Ready;
                    warp.splits[other].sync_completed = true;
                    warp.ready.push_back(other as u32);
                }
                released = true;
            }
        }
        released
    }

    /// Returns the fault of a block in which no thread can run.
    pub fn deadlock(&self) -> Fault {
        let waiting_warp = self.block.warps.iter().find_map(|warp| {
            warp.splits.iter().find_map(|split| match split.state {
                SplitState::Sync(members) | SplitState::WarpBarrier(members) => {
                    Some((warp, split, members))
                }
                _ => None,
            })
        });
        let (kind, warp, split) = match (waiting_warp, self.block.blocked_barrier()) {
            (Some((warp, split, members)), _) => (
                FaultKind::WarpSyncNeverOpens { members },
                Some(warp),
                Some(split),
            ),
            (None, blocked) => {
                let (barrier, arrived, expected) = blocked.unwrap_or((0, 0, self.block.alive));
                let waiting = self.block.warps.iter().find_map(|warp| {
                    let waits =
                        |state| matches!(state, SplitState::Barrier(n) if n == barrier as u32);
                    warp.splits
                        .iter()
                        .find(|split| waits(split.state))
                        .map(|split| (warp, split))
                });
                let barrier = barrier as u32;
                let kind = FaultKind::BarrierNeverOpens {
                    barrier,
                    arrived,
                    expected,
                };
                (
                    kind,
                    waiting.map(|(warp, _)| warp),
                    waiting.map(|(_, split)| split),
                )
            }
        };
        let location = warp.zip(split).map(|(warp, split)| {
            let lane = split.mask.trailing_zeros();
            Box::new(FaultLocation {
                kernel: self.grid.kernel_name().to_owned(),
                block: self.block.id,
                warp: warp.index,
                thread: self.grid.dims.thread_index(warp.index * 32 + lane),
                // The split continues after the barrier, so the barrier is the instruction before.
                source: self
                    .grid
                    .program
                    .listing
                    .source_of(split.pc.saturating_sub(1)),
            })
        });
        Fault::new(kind, location)
    }
}
