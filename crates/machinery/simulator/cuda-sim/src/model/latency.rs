//! The latency bound: the time that a launch takes because each warp executes dependent instructions one
//! after the other, however idle the GPU is.
//!
//! The latency of a block is the length of the critical path through its instructions, summed over its basic
//! blocks. The blocks of a launch run in *waves* of as many as are resident at once.

use super::{FinishedLaunch, SiteEstimate, throughput};
use crate::isa::Class;
use crate::isa::listing::Step;

/// Cycles that a block stays resident per warp, in addition to the time its warps run: warps start and end
/// one after the other, and the next block waits for the last of them. Measured on an NVIDIA H200 that copied
/// 64 M floats in blocks of 256 to 1024 threads (`scripts/rates.cu`).
const WARP_CYCLES: f64 = 14.5;

/// Latency in cycles of a correctly rounded square root or division.
const SPECIAL_LATENCY: f64 = 40.0;

/// Cycles between two accesses of a warp: a quarter of an SM has 8 load/store units for the 32 lanes (NVIDIA
/// H100 white paper).
const ACCESS_CYCLES: f64 = 4.0;

/// Additional latency in cycles of a constant in the L1.5 constant cache: 89 instead of 27 cycles on a Volta
/// (Jia, Maggioni, Staiger and Scarpazza 2018, "Dissecting the NVIDIA Volta GPU Architecture via
/// Microbenchmarking").
const L15_CONSTANT_CYCLES: f64 = 62.0;

/// The number of partitions of an SM, each with its own tensor cores and warps.
const QUARTERS: f64 = 4.0;

/// Cycles from a branch to its target instruction.
const CONTROL_LATENCY: f64 = 12.0;

/// Returns the latency bound in milliseconds: the time of the blocks that run one after the other on an SM.
/// `l2_sectors` is the number of sectors that go to the L2 cache.
pub fn milliseconds(run: &FinishedLaunch, sites: &[SiteEstimate], l2_sectors: f64) -> f64 {
    let rates = &run.device.rates;
    let warps_per_block = f64::from(run.threads.div_ceil(run.device.warp_size));
    let miss = miss_latency(run, l2_sectors);
    let blocks = &run.program.blocks;
    let critical_paths: Vec<f64> = blocks
        .iter()
        .map(|block| critical_path(run, sites, miss, &block.steps))
        .collect();
    // Per block on average: its total cycles, and those of basic blocks that access device memory.
    let (mut cycles, mut memory_cycles) = (0.0, 0.0);
    for ((block, visit), path) in blocks.iter().zip(&run.counts.visits).zip(&critical_paths) {
        // A block ends when its last warp ends, so a basic block counts once per block even if only one warp
        // runs it.
        let visits = visit.warps as f64 / run.blocks as f64;
        let visits = visits.min(1.0).max(visits / warps_per_block);
        // Predicated instructions are issued among those of another basic block, and overlap with them.
        let issuer_path = block.issued_by.map_or(0.0, |issuer| critical_paths[issuer]);
        let exclusive = visits * (path - issuer_path).max(0.0);
        cycles += exclusive;
        if block.steps.iter().any(|step| step.class == Class::Global) {
            memory_cycles += exclusive;
        }
    }
    let delays = &run.counts.work.delays;
    let delay = delays.total() as f64 / run.blocks as f64;
    let block = delay + cycles + rates.block_overhead_cycles + WARP_CYCLES * warps_per_block;
    // On the SM with the most blocks.
    let waves = run.blocks.div_ceil(run.device.multiprocessors.into());
    let waves = waves.div_ceil(run.occupancy.blocks.into()) as f64;
    let busiest = delay + busiest_block(run, cycles, memory_cycles);
    let longest_delay = delays.busiest() as f64;
    run.seconds((waves * block).max(busiest).max(longest_delay)) * 1e3
}

/// The ratio of the busiest block's work to the average above which the launch is taken to wait for that
/// block. With less imbalance, other blocks hide it.
const IMBALANCE_THRESHOLD: f64 = 4.0;

/// Returns the cycles of the busiest block if it does much more than the average, otherwise 0. While that
/// block runs alone, nothing hides its latency. `cycles` is the average per block, of which basic blocks that
/// access device memory take `memory_cycles`.
fn busiest_block(run: &FinishedLaunch, cycles: f64, memory_cycles: f64) -> f64 {
    let work = &run.counts.work;
    let parts = [(work.instructions, cycles), (work.accesses, memory_cycles)];
    parts
        .iter()
        .map(|(shares, cycles)| (shares.imbalance(run.blocks), cycles))
        .filter(|&(imbalance, _)| imbalance > IMBALANCE_THRESHOLD)
        .map(|(imbalance, cycles)| imbalance * cycles)
        .fold(0.0, f64::max)
}

/// Returns the length in cycles of the critical path of a basic block, for a single warp. `miss` is the
/// latency of a load that misses the L1 cache.
fn critical_path(run: &FinishedLaunch, sites: &[SiteEstimate], miss: f64, steps: &[Step]) -> f64 {
    // The loads of a basic block are issued together, so a use waits for the slowest of them.
    let hits: f64 = steps
        .iter()
        .filter(|step| step.has_memory_latency)
        .filter_map(|step| sites[step.slot? as usize].hit_rate())
        .product();
    let load = hits * run.device.rates.latency.l1 + (1.0 - hits) * miss;
    let mut finish = Vec::with_capacity(steps.len());
    let mut unit_free = 0.0;
    for step in steps {
        let mut start = step
            .dependences
            .iter()
            .map(|&predecessor| finish[predecessor as usize])
            .fold(0.0, f64::max);
        // Loads do not queue behind stores, which wait for their values: the compiler moves loads up before
        // stores.
        if step.slot.is_some() && step.has_memory_latency {
            start = start.max(unit_free);
            unit_free = start + ACCESS_CYCLES;
        }
        finish.push(start + cycles(run, sites, step, load));
    }
    let issued = steps.len() as f64;
    finish.into_iter().fold(issued, f64::max)
}

/// Returns the latency of an instruction in cycles. `load` is the latency of the basic block's loads from
/// global and local memory.
fn cycles(run: &FinishedLaunch, sites: &[SiteEstimate], step: &Step, load: f64) -> f64 {
    let rates = &run.device.rates;
    if step.barrier {
        let warps = f64::from(run.threads.div_ceil(run.device.warp_size));
        return rates.latency.barrier[0] + rates.latency.barrier[1] * warps;
    }
    if let Some(slot) = step.slot {
        if !step.has_memory_latency {
            return rates.latency.arithmetic;
        }
        return match (step.class, sites[slot as usize].hit_rate()) {
            (Class::Shared, _) => rates.latency.shared,
            (Class::Constant, _) => constant_latency(run, &sites[slot as usize]),
            (_, None) => 0.0,
            (_, Some(_)) => load,
        };
    }
    match step.class {
        // The load is merged into another load.
        Class::Shared if step.has_memory_latency => rates.latency.shared,
        Class::Constant if step.has_memory_latency => rates.latency.constant,
        Class::Special => SPECIAL_LATENCY,
        Class::Tensor => rates.latency.tensor,
        // Other instructions overlap with it, but a use of the result waits until the warp's partition of the
        // SM has finished.
        Class::Warpgroup => {
            let path = f64::from(step.n8_tiles) * rates.warpgroup_cycles * QUARTERS;
            path.max(rates.latency.tensor)
        }
        Class::Control => CONTROL_LATENCY,
        _ if step.has_no_sources => rates.latency.constant,
        Class::Move => 0.0,
        _ => rates.latency.arithmetic,
    }
}

/// Returns the latency in cycles of a load from constant memory. The warps of a block load the same constants
/// one after the other, so if the first of them misses, the others wait as well.
fn constant_latency(run: &FinishedLaunch, site: &SiteEstimate) -> f64 {
    let latency = &run.device.rates.latency;
    let warps = f64::from(run.threads.div_ceil(run.device.warp_size));
    let share = |misses: f64| (misses * warps / site.requests.max(1.0)).min(1.0);
    let l2_share = share(site.l15_misses);
    let l15_share = share(site.units - site.hits) - l2_share;
    let l15 = latency.constant + L15_CONSTANT_CYCLES;
    let hit = (1.0 - l15_share - l2_share) * latency.constant;
    hit + l15_share * l15 + l2_share * latency.l2.max(l15)
}

/// Returns the latency in cycles of a load that misses the L1 cache: from the L2 cache, or from device memory.
fn miss_latency(run: &FinishedLaunch, l2_sectors: f64) -> f64 {
    let rates = &run.device.rates;
    let miss_rate = (throughput::memory_bytes(run) / 32.0 / l2_sectors.max(1.0)).min(1.0);
    rates.latency.l2 + miss_rate * (rates.latency.memory - rates.latency.l2)
}
