//! A launch: its description, the state that all SMs share, and `threadIdx` of the threads of a block.

use super::block::{Block, StalledLanes};
use super::heap::Heap;
use super::launch_spec::Submitter;
use super::launch_spec::{FaultModel, GraphConditions, LaunchOptions, LaunchSpec, Resources};
use super::runtime::DeviceRuntime;
use super::{Compilation, Program};
use crate::check;
use crate::device::DeviceSpec;
use crate::exec::fault::{Fault, Stall};
use crate::exec::image::Images;
use crate::exec::profiler::LINE;
use crate::exec::profiler::sample::Sample;
use crate::exec::schedule::progress::{CachePadded, LaunchProgress, Timing};
use crate::isa::Dims;
use crate::lanes::LANES;
use crate::memory::global::Global;
use crate::memory::lock;
use crate::memory::region::{Region, Regions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A launch with everything that it borrows while it runs.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    pub program: &'a Arc<Program>,
    /// Index of the kernel in the program's listing.
    pub kernel: usize,
    pub spec: &'a LaunchSpec,
    pub resources: &'a Resources,
    pub options: &'a LaunchOptions,
    /// The device's memory.
    pub global: &'a Global,
    pub device: &'a DeviceSpec,
    /// Checks and runs the launches of the kernel's threads; `None` if the program has none.
    pub submitter: Option<&'a dyn Submitter>,
}

/// A function that wakes worker threads to help with a launch.
pub type WakeWorkers = Box<dyn FnOnce(&Arc<Grid>) + Send>;

/// A pointer to the submitter of a launch, for the workers of its grid.
struct SubmitterPointer(*const (dyn Submitter + 'static));

// SAFETY: a `Submitter` is `Sync`.
unsafe impl Send for SubmitterPointer {}
// SAFETY: a `Submitter` is `Sync`.
unsafe impl Sync for SubmitterPointer {}

impl SubmitterPointer {
    fn new(submitter: &dyn Submitter) -> SubmitterPointer {
        let pointer: *const (dyn Submitter + '_) = submitter;
        // SAFETY: only the lifetime changes; `Grid::submitter` explains why the pointer stays valid.
        SubmitterPointer(unsafe {
            std::mem::transmute::<*const (dyn Submitter + '_), *const (dyn Submitter + 'static)>(
                pointer,
            )
        })
    }
}

/// The state of a launch that every SM shares.
pub struct Grid {
    pub program: Arc<Program>,
    pub kernel: usize,
    pub dims: Dims,
    pub shared_bytes: u32,
    pub dynamic_shared: u32,
    pub params: Vec<u8>,
    pub stack_bytes: u32,
    pub regions: Arc<Regions>,
    /// The module's constant memory.
    pub constants: Region,
    pub multiprocessors: u32,
    /// The sanitizer's state for this launch, if checks are on.
    pub checks: Option<Arc<check::LaunchChecks>>,
    /// Number of blocks resident on the modelled GPU at once, and so the number that may wait for each other.
    pub resident: usize,
    pub images: Arc<Images>,
    pub graph_conditions: Arc<GraphConditions>,
    /// The state for launches by kernels.
    pub runtime: Option<Arc<DeviceRuntime>>,
    submitter: Option<SubmitterPointer>,
    /// The heap of in-kernel `malloc`.
    pub heap: Option<Arc<Heap>>,
    /// Device address of a cooperative launch's grid barrier; 0 for other launches.
    pub cooperative: u64,
    /// Size of a cluster in blocks: x, y, z.
    pub cluster: [u32; 3],
    /// True if the launch or the kernel specifies the size of a cluster.
    pub is_explicit_cluster: bool,
    pub sample: Sample,
    /// Seed of the random schedule; `None` for the default order.
    pub schedule_seed: Option<u64>,
    /// Initial value of each word of shared and local memory.
    pub poison: u32,
    pub progress: Arc<LaunchProgress>,
    /// The first block that no worker has taken.
    next: CachePadded<AtomicU64>,
    /// The lowest block that faulted. Later blocks need not run, earlier ones must, so that the reported
    /// fault does not depend on timing.
    failed: AtomicU64,
    fault: Mutex<Option<Fault>>,
    /// True if accesses that a GPU does not detect go through.
    pub has_hardware_faults: bool,
    undetected: Mutex<UndetectedAccesses>,
    /// The positions of the blocks that had not ended when the launch failed.
    stalls: Mutex<BTreeMap<u64, Vec<StalledLanes>>>,
    /// Wakes other workers if the launch, started on one thread, takes longer than expected.
    pub waker: Mutex<Option<WakeWorkers>>,
    /// Start time and time limit; `None` for an unlimited launch.
    pub timing: Option<Timing>,
    /// The compilation of the kernel; `None` if it stays interpreted.
    pub compilation: Option<Arc<Compilation>>,
    pub on_long_launch: Option<fn()>,
}

impl Grid {
    /// Prepares a launch. Each SM of the device holds `blocks_per_sm` of its blocks.
    pub fn new(launch: &Launch, blocks_per_sm: u32, compilation: Option<Arc<Compilation>>) -> Grid {
        static LAUNCHES: AtomicU64 = AtomicU64::new(1);
        let Launch {
            program,
            spec,
            resources,
            options,
            global,
            device,
            ..
        } = *launch;
        let kernel = &program.listing.kernels[launch.kernel];
        let regions = Arc::new(Regions::of(global));
        let dims = Dims {
            grid: spec.grid,
            block: spec.block,
        };
        // Handlers that load parameters rely on the buffer having all bytes that the kernel declares.
        let mut params = spec.parameters.to_vec();
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
        let cluster = spec.cluster.or(kernel.required_cluster).unwrap_or([1; 3]);
        let mut checks = options.checks;
        if cluster != [1; 3] {
            // The shadow memory of a block does not see what the other blocks of its cluster do: what they write to
            // its shared memory, and that they wait for each other.
            checks.race = false;
            checks.init = false;
        }
        let shared_bytes = kernel.shared_bytes_with(spec.dynamic_shared);
        let shared_in_use = u64::from(shared_bytes.next_multiple_of(16)) * u64::from(blocks_per_sm);
        let resident_blocks = blocks_per_sm as usize * device.multiprocessors as usize;
        let resident = if spec.cooperative {
            resident_blocks.max(progress.blocks as usize)
        } else {
            resident_blocks
        };
        let blocks = check::LaunchedBlocks {
            count: progress.blocks,
            ordered: kernel.ordered || kernel.volatile,
            resident: resident as u32,
            heap: resources.heap.as_ref().map(|heap| heap.base()),
        };
        Grid {
            program: program.clone(),
            kernel: launch.kernel,
            dims,
            shared_bytes,
            dynamic_shared: spec.dynamic_shared,
            params,
            stack_bytes: kernel.stack_bytes(resources.stack_limit),
            regions,
            constants,
            multiprocessors: device.multiprocessors,
            checks: check::LaunchChecks::new(
                checks,
                &program.listing.check_events,
                global,
                shared_bytes,
                blocks,
            ),
            resident,
            images: resources.images.clone(),
            graph_conditions: resources.graph_conditions.clone(),
            runtime: resources.runtime.clone(),
            submitter: launch.submitter.map(SubmitterPointer::new),
            heap: resources.heap.clone(),
            cooperative: resources.grid_barrier.unwrap_or(0),
            cluster,
            is_explicit_cluster: spec.cluster.or(kernel.required_cluster).is_some(),
            sample: Sample::new(
                options.profile_mode(),
                options.conditions.sample_seed,
                progress.blocks,
                device,
                shared_in_use,
            ),
            schedule_seed: options.conditions.shuffle,
            poison: options.conditions.poison.unwrap_or(0),
            progress: Arc::new(progress),
            next: CachePadded::new(AtomicU64::new(0)),
            failed: AtomicU64::new(u64::MAX),
            fault: Mutex::new(None),
            has_hardware_faults: options.fault_model == FaultModel::Hardware,
            undetected: Mutex::default(),
            stalls: Mutex::default(),
            waker: Mutex::new(None),
            timing: Timing::start(options.time_limit),
            on_long_launch: options.on_long_launch,
            compilation,
        }
    }

    /// Returns the submitter of the launch, for a thread that runs one of its blocks.
    pub fn submitter(&self) -> Option<&dyn Submitter> {
        // SAFETY: the launch borrows the submitter until `run::run` returns, which waits for all workers.
        (self.submitter.as_ref()).map(|pointer| unsafe { &*pointer.0 })
    }

    /// Counts a thread that has ended with an error of the device runtime that it has not fetched.
    pub fn add_unfetched_error(&self, error: u32) {
        if let Some(runtime) = &self.runtime {
            runtime.add_unfetched(error);
        }
    }

    /// Returns the number of this launch in this process: `%gridid`.
    pub fn id(&self) -> u64 {
        self.progress.launch
    }

    /// Wakes other workers, unless they are awake already or must not help.
    pub fn wake_workers(self: &Arc<Self>) {
        let waker = self.take_waker();
        if let Some(wake) = waker {
            wake(self);
        }
    }

    /// Takes the waker, so that it cannot run any more.
    pub fn take_waker(&self) -> Option<WakeWorkers> {
        lock(&self.waker).take()
    }

    /// Returns the kernel's name.
    pub fn kernel_name(&self) -> &str {
        &self.program.listing.kernels[self.kernel].name
    }

    /// Returns the index of the kernel's function.
    pub fn function(&self) -> usize {
        self.program.listing.kernels[self.kernel].function
    }

    /// Returns the end of the kernel's variables in local memory.
    pub fn variables_end(&self) -> u32 {
        self.program.functions[self.function()].variables_end
    }

    /// Returns the number of L1 lines that the local memory of all warps covers.
    pub fn local_lines(&self) -> u64 {
        let warps = u64::from(self.dims.threads().div_ceil(32));
        let lanes = warps
            .saturating_mul(self.progress.blocks)
            .saturating_mul(32);
        lanes.saturating_mul(u64::from(self.stack_bytes)) / LINE
    }

    /// Returns the lowest block that has faulted so far, or `u64::MAX`.
    pub fn lowest_failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Records the fault of a block; the lowest block's fault wins.
    pub fn record_fault(&self, block: u64, fault: Fault) {
        let mut lowest = lock(&self.fault);
        if block < self.lowest_failed() {
            self.failed.store(block, Ordering::Relaxed);
            *lowest = Some(fault);
        }
    }

    /// Lets `record` add accesses that a GPU does not detect.
    pub fn record_undetected(&self, record: impl FnOnce(&mut UndetectedAccesses)) {
        record(&mut lock(&self.undetected));
    }

    /// Returns the accesses that a GPU does not detect, with their numbers. Call it only after the launch has finished.
    pub fn take_undetected(&self) -> impl Iterator<Item = (Fault, u64)> {
        std::mem::take(&mut *lock(&self.undetected)).up_to(self.lowest_failed())
    }

    /// Records the position of a block that has not ended.
    pub fn record_stall(&self, block: &Block) {
        lock(&self.stalls).insert(block.number, block.stalled_lanes());
    }

    /// Returns the lines at which blocks were that had not ended, in the order of the code.
    pub fn stalls(&self) -> Vec<Stall> {
        let mut stalls: BTreeMap<_, Vec<(u64, &StalledLanes)>> = BTreeMap::new();
        let all = lock(&self.stalls);
        let lanes =
            (all.iter()).flat_map(|(&block, all)| all.iter().map(move |lanes| (block, lanes)));
        for (block, lanes) in lanes {
            let source = self.program.listing.source_of(lanes.address);
            let line = match source.line {
                0 => (None, source.ptx_line),
                line => (source.file, line),
            };
            let barrier = lanes.awaits.map(|barrier| barrier.offset);
            let group = stalls.entry((line, lanes.at_barrier, barrier));
            group.or_default().push((block, lanes));
        }
        let groups = stalls.into_values();
        groups.map(|group| self.stall(&group)).collect()
    }

    /// Returns the description of lanes at one line, with the numbers of their blocks in ascending order.
    fn stall(&self, group: &[(u64, &StalledLanes)]) -> Stall {
        let (first_block, first) = group[0];
        let blocks: BTreeSet<u64> = group.iter().map(|&(block, _)| block).collect();
        let threads = group.iter().map(|(_, lanes)| lanes.mask.count_ones());
        Stall {
            threads: threads.map(u64::from).sum(),
            blocks: blocks.len() as u64,
            first_block: self.dims.block_index(first_block),
            source: self.program.listing.source_of(first.address),
            at_barrier: first.at_barrier,
            awaits: (first.awaits).map(|barrier| (self.shared_variable(barrier.offset), barrier)),
        }
    }

    /// Returns the name of the static variable at an offset of shared memory, followed by the distance from its start if
    /// there is one; `None` if no variable is there.
    fn shared_variable(&self, offset: u64) -> Option<String> {
        let listing = &self.program.listing;
        let variables = listing.kernels[self.kernel].shared_variables.iter();
        let mut variables = variables.filter(|variable| variable.contains(offset, 1));
        let variable = variables.next()?;
        let name = listing.shared_names.get(variable.name as usize)?;
        Some(match offset - u64::from(variable.start) {
            0 => name.clone(),
            distance => format!("{name} + {distance}"),
        })
    }

    /// Takes the fault of the lowest block that had one.
    pub fn take_fault(&self) -> Option<Fault> {
        lock(&self.fault).take()
    }

    /// Abandons the launch after a panic on a worker: no further block starts, and none waits for another.
    pub fn abandon(&self) {
        self.failed.store(0, Ordering::Relaxed);
        self.sample.abandon();
    }

    /// Returns the number of blocks in a cluster.
    pub fn blocks_per_cluster(&self) -> u64 {
        self.cluster.iter().map(|&size| u64::from(size)).product()
    }

    /// Returns the number of clusters along each axis.
    pub fn clusters(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.dims.grid[axis] / self.cluster[axis])
    }

    /// Returns the index in the grid of the block `rank` of a cluster, x fastest.
    pub fn block_of_cluster(&self, cluster: u64, rank: u64) -> [u32; 3] {
        let place = |mut number: u64, size: [u32; 3]| {
            size.map(|size| {
                let at = number % u64::from(size);
                number /= u64::from(size);
                at as u32
            })
        };
        let (origin, within) = (place(cluster, self.clusters()), place(rank, self.cluster));
        std::array::from_fn(|axis| origin[axis] * self.cluster[axis] + within[axis])
    }

    /// Returns the next cluster to run, or `None` if none remains or a lower block than all of its own has faulted.
    pub fn next_cluster(&self) -> Option<u64> {
        let cluster = self.next.value.fetch_add(1, Ordering::Relaxed);
        let size = self.blocks_per_cluster();
        if cluster >= self.progress.blocks / size {
            return None;
        }
        let [x, y, z] = self.block_of_cluster(cluster, 0);
        if self.block_number([x, y, z]) < self.lowest_failed() {
            return Some(cluster);
        }
        // The blocks will never run, and later ones may already be waiting for their caches.
        for rank in 0..size {
            self.sample.pass_on(cluster * size + rank, None);
        }
        None
    }

    /// Returns the number of the block with an index, x fastest.
    pub fn block_number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [width, height, _] = self.dims.grid.map(u64::from);
        (u64::from(z) * height + u64::from(y)) * width + u64::from(x)
    }

    /// Returns the next block to run, or `None` if no block remains or a lower one has faulted.
    pub fn next_block(&self) -> Option<u64> {
        let number = self.next.value.fetch_add(1, Ordering::Relaxed);
        if number >= self.progress.blocks {
            return None;
        }
        if number < self.lowest_failed() {
            return Some(number);
        }
        // The block will never run, and a later one may already be waiting for its caches.
        self.sample.pass_on(number, None);
        None
    }
}

/// `threadIdx` of the threads of a block.
pub struct ThreadIndices {
    /// Rows of coordinates, by warp and axis.
    pub rows: Vec<[[u32; LANES]; 3]>,
    /// Block size in threads: x, y, z.
    pub size: [u32; 3],
}

impl ThreadIndices {
    /// Computes the coordinates of blocks of this size.
    pub fn of(size: [u32; 3]) -> ThreadIndices {
        let warps = size.iter().product::<u32>().div_ceil(LANES as u32);
        let mut at = [0; 3];
        let rows = (0..warps).map(|_| {
            let mut rows = [[0; LANES]; 3];
            for lane in 0..LANES {
                for (row, at) in rows.iter_mut().zip(at) {
                    row[lane] = at;
                }
                // Step through the block instead of dividing for every thread.
                at[0] += 1;
                for axis in 0..2 {
                    if at[axis] == size[axis] {
                        at[axis] = 0;
                        at[axis + 1] += 1;
                    }
                }
            }
            rows
        });
        ThreadIndices {
            rows: rows.collect(),
            size,
        }
    }
}

/// The accesses of a launch past the end of memory that a GPU does not detect, by instruction: it maps memory in granules,
/// and an access to the rest of an allocation's last granule goes through.
#[derive(Default)]
pub struct UndetectedAccesses(BTreeMap<u32, SiteAccesses>);

/// The undetected accesses of one instruction.
struct SiteAccesses {
    /// The lowest block with such an access, and its first access as the fault that would have been reported.
    first: (u64, Fault),
    /// The number of accesses by block.
    counts: BTreeMap<u64, u64>,
}

impl UndetectedAccesses {
    /// Adds an access of block `block` by the instruction at `site`.
    pub fn add(&mut self, site: u32, block: u64, fault: Fault) {
        let accesses = self.0.entry(site).or_insert_with(|| SiteAccesses {
            first: (block, fault.clone()),
            counts: BTreeMap::new(),
        });
        if block < accesses.first.0 {
            accesses.first = (block, fault);
        }
        *accesses.counts.entry(block).or_default() += 1;
    }

    /// Returns the first fault of each instruction in blocks up to `last`, and the number of its accesses in them.
    /// Whether later blocks ran depends on timing if block `last` faulted.
    pub fn up_to(self, last: u64) -> impl Iterator<Item = (Fault, u64)> {
        let sites = self.0.into_values();
        sites.filter_map(move |SiteAccesses { first, counts }| {
            let count = counts.range(..=last).map(|(_, count)| count).sum();
            (count > 0).then_some((first.1, count))
        })
    }
}
