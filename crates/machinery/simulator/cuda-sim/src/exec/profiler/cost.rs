//! The cost of one access of a warp: sectors, lines, wavefronts and bank conflicts.

use super::caches::CONSTANT_LINE;
use crate::isa::{AccessKind, Update};
use crate::lanes::LANES;
use crate::profile::traffic::{self, CasLoop, GlobalTraffic};

/// The kind of an access and the bytes moved per lane.
#[derive(Clone, Copy)]
pub struct Transfer {
    pub kind: AccessKind,
    pub bytes: u64,
    /// The operation, for an atomic.
    pub update: Update,
}

/// The cost of an access of some shape.
#[derive(Default)]
pub struct AccessCost {
    /// Traffic. For constant memory, only `sectors` is used, for the number of distinct addresses.
    pub traffic: GlobalTraffic,
    /// Bank conflicts in shared memory.
    pub conflicts: u32,
    /// For global memory except atomics, the lines and the mask of sectors of each. For constant memory, the
    /// line of each distinct address.
    pub list: [(u64, u8); LANES],
    pub count: usize,
    /// Cost of an atomic on shared memory that is a retry loop.
    pub cas_loop: CasLoop,
}

impl AccessCost {
    /// Computes the cost of an access to global memory.
    pub fn of_global(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        self.traffic = match transfer.kind {
            kind if kind.is_atomic() => {
                traffic::global_atomic(at, mask, transfer.bytes, transfer.update)
            }
            kind => {
                let write = kind == AccessKind::Store;
                traffic::global(at, mask, transfer.bytes, write, &mut self.list)
            }
        };
        self.count = self.traffic.lines as usize;
    }

    /// Computes the cost of an access to shared memory.
    pub fn of_shared(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        let cost = match transfer.kind {
            kind if kind.is_atomic() => {
                traffic::shared_atomic(at, mask, transfer.bytes, transfer.update)
            }
            AccessKind::MatrixLoad | AccessKind::MatrixStore => {
                traffic::matrices(at, transfer.bytes as usize / 4)
            }
            kind => traffic::shared(at, mask, transfer.bytes, !kind.is_load()),
        };
        self.traffic.wavefronts = cost.wavefronts;
        self.conflicts = cost.conflicts;
    }

    /// Computes the cost of an atomic on shared memory that loops over loads and compare-and-swaps, each of
    /// which changes the value.
    pub fn cas_loop_cost(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        self.cas_loop = traffic::cas_loop(at, mask, transfer.bytes, transfer.update);
    }

    /// Computes the cost of an access to constant memory.
    pub fn of_constant(&mut self, at: &[u64; LANES], mask: u32, transfer: Transfer) {
        let mut addresses = [0; LANES];
        self.count = traffic::constant(at, mask, transfer.bytes, &mut addresses);
        self.traffic.sectors = self.count as u32;
        for (entry, address) in self.list.iter_mut().zip(addresses) {
            *entry = (address / CONSTANT_LINE, 1);
        }
    }

    /// Returns the lines of `bytes` bytes and the mask of sectors of each, for relative addresses based at
    /// `base`.
    #[inline(always)]
    pub fn of(&self, base: u64, bytes: u64) -> impl Iterator<Item = (u64, u8)> + Clone {
        let lines = self.list[..self.count.min(LANES)].iter();
        // A line before the first lane's has a negative number, which has wrapped around.
        let number = move |line| (base / bytes).wrapping_add(line) & (u64::MAX / bytes);
        lines.map(move |&(line, sectors)| (number(line), sectors))
    }
}
