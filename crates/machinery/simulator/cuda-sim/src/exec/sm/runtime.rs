//! The state of the device runtime: what a grid launched by the host shares with all grids that it starts, and the
//! limits and errors of launches by kernels.
//!
//! Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism".

use crate::memory::lock;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum nesting depth of grids; the grid that the host launches has depth 0.
pub const MAX_DEPTH: u32 = 24;

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
    pub const LAUNCH_MAX_DEPTH_EXCEEDED: u32 = 65;
    pub const LAUNCH_PENDING_COUNT_EXCEEDED: u32 = 69;
    pub const INVALID_DEVICE_FUNCTION: u32 = 98;
    pub const LAUNCH_OUT_OF_RESOURCES: u32 = 701;
}

/// The state that a grid launched by the host shares with all grids that it starts.
#[derive(Debug)]
pub struct DeviceRuntime {
    /// The launches that are prepared, by the address of their arguments.
    prepared: Mutex<HashMap<u64, PreparedLaunch>>,
    /// Number of submissions that have not started.
    pending: AtomicU64,
    max_pending: u64,
    /// The handle of the last stream or event.
    handles: AtomicU64,
    /// The dynamic shared memory that the program has allowed for kernels, by index in the program's listing.
    pub max_dynamic_shared: HashMap<usize, u32>,
}

impl DeviceRuntime {
    /// Creates the state. `max_pending` is `cudaLimitDevRuntimePendingLaunchCount`.
    pub fn new(max_pending: u64, max_dynamic_shared: HashMap<usize, u32>) -> DeviceRuntime {
        DeviceRuntime {
            prepared: Mutex::default(),
            pending: AtomicU64::new(0),
            max_pending,
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

    /// Counts a submission. Returns false if too many have not started.
    pub fn add_pending(&self) -> bool {
        let has_room = |pending| (pending < self.max_pending).then_some(pending + 1);
        let added = self
            .pending
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_room);
        added.is_ok()
    }

    /// Counts a submission as started.
    pub fn start_pending(&self) {
        self.pending.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the handle of a new stream or event.
    pub fn next_handle(&self) -> u64 {
        self.handles.fetch_add(0x10, Ordering::Relaxed) + 0x10
    }
}
