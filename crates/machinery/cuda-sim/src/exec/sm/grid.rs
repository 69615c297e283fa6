//! A launch, as all multiprocessors share it.

use super::Program;
use crate::check::{self, Checks};
use crate::device::DeviceSpec;
use crate::exec::Conditions;
use crate::exec::fault::Fault;
use crate::exec::heap::Heap;
use crate::exec::image::Images;
use crate::exec::profiler::LINE;
use crate::exec::progress::{CachePadded, LaunchProgress, Watch};
use crate::exec::sample::{ProfileMode, Sample};
use crate::exec::time_limit::{TimeLimit, Timing};
use crate::isa::Dims;
use crate::memory::global::Global;
use crate::memory::region::{Region, Regions};
use rayon::ThreadPool;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What to launch. Dimensions are checked against the device's limits by the driver.
pub struct Launch<'a> {
    /// An index into the program's kernels.
    pub kernel: usize,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of shared memory besides what the kernel declares.
    pub dynamic_shared: u32,
    /// The kernel's parameters as they lie in its parameter space.
    pub params: &'a [u8],
    /// Bytes of local memory a thread for calls, as `cuCtxSetLimit` sets it.
    pub stack_limit: u32,
    /// The address of the word by which all blocks of the grid wait for each other, where they are all
    /// under way at once: a cooperative launch. It is in device memory, after a word of its size.
    pub cooperative: Option<u64>,
    /// What `malloc` in the kernel takes memory of; none where it calls neither that nor `free`.
    pub heap: Option<Arc<Heap>>,
    /// The textures and surfaces that the kernel may name.
    pub images: Arc<Images>,
    /// How long the launch may take; for ever where none.
    pub time_limit: Option<TimeLimit>,
    /// Host threads to run on; the simulator's own, one a core, where none.
    pub threads: Option<&'a ThreadPool>,
    /// Where the launch shows how far it is, if anywhere.
    pub watch: Option<&'a Watch>,
    /// How much of it to count line by line.
    pub profile: ProfileMode,
    /// What to look for meanwhile. Only those that look at a kernel while it runs make a difference.
    pub checks: Checks,
    /// How it runs.
    pub conditions: Conditions,
}

impl Launch<'_> {
    /// How much of it is counted line by line.
    pub fn profile_mode(&self) -> ProfileMode {
        match self.conditions.shuffle {
            // What the caches of the GPU would have then says nothing.
            Some(_) => ProfileMode::Off,
            None => self.profile,
        }
    }
}

/// Has other threads help with a launch.
pub type WakeWorkers = Box<dyn FnOnce(&Arc<Grid>) + Send>;

/// What every multiprocessor of a launch shares.
pub struct Grid {
    pub program: Arc<Program>,
    pub kernel: usize,
    pub dims: Dims,
    pub shared_bytes: u32,
    pub dynamic_shared: u32,
    pub params: Vec<u8>,
    pub stack_bytes: u32,
    pub regions: Arc<Regions>,
    /// The module's constant bank.
    pub constants: Region,
    pub multiprocessors: u32,
    /// What looks for mistakes, if anything does.
    pub checks: Option<Arc<check::LaunchChecks>>,
    /// Blocks that the modelled GPU runs at once: so many may wait for each other.
    pub resident: usize,
    pub images: Arc<Images>,
    /// What `malloc` takes memory of.
    pub heap: Option<Arc<Heap>>,
    /// Where a cooperative launch's blocks wait for each other; 0 for any other launch.
    pub cooperative: u64,
    pub sample: Sample,
    /// The seed of an order of warps and blocks that nobody can foretell; none for the usual one.
    pub schedule_seed: Option<u64>,
    /// The word that shared and local memory hold before somebody writes them.
    pub poison: u32,
    pub progress: Arc<LaunchProgress>,
    /// The first block that no thread has taken.
    next: CachePadded<AtomicU64>,
    /// The lowest block that failed: blocks after it need not run, those before it must, so
    /// that the fault reported does not depend on timing.
    failed: AtomicU64,
    fault: Mutex<Option<Fault>>,
    /// What has other threads help, where the launch is run by one and takes longer than was thought.
    pub waker: Mutex<Option<WakeWorkers>>,
    /// When the launch began, and how long it may take; none where it may take for ever.
    pub timing: Option<Timing>,
}

impl Grid {
    /// Of a launch on a `device` whose multiprocessors hold so many of its blocks.
    pub fn new(
        program: &Arc<Program>,
        global: &Global,
        device: &DeviceSpec,
        launch: &Launch,
        blocks_per_sm: u32,
    ) -> Grid {
        static LAUNCHES: AtomicU64 = AtomicU64::new(1);
        let kernel = &program.listing.kernels[launch.kernel];
        let regions = Arc::new(Regions::of(global));
        let dims = Dims {
            grid: launch.grid,
            block: launch.block,
        };
        // Loads of parameters rely on there being as many bytes as the kernel declares.
        let mut params = launch.params.to_vec();
        params.resize(kernel.param_bytes as usize, 0);
        let constants = program
            .constants
            .map_or(Region::NONE, |(base, _)| regions.find(base));
        let progress = LaunchProgress {
            launch: LAUNCHES.fetch_add(1, Ordering::Relaxed),
            kernel: kernel.name.clone(),
            blocks: dims.blocks(),
            done: CachePadded::new(AtomicU64::new(0)),
        };
        let shared_bytes = kernel.shared_with(launch.dynamic_shared);
        let shared_in_use = u64::from(shared_bytes.next_multiple_of(16)) * u64::from(blocks_per_sm);
        let resident_blocks = blocks_per_sm as usize * device.multiprocessors as usize;
        let resident = match launch.cooperative {
            Some(_) => resident_blocks.max(progress.blocks as usize),
            None => resident_blocks,
        };
        let blocks = check::LaunchedBlocks {
            count: progress.blocks,
            ordered: kernel.ordered || kernel.volatile,
            resident: resident as u32,
            heap: launch.heap.as_ref().map(|heap| heap.base()),
        };
        Grid {
            program: program.clone(),
            kernel: launch.kernel,
            dims,
            shared_bytes,
            dynamic_shared: launch.dynamic_shared,
            params,
            stack_bytes: kernel.stack_bytes(launch.stack_limit),
            regions,
            constants,
            multiprocessors: device.multiprocessors,
            checks: check::LaunchChecks::new(
                launch.checks,
                &program.listing.checked,
                global,
                shared_bytes,
                blocks,
            ),
            resident,
            images: launch.images.clone(),
            heap: launch.heap.clone(),
            cooperative: launch.cooperative.unwrap_or(0),
            sample: Sample::new(
                launch.profile_mode(),
                launch.conditions.watched,
                progress.blocks,
                device,
                shared_in_use,
            ),
            schedule_seed: launch.conditions.shuffle,
            poison: launch.conditions.poison.unwrap_or(0),
            progress: Arc::new(progress),
            next: CachePadded::new(AtomicU64::new(0)),
            failed: AtomicU64::new(u64::MAX),
            fault: Mutex::new(None),
            waker: Mutex::new(None),
            timing: Timing::start(launch.time_limit),
        }
    }

    /// The number of this launch in this process: `%gridid`.
    pub fn id(&self) -> u64 {
        self.progress.launch
    }

    /// Has other threads help, if they were not called before and may be.
    pub fn wake_workers(self: &Arc<Self>) {
        let waker = self.take_waker();
        if let Some(wake) = waker {
            wake(self);
        }
    }

    /// Takes away what calls others, if nobody has.
    pub fn take_waker(&self) -> Option<WakeWorkers> {
        let mut waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        waker.take()
    }

    /// The kernel's name.
    pub fn kernel_name(&self) -> &str {
        &self.program.listing.kernels[self.kernel].name
    }

    /// The kernel's function, by number.
    pub fn function(&self) -> usize {
        self.program.listing.kernels[self.kernel].function
    }

    /// How many lines of L1 the local memory of all warps would take.
    pub fn local_lines(&self) -> u64 {
        let warps = u64::from(self.dims.threads().div_ceil(32));
        let lanes = warps
            .saturating_mul(self.progress.blocks)
            .saturating_mul(32);
        lanes.saturating_mul(u64::from(self.stack_bytes)) / LINE
    }

    /// The lowest block that has failed so far; `u64::MAX` where none has.
    pub fn lowest_failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// A block has failed.
    pub fn record_fault(&self, block: u64, fault: Fault) {
        let mut lowest = self
            .fault
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if block < self.lowest_failed() {
            self.failed.store(block, Ordering::Relaxed);
            *lowest = Some(fault);
        }
    }

    /// The fault of the lowest block that had one.
    pub fn take_fault(&self) -> Option<Fault> {
        self.fault
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .take()
    }

    /// A host thread has panicked: no block begins any more, and none waits for another.
    pub fn abandon(&self) {
        self.failed.store(0, Ordering::Relaxed);
        self.sample.abandon();
    }

    /// The next block to run, if there is one left that has to.
    pub fn next_block(&self) -> Option<u64> {
        let number = self.next.value.fetch_add(1, Ordering::Relaxed);
        if number >= self.progress.blocks {
            return None;
        }
        if number < self.lowest_failed() {
            return Some(number);
        }
        // Nobody will run it, and a later block may wait for it already.
        self.sample.pass_on(number, None);
        None
    }
}
