//! Clusters: blocks that are resident at the same time, can access each other's shared memory (distributed shared
//! memory), and wait for each other at the cluster's barrier. Source: PTX ISA, sections "Cluster of Cooperative
//! Thread Arrays" and "barrier.cluster".
//!
//! One host thread runs all blocks of a cluster in turns, so no two of them access memory at once.

use super::bulk::Delivery;
use crate::memory::lock;
use std::sync::{Arc, Mutex};

/// Maximum number of blocks in a cluster on any GPU; more than [`PORTABLE_CLUSTER`] require an attribute.
pub const MAX_CLUSTER: u64 = 16;
/// Maximum number of blocks in a cluster that every GPU with clusters supports.
pub const PORTABLE_CLUSTER: u64 = 8;

/// The bit at which a shared-memory address holds the number of a block in its cluster, plus 1. Addresses below are
/// those of the accessing block. No block has 16 MB of shared memory.
const RANK_SHIFT: u32 = 24;

/// The first number that no rank in an address has: 32-bit addresses from there on are offsets that wrapped below zero.
pub const RANK_LIMIT: u32 = 254;

/// Returns the address in the cluster's shared memory of `address` in the shared memory of the block `rank`.
pub fn mapped_address(address: u64, rank: u32) -> u64 {
    address & ((1 << RANK_SHIFT) - 1) | u64::from(rank + 1) << RANK_SHIFT
}

/// Splits an address in the cluster's shared memory into the block, or `None` for the accessing one, and the offset.
pub fn rank_and_offset(address: u64) -> (Option<u64>, u64) {
    let rank = (address >> RANK_SHIFT).checked_sub(1);
    (rank, address & ((1 << RANK_SHIFT) - 1))
}

/// A block of a cluster, as the others see it.
struct Member {
    /// Address of the block's shared memory.
    shared: usize,
    shared_bytes: u32,
    /// Number of threads that have not exited.
    alive: u32,
    /// Number of these that have not arrived at the cluster's barrier in the current phase.
    outstanding: u32,
    has_ended: bool,
}

struct State {
    members: Vec<Member>,
    /// Number of completed phases of the barrier.
    phase: u64,
    /// True if a block has faulted or been dropped: the others need not run.
    has_failed: bool,
    /// Data on the way to the shared memory of the blocks.
    deliveries: Vec<Delivery>,
}

/// The state that the blocks of a cluster share.
pub struct Cluster {
    /// The lowest number of a block in the grid.
    pub lowest_block: u64,
    state: Mutex<State>,
}

impl Cluster {
    /// Creates a cluster of blocks that have not started. For each, by rank: the address and the size of its shared
    /// memory, which must stay in place until the cluster has ended, and its number of threads.
    pub fn new(lowest_block: u64, blocks: impl Iterator<Item = (usize, u32, u32)>) -> Arc<Cluster> {
        let members = blocks.map(|(shared, shared_bytes, threads)| Member {
            shared,
            shared_bytes,
            alive: threads,
            outstanding: threads,
            has_ended: false,
        });
        Arc::new(Cluster {
            lowest_block,
            state: Mutex::new(State {
                members: members.collect(),
                phase: 0,
                has_failed: false,
                deliveries: Vec::new(),
            }),
        })
    }

    /// Records the threads of a block that are alive and those of them that have not arrived in this phase, and
    /// completes the phase if all threads of the cluster have arrived. Returns the number of completed phases.
    pub fn update_barrier(&self, rank: u32, alive: u32, outstanding: u32) -> u64 {
        let mut state = lock(&self.state);
        let member = &mut state.members[rank as usize];
        (member.alive, member.outstanding) = (alive, outstanding);
        let is_complete = state.members.iter().all(|member| member.outstanding == 0);
        let any_alive = state.members.iter().any(|member| member.alive > 0);
        if is_complete && any_alive {
            state.phase += 1;
            for member in &mut state.members {
                member.outstanding = member.alive;
            }
        }
        state.phase
    }

    /// Returns the number of completed phases of the barrier.
    pub fn phase(&self) -> u64 {
        lock(&self.state).phase
    }

    /// Returns the address and the size of the shared memory of a block; `None` if the cluster has no such block.
    pub fn shared(&self, rank: u64) -> Option<(*mut u8, u32)> {
        let state = lock(&self.state);
        let member = state.members.get(usize::try_from(rank).ok()?)?;
        let shared = std::ptr::with_exposed_provenance_mut(member.shared);
        Some((shared, member.shared_bytes))
    }

    /// Adds data on the way to the shared memory of a block.
    pub fn add_delivery(&self, delivery: Delivery) {
        lock(&self.state).deliveries.push(delivery);
    }

    /// Removes and returns the data on its way that will be reported to the barrier at an address with a rank.
    pub fn take_deliveries(&self, barrier: u64) -> Vec<Delivery> {
        let is_next = |delivery: &mut Delivery| delivery.barrier == barrier;
        let mut state = lock(&self.state);
        state.deliveries.extract_if(.., is_next).collect()
    }

    /// Ends the cluster early.
    pub fn fail(&self) {
        lock(&self.state).has_failed = true;
    }

    /// Returns true if a block has faulted or been dropped.
    pub fn has_failed(&self) -> bool {
        lock(&self.state).has_failed
    }

    /// Records that a block has ended.
    pub fn end(&self, rank: u32) {
        lock(&self.state).members[rank as usize].has_ended = true;
    }

    /// Returns true if all blocks have ended, so that none accesses the others' shared memory any more.
    pub fn has_ended(&self) -> bool {
        let state = lock(&self.state);
        state.members.iter().all(|member| member.has_ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_the_rank_of_their_block() {
        assert_eq!(rank_and_offset(0x1234), (None, 0x1234));
        for rank in 0..16 {
            let mapped = mapped_address(0x1234, rank);
            assert_eq!(rank_and_offset(mapped), (Some(rank.into()), 0x1234));
            assert_eq!(mapped_address(mapped, 3), mapped_address(0x1234, 3));
            assert!(u32::try_from(mapped).is_ok());
        }
    }
}
