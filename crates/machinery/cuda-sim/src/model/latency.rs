//! How long a launch takes because every warp takes its time, however idle the GPU is.

use super::{FinishedLaunch, SiteEstimate, throughput};
use crate::isa::Class;
use crate::isa::listing::Step;

/// Cycles that a block keeps its place for each of its warps, besides what they run: warps start
/// and end one after the other, and the next block waits for the last. Read off an NVIDIA H200 that
/// copied 64 M floats in blocks of 256 to 1024 threads (`scripts/rates.cu`).
const WARP_CYCLES: f64 = 14.5;

/// Cycles of a correctly rounded square root or division.
const SPECIAL_LATENCY: f64 = 40.0;

/// Cycles between one access of a warp and its next: a quarter of a multiprocessor has 8 load and
/// store units for the 32 lanes (NVIDIA H100 white paper).
const ACCESS_CYCLES: f64 = 4.0;

/// Cycles more where a constant is in the cache behind the first: 89 and 27 on a Volta (Jia, Maggioni,
/// Staiger and Scarpazza 2018, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking").
const CONSTANT_BEHIND_CYCLES: f64 = 62.0;

/// Parts of a multiprocessor, each with tensor cores and warps of its own.
const QUARTERS: f64 = 4.0;

/// Cycles from a branch to the instruction it leads to.
const CONTROL_LATENCY: f64 = 12.0;

/// Milliseconds that the blocks of a launch take one after the other, in as many places as its
/// multiprocessors have. So many sectors go to the L2 cache.
pub fn milliseconds(run: &FinishedLaunch, sites: &[SiteEstimate], l2_sectors: f64) -> f64 {
    let rates = &run.device.rates;
    let warps_a_block = f64::from(run.threads.div_ceil(run.device.warp_size));
    let miss = miss_latency(run, l2_sectors);
    let blocks = &run.program.blocks;
    let chains: Vec<f64> = blocks
        .iter()
        .map(|block| chain(run, sites, miss, &block.steps))
        .collect();
    // Of one block on average: all it takes, and what of it are parts that go to device memory.
    let (mut cycles, mut reaching) = (0.0, 0.0);
    for ((block, visit), own) in blocks.iter().zip(&run.counts.visits).zip(&chains) {
        // A place is free when the last warp is through: what one warp of a block does, the block
        // waits for.
        let visits = visit.warps as f64 / run.blocks as f64;
        let visits = visits.min(1.0).max(visits / warps_a_block);
        // Predicated instructions stand among those of the block that issues them, and wait with
        // them.
        let with = block.issued_by.map_or(0.0, |issuer| chains[issuer]);
        let alone = visits * (own - with).max(0.0);
        cycles += alone;
        if block.steps.iter().any(|step| step.class == Class::Global) {
            reaching += alone;
        }
    }
    let block = cycles + rates.block_start_cycles + WARP_CYCLES * warps_a_block;
    // On the multiprocessor that has most blocks.
    let rounds = run.blocks.div_ceil(run.device.multiprocessors.into());
    let rounds = rounds.div_ceil(run.occupancy.blocks.into()) as f64;
    run.seconds((rounds * block).max(longest(run, cycles, reaching))) * 1e3
}

/// How many times as much as others a block does before the launch is taken to wait for it: where blocks
/// differ by less, others hide it.
const MUCH_MORE: f64 = 4.0;

/// Cycles of the block that does most, where that is much more than blocks do on average: `cycles`, of which
/// parts that go to device memory take `reaching`. While it works alone nothing hides what it waits for. 0 where
/// blocks do about the same.
fn longest(run: &FinishedLaunch, cycles: f64, reaching: f64) -> f64 {
    let work = &run.counts.work;
    let parts = [(work.instructions, cycles), (work.accesses, reaching)];
    parts
        .iter()
        .map(|(shares, cycles)| (shares.unevenness(run.blocks), cycles))
        .filter(|&(times, _)| times > MUCH_MORE)
        .map(|(times, cycles)| times * cycles)
        .fold(0.0, f64::max)
}

/// Cycles from a basic block's first instruction to its last, for a warp alone. `miss`: those of a
/// load that the L1 cache does not have.
fn chain(run: &FinishedLaunch, sites: &[SiteEstimate], miss: f64, steps: &[Step]) -> f64 {
    // Loads of a block are asked for together, and whoever waits for one waits for the slowest.
    let hits: f64 = steps
        .iter()
        .filter(|step| step.loads)
        .filter_map(|step| sites[step.slot? as usize].hit_rate())
        .product();
    let load = hits * run.device.rates.latency.l1 + (1.0 - hits) * miss;
    let mut ends = Vec::with_capacity(steps.len());
    let mut unit_free = 0.0;
    for step in steps {
        let mut begin = step
            .after
            .iter()
            .map(|&before| ends[before as usize])
            .fold(0.0, f64::max);
        // Stores wait for their values; loads are moved up before them.
        if step.slot.is_some() && step.loads {
            begin = begin.max(unit_free);
            unit_free = begin + ACCESS_CYCLES;
        }
        ends.push(begin + cycles(run, sites, step, load));
    }
    let issued = steps.len() as f64;
    ends.into_iter().fold(issued, f64::max)
}

/// Cycles until the result of an instruction can be used. `load`: those of a load of the block from
/// global or local memory.
fn cycles(run: &FinishedLaunch, sites: &[SiteEstimate], step: &Step, load: f64) -> f64 {
    let rates = &run.device.rates;
    if step.barrier {
        let warps = f64::from(run.threads.div_ceil(run.device.warp_size));
        return rates.latency.barrier[0] + rates.latency.barrier[1] * warps;
    }
    if let Some(slot) = step.slot {
        if !step.loads {
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
        // It comes along with another load.
        Class::Shared if step.loads => rates.latency.shared,
        Class::Constant if step.loads => rates.latency.constant,
        Class::Special => SPECIAL_LATENCY,
        Class::Tensor => rates.latency.tensor,
        // Others run meanwhile; who uses the sums waits until the warp's quarter of the multiprocessor has them.
        Class::Warpgroup => {
            let own = f64::from(step.eights) * rates.warpgroup_cycles * QUARTERS;
            own.max(rates.latency.tensor)
        }
        Class::Control => CONTROL_LATENCY,
        _ if step.first => rates.latency.constant,
        Class::Move => 0.0,
        _ => rates.latency.arithmetic,
    }
}

/// Cycles of a load from constant memory. Warps of a block come for the same constants one after the
/// other, so that where the first of them has to wait the others do as well.
fn constant_latency(run: &FinishedLaunch, site: &SiteEstimate) -> f64 {
    let latency = &run.device.rates.latency;
    let warps = f64::from(run.threads.div_ceil(run.device.warp_size));
    let part = |misses: f64| (misses * warps / site.requests.max(1.0)).min(1.0);
    let far = part(site.far);
    let near = part(site.units - site.hits) - far;
    let behind = latency.constant + CONSTANT_BEHIND_CYCLES;
    let hit = (1.0 - near - far) * latency.constant;
    hit + near * behind + far * latency.l2.max(behind)
}

/// Cycles of a load that the L1 cache does not have: from the L2 cache, or from memory.
fn miss_latency(run: &FinishedLaunch, l2_sectors: f64) -> f64 {
    let rates = &run.device.rates;
    let miss_rate = (throughput::memory_bytes(run) / 32.0 / l2_sectors.max(1.0)).min(1.0);
    rates.latency.l2 + miss_rate * (rates.latency.memory - rates.latency.l2)
}
