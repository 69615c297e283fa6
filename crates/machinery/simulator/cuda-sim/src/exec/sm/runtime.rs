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
    /// The number of launch slots.
    pub max_slots: u64,
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

/// The launch slots that a grid's submissions may hold.
///
/// A GPU holds a limited number of a grid's blocks at once, a wave. As soon as blocks end, the grids that they have
/// launched can run, so the submissions of a wave hold no slots when the next wave runs. Each wave is therefore counted by
/// itself, and the count does not depend on the order in which the host runs the blocks. Tail launches wait for the end
/// of the grid.
#[derive(Debug)]
pub struct LaunchSlots {
    /// The slots that no other grid holds.
    available: u64,
    used: Mutex<UsedSlots>,
}

#[derive(Debug, Default)]
struct UsedSlots {
    waves: BTreeMap<u64, u64>,
    tails: u64,
}

impl UsedSlots {
    fn count(&mut self, wave: Option<u64>) -> &mut u64 {
        match wave {
            Some(wave) => self.waves.entry(wave).or_default(),
            None => &mut self.tails,
        }
    }
}

impl LaunchSlots {
    /// Creates the slots of a grid: `available` is the number that no other grid holds.
    pub fn new(available: u64) -> Arc<LaunchSlots> {
        Arc::new(LaunchSlots {
            available,
            used: Mutex::default(),
        })
    }

    /// Takes a slot for a submission of a block of this wave. Returns `None` if all are in use.
    pub fn take(self: &Arc<Self>, wave: u64, is_tail: bool) -> Option<Arc<LaunchSlot>> {
        let mut used = lock(&self.used);
        if *used.count(Some(wave)) + used.tails >= self.available {
            return None;
        }
        let wave = (!is_tail).then_some(wave);
        *used.count(wave) += 1;
        Some(Arc::new(LaunchSlot {
            slots: self.clone(),
            wave,
            is_released: AtomicBool::new(false),
        }))
    }
}

/// One of the launch slots, of which `cudaLimitDevRuntimePendingLaunchCount` is the number. A submission holds it until it
/// is complete.
#[derive(Debug)]
pub struct LaunchSlot {
    slots: Arc<LaunchSlots>,
    /// The wave of the block that has submitted the work; `None` for a tail launch.
    pub wave: Option<u64>,
    is_released: AtomicBool,
}

impl LaunchSlot {
    /// Returns true if the slot is in use.
    pub fn is_held(&self) -> bool {
        !self.is_released.load(Ordering::Relaxed)
    }

    /// Releases the slot, unless it is released already.
    pub fn release(&self) {
        if !self.is_released.swap(true, Ordering::Relaxed) {
            *lock(&self.slots.used).count(self.wave) -= 1;
        }
    }
}
