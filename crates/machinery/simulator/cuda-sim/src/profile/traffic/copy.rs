//! Asynchronous copies from global to shared memory (`cp.async`).

use super::banks::{lanes_per_wavefront, max_lanes_per_bank, split};
use super::distinct::DistinctKeys;
use super::global::global;
use super::shared::SharedTraffic;
use super::{LINE, SECTOR};
use crate::lanes::{LANES, active};

/// The traffic of a warp's asynchronous copy from global to shared memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyTraffic {
    /// Sectors requested.
    pub sectors: u32,
    /// Passes through the data stage on the way to shared memory, and those among them that bank conflicts
    /// cause.
    pub shared: SharedTraffic,
}

/// Returns the traffic of an asynchronous copy through the L1 cache. Its sectors are those of a load. A
/// wavefront moves one word from each bank to each bank: lanes that read from the same bank are serialized,
/// even if they read the same word, and so are lanes that write to the same bank. If lanes collide on both
/// sides, hardware sometimes needs a few more wavefronts.
pub fn copy(from: &[u64; LANES], to: &[u64; LANES], mask: u32, bytes: u64) -> CopyTraffic {
    let phases = || split(mask, lanes_per_wavefront(bytes));
    let bank_lanes = |at: &[u64; LANES], lanes| max_lanes_per_bank(at, lanes, bytes);
    let wavefronts = phases().map(|lanes| bank_lanes(from, lanes).max(bank_lanes(to, lanes)));
    let wavefronts = wavefronts.sum();
    CopyTraffic {
        sectors: global(from, mask, bytes, false, &mut [(0, 0); LANES]).sectors,
        shared: SharedTraffic {
            wavefronts,
            conflicts: wavefronts - phases().count() as u32,
        },
    }
}

/// Returns the traffic of an asynchronous copy of 16 bytes per lane that bypasses the L1 cache. A sector goes
/// straight to one 32-byte unit of shared memory: it is requested once for each such unit, and separately for
/// lanes that change their half of it. Lanes must write to different addresses.
///
/// Sectors are exact. Wavefronts are exact for sectors that go from one line to one line of shared memory,
/// all shifted or all swapped in the same way; for irregular orders hardware needs a few more or fewer.
pub fn copy_past_l1(from: &[u64; LANES], to: &[u64; LANES], mask: u32) -> CopyTraffic {
    let distinct = |key: &dyn Fn(usize) -> u64| {
        let mut keys = [0; LANES];
        let mut seen = DistinctKeys::default();
        for lane in active(mask) {
            let key = key(lane);
            let (index, is_new) = seen.insert(key, |index| keys[index]);
            if is_new {
                keys[index] = key;
            }
        }
        seen.count as u32
    };
    // 13 bits are enough for a sector of shared memory.
    let key = |source: u64, target: u64, variant: u64| (source << 16) | (target << 3) | variant;
    let half = |lane: usize| (from[lane] ^ to[lane]) / (SECTOR / 2) % 2;
    let sectors = distinct(&|lane| key(from[lane] / SECTOR, to[lane] / SECTOR, half(lane)));
    let lines = |shift: fn(u64, u64) -> u64| {
        distinct(&|lane| {
            let moved = shift(to[lane] / SECTOR, from[lane] / SECTOR) % (LINE / SECTOR);
            key(from[lane] / LINE, to[lane] / LINE, 2 * moved + half(lane))
        })
    };
    let (shifted, swapped) = (lines(u64::wrapping_sub), lines(|to, from| to ^ from));
    CopyTraffic {
        sectors,
        shared: SharedTraffic {
            wavefronts: shifted.min(swapped),
            conflicts: 0,
        },
    }
}
