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
//!
//! Occupancy, the number of blocks of a launch that an SM holds at once, is that of the CUDA C++ Best Practices Guide,
//! "Occupancy", with the device's limits.

mod latency;
mod throughput;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::device::DeviceSpec;
use crate::isa::{AccessClass, Kernel, Listing};
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

/// The name of a GPU that can be modelled.
pub type GpuName = &'static str;

/// The estimated time of a launch on the modelled GPU, and the time of each resource.
///
/// The estimate is for a launch that follows others like it, as in the chapters' measurements: data that fits
/// the L2 cache is already there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Modelled {
    /// The modelled GPU.
    #[serde(deserialize_with = "preset")]
    pub gpu: GpuName,
    /// Milliseconds from one launch to the next.
    pub milliseconds: f64,
    /// The bottleneck: the resource that takes longest. To make the kernel faster, use less of this resource.
    pub binding: Resource,
    /// The time of each resource, longest first. The times overlap, so their sum exceeds the total time.
    #[serde(rename = "parts")]
    pub resources: Vec<ResourceTime>,
    /// The number of warps that an SM holds.
    pub occupancy: Occupancy,
    /// The kernel's point in a roofline plot.
    pub roofline: Roofline,
}

/// The time that a launch needs of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResourceTime {
    pub resource: Resource,
    pub milliseconds: f64,
}

/// A resource that may bound a kernel's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// The arithmetic units.
    Arithmetic,
    /// The warp schedulers, each of which issues one instruction per cycle.
    Issue,
    /// The L1 cache and shared memory, which share one data array.
    L1Shared,
    /// The constant cache.
    ConstantCache,
    /// The L2 cache.
    L2,
    /// Device memory.
    Memory,
    /// Latency: too few warps to hide the time that instructions take.
    Latency,
    /// Launching the grid and distributing its blocks.
    Launch,
}

/// A kernel's point in a roofline plot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// Floating-point operations. An addition or a multiplication counts as one, a fused multiply-add as two.
    pub operations: f64,
    /// Bytes moved between device memory and the L2 cache.
    pub bytes: f64,
    /// The peak number of operations per second.
    pub peak_operations: f64,
    /// The peak bandwidth of device memory in bytes per second.
    pub peak_bandwidth: f64,
}

impl Modelled {
    /// Returns the milliseconds for which SMs are busy: the time without that of launching.
    pub fn busy_milliseconds(&self) -> f64 {
        let (mut throughput, mut latency) = (0.0_f64, 0.0);
        for part in &self.resources {
            match part.resource {
                Resource::Launch => {}
                Resource::Latency => latency = part.milliseconds,
                _ => throughput = throughput.max(part.milliseconds),
            }
        }
        overlapped(throughput, latency)
    }

    /// Adds another launch of the same kernel on the same GPU.
    pub(crate) fn add(&mut self, other: &Modelled) {
        self.milliseconds += other.milliseconds;
        for part in &other.resources {
            let mut existing = self.resources.iter_mut();
            match existing.find(|existing| existing.resource == part.resource) {
                Some(existing) => existing.milliseconds += part.milliseconds,
                None => self.resources.push(*part),
            }
        }
        self.resources
            .sort_by(|first, other| other.milliseconds.total_cmp(&first.milliseconds));
        if let Some(longest) = self.resources.first() {
            self.binding = longest.resource;
        }
        self.roofline.operations += other.roofline.operations;
        self.roofline.bytes += other.roofline.bytes;
    }
}

/// Deserializes the name of a preset GPU as a static string. Fails if there is no such preset.
fn preset<'de, D: Deserializer<'de>>(from: D) -> Result<GpuName, D::Error> {
    let name = String::deserialize(from)?;
    let device = DeviceSpec::named(&name);
    let unknown = || serde::de::Error::custom(format!("{name} cannot be modelled"));
    Ok(device.ok_or_else(unknown)?.models)
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Arithmetic => "arithmetic",
            Resource::Issue => "instruction issue",
            Resource::L1Shared => "L1 cache and shared memory",
            Resource::ConstantCache => "constant cache",
            Resource::L2 => "L2 cache",
            Resource::Memory => "device memory",
            Resource::Latency => "latency",
            Resource::Launch => "launching",
        })
    }
}

/// The number of warps of a kernel that an SM holds at once, and what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Resident blocks per SM.
    pub blocks: u32,
    /// Resident warps per SM.
    pub warps: u32,
    /// The hardware maximum of resident warps per SM.
    #[serde(rename = "most_warps")]
    pub max_warps: u32,
    /// The resource that prevents a further block.
    pub limit: OccupancyLimit,
}

/// The resource that limits the number of resident blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OccupancyLimit {
    /// The maximum number of threads per SM.
    Threads,
    /// The maximum number of blocks per SM.
    Blocks,
    /// Shared memory.
    SharedMemory,
    /// Registers.
    Registers,
    /// No resource: the grid has no further blocks.
    Grid,
}

impl fmt::Display for OccupancyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OccupancyLimit::Threads => "threads",
            OccupancyLimit::Blocks => "blocks",
            OccupancyLimit::SharedMemory => "shared memory",
            OccupancyLimit::Registers => "registers",
            OccupancyLimit::Grid => "the grid",
        })
    }
}

/// Registers are allocated per warp in multiples of this number.
const REGISTER_UNIT: u32 = 256;

/// Returns the occupancy of `blocks` blocks of `threads` threads, with `shared` bytes of shared memory per
/// block.
pub fn occupancy(
    device: &DeviceSpec,
    kernel: &Kernel,
    threads: u32,
    shared: u32,
    blocks: u64,
) -> Occupancy {
    let max_warps = device.warps_per_multiprocessor();
    let warps = threads.div_ceil(device.warp_size).max(1);
    let registers = kernel.estimated_registers() * device.warp_size;
    let resident = device.registers_per_multiprocessor / registers.next_multiple_of(REGISTER_UNIT);
    let shared = shared
        .saturating_add(device.shared_reserved_per_block)
        .max(1);
    let grid = blocks.div_ceil(device.multiprocessors.into());
    let limits = [
        (OccupancyLimit::Threads, max_warps / warps),
        (OccupancyLimit::Blocks, device.blocks_per_multiprocessor),
        (
            OccupancyLimit::SharedMemory,
            device.shared_per_multiprocessor / shared,
        ),
        (OccupancyLimit::Registers, resident / warps),
        (
            OccupancyLimit::Grid,
            u32::try_from(grid).unwrap_or(u32::MAX),
        ),
    ];
    let tightest = limits.into_iter().min_by_key(|&(_, blocks)| blocks);
    let (limit, blocks) = tightest.unwrap_or((OccupancyLimit::Grid, 1));
    let blocks = blocks.max(1);
    Occupancy {
        blocks,
        warps: blocks * warps,
        max_warps,
        limit,
    }
}
