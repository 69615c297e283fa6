//! From what a launch did to the time a GPU would take: that of its busiest resource.
//!
//! A simple model. Each resource has a rate, the work is spread evenly over the multiprocessors
//! that have a block, and the slowest resource sets the time. There is no cache in it: a warp
//! that reads one address finds it in the first cache, every other sector comes from device
//! memory. Latency is taken to be hidden.
//!
//! Rates were read off an NVIDIA H200 with the ray tracer of `raytrace-const`
//! (`docs/results/h200.md`): at 4096x4096 pixels and 1000 spheres a sphere takes 5.7 cycles a
//! warp with three loads from global memory and 9.2 with three from constant memory.

use crate::device::DeviceSpec;
use crate::exec::{Class, Launch};
use crate::profile::Counts;
use crate::program::Program;

/// Warp instructions a multiprocessor issues in a cycle: one for each of its four schedulers.
const ISSUED_A_CYCLE: f64 = 4.0;

/// Machine instructions for a PTX instruction of the special class: a correctly rounded square
/// root or division is an approximation and some steps that refine it.
const INSTRUCTIONS_A_SPECIAL: f64 = 8.0;

/// Cycles the special function unit, 16 lanes wide, takes for a warp.
const CYCLES_A_SPECIAL: f64 = 2.0;

/// Cycles the double-precision unit, 64 lanes wide, takes for a warp.
const CYCLES_A_DOUBLE: f64 = 0.5;

/// Cycles the load and store unit takes for a warp's access, and for each 128 bytes of it.
const CYCLES_A_REQUEST: f64 = 2.0;
const SECTORS_A_CYCLE: f64 = 4.0;

/// Cycles the constant cache takes for each distinct address of a warp.
const CYCLES_A_CONSTANT: f64 = 3.0;

/// Cycles for a warp's atomic, lane by lane.
const CYCLES_AN_ATOMIC: f64 = 32.0;

/// Between one launch and the next on a stream that is never empty, seconds.
const LAUNCH: f64 = 2.5e-6;

/// Modelled milliseconds of a launch.
pub fn milliseconds(
    program: &Program,
    counts: &Counts,
    device: &DeviceSpec,
    launch: &Launch,
) -> f64 {
    let mut classes = [0.0; Class::COUNT];
    for (block, visit) in program.blocks.iter().zip(&counts.visits) {
        for (sum, &instructions) in classes.iter_mut().zip(&block.classes) {
            *sum += f64::from(instructions) * visit.warps as f64;
        }
    }
    let special = classes[Class::Special as usize];
    let instructions: f64 = classes.iter().sum();
    let issue = (instructions + special * (INSTRUCTIONS_A_SPECIAL - 1.0)) / ISSUED_A_CYCLE;

    let global = &counts.global;
    let requests = (global.load_requests + global.store_requests) as f64;
    let sectors = (global.load_sectors + global.store_sectors) as f64;
    let others =
        counts.shared.loads + counts.shared.stores + counts.local.loads + counts.local.stores;
    let access = (CYCLES_A_REQUEST * requests).max(sectors / SECTORS_A_CYCLE)
        + others as f64
        + counts.atomics as f64 * CYCLES_AN_ATOMIC;

    let cycles = issue
        .max(special * CYCLES_A_SPECIAL)
        .max(classes[Class::Double as usize] * CYCLES_A_DOUBLE)
        .max(access)
        .max(counts.constant.addresses as f64 * CYCLES_A_CONSTANT);
    let blocks: f64 = launch.grid.iter().map(|&n| f64::from(n)).product();
    let busy = blocks.min(f64::from(device.multiprocessors));
    let on_chip = cycles / busy / (f64::from(device.clock_khz) * 1e3);

    let memory = global.streamed_sectors as f64 * 32.0 / device.memory_bandwidth;
    (on_chip.max(memory) + LAUNCH) * 1e3
}
