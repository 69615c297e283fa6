//! An analytical time model: estimates the time that a GPU would take for a launch from the launch's
//! counters, and names the bottleneck.
//!
//! The estimate combines three bounds, each computed from counters and from the rates in the GPU's preset:
//!
//! - **Throughput** (`throughput`): each resource (arithmetic units, instruction issue, L1 cache and shared
//!   memory, constant cache, L2 cache, device memory) needs a certain time for the work it is given, spread
//!   over the SMs. The slowest resource is the bound. This generalizes the roofline model (Williams, Waterman
//!   and Patterson, CACM 2009) from two resources to six; the kernel's point in the original roofline is
//!   reported as well.
//! - **Latency** (`latency`): a single warp needs a certain time for its critical path of dependent
//!   instructions, and an SM holds only as many warps as its occupancy allows. Blocks beyond that run in
//!   further waves, whose times add up.
//! - **Launch**: a grid is launched, and its blocks are distributed, at a limited rate.
//!
//! The view of a kernel's throughput as bounded by latency at low occupancy and by resources at high
//! occupancy is that of Volkov ("Understanding Latency Hiding on GPUs", PhD thesis, UC Berkeley 2016).
//! Neither bound hides the other completely, so they are combined by a p-norm, between a maximum and a sum,
//! with the measured exponent `OVERLAP`.
//!
//! The rates were measured on an NVIDIA H200 with `scripts/rates.cu` (`docs/results/rates-h200.txt`), or come
//! from NVIDIA's white papers and from Jia et al. 2018 where the comment of a constant cites it.
//! `docs/results/ladder-h200.md` compares modelled with measured times.

mod latency;
mod modelled;
mod occupancy;
mod throughput;

pub use modelled::{Modelled, Resource, ResourceTime, Roofline};
pub use occupancy::{Occupancy, OccupancyLimit, occupancy};

use crate::device::DeviceSpec;
use crate::isa::{AccessClass, Listing};
use crate::memory::footprint::DeviceTraffic;
use crate::profile::Counts;
use crate::profile::collect::{LaunchCounts, SiteCounts};

/// The exponent of the p-norm that combines the throughput and latency bounds: 1 would be the sum, infinity
/// the maximum. Fitted to an NVIDIA H200 that copied 64 M floats with 2 to 64 resident warps
/// (`scripts/rates.cu`): the model is within 7 % of all these times.
const OVERLAP: f64 = 1.7;

/// Seconds before the first block runs and after the last block ends that are not hidden by the gap between
/// launches. Measured on an NVIDIA H200: launches of `raytrace-const` and `add-constant` that take 2 to 20 µs
/// last 1 to 3 µs longer than their SMs are active (Nsight Compute's `sm__cycles_active`).
const DRAIN_SECONDS: f64 = 1.5e-6;

/// A completed launch: the inputs of the model.
pub struct FinishedLaunch<'a> {
    pub program: &'a Listing,
    pub device: &'a DeviceSpec,
    pub counted: &'a LaunchCounts,
    /// The counters that are always on, summed over all parts of the launch.
    pub counts: &'a Counts,
    /// The traffic between device memory and the L2 cache.
    pub traffic: DeviceTraffic,
    pub occupancy: Occupancy,
    /// The blocks of the grid, and the threads per block.
    pub blocks: u64,
    pub threads: u32,
}

impl FinishedLaunch<'_> {
    /// Returns the estimated counts of each site for the whole launch: the counts of the sample, scaled by
    /// how much more often all blocks execute the site's basic block. Zero for sites that no sampled block
    /// executes.
    fn sites(&self) -> Vec<SiteEstimate> {
        let (all, sampled) = (&self.counts.visits, &self.counted.sample.counts.visits);
        let mut estimates = vec![SiteEstimate::default(); self.program.sites.slot_count()];
        for site in self.program.sites.iter() {
            let block = site.block as usize;
            let scale = match sampled[block].warps {
                0 => 0.0,
                sampled => all[block].warps as f64 / sampled as f64,
            };
            let issued = all[self.program.issuer(block)].warps as f64;
            for slot in site.slot..site.slot + site.kind.slot_count() {
                let counts = &self.counted.sample.sites[slot as usize];
                estimates[slot as usize] = SiteEstimate::of(counts, scale, issued);
            }
        }
        estimates
    }

    /// Returns the counted accesses in program order: the class of each, and its slot.
    fn accesses(&self) -> impl Iterator<Item = (AccessClass, usize)> {
        let classes = self.program.sites.iter().flat_map(|site| site.classes());
        classes.map(|(class, slot)| (class, slot as usize))
    }

    /// Returns the share of the launch's work that the busiest SM does. It has the maximum number of blocks per SM, and at
    /// least the busiest block.
    fn busiest_sm_share(&self) -> f64 {
        let blocks = self.blocks as f64;
        let per_sm = (blocks / f64::from(self.device.multiprocessors)).ceil();
        (per_sm / blocks).max(self.counts.work.instructions.busiest_share())
    }

    /// Converts seconds to SM cycles.
    fn cycles(&self, seconds: f64) -> f64 {
        seconds * f64::from(self.device.clock_khz) * 1e3
    }

    /// Converts SM cycles to seconds.
    fn seconds(&self, cycles: f64) -> f64 {
        cycles / (f64::from(self.device.clock_khz) * 1e3)
    }
}

/// The estimated [`SiteCounts`] of a whole launch.
#[derive(Clone, Copy, Default)]
struct SiteEstimate {
    requests: f64,
    /// The requests, and the executions without active lanes.
    issued: f64,
    units: f64,
    hits: f64,
    l15_misses: f64,
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
            l15_misses: counts.l15_misses as f64 * scale,
            wavefronts: counts.wavefronts as f64 * scale,
        }
    }

    /// Returns the L1 hit rate of the site's sectors; `None` if the site accesses no sectors.
    fn hit_rate(&self) -> Option<f64> {
        (self.units > 0.0).then(|| self.hits / self.units)
    }
}

/// Estimates the time of a launch.
pub fn estimate_time(run: &FinishedLaunch) -> Modelled {
    let rates = &run.device.rates;
    let sites = run.sites();
    let l2_sectors = throughput::l2_sectors(run, &sites);
    let mut resources = throughput::resource_times(run, &sites, l2_sectors);
    let busiest = resources
        .iter()
        .map(|time| time.milliseconds)
        .fold(0.0, f64::max);
    let latency = latency::milliseconds(run, &sites, l2_sectors);
    let blocks = run.seconds(run.blocks as f64 * rates.block_interval_cycles) * 1e3;
    let launch = rates.launch_seconds * 1e3;
    resources.push(ResourceTime {
        resource: Resource::Latency,
        milliseconds: latency,
    });
    resources.push(ResourceTime {
        resource: Resource::Launch,
        milliseconds: blocks.max(launch),
    });
    resources.sort_by(|a, b| b.milliseconds.total_cmp(&a.milliseconds));

    let duration = overlapped(busiest, latency).max(blocks) + DRAIN_SECONDS * 1e3;
    Modelled {
        gpu: run.device.models,
        milliseconds: duration.max(launch),
        binding: resources[0].resource,
        resources,
        occupancy: run.occupancy,
        roofline: throughput::roofline(run),
    }
}

/// Combines the throughput and latency bounds.
fn overlapped(throughput: f64, latency: f64) -> f64 {
    (throughput.powf(OVERLAP) + latency.powf(OVERLAP)).powf(1.0 / OVERLAP)
}
