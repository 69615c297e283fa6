//! The CUDA driver API, simulated, as safe Rust: contexts, memory, copies, streams, events,
//! modules and launches, each checked and refused as NVIDIA's driver would.
//!
//! A [`Driver`] is one machine with one GPU or several equal ones, in one address space. Work is done at the call; when it would have begun and
//! ended on a GPU is kept on a [`timeline`]. Each function says which of the driver API's functions
//! it stands for; they have no `_v2` here.
//!
//! Most calls name the context they act in, which the caller takes from its thread's
//! [`ContextStack`]. They answer [`CudaError::ContextIsDestroyed`] where there is no such context.
//! After a kernel has faulted, every call in its context answers with the error of that fault until
//! the context is destroyed.

mod array_shape;
mod context;
mod device_attribute;
mod error;
mod event;
mod function_attribute;
mod handle;
mod host_memory;
mod host_use;
mod image;
mod launch;
mod library;
mod memcpy;
mod memory;
mod memset;
mod module;
mod occupancy;
mod peers;
mod stream;
#[cfg(test)]
mod tests;
pub mod timeline;
mod virtual_memory;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use context::{ContextStack, Limit};
pub use error::CudaError;
pub use handle::{ContextId, EventId, FunctionId, KernelId, LibraryId, ModuleId, StreamId};
pub use image::{ArrayDescription, Resource};
pub use launch::{LaunchConfig, LaunchOutcome, Tracing};
pub use memcpy::{Memcpy, MemcpyAddress, MemcpyOperand};
pub use memset::{Memset, MemsetValue};
pub use module::{ModuleError, check_source};
pub use occupancy::OccupancyCalculator;
pub use stream::PRIORITIES;
pub use virtual_memory::GRANULARITY;

use crate::check::{Checks, Finding};
use crate::device::DeviceSpec;
use crate::exec::image::Images;
use crate::exec::{Conditions, TimeLimit};
use crate::memory::global::{Devices, Global, MAX_DEVICES};

/// The memory of each of `count` devices, in bytes: see [`Driver::with_devices`].
pub fn capacity(device: &DeviceSpec, count: u32) -> u64 {
    let share = host_memory::host_memory() / 2 / u64::from(count);
    device.memory_bytes.min(share)
}

/// The simulated driver and the machine under it.
pub struct Driver {
    device: DeviceSpec,
    global: Global,
    /// How long a launch may run.
    time_limit: Option<TimeLimit>,
    checks: Checks,
    conditions: Conditions,
    /// Whether the sample of a launch is counted that its modelled time is made of.
    sampled: bool,
    /// Which accesses launches tell of.
    tracing: Option<Tracing>,
    /// What was still allocated when contexts were destroyed, since somebody last asked.
    leaks: Vec<Finding>,
    handles: handle::HandleCounter,
    contexts: BTreeMap<ContextId, context::Context>,
    /// That of each device.
    primary: Vec<context::PrimaryContext>,
    virtual_memory: virtual_memory::VirtualMemory,
    modules: BTreeMap<ModuleId, module::LoadedModule>,
    functions: BTreeMap<FunctionId, module::LoadedFunction>,
    libraries: BTreeMap<LibraryId, library::LoadedLibrary>,
    kernels: BTreeMap<KernelId, library::LibraryKernel>,
    streams: BTreeMap<StreamId, stream::Stream>,
    events: BTreeMap<EventId, event::Event>,
    /// Arrays, and what textures and surfaces there are of them, each by its handle.
    arrays: BTreeMap<u64, image::Array>,
    images: Arc<Images>,
}

impl Driver {
    /// A machine with one `device`. A launch that runs past `time_limit` is ended.
    ///
    /// The device has the memory of its model, but at most half of what the host has: device
    /// memory is host memory here, and most programs keep a host copy of what they send there.
    pub fn new(device: DeviceSpec, time_limit: Option<TimeLimit>) -> Self {
        Self::with_devices(1, device, time_limit)
    }

    /// A machine with `count` equal devices, of which there are at least 1 and at most [`MAX_DEVICES`]. They share
    /// what [`Driver::new`] takes of the host's memory.
    pub fn with_devices(count: u32, device: DeviceSpec, time_limit: Option<TimeLimit>) -> Self {
        let count = count.clamp(1, MAX_DEVICES);
        let capacity = capacity(&device, count);
        Self {
            global: Global::of_devices(count, capacity),
            device,
            time_limit,
            checks: Checks::NONE,
            conditions: Conditions::USUAL,
            sampled: true,
            tracing: None,
            leaks: Vec::new(),
            handles: handle::HandleCounter::new(),
            contexts: BTreeMap::new(),
            primary: vec![context::PrimaryContext::default(); count as usize],
            virtual_memory: virtual_memory::VirtualMemory::default(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            libraries: BTreeMap::new(),
            kernels: BTreeMap::new(),
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            arrays: BTreeMap::new(),
            images: Arc::default(),
        }
    }

    /// Which mistakes are looked for from now on. [`Checks::init`] knows of memory that was allocated
    /// while it was on which bytes are written; all other memory counts as written.
    pub fn set_checks(&mut self, checks: Checks) {
        self.checks = checks;
    }

    /// How launches run from now on, and what memory holds that is allocated from now on.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Whether launches are sampled from now on, as they are at first. The modelled times of those that are not leave out
    /// memory: this is for measuring what counting costs.
    pub fn set_sampled(&mut self, sampled: bool) {
        self.sampled = sampled;
    }

    /// Which accesses launches tell of from now on; see [`LaunchOutcome::trace`].
    pub fn trace(&mut self, tracing: Option<Tracing>) {
        self.tracing = tracing;
    }

    /// How many devices the machine has.
    pub fn device_count(&self) -> u32 {
        self.primary.len() as u32
    }

    /// The GPU that is simulated, or each of them.
    pub fn device(&self) -> &DeviceSpec {
        &self.device
    }
}
