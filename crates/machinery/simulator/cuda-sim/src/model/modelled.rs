//! The result of the time model.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::Occupancy;
use crate::device::DeviceSpec;

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
    /// The resource.
    pub resource: Resource,
    /// Milliseconds.
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
        super::overlapped(throughput, latency)
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
