//! The description of a launch: what the program requested, what its context provides, and the options under
//! which launches run.

use super::compilation::CompileMode;
use super::heap::Heap;
use super::runtime::{DeviceRuntime, LaunchSlot};
use crate::check::Checks;
use crate::check::TimeLimit;
use crate::exec::fault::Fault;
use crate::exec::image::Images;
use crate::exec::profiler::sample::ProfileMode;
use crate::exec::schedule::progress::Watch;
use crate::memory::lock;
use rayon::ThreadPool;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A launch as requested by the program. The caller has checked it against the limits of the device and the
/// kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchSpec {
    /// Grid size in blocks: x, y, z.
    pub grid: [u32; 3],
    /// Block size in threads: x, y, z.
    pub block: [u32; 3],
    /// Bytes of shared memory in addition to what the kernel declares.
    pub dynamic_shared: u32,
    /// The kernel's parameters, laid out as in its parameter space.
    pub parameters: Arc<[u8]>,
    /// True for a cooperative launch: all blocks are resident at once and may synchronize with each other.
    pub cooperative: bool,
    /// The size of a cluster in blocks, which divides the grid; `None` for the kernel's own, or for none.
    pub cluster: Option<[u32; 3]>,
}

impl LaunchSpec {
    /// Creates a launch without dynamic shared memory that is not cooperative.
    pub fn new(grid: [u32; 3], block: [u32; 3], parameters: &[u8]) -> LaunchSpec {
        LaunchSpec {
            grid,
            block,
            dynamic_shared: 0,
            parameters: parameters.into(),
            cooperative: false,
            cluster: None,
        }
    }

    /// Returns the number of blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&blocks| u64::from(blocks)).product()
    }

    /// Returns the number of threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}

/// The resources of a context that a launch uses.
#[derive(Clone)]
pub struct Resources {
    /// Bytes of local memory per thread for calls, as set by `cuCtxSetLimit`.
    pub stack_limit: u32,
    /// For a cooperative launch, the device address of the word by which the blocks of the grid synchronize; it
    /// follows a word that holds its size.
    pub grid_barrier: Option<u64>,
    /// The heap of in-kernel `malloc`; `None` if the kernel calls neither `malloc` nor `free`.
    pub heap: Option<Arc<Heap>>,
    /// Textures and surfaces that the kernel can access.
    pub images: Arc<Images>,
    /// The values of conditional graph nodes, which kernels set.
    pub graph_conditions: Arc<GraphConditions>,
    /// The state for launches by kernels; `None` if the program has none.
    pub runtime: Option<Arc<DeviceRuntime>>,
}

/// The values of the handles of conditional graph nodes.
#[derive(Debug, Default)]
pub struct GraphConditions(Mutex<HashMap<u64, u32>>);

impl GraphConditions {
    /// Sets the value of a handle, which need not exist yet.
    pub fn set(&self, handle: u64, value: u32) {
        lock(&self.0).insert(handle, value);
    }

    /// Changes the value of a handle. Returns false if it does not exist.
    pub fn change(&self, handle: u64, value: u32) -> bool {
        let mut values = lock(&self.0);
        values.get_mut(&handle).map(|old| *old = value).is_some()
    }

    /// Returns the value of a handle, or 0 if it does not exist.
    pub fn value(&self, handle: u64) -> u32 {
        lock(&self.0).get(&handle).copied().unwrap_or(0)
    }
}

impl Default for Resources {
    /// Returns CUDA's default stack of 1 KB per thread, and nothing else.
    fn default() -> Resources {
        Resources {
            stack_limit: 1 << 10,
            grid_barrier: None,
            heap: None,
            images: Arc::default(),
            graph_conditions: Arc::default(),
            runtime: None,
        }
    }
}

/// The options under which launches run. They belong to the device's owner, which sets them between launches.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Time limit; `None` for unlimited.
    pub time_limit: Option<TimeLimit>,
    /// Host threads to run on; `None` for the simulator's own pool, one thread per core.
    pub threads: Option<Arc<ThreadPool>>,
    /// Receiver of the running launch's progress.
    pub watch: Arc<Watch>,
    /// The checks to run.
    pub checks: Checks,
    pub conditions: Conditions,
    /// True to count every block, which gives a launch a profile.
    pub profile: bool,
    /// The accesses to trace, if any. Traced launches have a profile as well.
    pub tracing: Option<Tracing>,
    /// True to profile the sample of blocks that the time model needs. Without it, modelled times exclude
    /// memory: for measurements of the cost of profiling.
    pub sampled: bool,
    pub fault_model: FaultModel,
    /// The kernels to compile, if a compiler is installed.
    pub compile: CompileMode,
    /// Called by threads of a launch that is not short, at least once: for work that would delay a short one.
    pub on_long_launch: Option<fn()>,
}

impl Default for LaunchOptions {
    fn default() -> LaunchOptions {
        LaunchOptions {
            time_limit: None,
            threads: None,
            watch: Arc::default(),
            checks: Checks::NONE,
            conditions: Conditions::DEFAULT,
            profile: false,
            tracing: None,
            sampled: true,
            fault_model: FaultModel::Exact,
            compile: CompileMode::Auto,
            on_long_launch: None,
        }
    }
}

impl LaunchOptions {
    /// Returns true if launches have a profile.
    pub(crate) fn has_profile(&self) -> bool {
        self.conditions.shuffle.is_none() && (self.profile || self.tracing.is_some())
    }

    /// Returns the extent to which launches are profiled.
    pub(crate) fn profile_mode(&self) -> ProfileMode {
        // Cache contents under a random schedule do not resemble those of a GPU.
        if self.conditions.shuffle.is_some() {
            return ProfileMode::Off;
        }
        match self.tracing {
            Some(Tracing::All) => ProfileMode::Trace,
            Some(Tracing::Costliest) => ProfileMode::TraceCostliest,
            None if self.profile => ProfileMode::Full,
            None if self.sampled => ProfileMode::Sample,
            None => ProfileMode::Off,
        }
    }
}

/// The faults that invalid accesses cause, and their consequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultModel {
    /// Every access outside an allocation is a fault. A program can continue in a new context.
    Exact,
    /// As on a GPU: accesses past the end of an allocation, but in the last 512 bytes that were mapped for it (128 in
    /// shared memory), go through and are reported as findings. A fault makes its device unusable for the rest of the
    /// process.
    Hardware,
}

/// The accesses that a launch traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// All accesses, block by block, but no more than 2¹⁸ per worker thread.
    All,
    /// The costliest access of each instruction.
    Costliest,
}

/// The conditions under which launches run, which a program can vary to test itself: a program that is correct
/// under all of them is correct by design, not because of how the simulator happens to run it. The default is
/// the fastest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Seed of a random schedule of warps and blocks (see [`crate::exec::instrument::random_schedule`]), or `None`
    /// for the default order. Launches with a random schedule are not profiled, and their modelled time
    /// excludes memory.
    pub shuffle: Option<u64>,
    /// Initial value of each word of uninitialized memory; `None` for zero. In the local memory of two of three
    /// threads some bits of it differ. Variables of a module start with zero or their initial value in any case.
    pub poison: Option<u32>,
    /// Seed for the choice of sampled blocks on which the time model is based. `None` for the default choice,
    /// which is the same for all launches of one size.
    pub sample_seed: Option<u64>,
}

impl Conditions {
    /// The default conditions.
    pub const DEFAULT: Conditions = Conditions {
        shuffle: None,
        poison: None,
        sample_seed: None,
    };
}

/// Work that a thread has submitted to the device (dynamic parallelism): a launch, a copy or a fill. It starts when the grid
/// that has submitted it is complete, or when a thread waits for it.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The block of the thread.
    pub block: u64,
    /// The index in the program's listing of the kernel of the thread.
    pub launcher: usize,
    /// The launch slot that it holds until it is complete.
    pub slot: Arc<LaunchSlot>,
    /// True if it starts when the grid and all that its other submissions have started is complete.
    pub is_tail: bool,
    pub operation: DeviceOperation,
}

/// The operation of a submission.
#[derive(Clone, Debug)]
pub enum DeviceOperation {
    /// The kernel's index in the program's listing, and the launch.
    Launch(usize, LaunchSpec),
    Copy {
        to: u64,
        from: u64,
        bytes: u64,
    },
    Fill {
        address: u64,
        value: u8,
        bytes: u64,
    },
}

/// The part of a launch that checks and runs the submissions of its grid.
pub trait Submitter: Sync {
    /// Returns an error of the runtime API for a launch that the device or the kernel does not allow.
    fn check(&self, kernel: usize, spec: &LaunchSpec) -> Result<(), u32>;

    /// Takes a launch slot for a submission of a block of this wave. Returns `None` if all are in use.
    fn take_slot(&self, wave: u64, is_tail: bool) -> Option<Arc<LaunchSlot>>;

    /// Returns true if the threads may wait for their submissions, and not only the grids that they launch.
    fn can_wait(&self) -> bool;

    /// Runs submissions of a block in order, on this thread. Returns the output of their kernels.
    fn run(&self, block: u64, submissions: Vec<Submission>) -> Result<Vec<u8>, Fault>;
}
