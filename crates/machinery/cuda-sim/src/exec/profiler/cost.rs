//! What one access of a warp comes to: sectors, lines, wavefronts, bank conflicts.

use super::caches::CONSTANT_LINE;
use crate::isa::{AccessKind, Update};
use crate::lanes::LANES;
use crate::profile::traffic::{self, GlobalTraffic, Retried};

/// What kind of access each lane makes, and how many bytes it moves.
#[derive(Clone, Copy)]
pub struct Transfer {
    pub kind: AccessKind,
    pub bytes: u64,
    /// How it is done, if it is an atomic.
    pub update: Update,
}

/// What an access of some shape comes to.
#[derive(Default)]
pub struct AccessCost {
    /// Of constant memory: distinct addresses for sectors, and nothing else.
    pub traffic: GlobalTraffic,
    /// Of shared memory.
    pub conflicts: u32,
    /// Of global memory, unless it is for an atomic: lines, and the sectors of each. Of constant
    /// memory: the line of each distinct address.
    pub list: [(u64, u8); LANES],
    pub count: usize,
    /// Of an atomic on shared memory that is a loop.
    pub retried: Retried,
}

impl AccessCost {
    /// Becomes what an access of global memory comes to.
    pub fn of_global(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        self.traffic = match transfer.kind {
            kind if kind.is_update() => {
                traffic::global_atomic(at, mask, transfer.bytes, transfer.update)
            }
            kind => {
                let write = kind == AccessKind::Store;
                traffic::global(at, mask, transfer.bytes, write, &mut self.list)
            }
        };
        self.count = self.traffic.lines as usize;
    }

    /// Becomes what an access of shared memory comes to.
    pub fn of_shared(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        let found = match transfer.kind {
            kind if kind.is_update() => {
                traffic::shared_atomic(at, mask, transfer.bytes, transfer.update)
            }
            AccessKind::MatrixLoad | AccessKind::MatrixStore => {
                traffic::matrices(at, transfer.bytes as usize / 4)
            }
            kind => traffic::shared(at, mask, transfer.bytes, !kind.is_load()),
        };
        self.traffic.wavefronts = found.wavefronts;
        self.conflicts = found.conflicts;
    }

    /// Becomes what an atomic on shared memory comes to that is done by loads and compare-and-swaps, each
    /// of which changes the value.
    pub fn of_retried(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        self.retried = traffic::retried(at, mask, transfer.bytes, transfer.update);
    }

    /// Becomes what an access of constant memory comes to.
    pub fn of_constant(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        let mut addresses = [0; LANES];
        self.count = traffic::constant(at, mask, transfer.bytes, &mut addresses);
        self.traffic.sectors = self.count as u32;
        for (entry, address) in self.list.iter_mut().zip(addresses) {
            *entry = (address / CONSTANT_LINE, 1);
        }
    }

    /// The lines of so many bytes, and the sectors of each, where they are relative to address `base`.
    #[inline(always)]
    pub fn of(&self, base: u64, bytes: u64) -> impl Iterator<Item = (u64, u8)> + Clone {
        let lines = self.list[..self.count.min(LANES)].iter();
        // A line before the first lane's has a number below zero, which has wrapped around.
        let number = move |line| (base / bytes).wrapping_add(line) & (u64::MAX / bytes);
        lines.map(move |&(line, sectors)| (number(line), sectors))
    }
}
