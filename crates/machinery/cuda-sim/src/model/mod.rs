//! From what a launch did to the time a GPU would take, and what it spends it on.
//!
//! Three bounds, each from counters and from rates of the GPU that are in its preset:
//!
//! - **Throughput** ([`throughput`]): every resource takes so long for the work it is given, spread
//!   over the multiprocessors. The slowest sets the pace.
//! - **Latency** ([`latency`]): a warp that is alone takes so long from its first instruction to its
//!   last, and a multiprocessor holds only so many. Blocks that follow each other in its places
//!   take the sum.
//! - **Launching**: a grid is launched, and its blocks are handed out, at a certain rate.
//!
//! Neither of the first two is hidden fully by the other, so they are combined by a norm between a
//! maximum and a sum ([`OVERLAP`]).

mod latency;
mod modelled;
mod occupancy;
mod throughput;

pub use modelled::{Modelled, Occupancy, OccupancyLimit, Resource, ResourceTime, Roofline};
pub use occupancy::occupancy;

use crate::device::DeviceSpec;
use crate::isa::{AccessClass, Listing};
use crate::memory::footprint::DeviceTraffic;
use crate::profile::Counts;
use crate::profile::collect::Counted;
use crate::profile::site::SiteCounts;

/// How throughput and latency add up: the exponent of their norm. 1 would be a sum, infinity the
/// larger. Read off an NVIDIA H200 that copied 64 M floats with 2 to 64 warps resident
/// (`scripts/rates.cu`): with it the model is within 7 % of all of them.
const OVERLAP: f64 = 1.7;

/// Seconds of a launch before its first block runs and after its last, where they are not hidden by
/// those that pass between launches anyway. Read off an NVIDIA H200: launches of `raytrace-const` and
/// `add-constant` that take 2 to 20 µs last 1 to 3 µs longer than their multiprocessors are active
/// (Nsight Compute's `sm__cycles_active`).
const DRAIN_SECONDS: f64 = 1.5e-6;

/// A launch that is over.
pub struct FinishedLaunch<'a> {
    pub program: &'a Listing,
    pub device: &'a DeviceSpec,
    pub counted: &'a Counted,
    /// What is counted everywhere, all parts of the launch together.
    pub counts: &'a Counts,
    /// Between device memory and the L2 cache.
    pub traffic: DeviceTraffic,
    pub occupancy: Occupancy,
    /// Blocks of the grid, and threads of a block.
    pub blocks: u64,
    pub threads: u32,
}

impl FinishedLaunch<'_> {
    /// The counts of every site, of the whole launch: those of the sample, enlarged by how much
    /// more often all blocks came there. Where no block of the sample came it is nothing.
    fn sites(&self) -> Vec<SiteEstimate> {
        let (all, sampled) = (&self.counts.visits, &self.counted.sample.counts.visits);
        let mut found = vec![SiteEstimate::default(); self.program.sites.slots()];
        for site in self.program.sites.iter() {
            let block = site.block as usize;
            let scale = match sampled[block].warps {
                0 => 0.0,
                sampled => all[block].warps as f64 / sampled as f64,
            };
            let issued = all[self.program.issuer(block)].warps as f64;
            for slot in site.slot..site.slot + site.kind.slots() {
                let counts = &self.counted.sample.sites[slot as usize];
                found[slot as usize] = SiteEstimate::of(counts, scale, issued);
            }
        }
        found
    }

    /// The accesses that are counted, in the order of the code: the class of each, and its slot.
    fn accesses(&self) -> impl Iterator<Item = (AccessClass, usize)> {
        let classes = self.program.sites.iter().flat_map(|site| site.classes());
        classes.map(|(class, slot)| (class, slot as usize))
    }

    /// Multiprocessors that have work, and how unevenly it falls on them: the most blocks that one
    /// of them runs, over the mean.
    fn spread(&self) -> (f64, f64) {
        let multiprocessors = f64::from(self.device.multiprocessors);
        let blocks = self.blocks as f64;
        let busy = blocks.min(multiprocessors);
        (busy, (blocks / busy).ceil() / (blocks / busy))
    }

    /// Cycles of a multiprocessor to seconds.
    fn seconds(&self, cycles: f64) -> f64 {
        cycles / (f64::from(self.device.clock_khz) * 1e3)
    }
}

/// [`SiteCounts`] of a whole launch, estimated.
#[derive(Clone, Copy, Default)]
struct SiteEstimate {
    requests: f64,
    /// Requests, and those whose lanes were all switched off.
    issued: f64,
    units: f64,
    hits: f64,
    far: f64,
    wavefronts: f64,
}

impl SiteEstimate {
    fn of(counts: &SiteCounts, scale: f64, issued: f64) -> SiteEstimate {
        let requests = counts.requests as f64 * scale;
        SiteEstimate {
            requests,
            issued: if counts.requests > 0 {
                issued.max(requests)
            } else {
                0.0
            },
            units: counts.units as f64 * scale,
            hits: counts.hits as f64 * scale,
            far: counts.far as f64 * scale,
            wavefronts: counts.wavefronts as f64 * scale,
        }
    }

    /// How often the L1 cache has a sector that is asked for here; none where none is.
    fn hit_rate(&self) -> Option<f64> {
        (self.units > 0.0).then(|| self.hits / self.units)
    }
}

/// The modelled time of a launch.
pub fn modelled(run: &FinishedLaunch) -> Modelled {
    let rates = &run.device.rates;
    let sites = run.sites();
    let l2_sectors = throughput::l2_sectors(run, &sites);
    let mut parts = throughput::parts(run, &sites, l2_sectors);
    let busiest = parts
        .iter()
        .map(|part| part.milliseconds)
        .fold(0.0, f64::max);
    let latency = latency::milliseconds(run, &sites, l2_sectors);
    let blocks = run.seconds(run.blocks as f64 * rates.block_cycles) * 1e3;
    let launch = rates.launch_seconds * 1e3;
    parts.push(ResourceTime {
        resource: Resource::Latency,
        milliseconds: latency,
    });
    parts.push(ResourceTime {
        resource: Resource::Launch,
        milliseconds: blocks.max(launch),
    });
    parts.sort_by(|a, b| b.milliseconds.total_cmp(&a.milliseconds));

    let norm = (busiest.powf(OVERLAP) + latency.powf(OVERLAP)).powf(1.0 / OVERLAP);
    let inside = norm.max(blocks) + DRAIN_SECONDS * 1e3;
    Modelled {
        gpu: run.device.models,
        milliseconds: inside.max(launch),
        binding: parts[0].resource,
        parts,
        occupancy: run.occupancy,
        roofline: throughput::roofline(run),
    }
}
