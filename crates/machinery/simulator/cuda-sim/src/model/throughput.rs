//! The throughput bound: the time that each resource of the GPU needs for the work of a launch.

use super::{FinishedLaunch, Resource, ResourceTime, Roofline, SiteEstimate};
use crate::isa::{AccessSet, Class, Direction, Memory};

/// Machine instructions per PTX instruction of the special class: a correctly rounded square root or division
/// is an approximation followed by refinement steps.
const INSTRUCTIONS_PER_SPECIAL: f64 = 8.0;

/// Bytes per sector.
const SECTOR: f64 = 32.0;

/// SM cycles per wavefront of an atomic on shared memory, and per sector of an atomic on global memory.
const CYCLES_PER_ATOMIC: f64 = 2.0;

/// Wavefronts per asynchronous copy of a warp, in addition to those that write to shared memory. Measured on
/// an NVIDIA H200 that copied 4 bytes per lane with 1 to 32 lanes on one bank, and 16 bytes per lane
/// (`scripts/rates.cu`, "asynchronous copies").
const WAVEFRONTS_PER_COPY: f64 = 2.0;

/// Returns the time of each resource. `l2_sectors` is the number of sectors that go to the L2 cache.
pub fn resource_times(
    run: &FinishedLaunch,
    sites: &[SiteEstimate],
    l2_sectors: f64,
) -> Vec<ResourceTime> {
    let rates = &run.device.rates;
    let share = run.busiest_sm_share();
    let milliseconds_per_sm = |cycles: f64| run.seconds(cycles * share) * 1e3;
    let warp = f64::from(run.device.warp_size);

    let class_counts = class_counts(run);
    let of = |class: Class| class_counts[class as usize];
    let special = of(Class::Special);
    let issued = class_counts.iter().sum::<f64>() - of(Class::Move)
        + special * (INSTRUCTIONS_PER_SPECIAL - 1.0);
    let arithmetic = [
        (
            of(Class::Float) + special * INSTRUCTIONS_PER_SPECIAL,
            rates.fp32_lanes,
        ),
        (of(Class::Integer), rates.integer_lanes),
        (special, rates.special_lanes),
        (of(Class::Double), rates.double_lanes),
    ];
    let tensor = of(Class::Tensor) * rates.tensor_cycles + n8_tiles(run) * rates.warpgroup_cycles;
    let arithmetic = arithmetic
        .map(|(instructions, lanes)| instructions * warp / lanes)
        .into_iter()
        .fold(tensor, f64::max);

    let mut wavefronts = 0.0;
    let mut atomics = 0.0;
    let mut constant = 0.0;
    let mut constant_far = 0.0;
    for (class, slot) in run.accesses() {
        let site = &sites[slot];
        let (row, copies) = (class.row(), AccessSet::ASYNC_COPIES.contains(class));
        match (row.memory, row.direction) {
            (Memory::Constant, _) => {
                let near = site.units - site.hits - site.l15_misses;
                constant += (site.issued - site.requests) * rates.constant_hit_cycles
                    + site.hits * rates.constant_hit_cycles
                    + near * rates.constant_l15_cycles
                    + site.l15_misses * rates.constant_l2_cycles;
                constant_far += site.l15_misses;
            }
            (Memory::Shared, Direction::Updates) => {
                atomics += site.wavefronts * CYCLES_PER_ATOMIC;
            }
            (Memory::Shared, _) if copies => {
                wavefronts += site.wavefronts + site.issued * WAVEFRONTS_PER_COPY;
            }
            // The read side of a copy shares the wavefronts of the write side.
            _ if !AccessSet::DATA_STAGE.contains(class) => {}
            (_, direction) => {
                wavefronts += site.wavefronts + site.issued - site.requests;
                if direction == Direction::Updates {
                    atomics += site.units * CYCLES_PER_ATOMIC;
                }
            }
        }
    }
    let l1 = wavefronts / rates.load_store_wavefronts + atomics;
    let l2 = run.seconds((l2_sectors + constant_far) * SECTOR / rates.l2_bytes_per_cycle) * 1e3;
    let memory = memory_bytes(run) / rates.achieved_memory_bandwidth * 1e3;
    let resources = [
        (Resource::Arithmetic, milliseconds_per_sm(arithmetic)),
        (
            Resource::Issue,
            milliseconds_per_sm(issued / rates.issued_per_cycle),
        ),
        (Resource::L1Shared, milliseconds_per_sm(l1)),
        (Resource::ConstantCache, milliseconds_per_sm(constant)),
        (Resource::L2, l2),
        (Resource::Memory, memory),
    ];
    resources
        .into_iter()
        .map(|(resource, milliseconds)| ResourceTime {
            resource,
            milliseconds,
        })
        .collect()
}

/// Returns the number of sectors that global and local accesses send to the L2 cache.
pub fn l2_sectors(run: &FinishedLaunch, sites: &[SiteEstimate]) -> f64 {
    let mut sectors = 0.0;
    for (class, slot) in run.accesses() {
        if AccessSet::DEVICE.contains(class) {
            sectors += sites[slot].units - sites[slot].hits;
        }
    }
    sectors
}

/// Returns the number of warp instructions issued, per instruction class.
fn class_counts(run: &FinishedLaunch) -> [f64; Class::COUNT] {
    let mut class_counts = [0.0; Class::COUNT];
    for (number, block) in run.program.blocks.iter().enumerate() {
        let visit = run.counts.visits[run.program.issuer(number)];
        for (sum, &instructions) in class_counts.iter_mut().zip(&block.classes) {
            *sum += f64::from(instructions) * visit.warps as f64;
        }
    }
    class_counts
}

/// Returns the total number of 8-column slices that `wgmma` instructions compute, counted once per warp.
fn n8_tiles(run: &FinishedLaunch) -> f64 {
    let blocks = run.program.blocks.iter().zip(&run.counts.visits);
    blocks
        .map(|(block, visit)| f64::from(block.n8_tiles) * visit.warps as f64)
        .sum()
}

/// The fraction of the L2 cache up to which a launch's footprint is taken to stay cached until the next launch.
const L2_REUSE_SHARE: f64 = 0.75;

/// Returns the bytes moved between device memory and the L2 cache by a launch that follows others like it.
pub fn memory_bytes(run: &FinishedLaunch) -> f64 {
    let footprint = run.traffic.footprint as f64 * SECTOR;
    if footprint <= L2_REUSE_SHARE * f64::from(run.device.l2_bytes) {
        return 0.0;
    }
    (run.traffic.read + run.traffic.written) as f64 * SECTOR
}

/// Returns the launch's point in a roofline plot. Each byte of its footprint is moved at least once.
pub fn roofline(run: &FinishedLaunch) -> Roofline {
    let rates = &run.device.rates;
    let blocks = run.program.blocks.iter().zip(&run.counts.visits);
    let operations = blocks
        .map(|(block, visit)| f64::from(block.flops) * visit.threads as f64)
        .sum();
    let clock = f64::from(run.device.clock_khz) * 1e3;
    let lanes = rates.fp32_lanes * f64::from(run.device.multiprocessors);
    Roofline {
        operations,
        bytes: (run.traffic.read + run.traffic.written) as f64 * SECTOR,
        peak_operations: 2.0 * lanes * clock,
        peak_bandwidth: run.device.memory_bandwidth,
    }
}
