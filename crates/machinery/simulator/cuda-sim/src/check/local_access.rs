//! Initialization checks of local memory.

use super::checker::{Checker, Lanes, WarpAccess, record_uninitialized};
use super::finding_kind::FindingKind;
use super::shadow::{DeferredRead, Shadow};
use crate::lanes::active;

impl Checker {
    /// Checks an access to local memory, of which each thread has `size` bytes.
    pub fn check_local(
        &mut self,
        shadow: &mut Shadow,
        current: WarpAccess,
        lanes: Lanes,
        size: u64,
    ) {
        if !self.launch.checks.init {
            return;
        }
        let Lanes { at, mask, bytes } = lanes;
        let inside = |at: u64| at < size && size - at >= bytes;
        for lane in active(mask).filter(|&lane| inside(at.of(lane))) {
            let (warp, at) = (current.warp, at.of(lane));
            // A read is fine if any of its bytes are initialized: structures with padding are copied as a
            // whole.
            if current.reads && !shadow.local.is_any_written(warp, lane, at, bytes) {
                let deferred = DeferredRead {
                    site: current.site,
                    thread: current.thread(lane),
                    at,
                    bytes,
                };
                record_uninitialized(
                    &mut self.findings,
                    FindingKind::UninitializedLocal,
                    current.block,
                    deferred,
                );
            }
            if current.writes {
                shadow.local.write(warp, lane, at, bytes);
            }
        }
    }
}
