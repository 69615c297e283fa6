//! Asynchronous copies from global to shared memory.

use super::banks::{lanes_a_bank, lanes_at_once, split};
use super::distinct::DistinctKeys;
use super::global::global;
use super::shared::SharedTraffic;
use super::{LINE, SECTOR};
use crate::lanes::{LANES, active};

/// What a warp's asynchronous copy from global to shared memory comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyTraffic {
    /// Sectors that are asked for.
    pub sectors: u32,
    /// Passes through the data stage on the way to shared memory, and those of them that only bank
    /// conflicts make necessary.
    pub shared: SharedTraffic,
}

/// An asynchronous copy through the L1 cache. Sectors are those of a load. A wavefront moves a
/// word from each bank to each bank: lanes that read from one bank take turns, even where they want
/// the same word, and so do those that write to one. Where lanes of one phase collide on both sides
/// hardware sometimes takes a few more.
pub fn copy(from: &[u64; LANES], to: &[u64; LANES], mask: u32, bytes: u64) -> CopyTraffic {
    let phases = || split(mask, lanes_at_once(bytes));
    let turns = |at: &[u64; LANES], lanes| lanes_a_bank(at, lanes, bytes);
    let wavefronts = phases().map(|lanes| turns(from, lanes).max(turns(to, lanes)));
    let wavefronts = wavefronts.sum();
    CopyTraffic {
        sectors: global(from, mask, bytes, false, &mut [(0, 0); LANES]).sectors,
        shared: SharedTraffic {
            wavefronts,
            conflicts: wavefronts - phases().count() as u32,
        },
    }
}

/// An asynchronous copy of 16 bytes a lane past the L1 cache. A sector goes straight to where 32
/// bytes of shared memory begin: it is asked for once for each of those, and apart for lanes that
/// change their half of it. Lanes must write to different places.
///
/// Sectors are exact. Wavefronts are those of sectors that go from one line to one line of shared
/// memory, shifted or swapped alike; hardware does it in a few more or less where they lie in no
/// order.
pub fn copy_past_l1(from: &[u64; LANES], to: &[u64; LANES], mask: u32) -> CopyTraffic {
    let distinct = |key: &dyn Fn(usize) -> u64| {
        let mut keys = [0; LANES];
        let mut seen = DistinctKeys::default();
        for lane in active(mask) {
            let key = key(lane);
            let (place, new) = seen.place(key, |place| keys[place]);
            if new {
                keys[place] = key;
            }
        }
        seen.count as u32
    };
    // 13 bits are enough for a sector of shared memory.
    let key = |source: u64, target: u64, how: u64| (source << 16) | (target << 3) | how;
    let half = |lane: usize| (from[lane] ^ to[lane]) / (SECTOR / 2) % 2;
    let sectors = distinct(&|lane| key(from[lane] / SECTOR, to[lane] / SECTOR, half(lane)));
    let lines = |way: fn(u64, u64) -> u64| {
        distinct(&|lane| {
            let moved = way(to[lane] / SECTOR, from[lane] / SECTOR) % (LINE / SECTOR);
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
