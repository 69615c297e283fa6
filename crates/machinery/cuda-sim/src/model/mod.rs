//! From what a launch did to the time a GPU would take: the busiest of its resources.
//!
//! A simple model. Each resource of a multiprocessor has a rate; the time is that of the one
//! with the most work, spread over the multiprocessors that have blocks, plus the launch itself.

use crate::device::DeviceSpec;
use crate::exec::{Class, Launch};
use crate::profile::Counts;
use crate::program::Program;

/// Warp instructions a multiprocessor issues a cycle.
const ISSUE: f64 = 4.0;

/// Cycles a warp instruction keeps its multiprocessor's unit busy, by class.
fn cycles(class: usize) -> f64 {
    match class {
        c if c == Class::Integer as usize => 0.25,
        c if c == Class::Float as usize => 0.25,
        c if c == Class::Double as usize => 0.5,
        c if c == Class::Special as usize => 2.0,
        _ => 0.25,
    }
}

/// Modelled milliseconds of a launch.
pub fn milliseconds(
    program: &Program,
    counts: &Counts,
    device: &DeviceSpec,
    launch: &Launch,
) -> f64 {
    let mut issued = 0.0;
    let mut special = 0.0;
    for (block, visit) in program.blocks.iter().zip(&counts.visits) {
        for (class, &number) in block.classes.iter().enumerate() {
            let instructions = f64::from(number) * visit.warps as f64;
            if class == Class::Special as usize {
                special += instructions * cycles(class);
            }
            issued += instructions / ISSUE;
        }
    }
    let _ = special;
    let blocks: f64 = launch.grid.iter().map(|&n| f64::from(n)).product();
    let busy = blocks.min(f64::from(device.multiprocessors));
    let cycles = issued / busy;
    cycles / (f64::from(device.clock_khz) * 1e3) * 1e3
}
