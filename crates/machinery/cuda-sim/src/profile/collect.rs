//! From what each instruction did to the counters of a launch and of its source's lines.

use super::site::SiteCounts;
use super::tally::{Access, Constant, Level2, Tally};
use super::{Counts, LaunchProfile, LineProfile};
use crate::isa::sites::{Site, SiteKind};
use crate::isa::{AccessKind, Class, Listing, Memory};
use crate::memory::footprint::DeviceTraffic;
use std::collections::BTreeMap;

/// Everything that was counted, by the part of the launch it was counted in.
pub struct Counted {
    /// The observed blocks that the time model looks at.
    pub sample: PartCounts,
    rest: PartCounts,
    plain: PartCounts,
}

/// What part of a launch a block is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Not observed.
    Plain,
    /// Observed, and what the time model looks at.
    Sample,
    /// Observed because all is.
    Rest,
}

/// What was counted in one part of a launch.
#[derive(Default)]
pub struct PartCounts {
    pub counts: Counts,
    /// One entry a slot of the program's sites.
    pub sites: Vec<SiteCounts>,
}

impl Counted {
    /// Nothing yet, of a launch of `program`.
    pub fn new(program: &Listing) -> Counted {
        let part = || PartCounts {
            counts: Counts::new(program.blocks.len()),
            sites: vec![SiteCounts::default(); program.sites.slots()],
        };
        Counted {
            sample: part(),
            rest: part(),
            plain: part(),
        }
    }

    /// Where a part is counted.
    pub fn part(&mut self, part: Part) -> &mut PartCounts {
        match part {
            Part::Sample => &mut self.sample,
            Part::Rest => &mut self.rest,
            Part::Plain => &mut self.plain,
        }
    }

    /// Adds what another host thread counted.
    pub fn add(&mut self, other: &Counted) {
        self.sample.add(&other.sample);
        self.rest.add(&other.rest);
        self.plain.add(&other.plain);
    }

    /// What is counted everywhere.
    pub fn counts(&self) -> Counts {
        let mut sum = self.sample.counts.clone();
        sum.add(&self.rest.counts);
        sum.add(&self.plain.counts);
        sum
    }
}

impl PartCounts {
    fn add(&mut self, other: &PartCounts) {
        self.counts.add(&other.counts);
        for (sum, part) in self.sites.iter_mut().zip(&other.sites) {
            sum.add(part);
        }
    }
}

/// The profile of a launch that was observed whole.
pub fn profile(
    program: &Listing,
    counted: &Counted,
    counts: &Counts,
    traffic: DeviceTraffic,
) -> LaunchProfile {
    let mut lines: BTreeMap<(String, u32), Tally> = BTreeMap::new();
    let mut line = |address: u32, part: &Tally| {
        let source = program.source_of(address);
        let place = match source.file {
            Some(file) => (file, source.line),
            None => (String::new(), source.ptx_line),
        };
        lines.entry(place).or_default().add(part);
    };
    for instruction in program.instructions() {
        let visit = counts.visits[instruction.block as usize];
        let part = Tally {
            instructions: visit.warps,
            thread_instructions: visit.threads,
            products: match instruction.class {
                Class::Tensor => visit.warps,
                _ => 0,
            },
            ..Tally::default()
        };
        line(instruction.address, &part);
    }
    let issued_in = |block: u32| counts.visits[program.issuer(block as usize)].warps;
    for site in program.sites.iter() {
        for (offset, memory) in slots(site).into_iter().enumerate() {
            let slot = site.slot as usize + offset;
            let mut site_counts = counted.sample.sites[slot];
            site_counts.add(&counted.rest.sites[slot]);
            // Of a generic access only the memories that it reached were asked.
            let issued = match (site.kind.slots(), site_counts.requests) {
                (2.., 0) => 0,
                _ => issued_in(site.block),
            };
            line(
                site.address,
                &tally(site.kind, memory, &site_counts, issued),
            );
        }
    }
    let mut total = Tally::default();
    for tally in lines.values() {
        total.add(tally);
    }
    let lines = lines
        .into_iter()
        .filter(|(_, tally)| *tally != Tally::default());
    LaunchProfile {
        total,
        l2_read_misses: traffic.read,
        written_sectors: traffic.written,
        lines: lines
            .map(|((file, line), tally)| LineProfile { file, line, tally })
            .collect(),
    }
}

/// The memory of each slot of a site; none for what is no access.
fn slots(site: &Site) -> Vec<Option<Memory>> {
    match site.kind {
        SiteKind::Access(_) => site.memories().iter().copied().map(Some).collect(),
        SiteKind::Branch | SiteKind::Barrier => vec![None],
    }
}

fn tally(kind: SiteKind, memory: Option<Memory>, counts: &SiteCounts, issued: u64) -> Tally {
    let mut tally = Tally::default();
    let (access, memory) = match (kind, memory) {
        (SiteKind::Access(access), Some(memory)) => (access, memory),
        (SiteKind::Barrier, _) => {
            tally.barriers = counts.requests;
            return tally;
        }
        _ => {
            tally.branches = counts.requests;
            tally.divergent_branches = counts.conflicts;
            return tally;
        }
    };
    use AccessKind::{AsyncCopy, AsyncCopyPastL1, Atomic, Load, MatrixLoad, ReadOnlyLoad, Store};
    let place = match (access.kind, memory) {
        (_, Memory::Constant) => {
            tally.constant = Constant {
                instructions: counts.requests,
                requests: counts.units,
                hits: counts.hits,
            };
            return tally;
        }
        (AsyncCopy | AsyncCopyPastL1, Memory::Shared) => &mut tally.copied_to_shared,
        (AsyncCopy | AsyncCopyPastL1, _) => &mut tally.async_copies,
        (MatrixLoad, _) => &mut tally.matrix_loads,
        (Load | ReadOnlyLoad, Memory::Shared) => &mut tally.shared_loads,
        (Store, Memory::Shared) => &mut tally.shared_stores,
        (Atomic, Memory::Shared) => &mut tally.shared_atomics,
        (Load | ReadOnlyLoad, Memory::Local) => &mut tally.local_loads,
        (_, Memory::Local) => &mut tally.local_stores,
        (Load | ReadOnlyLoad, _) => &mut tally.global_loads,
        (Store, _) => &mut tally.global_stores,
        (Atomic, _) => &mut tally.global_atomics,
    };
    *place = Access {
        requests: counts.requests,
        issued: issued.max(counts.requests),
        threads: counts.threads,
        bytes: counts.threads * u64::from(access.bytes),
        sectors: counts.units,
        hits: counts.hits,
        wavefronts: counts.wavefronts,
        conflicts: counts.conflicts,
    };
    if memory != Memory::Shared {
        let misses = counts.units - counts.hits;
        tally.l2 = match access.kind {
            Store | Atomic => Level2 {
                read_sectors: 0,
                written_sectors: misses,
            },
            _ => Level2 {
                read_sectors: misses,
                written_sectors: 0,
            },
        };
    }
    tally
}
