//! The state of the device runtime: what a grid launched by the host shares with all grids that it starts, and the
//! limits and errors of launches by kernels.
//!
//! Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism".

use crate::memory::lock;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A launch whose arguments a thread stores in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct PreparedLaunch {
    pub kernel: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
}

/// Errors of the runtime API that kernels receive.
pub mod error {
    pub const INVALID_VALUE: u32 = 1;
    pub const INVALID_CONFIGURATION: u32 = 9;
    pub const SYNC_DEPTH_EXCEEDED: u32 = 68;
    pub const LAUNCH_PENDING_COUNT_EXCEEDED: u32 = 69;
    pub const INVALID_DEVICE_FUNCTION: u32 = 98;
    pub const LAUNCH_OUT_OF_RESOURCES: u32 = 701;
}

/// The state that a grid launched by the host shares with all grids that it starts.
#[derive(Debug)]
pub struct DeviceRuntime {
    /// The launches that are prepared, by the address of their arguments.
    prepared: Mutex<HashMap<u64, PreparedLaunch>>,
    /// Number of launch slots in use.
    slots: AtomicU64,
    max_slots: u64,
    /// Number of threads by the error with which they have ended.
    unfetched: Mutex<BTreeMap<u32, u64>>,
    /// The handle of the last stream or event.
    handles: AtomicU64,
    /// The dynamic shared memory that the program has allowed for kernels, by index in the program's listing.
    pub max_dynamic_shared: HashMap<usize, u32>,
}

impl DeviceRuntime {
    /// Creates the state. `max_slots` is `cudaLimitDevRuntimePendingLaunchCount`.
    pub fn new(max_slots: u64, max_dynamic_shared: HashMap<usize, u32>) -> DeviceRuntime {
        DeviceRuntime {
            prepared: Mutex::default(),
            slots: AtomicU64::new(0),
            max_slots,
            unfetched: Mutex::default(),
            // Above the handles that CUDA reserves.
            handles: AtomicU64::new(0x1000),
            max_dynamic_shared,
        }
    }

    /// Stores a launch until the thread has stored its arguments at `buffer`.
    pub fn prepare(&self, buffer: u64, launch: PreparedLaunch) {
        lock(&self.prepared).insert(buffer, launch);
    }

    /// Returns the launch whose arguments are at `buffer`, once.
    pub fn take_prepared(&self, buffer: u64) -> Option<PreparedLaunch> {
        lock(&self.prepared).remove(&buffer)
    }

    /// Takes a launch slot. Returns `None` if all are in use.
    pub fn take_slot(self: &Arc<Self>) -> Option<Arc<LaunchSlot>> {
        let next = |slots| (slots < self.max_slots).then_some(slots + 1);
        let taken = self
            .slots
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        taken.ok().map(|_| {
            Arc::new(LaunchSlot {
                runtime: self.clone(),
                is_released: AtomicBool::new(false),
            })
        })
    }

    /// Counts a thread that has ended with an error that it has not fetched.
    pub fn add_unfetched(&self, error: u32) {
        *lock(&self.unfetched).entry(error).or_default() += 1;
    }

    /// Takes the numbers of threads by the error with which they have ended.
    pub fn take_unfetched(&self) -> BTreeMap<u32, u64> {
        std::mem::take(&mut lock(&self.unfetched))
    }

    /// Returns the handle of a new stream or event.
    pub fn next_handle(&self) -> u64 {
        self.handles.fetch_add(0x10, Ordering::Relaxed) + 0x10
    }
}

/// One of the launch slots, of which `cudaLimitDevRuntimePendingLaunchCount` is the number. A submission holds it until it
/// is complete.
#[derive(Debug)]
pub struct LaunchSlot {
    runtime: Arc<DeviceRuntime>,
    is_released: AtomicBool,
}

impl LaunchSlot {
    /// Releases the slot, unless it is released already.
    pub fn release(&self) {
        if !self.is_released.swap(true, Ordering::Relaxed) {
            self.runtime.slots.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for LaunchSlot {
    fn drop(&mut self) {
        self.release();
    }
}
