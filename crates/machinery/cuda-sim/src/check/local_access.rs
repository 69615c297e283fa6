//! Accesses of local memory: whether what a thread reads there is written.

use super::checker::{Checker, Doing, Lanes, note_unwritten};
use super::finding_kind::FindingKind;
use super::shadow::{Held, Shadow};
use crate::lanes::active;

impl Checker {
    /// Lanes access their local memory, of so many bytes a lane.
    pub fn local(&mut self, shadow: &mut Shadow, doing: Doing, lanes: Lanes, size: u64) {
        if !self.launched.checks.init {
            return;
        }
        let Lanes { at, mask, bytes } = lanes;
        let inside = |at: u64| at < size && size - at >= bytes;
        for lane in active(mask).filter(|&lane| inside(at.of(lane))) {
            let (warp, at) = (doing.warp, at.of(lane));
            // Part of a structure may well stay unwritten, and be copied with the rest.
            if doing.reads && !shadow.local.has_some(warp, lane, at, bytes) {
                let held = Held {
                    site: doing.site,
                    thread: doing.thread(lane),
                    at,
                    bytes,
                };
                note_unwritten(
                    &mut self.ledger,
                    FindingKind::UnwrittenLocal,
                    doing.block,
                    held,
                );
            }
            if doing.writes {
                shadow.local.write(warp, lane, at, bytes);
            }
        }
    }
}
