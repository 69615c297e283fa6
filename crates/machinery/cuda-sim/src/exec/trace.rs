//! What a traced launch tells of each access: who asked for which addresses, and what it came to.
//!
//! It is for whoever draws or explains an access pattern. What an access comes to is what is counted
//! for it; nothing is found out a second time. Left out are local memory, and what asynchronous
//! copies write to shared memory.

pub use crate::isa::{AccessKind, Memory};
use crate::isa::{Listing, SourceLine};
use crate::lanes::LANES;

/// One access of one warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// The block's number in the grid, x fastest, and the warp's in the block.
    pub block: u64,
    pub warp: usize,
    /// Where it is in the source.
    pub source: SourceLine,
    pub kind: AccessKind,
    /// Global, constant or shared memory.
    pub memory: Memory,
    /// Bytes that each lane moves.
    pub bytes: u64,
    /// The lanes that take part, a bit each.
    pub mask: u32,
    /// Each lane's address, in shared memory from where the block's begins.
    pub addresses: [u64; LANES],
    /// Distinct sectors of 32 bytes; of constant memory distinct addresses; zero for shared memory.
    pub units: u32,
    /// Passes through the data stage; zero for constant memory.
    pub wavefronts: u32,
    /// Of shared memory: wavefronts beyond those that the same bytes would take without conflicts.
    pub conflicts: u32,
}

/// The same as it is noted while a block runs.
pub struct TracedAccess {
    pub warp: usize,
    pub slot: usize,
    pub mask: u32,
    pub at: [u64; LANES],
    pub units: u32,
    pub wavefronts: u32,
    pub conflicts: u32,
}

/// The accesses of blocks, by their numbers, in the order in which they were made.
pub fn traced(program: &Listing, mut noted: Vec<(u64, TracedAccess)>) -> Vec<Traced> {
    noted.sort_by_key(|&(block, _)| block);
    let found = |(block, noted): (u64, TracedAccess)| {
        let (site, access, memory) = program.sites.access(noted.slot)?;
        Some(Traced {
            block,
            warp: noted.warp,
            source: program.source_of(site.address),
            kind: access.kind,
            memory,
            bytes: access.bytes.into(),
            mask: noted.mask,
            addresses: noted.at,
            units: noted.units,
            wavefronts: noted.wavefronts,
            conflicts: noted.conflicts,
        })
    };
    noted.into_iter().filter_map(found).collect()
}
