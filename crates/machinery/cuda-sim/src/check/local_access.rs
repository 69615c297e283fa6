//! Accesses of local memory: whether what a thread reads there is written.

use super::checker::{Checker, Doing, Lanes, note_unwritten};
use super::finding_kind::FindingKind;
use super::shadow::{Held, Shadow};
use crate::lanes::active;

/// What the threads of a block have written of their own local memory.
#[derive(Default)]
pub struct LocalShadow {
    /// For each warp and each byte the lanes that have written it.
    warps: Vec<Vec<u32>>,
}

impl LocalShadow {
    /// A block of so many warps begins.
    pub fn begin(&mut self, warps: usize) {
        self.warps.iter_mut().for_each(Vec::clear);
        self.warps.resize_with(warps, Vec::new);
    }

    fn write(&mut self, warp: usize, lane: usize, at: u64, bytes: u64) {
        let written = &mut self.warps[warp];
        let end = (at + bytes) as usize;
        if written.len() < end {
            written.resize(end, 0);
        }
        for lanes in &mut written[at as usize..end] {
            *lanes |= 1 << lane;
        }
    }

    /// Whether a lane has written some of these bytes.
    fn has_some(&self, warp: usize, lane: usize, at: u64, bytes: u64) -> bool {
        let written = self.warps[warp].iter().skip(at as usize);
        written
            .take(bytes as usize)
            .any(|lanes| lanes >> lane & 1 == 1)
    }
}

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
