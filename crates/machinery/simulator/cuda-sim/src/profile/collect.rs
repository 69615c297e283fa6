//! The counts of single instructions, and their aggregation into the counters of a launch and of its source
//! lines.

use super::tally::{AccessCounts, Tally};
use super::traffic::{GlobalTraffic, RepeatedAccess};
use super::{Counts, LaunchProfile, LineProfile};
use crate::isa::listing::SiteKind;
use crate::isa::{AccessClass, Class, Listing, Memory};
use crate::memory::footprint::DeviceTraffic;
use std::collections::BTreeMap;

/// The counts of one access, branch or barrier of the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteCounts {
    /// Executions by warps with at least one active lane.
    pub requests: u64,
    /// Active lanes, summed over the requests.
    pub threads: u64,
    /// Sectors, or for constant memory distinct addresses.
    pub units: u64,
    /// The units that hit the L1 cache.
    pub hits: u64,
    /// For constant memory: the units that also missed the L1.5 constant cache.
    pub l15_misses: u64,
    /// For atomics on global memory: the number of passes to the L2 cache.
    pub output_wavefronts: u64,
    /// For atomics that are compare-and-swap loops: the divergences at their branches.
    pub divergences: u64,
    /// Passes through the data stage.
    pub wavefronts: u64,
    /// Bank conflicts, or for branches the number of divergences.
    pub conflicts: u64,
}

impl SiteCounts {
    /// Records a request by the lanes in a mask.
    pub fn add_request(&mut self, lanes: u32) {
        self.requests += 1;
        self.threads += u64::from(lanes.count_ones());
    }

    /// Records a request by each of `warps` warps with the same lanes and the same traffic.
    #[inline(always)]
    pub fn add_traffic(&mut self, warps: usize, lanes: u32, traffic: &GlobalTraffic) {
        let warps = warps as u64;
        self.requests += warps;
        self.threads += warps * u64::from(lanes.count_ones());
        self.units += warps * u64::from(traffic.sectors);
        self.wavefronts += warps * u64::from(traffic.wavefronts);
        self.output_wavefronts += warps * u64::from(traffic.output_wavefronts);
    }

    /// Records the repeated execution of an instruction by one warp.
    pub fn add_repeated(&mut self, repeated: &RepeatedAccess) {
        self.requests += u64::from(repeated.times);
        self.threads += u64::from(repeated.lanes);
        self.wavefronts += u64::from(repeated.traffic.wavefronts);
        self.conflicts += u64::from(repeated.traffic.conflicts);
    }

    /// Adds the counts of another SM.
    pub fn add(&mut self, other: &SiteCounts) {
        self.requests += other.requests;
        self.threads += other.threads;
        self.units += other.units;
        self.hits += other.hits;
        self.l15_misses += other.l15_misses;
        self.output_wavefronts += other.output_wavefronts;
        self.divergences += other.divergences;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
    }
}

/// All counts of a launch, split by the part of the launch they were counted in.
#[derive(Clone, PartialEq, Eq)]
pub struct LaunchCounts {
    /// The profiled blocks that the time model uses.
    pub sample: PartCounts,
    unsampled: PartCounts,
    plain: PartCounts,
}

/// The part of a launch in which a block is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchPart {
    /// Blocks that are not profiled.
    Plain,
    /// Profiled blocks that the time model uses.
    Sample,
    /// Profiled blocks beyond the sample, if the whole launch is profiled.
    Unsampled,
}

/// The counts of one part of a launch.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PartCounts {
    pub counts: Counts,
    /// The counts of each instruction, one element per slot of the program's sites.
    pub sites: Vec<SiteCounts>,
}

impl LaunchCounts {
    /// Creates zero counts for a launch of `program`.
    pub fn new(program: &Listing) -> LaunchCounts {
        let part = || PartCounts {
            counts: Counts::new(program.blocks.len()),
            sites: vec![SiteCounts::default(); program.sites.slot_count()],
        };
        LaunchCounts {
            sample: part(),
            unsampled: part(),
            plain: part(),
        }
    }

    /// Resets all counts to zero.
    pub fn clear(&mut self) {
        for part in [&mut self.sample, &mut self.unsampled, &mut self.plain] {
            part.counts.clear();
            part.sites.fill(SiteCounts::default());
        }
    }

    /// Returns the counts of a part.
    pub fn part(&mut self, part: LaunchPart) -> &mut PartCounts {
        match part {
            LaunchPart::Sample => &mut self.sample,
            LaunchPart::Unsampled => &mut self.unsampled,
            LaunchPart::Plain => &mut self.plain,
        }
    }

    /// Returns the number of warp instructions of the executed program, in all blocks that have ended.
    pub fn instructions(&self) -> u64 {
        let parts = [&self.sample, &self.unsampled, &self.plain];
        parts
            .iter()
            .map(|part| part.counts.work.instructions.total())
            .sum()
    }

    /// Adds the counts of another host thread.
    pub fn add(&mut self, other: &LaunchCounts) {
        self.sample.add(&other.sample);
        self.unsampled.add(&other.unsampled);
        self.plain.add(&other.plain);
    }

    /// Returns the counters that are always on, summed over all parts.
    pub fn counts(&self) -> Counts {
        let mut sum = self.sample.counts.clone();
        sum.add(&self.unsampled.counts);
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

/// Returns the profile of a launch all of whose blocks were profiled.
pub fn profile(
    program: &Listing,
    counted: &LaunchCounts,
    counts: &Counts,
    traffic: DeviceTraffic,
) -> LaunchProfile {
    let mut lines: BTreeMap<(String, u32), Tally> = BTreeMap::new();
    let mut line = |address: u32, part: &Tally| {
        let source = program.source_of(address);
        let source_line = match source.file {
            Some(file) => (file, source.line),
            None => (String::new(), source.ptx_line),
        };
        lines.entry(source_line).or_default().add(part);
    };
    for instruction in program.instructions() {
        let visit = counts.visits[instruction.block as usize];
        let part = Tally {
            instructions: visit.warps,
            thread_instructions: visit.threads,
            tensor_instructions: match instruction.class {
                Class::Tensor | Class::Warpgroup => visit.warps,
                _ => 0,
            },
            ..Tally::default()
        };
        line(instruction.address, &part);
    }
    let issued_in = |block: u32| counts.visits[program.issuer(block as usize)].warps;
    for site in program.sites.iter() {
        let of = |slot: u32| {
            let mut counts = counted.sample.sites[slot as usize];
            counts.add(&counted.unsampled.sites[slot as usize]);
            counts
        };
        match site.kind {
            SiteKind::Branch => {
                let counts = of(site.slot);
                let part = Tally {
                    branches: counts.requests,
                    divergent_branches: if site.is_machine_branch {
                        counts.conflicts
                    } else {
                        0
                    },
                    ..Tally::default()
                };
                line(site.address, &part);
            }
            SiteKind::Barrier => {
                let part = Tally {
                    barriers: of(site.slot).requests,
                    ..Tally::default()
                };
                line(site.address, &part);
            }
            SiteKind::Access(access) => {
                let part = Tally {
                    divergent_branches: of(site.slot).divergences,
                    ..Tally::default()
                };
                line(site.address, &part);
                for (class, slot) in site.classes() {
                    let counts = of(slot);
                    // A generic access is issued only to the memories that it reached.
                    let issued = match (site.kind.slot_count(), counts.requests) {
                        (2.., 0) => 0,
                        _ => counts.requests.max(issued_in(site.block)),
                    };
                    let counts = accesses(class, &counts, access.bytes, issued);
                    line(site.address, &Tally::of([(class, counts)]));
                }
            }
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

/// Returns the counts of an instruction's accesses of a class, with `bytes` bytes per lane.
fn accesses(class: AccessClass, counts: &SiteCounts, bytes: u32, issued: u64) -> AccessCounts {
    let constant = class.row().memory == Memory::Constant;
    let (sectors, addresses, issued) = if constant {
        (0, counts.units, counts.requests)
    } else {
        (counts.units, 0, issued)
    };
    AccessCounts {
        requests: counts.requests,
        issued,
        threads: counts.threads,
        bytes: counts.threads * u64::from(bytes),
        sectors,
        addresses,
        hits: counts.hits,
        output_wavefronts: counts.output_wavefronts,
        wavefronts: counts.wavefronts,
        conflicts: counts.conflicts,
    }
}
