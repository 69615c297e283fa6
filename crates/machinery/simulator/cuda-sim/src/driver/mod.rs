//! A simulated CUDA driver API as safe Rust: contexts, memory, copies, streams, events, modules and launches,
//! each validated as NVIDIA's driver does.
//!
//! A [`Driver`] is one machine with one or more equal GPUs in one address space. Work is performed when it is
//! submitted; the times at which it would start and end on a GPU are tracked on a [`timeline`]. Each function
//! names the driver API function that it implements, without the `_v2` suffix.
//!
//! Most calls take the context they act in, which the caller gets from its thread's [`ContextStack`]. They
//! fail with [`CudaError::ContextIsDestroyed`] if there is no such context. After a kernel has faulted, every
//! call in its context returns the error of that fault until the context is destroyed.

mod array_shape;
mod context;
mod device_attribute;
mod error;
mod event;
mod function_attribute;
mod handle;
mod host_finding;
mod host_memory;
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

/// Returns the memory of each of `count` devices in bytes: see [`Driver::with_devices`].
pub fn capacity(device: &DeviceSpec, count: u32) -> u64 {
    let share = host_memory::host_memory() / 2 / u64::from(count);
    device.memory_bytes.min(share)
}

/// The simulated driver and its machine.
pub struct Driver {
    device: DeviceSpec,
    global: Global,
    /// The time limit of a launch.
    time_limit: Option<TimeLimit>,
    checks: Checks,
    conditions: Conditions,
    /// True if launches are sampled for the time model.
    sampled: bool,
    /// The accesses that launches trace.
    tracing: Option<Tracing>,
    /// The leaks found when contexts were destroyed, since they were last taken.
    leaks: Vec<Finding>,
    handles: handle::HandleCounter,
    contexts: BTreeMap<ContextId, context::Context>,
    /// The primary context of each device.
    primary: Vec<context::PrimaryContext>,
    virtual_memory: virtual_memory::VirtualMemory,
    modules: BTreeMap<ModuleId, module::LoadedModule>,
    functions: BTreeMap<FunctionId, module::LoadedFunction>,
    libraries: BTreeMap<LibraryId, library::LoadedLibrary>,
    kernels: BTreeMap<KernelId, library::LibraryKernel>,
    streams: BTreeMap<StreamId, stream::Stream>,
    events: BTreeMap<EventId, event::Event>,
    /// The arrays by handle, and below them the texture and surface objects.
    arrays: BTreeMap<u64, image::Array>,
    images: Arc<Images>,
}

impl Driver {
    /// Creates a machine with one `device`. A launch that exceeds `time_limit` is ended.
    ///
    /// The device has the memory of its model, but at most half of the host's: device memory is host memory
    /// here, and most programs keep a host copy of the data that they send to the device.
    pub fn new(device: DeviceSpec, time_limit: Option<TimeLimit>) -> Self {
        Self::with_devices(1, device, time_limit)
    }

    /// Creates a machine with `count` equal devices, clamped to the range from 1 to [`MAX_DEVICES`]. They
    /// share the part of the host's memory that [`Driver::new`] uses.
    pub fn with_devices(count: u32, device: DeviceSpec, time_limit: Option<TimeLimit>) -> Self {
        let count = count.clamp(1, MAX_DEVICES);
        let capacity = capacity(&device, count);
        Self {
            global: Global::with_device_count(count, capacity),
            device,
            time_limit,
            checks: Checks::NONE,
            conditions: Conditions::DEFAULT,
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

    /// Sets the checks for subsequent calls. [`Checks::init`] tracks memory that is allocated while it is
    /// enabled; all other memory counts as initialized.
    pub fn set_checks(&mut self, checks: Checks) {
        self.checks = checks;
    }

    /// Sets the conditions of subsequent launches, and the contents of memory allocated from now on.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Sets whether subsequent launches are sampled; they are by default. The modelled time of a launch
    /// without a sample omits memory. This is for measuring the cost of counting.
    pub fn set_sampled(&mut self, sampled: bool) {
        self.sampled = sampled;
    }

    /// Sets the accesses that subsequent launches trace; see [`LaunchOutcome::trace`].
    pub fn set_tracing(&mut self, tracing: Option<Tracing>) {
        self.tracing = tracing;
    }

    /// Returns the number of devices.
    pub fn device_count(&self) -> u32 {
        self.primary.len() as u32
    }

    /// Returns the simulated GPU, which is the same for all devices.
    pub fn device(&self) -> &DeviceSpec {
        &self.device
    }
}
