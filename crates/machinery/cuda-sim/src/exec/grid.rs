//! A launch: blocks handed to multiprocessors, one host thread each.

use super::block::Block;
use super::fault::{Fault, FaultKind, Place};
use super::sm::Sm;
use super::warp::State;
use super::watch::{Running, Watch};
use crate::device::DeviceSpec;
use crate::memory::global::Global;
use crate::memory::region::{Region, Regions};
use crate::model;
use crate::profile::Counts;
use crate::program::Program;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Warp instructions a warp may run before it gives way, so that one that waits for another
/// does not wait for ever.
const QUANTUM: u64 = 1 << 16;

/// Warp instructions a block may run before blocks that have not begun get a turn.
const BLOCK_QUANTUM: u64 = 1 << 20;

/// Warp instructions a block may run once another has failed: it may be waiting for that one.
const PATIENCE: u64 = 1 << 24;

/// What to launch. Dimensions are checked against the device's limits by the driver.
pub struct Launch<'a> {
    /// An index into [`Program::kernels`].
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
    /// How long the launch may take; for ever where none.
    pub time_limit: Option<Duration>,
    /// Host threads to run on; the simulator's own, one a core, where none.
    pub threads: Option<&'a ThreadPool>,
    /// Where the launch shows how far it is, if anywhere.
    pub watch: Option<&'a Watch>,
}

/// What a launch did.
pub struct Report {
    pub counts: Counts,
    /// Modelled, on the device the simulator stands for.
    pub milliseconds: f64,
    /// What the kernel printed, block by block.
    pub printed: Vec<u8>,
}

/// What every multiprocessor of a launch shares.
pub struct Grid {
    pub program: Arc<Program>,
    pub kernel: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub dynamic_shared: u32,
    pub params: Vec<u8>,
    pub stack_bytes: u32,
    pub regions: Arc<Regions>,
    /// The module's constant bank.
    pub constants: Region,
    pub multiprocessors: u32,
    /// Blocks that the modelled GPU runs at once: so many may wait for each other.
    resident: usize,
    next: AtomicU64,
    progress: Arc<Running>,
    /// The lowest block that failed: blocks after it need not run, those before it must, so
    /// that the fault reported does not depend on timing.
    failed: AtomicU64,
    fault: Mutex<Option<Fault>>,
    until: Option<(Instant, Duration)>,
}

impl Grid {
    /// The number of this launch in this process: `%gridid`.
    pub fn id(&self) -> u64 {
        self.progress.launch
    }

    /// The x, y, z of thread number `number` in its block.
    pub fn thread(&self, number: u32) -> [u32; 3] {
        unfold(u64::from(number), self.block)
    }

    fn fail(&self, block: u64, fault: Fault) {
        let mut lowest = self
            .fault
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if block < self.failed.load(Ordering::Relaxed) {
            self.failed.store(block, Ordering::Relaxed);
            *lowest = Some(fault);
        }
    }

    fn next_block(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.progress.blocks && number < self.failed.load(Ordering::Relaxed))
            .then_some(number)
    }
}

fn unfold(number: u64, size: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(size[0]), u64::from(size[1]));
    [
        (number % x) as u32,
        (number / x % y) as u32,
        (number / x / y) as u32,
    ]
}

/// Blocks that fit on the device at once, by their threads and their shared memory.
fn resident(device: &DeviceSpec, launch: &Launch, static_shared: u32) -> usize {
    let threads = launch
        .block
        .iter()
        .product::<u32>()
        .next_multiple_of(32)
        .max(32);
    let shared = static_shared
        .saturating_add(launch.dynamic_shared)
        .saturating_add(device.shared_reserved_per_block);
    let each = (device.threads_per_multiprocessor / threads)
        .min(device.shared_per_multiprocessor / shared.max(1))
        .clamp(1, device.blocks_per_multiprocessor);
    each as usize * device.multiprocessors as usize
}

/// Runs a kernel to its end.
///
/// Results and counts do not depend on how blocks fall on host threads: blocks of a kernel with
/// atomics whose order shows run one after the other.
///
/// # Errors
/// The fault of the lowest-numbered block that had one.
pub fn launch(
    program: &Arc<Program>,
    global: &Global,
    device: &DeviceSpec,
    launch: &Launch,
) -> Result<Report, Fault> {
    static LAUNCHES: AtomicU64 = AtomicU64::new(1);
    let kernel = &program.kernels[launch.kernel];
    let regions = Arc::new(Regions::of(global));
    // Loads of parameters rely on there being as many bytes as the kernel declares.
    let mut params = launch.params.to_vec();
    params.resize(kernel.param_bytes as usize, 0);
    let constants = program
        .constants
        .map_or(Region::NONE, |(base, _)| regions.find(base));
    let progress = Arc::new(Running {
        launch: LAUNCHES.fetch_add(1, Ordering::Relaxed),
        kernel: kernel.name.clone(),
        blocks: launch.grid.iter().map(|&n| u64::from(n)).product(),
        done: AtomicU64::new(0),
    });
    let _shown = launch.watch.map(|watch| watch.show(progress.clone()));
    let grid = Arc::new(Grid {
        program: program.clone(),
        kernel: launch.kernel,
        grid: launch.grid,
        block: launch.block,
        shared_bytes: kernel.shared_bytes.next_multiple_of(16) + launch.dynamic_shared,
        dynamic_shared: launch.dynamic_shared,
        params,
        stack_bytes: kernel.stack_bytes(launch.stack_limit),
        regions,
        constants,
        multiprocessors: device.multiprocessors,
        resident: resident(device, launch, kernel.shared_bytes),
        next: AtomicU64::new(0),
        progress,
        failed: AtomicU64::new(u64::MAX),
        fault: Mutex::new(None),
        until: launch
            .time_limit
            .and_then(|limit| Some((Instant::now().checked_add(limit)?, limit))),
    });
    let done = if kernel.ordered || grid.progress.blocks == 1 {
        vec![run_blocks(&grid, grid.resident)]
    } else {
        on_all_threads(launch.threads, &grid)
    };
    let fault = grid
        .fault
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .take();
    let mut counts = Counts::new(program.blocks.len());
    let mut printed = Vec::new();
    for (part, lines) in done {
        counts.add(&part);
        printed.extend(lines);
    }
    printed.sort_by_key(|(block, _)| *block);
    let printed = printed.into_iter().flat_map(|(_, text)| text).collect();
    if let Some(fault) = fault {
        return Err(Fault { printed, ..fault });
    }
    let milliseconds = model::milliseconds(program, &counts, device, launch);
    Ok(Report {
        counts,
        milliseconds,
        printed,
    })
}

/// [`run_blocks`] on every thread of a pool, which takes the blocks as it gets to them.
///
/// The caller sleeps meanwhile. It must not lend a hand, as rayon would have it do for a pool it
/// belongs to: the work it would pick up may wait for the very driver call it is in.
fn on_all_threads(pool: Option<&ThreadPool>, grid: &Arc<Grid>) -> Vec<Done> {
    static OWN: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let own = || {
        OWN.get_or_init(|| ThreadPoolBuilder::new().build().ok())
            .as_ref()
    };
    let Some(pool) = pool.or_else(own) else {
        // The host has no thread left to give.
        return vec![run_blocks(grid, grid.resident)];
    };
    // Together they hold what the device would.
    let resident = grid.resident.div_ceil(pool.current_num_threads());
    let (sender, receiver) = std::sync::mpsc::channel();
    let grid = grid.clone();
    pool.spawn_broadcast(move |_| {
        // A panic goes to the caller: here it would end the process.
        let done = catch_unwind(AssertUnwindSafe(|| run_blocks(&grid, resident)));
        // The receiver waits for every sender, so it is there.
        let _ = sender.send(done);
    });
    let done: std::thread::Result<Vec<Done>> = receiver.into_iter().collect();
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// What one multiprocessor counted and printed.
type Done = (Counts, Vec<(u64, Vec<u8>)>);

/// One multiprocessor: takes blocks until there are none. Blocks that make no end within their
/// quantum take turns, up to `resident` of them, so that a block may wait for another.
fn run_blocks(grid: &Arc<Grid>, resident: usize) -> Done {
    let mut sm = Sm::new(grid.clone());
    let mut paused: VecDeque<Box<Block>> = VecDeque::new();
    let mut spare: Vec<Box<Block>> = Vec::new();
    loop {
        let fresh = if paused.len() < resident {
            grid.next_block()
        } else {
            None
        };
        let block = match fresh {
            Some(number) => {
                let mut block = spare.pop().unwrap_or_else(|| Box::new(Block::empty()));
                let threads = grid.block.iter().product();
                block.reset(
                    number,
                    unfold(number, grid.grid),
                    threads,
                    grid.shared_bytes,
                );
                block
            }
            None => match paused.pop_front() {
                Some(block) => block,
                None => break,
            },
        };
        let failed = grid.failed.load(Ordering::Relaxed);
        if block.number > failed || failed < u64::MAX && block.clock > PATIENCE {
            continue;
        }
        sm.block = block;
        let finished = sm.run_block();
        let block = std::mem::replace(&mut sm.block, Box::new(Block::empty()));
        if let Some(fault) = sm.fault.take() {
            grid.fail(block.number, fault);
        } else if finished {
            grid.progress.done.fetch_add(1, Ordering::Relaxed);
            spare.push(block);
        } else {
            paused.push_back(block);
        }
    }
    (sm.counts, sm.printed)
}

impl Sm {
    /// Runs the block until all its threads have exited (true), or until it has had its turn or
    /// has failed (false).
    fn run_block(&mut self) -> bool {
        self.began = self.clock.wrapping_sub(self.block.clock);
        let finished = self.run_turn();
        self.block.clock = self.clock.wrapping_sub(self.began);
        finished
    }

    fn run_turn(&mut self) -> bool {
        let turn = self.clock + BLOCK_QUANTUM;
        loop {
            let mut ran = false;
            for warp in 0..self.block.warps.len() {
                ran |= self.run_warp(warp);
                if self.fault.is_some() {
                    return false;
                }
            }
            let opened = self.block.open_barriers();
            if self.block.alive == 0 {
                return true;
            }
            if !ran && !opened && !self.block.release_for_sync() {
                self.fault = Some(self.deadlock());
                return false;
            }
            if self.clock >= turn {
                if let Some((until, limit)) = self.grid.until
                    && Instant::now() >= until
                {
                    self.fault = Some(Fault::new(FaultKind::Timeout(limit), None));
                }
                return false;
            }
        }
    }

    /// Runs a warp until it waits or has had its turn; whether it had anything to run.
    fn run_warp(&mut self, index: usize) -> bool {
        self.block.running = index;
        if !self.block.warp().started() {
            let program = self.grid.program.clone();
            let registers = self.windows.take_kernel(&program);
            let entry = program.functions[program.kernels[self.grid.kernel].function].entry;
            let local = self.locals.take();
            let warp = self.block.warp_mut();
            warp.start(entry, registers);
            warp.local = local;
        }
        if self.block.warp().ready.is_empty() {
            return false;
        }
        self.deadline = self.clock + QUANTUM;
        self.reads_before = self.counts.reads();
        let mut pc = self.switch();
        self.switches_before = self.switches;
        while !pc.is_null() {
            // SAFETY: `pc` points into the program's code, which outlives the launch, and the
            // instruction was lowered for the frame that the running split is in.
            unsafe {
                let inst = &*pc;
                pc = (inst.run)(self, inst);
            }
        }
        let warp = self.block.warp_mut();
        if warp.alive == 0 {
            let local = warp.local.take();
            self.locals.give_back(local);
        }
        true
    }

    /// No thread of the block can go on.
    fn deadlock(&self) -> Fault {
        let stuck_warp = self.block.warps.iter().find_map(|warp| {
            warp.splits.iter().find_map(|split| match split.state {
                State::Sync(members) | State::Meet(members) => Some((warp, split, members)),
                _ => None,
            })
        });
        let (kind, warp, split) = match (stuck_warp, self.block.stuck()) {
            (Some((warp, split, members)), _) => (
                FaultKind::WarpSyncNeverOpens { members },
                Some(warp),
                Some(split),
            ),
            (None, stuck) => {
                let (barrier, arrived, expected) = stuck.unwrap_or((0, 0, self.block.alive));
                let waiting = self.block.warps.iter().find_map(|warp| {
                    let waits = |state| matches!(state, State::Barrier(n) if n == barrier as u32);
                    warp.splits
                        .iter()
                        .find(|split| waits(split.state))
                        .map(|split| (warp, split))
                });
                let barrier = barrier as u32;
                let kind = FaultKind::BarrierNeverOpens {
                    barrier,
                    arrived,
                    expected,
                };
                (
                    kind,
                    waiting.map(|found| found.0),
                    waiting.map(|found| found.1),
                )
            }
        };
        let place = warp.zip(split).map(|(warp, split)| {
            let lane = split.mask.trailing_zeros();
            Box::new(Place {
                kernel: self.grid.program.kernels[self.grid.kernel].name.clone(),
                block: self.block.id,
                thread: self.grid.thread(warp.index * 32 + lane),
                // It goes on after the barrier: the instruction before is the barrier.
                source: self.grid.program.source_of(split.pc.saturating_sub(1)),
            })
        });
        Fault::new(kind, place)
    }
}

#[cfg(test)]
impl Sm {
    /// A multiprocessor without a launch, to try single instructions on.
    pub fn for_tests() -> Sm {
        static GRID: OnceLock<Arc<Grid>> = OnceLock::new();
        let grid = GRID.get_or_init(|| {
            let text = ".version 6.4\n.target sm_52\n.address_size 64\n.entry nothing() { ret; }";
            let mut global = Global::new(0);
            let program = Program::load(text, &DeviceSpec::h200(), &mut global);
            Arc::new(Grid {
                program: Arc::new(program.expect("the module loads")),
                kernel: 0,
                grid: [1; 3],
                block: [32, 1, 1],
                shared_bytes: 0,
                dynamic_shared: 0,
                params: Vec::new(),
                stack_bytes: 0,
                regions: Arc::new(Regions::of(&global)),
                constants: Region::NONE,
                multiprocessors: 1,
                resident: 1,
                next: AtomicU64::new(0),
                progress: Arc::new(Running {
                    launch: 0,
                    kernel: "nothing".into(),
                    blocks: 1,
                    done: AtomicU64::new(0),
                }),
                failed: AtomicU64::new(u64::MAX),
                fault: Mutex::new(None),
                until: None,
            })
        });
        let mut sm = Sm::new(grid.clone());
        sm.block.reset(0, [0; 3], 32, 0);
        sm
    }
}
