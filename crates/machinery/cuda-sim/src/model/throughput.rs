//! What each resource of the GPU takes for the work of a launch.

use super::{FinishedLaunch, Resource, ResourceTime, Roofline, SiteEstimate};
use crate::isa::{AccessSet, Class, Direction, Memory};

/// Machine instructions for a PTX instruction of the special class: a correctly rounded square
/// root or division is an approximation and some steps that refine it.
const INSTRUCTIONS_A_SPECIAL: f64 = 8.0;

/// Bytes of a sector.
const SECTOR: f64 = 32.0;

/// Cycles of a multiprocessor for a warp's atomic on shared memory, and on global memory for each
/// sector of it.
const CYCLES_AN_ATOMIC: f64 = 2.0;

/// Wavefronts' time for a warp's asynchronous copy besides those that bring it to shared memory. Read
/// off an NVIDIA H200 that copied 4 bytes a lane from 1 to 32 lanes of one bank, and 16 bytes
/// (`scripts/rates.cu`, "asynchronous copies").
const WAVEFRONTS_A_COPY: f64 = 2.0;

/// The time of every resource, milliseconds, where so many sectors go to the L2 cache.
pub fn parts(run: &FinishedLaunch, sites: &[SiteEstimate], l2_sectors: f64) -> Vec<ResourceTime> {
    let rates = &run.device.rates;
    let (busy, uneven) = run.spread();
    let each = |cycles: f64| run.seconds(cycles / busy * uneven) * 1e3;
    let warp = f64::from(run.device.warp_size);

    let classes = classes(run);
    let of = |class: Class| classes[class as usize];
    let special = of(Class::Special);
    let issued =
        classes.iter().sum::<f64>() - of(Class::Move) + special * (INSTRUCTIONS_A_SPECIAL - 1.0);
    let arithmetic = [
        (
            of(Class::Float) + special * INSTRUCTIONS_A_SPECIAL,
            rates.fp32_lanes,
        ),
        (of(Class::Integer), rates.integer_lanes),
        (special, rates.special_lanes),
        (of(Class::Double), rates.double_lanes),
    ];
    let tensor = of(Class::Tensor) * rates.tensor_cycles + eights(run) * rates.warpgroup_cycles;
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
        let (row, copies) = (class.row(), AccessSet::COPIES.has(class));
        match (row.memory, row.direction) {
            (Memory::Constant, _) => {
                let near = site.units - site.hits - site.far;
                constant += (site.issued - site.requests) * rates.constant_hit_cycles
                    + site.hits * rates.constant_hit_cycles
                    + near * rates.constant_miss_cycles
                    + site.far * rates.constant_far_cycles;
                constant_far += site.far;
            }
            (Memory::Shared, Direction::Updates) => {
                atomics += site.wavefronts * CYCLES_AN_ATOMIC;
            }
            (Memory::Shared, _) if copies => {
                wavefronts += site.wavefronts + site.issued * WAVEFRONTS_A_COPY;
            }
            // What a copy reads comes along with what it writes.
            _ if !AccessSet::DATA_STAGE.has(class) => {}
            (_, direction) => {
                wavefronts += site.wavefronts + site.issued - site.requests;
                if direction == Direction::Updates {
                    atomics += site.units * CYCLES_AN_ATOMIC;
                }
            }
        }
    }
    let l1 = wavefronts / rates.load_store_wavefronts + atomics;
    let l2 = run.seconds((l2_sectors + constant_far) * SECTOR / rates.l2_bytes_per_cycle) * 1e3;
    let memory = memory_bytes(run) / rates.memory_bandwidth_reached * 1e3;
    let parts = [
        (Resource::Arithmetic, each(arithmetic)),
        (Resource::Issue, each(issued / rates.issued_per_cycle)),
        (Resource::L1Shared, each(l1)),
        (Resource::ConstantCache, each(constant)),
        (Resource::L2, l2),
        (Resource::Memory, memory),
    ];
    parts
        .into_iter()
        .map(|(resource, milliseconds)| ResourceTime {
            resource,
            milliseconds,
        })
        .collect()
}

/// Sectors that go to the L2 cache, of all global and local accesses.
pub fn l2_sectors(run: &FinishedLaunch, sites: &[SiteEstimate]) -> f64 {
    let mut sectors = 0.0;
    for (class, slot) in run.accesses() {
        if AccessSet::DEVICE.has(class) {
            sectors += sites[slot].units - sites[slot].hits;
        }
    }
    sectors
}

/// How often each class of instruction was issued.
fn classes(run: &FinishedLaunch) -> [f64; Class::COUNT] {
    let mut classes = [0.0; Class::COUNT];
    for (number, block) in run.program.blocks.iter().enumerate() {
        let visit = run.counts.visits[run.program.issuer(number)];
        for (sum, &instructions) in classes.iter_mut().zip(&block.classes) {
            *sum += f64::from(instructions) * visit.warps as f64;
        }
    }
    classes
}

/// Eights of columns of all products of warpgroups, once for each warp.
fn eights(run: &FinishedLaunch) -> f64 {
    let blocks = run.program.blocks.iter().zip(&run.counts.visits);
    blocks
        .map(|(block, visit)| f64::from(block.eights) * visit.warps as f64)
        .sum()
}

/// The largest part of the L2 cache that a launch's data may take and still be there for the
/// next one.
const KEPT: f64 = 0.75;

/// Bytes between device memory and the chip, of a launch after others like it.
pub fn memory_bytes(run: &FinishedLaunch) -> f64 {
    let footprint = run.traffic.footprint as f64 * SECTOR;
    if footprint <= KEPT * f64::from(run.device.l2_bytes) {
        return 0.0;
    }
    (run.traffic.read + run.traffic.written) as f64 * SECTOR
}

/// The launch's place in a roofline: every byte of its footprint moved at least once.
pub fn roofline(run: &FinishedLaunch) -> Roofline {
    let rates = &run.device.rates;
    let blocks = run.program.blocks.iter().zip(&run.counts.visits);
    let operations = blocks
        .map(|(block, visit)| f64::from(block.operations) * visit.threads as f64)
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
