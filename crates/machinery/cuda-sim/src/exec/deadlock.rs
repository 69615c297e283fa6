//! What is said of a block none of whose threads can go on.

use super::fault::{Fault, FaultKind, FaultPlace};
use super::sm::Sm;
use super::warp::SplitState;

impl Sm {
    /// No thread of the block can go on.
    pub(super) fn deadlock(&self) -> Fault {
        let stuck_warp = self.block.warps.iter().find_map(|warp| {
            warp.splits.iter().find_map(|split| match split.state {
                SplitState::Sync(members) | SplitState::Meet(members) => {
                    Some((warp, split, members))
                }
                _ => None,
            })
        });
        let (kind, warp, split) = match (stuck_warp, self.block.stuck()) {
            (Some((warp, split, members)), _) => (
                FaultKind::WarpSyncNeverOpens { members },
                Some(warp),
                Some(split),
            ),
            (None, stuck) => {
                let (barrier, arrived, expected) = stuck.unwrap_or((0, 0, self.block.alive));
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
                    waiting.map(|found| found.0),
                    waiting.map(|found| found.1),
                )
            }
        };
        let place = warp.zip(split).map(|(warp, split)| {
            let lane = split.mask.trailing_zeros();
            Box::new(FaultPlace {
                kernel: self.grid.kernel_name().to_owned(),
                block: self.block.id,
                warp: warp.index,
                thread: self.grid.dims.thread_index(warp.index * 32 + lane),
                // It goes on after the barrier: the instruction before is the barrier.
                source: self
                    .grid
                    .program
                    .listing
                    .source_of(split.pc.saturating_sub(1)),
            })
        });
        Fault::new(kind, place)
    }
}
