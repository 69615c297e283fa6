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

mod attribute;
mod context;
mod error;
mod image;
mod launch;
mod library;
mod library_call;
mod memcpy;
mod memory;
mod module;
mod occupancy;
mod sharing;
mod stream;
#[cfg(test)]
mod tests;
pub mod timeline;
mod virtual_memory;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

pub use context::{ContextStack, Limit};
pub use error::CudaError;
pub use image::{ArrayDescription, Resource, View};
pub use launch::CheckedLaunch;
pub use library_call::{
    Arithmetic, CallMemory, IllegalOperand, LibraryCall, LibraryReport, MemoryRows, Operations,
};
pub use memcpy::{Memcpy, MemcpyAddress, MemcpyOperand, Memset, MemsetValue};
pub use module::{ModuleError, check_source};
pub use occupancy::OccupancyCalculator;
pub use sharing::ImportOrigin;
pub use stream::{DISABLE_TIMING, PRIORITIES};
pub use virtual_memory::{GRANULARITY, MappingAccess};

use crate::check::Finding;
use crate::device::DeviceSpec;
use crate::exec::image::Images;
use crate::exec::{GraphConditions, LaunchOptions, TimeLimit};
use crate::memory::global::{Devices, Global, MAX_DEVICES};

/// The simulated driver and its machine.
pub struct Driver {
    device: DeviceSpec,
    global: Global,
    /// The options of subsequent launches. Their checks and conditions apply to other calls as well:
    /// [`Checks::init`](crate::check::Checks::init) tracks memory that is allocated while it is enabled, and all
    /// other memory counts as initialized.
    pub options: LaunchOptions,
    /// The leaks found when contexts were destroyed, and unused input among them, since they were last taken.
    leaks: Vec<Finding>,
    /// The findings of other calls, since they were last taken.
    findings: Vec<Finding>,
    handles: HandleCounter,
    contexts: BTreeMap<ContextId, context::Context>,
    /// The contexts that [`Driver::destroy_context`] has destroyed.
    destroyed_contexts: BTreeSet<ContextId>,
    /// The sticky error of each device: that of the first fault.
    device_faults: Vec<Option<CudaError>>,
    /// The primary context of each device.
    primary: Vec<context::PrimaryContext>,
    virtual_memory: virtual_memory::VirtualMemory,
    imports: sharing::Imports,
    external_memory: BTreeMap<u64, sharing::ExternalMemory>,
    modules: BTreeMap<ModuleId, module::LoadedModule>,
    functions: BTreeMap<FunctionId, module::LoadedFunction>,
    libraries: BTreeMap<LibraryId, library::LoadedLibrary>,
    kernels: BTreeMap<KernelId, library::LibraryKernel>,
    streams: BTreeMap<StreamId, stream::Stream>,
    events: BTreeMap<EventId, stream::Event>,
    /// The arrays by handle, and below them the texture and surface objects.
    arrays: BTreeMap<u64, image::Array>,
    /// The levels of each mipmapped array.
    mipmapped_arrays: BTreeMap<u64, Vec<u64>>,
    images: Arc<Images>,
    /// The values of conditional graph nodes.
    pub graph_conditions: Arc<GraphConditions>,
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
            options: LaunchOptions {
                time_limit,
                ..LaunchOptions::default()
            },
            leaks: Vec::new(),
            findings: Vec::new(),
            handles: HandleCounter::new(),
            contexts: BTreeMap::new(),
            destroyed_contexts: BTreeSet::new(),
            device_faults: vec![None; count as usize],
            primary: vec![context::PrimaryContext::default(); count as usize],
            virtual_memory: virtual_memory::VirtualMemory::default(),
            imports: sharing::Imports::default(),
            external_memory: BTreeMap::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            libraries: BTreeMap::new(),
            kernels: BTreeMap::new(),
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            arrays: BTreeMap::new(),
            mipmapped_arrays: BTreeMap::new(),
            images: Arc::default(),
            graph_conditions: Arc::default(),
        }
    }

    /// Returns the number of devices.
    pub fn device_count(&self) -> u32 {
        self.primary.len() as u32
    }

    /// Returns the findings of calls, such as copies of uninitialized memory to the host, since they were last taken.
    /// Findings of launches are in their reports, and leaks are not included.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// Returns the simulated GPU, which is the same for all devices.
    pub fn device(&self) -> &DeviceSpec {
        &self.device
    }
}

// Handles: numbers that identify the driver's objects. One counter numbers objects of all kinds and never repeats,
// so a handle that is stale, of another kind, or forged is simply not found.

/// Defines a handle type for each kind of object.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);
    )*};
}

handles! {
    /// A context (`CUcontext`).
    ContextId
    /// A loaded module (`CUmodule`).
    ModuleId
    /// A kernel of a loaded module (`CUfunction`).
    FunctionId
    /// A library (`CUlibrary`).
    LibraryId
    /// A kernel of a library (`CUkernel`).
    KernelId
    /// A stream (`CUstream`).
    StreamId
    /// An event (`CUevent`).
    EventId
}

impl StreamId {
    /// The legacy default stream: a null `CUstream`.
    pub const LEGACY: Self = Self(0);
}

/// A counter that yields each handle number once.
struct HandleCounter {
    last: u64,
}

impl HandleCounter {
    /// Creates a counter. Numbers start above the stream handles that CUDA reserves (0, 1 and 2) and are
    /// multiples of 16, like the pointers of a real driver.
    fn new() -> Self {
        Self { last: 0x1000 }
    }

    /// Returns the next unused number.
    fn next(&mut self) -> u64 {
        self.last += 0x10;
        self.last
    }
}

/// Returns the memory of each of `count` devices in bytes: see [`Driver::with_devices`].
pub fn capacity(device: &DeviceSpec, count: u32) -> u64 {
    let share = host_memory() / 2 / u64::from(count);
    device.memory_bytes.min(share)
}

/// The assumed host memory in bytes if the system does not report it.
const ASSUMED_BYTES: u64 = 8 << 30;

/// Returns the bytes of memory that this process may use: those of the machine, or the limit of the process's
/// control group (container) if that is lower.
fn host_memory() -> u64 {
    if cfg!(miri) {
        return ASSUMED_BYTES;
    }
    let refresh = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let Ok(system) = System::new_with_specifics(refresh) else {
        return ASSUMED_BYTES;
    };
    let total = match system.total_memory() {
        0 => ASSUMED_BYTES,
        total => total,
    };
    match system.cgroup_limits() {
        Some(group) if group.total_memory > 0 => total.min(group.total_memory),
        _ => total,
    }
}
