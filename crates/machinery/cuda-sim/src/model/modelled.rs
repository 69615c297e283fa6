//! What the model says of a launch.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::device::DeviceSpec;

/// The name of a GPU that can be modelled.
pub type Models = &'static str;

/// The time a launch would take on the modelled GPU, and what it is spent on.
///
/// It is that of a launch after others like it, as a chapter measures: what fits the L2 cache
/// is there already.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Modelled {
    /// The GPU that is modelled.
    #[serde(deserialize_with = "preset")]
    pub gpu: Models,
    /// Milliseconds from one launch to the next.
    pub milliseconds: f64,
    /// What takes longest: to make the kernel faster, use less of this.
    pub binding: Resource,
    /// Milliseconds that each resource is busy, or that pass waiting; the longest first. They
    /// overlap, so that their sum is more than the time.
    pub parts: Vec<ResourceTime>,
    /// How many warps a multiprocessor holds.
    pub occupancy: Occupancy,
    /// Floating-point operations and bytes of device memory: the kernel's place in a roofline.
    pub roofline: Roofline,
}

/// What one resource takes of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResourceTime {
    /// The resource.
    pub resource: Resource,
    /// Milliseconds.
    pub milliseconds: f64,
}

/// What a kernel may be bound by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resource {
    /// The units that compute.
    Arithmetic,
    /// The schedulers, which issue one instruction a cycle each.
    Issue,
    /// The L1 cache and shared memory, which are one memory.
    L1Shared,
    /// The constant cache.
    ConstantCache,
    /// The L2 cache.
    L2,
    /// Device memory.
    Memory,
    /// Waiting: too few warps to hide how long instructions take.
    Latency,
    /// Launching the grid, and handing out its blocks.
    Launch,
}

/// How many warps of a kernel a multiprocessor holds at once, and why not more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Blocks resident on a multiprocessor.
    pub blocks: u32,
    /// Warps resident on it.
    pub warps: u32,
    /// The most warps it could hold.
    pub most_warps: u32,
    /// What keeps another block out.
    pub limit: OccupancyLimit,
}

/// What keeps another block out of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OccupancyLimit {
    /// Threads: the multiprocessor is full, or the next block would be too many.
    Threads,
    /// The most blocks.
    Blocks,
    /// Shared memory.
    SharedMemory,
    /// Registers.
    Registers,
    /// Nothing but the size of the grid.
    Grid,
}

/// A kernel's place in a roofline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// Floating-point operations: an addition or a multiplication is one, a fused multiply-add
    /// two.
    pub operations: f64,
    /// Bytes moved between device memory and the chip.
    pub bytes: f64,
    /// The most operations a second.
    pub peak_operations: f64,
    /// The most bytes a second.
    pub peak_bandwidth: f64,
}

impl Modelled {
    /// Adds another launch of the same kernel on the same GPU.
    pub(crate) fn add(&mut self, other: &Modelled) {
        self.milliseconds += other.milliseconds;
        for part in &other.parts {
            let mut known = self.parts.iter_mut();
            match known.find(|known| known.resource == part.resource) {
                Some(known) => known.milliseconds += part.milliseconds,
                None => self.parts.push(*part),
            }
        }
        self.parts
            .sort_by(|one, other| other.milliseconds.total_cmp(&one.milliseconds));
        if let Some(longest) = self.parts.first() {
            self.binding = longest.resource;
        }
        self.roofline.operations += other.roofline.operations;
        self.roofline.bytes += other.roofline.bytes;
    }
}

/// A name as the presets have it, for as long as the program runs.
fn preset<'de, D: Deserializer<'de>>(from: D) -> Result<Models, D::Error> {
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
