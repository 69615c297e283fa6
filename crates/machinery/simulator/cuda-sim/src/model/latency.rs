//! The latency bound: the time that a launch takes because each warp executes dependent instructions one
//! after the other, however idle the GPU is.
//!
//! The latency of a block is the length of the critical path through its instructions, summed over its basic
//! blocks. The blocks of a launch run in *waves* of as many as are resident at once.

use super::{FinishedLaunch, SiteEstimate, throughput};
use crate::isa::Class;
use crate::isa::check_event::FenceScope;
use crate::isa::listing::{RuntimeCall, Stall, Step};
use crate::profile::WorkShare;

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

/// Latency in cycles of a fence of all threads of the device that follows a store. Measured on an NVIDIA H200 with
/// `scripts/rates.cu` ("stalls" and "calls of the device runtime"), like the following constants.
const DEVICE_FENCE_LATENCY: f64 = 600.0;

/// Latency in cycles of a fence of all threads of the system that follows a store, while all SMs execute one.
const SYSTEM_FENCE_LATENCY: f64 = 2000.0;

/// Latency in cycles of a call of the device runtime, and the seconds that it takes of the device for each warp and for
/// each thread, because the device executes one call at a time.
struct CallCost {
    latency: f64,
    warp_seconds: f64,
    thread_seconds: f64,
}

const PRINT: CallCost = CallCost {
    latency: 40_000.0,
    warp_seconds: 1.7e-6,
    thread_seconds: 0.23e-6,
};

const HEAP: CallCost = CallCost {
    latency: 12_000.0,
    warp_seconds: 0.39e-6,
    thread_seconds: 0.106e-6,
};

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
    // Per block on average: its total cycles, those of basic blocks that access device memory, and those of fences and calls.
    let (mut cycles, mut memory_cycles, mut stall_cycles) = (0.0, 0.0, 0.0);
    let share = busiest_warp_share(run, warps_per_block);
    let mut flights: Vec<Flight> = Vec::with_capacity(blocks.len());
    for ((block, visit), path) in blocks.iter().zip(&run.counts.visits).zip(&critical_paths) {
        // A block ends when its last warp ends, so a basic block counts once per block even if only one warp
        // runs it, and a loop as often as its busiest warp runs it.
        let visits = visit.warps as f64 / run.blocks as f64;
        let visits = visits.min(1.0).max(visits * share);
        let before = block.issued_by.or(block.overlaps);
        let before = before.and_then(|before| flights.get(before).copied());
        let before = before.unwrap_or_default();
        // Predicated instructions are issued among those of another basic block, and overlap with them.
        let (own, issued) = match block.issued_by {
            Some(issuer) => ((path - critical_paths[issuer]).max(0.0), before.issued),
            None => (*path, before.issued + path),
        };
        let end = before.end.max(before.issued + own);
        flights.push(Flight { issued, end });
        let exclusive = visits * (end - before.end);
        cycles += exclusive;
        if block.steps.iter().any(|step| step.class == Class::Global) {
            memory_cycles += exclusive;
        }
        let stalls = block.steps.iter().filter_map(|step| step.stall);
        let stalls: f64 = stalls.map(stall_latency).sum();
        stall_cycles += visits * stalls.min(*path);
    }
    let work = &run.counts.work;
    let waits = |cycles: fn(&WorkShare) -> u64| {
        cycles(&work.delays) as f64 + cycles(&work.sleeps) as f64 * run.cycles(1e-9)
    };
    let delay = waits(WorkShare::total) / run.blocks as f64;
    let block = delay + cycles + rates.block_overhead_cycles + WARP_CYCLES * warps_per_block;
    // On the SM with the most blocks.
    let waves = run.blocks.div_ceil(run.device.multiprocessors.into());
    let waves = waves.div_ceil(run.occupancy.blocks.into()) as f64;
    // Blocks with more work than others do not have more stalls.
    let busiest = delay
        + stall_cycles
        + busiest_block(
            run,
            cycles - stall_cycles,
            (memory_cycles - stall_cycles).max(0.0),
        );
    let longest_delay = waits(WorkShare::busiest);
    let seconds = run.seconds((waves * block).max(busiest).max(longest_delay));
    seconds.max(call_seconds(run)) * 1e3
}

/// The cycles from the start of a sequence of basic blocks whose predicated loads are in flight at the same time.
#[derive(Clone, Copy, Default)]
struct Flight {
    /// The time at which the next predicated block is issued.
    issued: f64,
    /// The time at which all blocks so far end.
    end: f64,
}

/// Returns the busiest warp's share of the instructions of its block, on average. `warps` is the number of warps of
/// each block.
fn busiest_warp_share(run: &FinishedLaunch, warps: f64) -> f64 {
    let work = &run.counts.work;
    let share = work.busiest_warps as f64 / work.instructions.total().max(1) as f64;
    share.clamp(1.0 / warps, 1.0)
}

/// Returns the seconds that the device needs to execute all calls of the device runtime.
fn call_seconds(run: &FinishedLaunch) -> f64 {
    let blocks = run.program.blocks.iter().zip(&run.counts.visits);
    let calls = blocks.flat_map(|(block, visit)| {
        let stalls = block.steps.iter().filter_map(|step| step.stall);
        stalls.map(move |stall| (stall, visit))
    });
    calls
        .map(|(stall, visit)| match stall {
            Stall::Call(call) => {
                let cost = call_cost(call);
                visit.warps as f64 * cost.warp_seconds + visit.threads as f64 * cost.thread_seconds
            }
            _ => 0.0,
        })
        .sum()
}

/// Returns the latency in cycles of a fence or a call; 0 for stalls that depend on other instructions.
fn stall_latency(stall: Stall) -> f64 {
    match stall {
        Stall::Fence(FenceScope::Device) => DEVICE_FENCE_LATENCY,
        Stall::Fence(FenceScope::System) => SYSTEM_FENCE_LATENCY,
        Stall::Call(call) => call_cost(call).latency,
        Stall::Fence(FenceScope::Block) | Stall::Copies(_) => 0.0,
    }
}

fn call_cost(call: RuntimeCall) -> CallCost {
    match call {
        RuntimeCall::Print => PRINT,
        RuntimeCall::Heap => HEAP,
    }
}

/// Returns the cycles of the busiest block. `cycles` is the average per block, of which basic blocks that access device
/// memory take `memory_cycles`.
fn busiest_block(run: &FinishedLaunch, cycles: f64, memory_cycles: f64) -> f64 {
    let work = &run.counts.work;
    let parts = [(work.instructions, cycles), (work.accesses, memory_cycles)];
    parts
        .iter()
        .map(|(shares, cycles)| (shares.imbalance(run.blocks), cycles))
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
    let path = finish.into_iter().fold(issued, f64::max);
    // Copies of the iteration before, for example, have had the time of as many iterations as groups may be in flight.
    let awaited = steps.iter().filter_map(|step| match step.stall? {
        Stall::Copies(0) => Some(path + miss),
        Stall::Copies(groups) => Some(miss / f64::from(groups)),
        _ => None,
    });
    awaited.fold(path, f64::max)
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
        Class::Control => step.stall.map_or(0.0, stall_latency).max(CONTROL_LATENCY),
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
