//! A launch: blocks handed to multiprocessors, one host thread each.

use super::block::Block;
use super::fault::{Fault, FaultKind, Place};
use super::gang;
use super::miss::{Miss, Sizes};
use super::observe::Observer;
use super::sample::{Observe, Part, Sample};
use super::sm::{Codes, Sm};
use super::trace::{self, Traced};
use super::warp::{State, Turn};
use super::watch::{Apart, Running, Watch};
use crate::check::{self, Checks, Finding};
use crate::device::DeviceSpec;
use crate::memory::footprint::EPOCHS;
use crate::memory::global::Global;
use crate::memory::region::{Region, Regions};
use crate::model::{self, Modelled};
use crate::profile::collect::{self, Counted};
use crate::profile::shape::Shapes;
use crate::profile::{Counts, LaunchProfile};
use crate::program::Program;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Warp instructions a warp may run before it gives way, so that one that waits for another
/// does not wait for ever.
pub(super) const QUANTUM: u64 = 1 << 16;

/// Warp instructions a warp of an observed block runs before the next one goes on.
const SLICE: u64 = 256;

/// Warp instructions a block may run before blocks that have not begun get a turn.
const BLOCK_QUANTUM: u64 = 1 << 20;

/// Warp instructions a block may run between two looks at the time.
const LOOK: u64 = 1 << 16;

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
    /// How much of it to count line by line.
    pub observe: Observe,
    /// What to look for meanwhile. Only those that look at a kernel while it runs make a difference.
    pub checks: Checks,
}

/// What a launch did.
pub struct Report {
    pub counts: Counts,
    /// Modelled, on the device the simulator stands for.
    pub time: Modelled,
    /// What was counted line by line, if that was asked for.
    pub profile: Option<LaunchProfile>,
    /// Each access, block by block, if that was asked for.
    pub trace: Vec<Traced>,
    /// What the kernel printed, block by block.
    pub printed: Vec<u8>,
    /// What checks found, errors first.
    pub findings: Vec<Finding>,
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
    /// What looks for mistakes, if anything does.
    pub checks: Option<Arc<check::Launched>>,
    /// Blocks that the modelled GPU runs at once: so many may wait for each other.
    resident: usize,
    sample: Sample,
    /// The first block that no thread has taken.
    next: Apart<AtomicU64>,
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

    /// The kernel's function, by number.
    pub fn function(&self) -> usize {
        self.program.kernels[self.kernel].function
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
        let number = self.next.0.fetch_add(1, Ordering::Relaxed);
        if number >= self.progress.blocks {
            return None;
        }
        if number < self.failed.load(Ordering::Relaxed) {
            return Some(number);
        }
        // Nobody will run it, and a later block may wait for it already.
        self.sample.pass_on(number, None);
        None
    }
}

pub fn unfold(number: u64, size: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(size[0]), u64::from(size[1]));
    [
        (number % x) as u32,
        (number / x % y) as u32,
        (number / x / y) as u32,
    ]
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
        done: Apart(AtomicU64::new(0)),
    });
    let _shown = launch.watch.map(|watch| watch.show(progress.clone()));
    // What is sized at launch begins at a boundary; else there is not a byte more than is declared.
    let shared_bytes = match launch.dynamic_shared {
        0 => kernel.shared_bytes,
        dynamic => kernel.shared_bytes.next_multiple_of(16) + dynamic,
    };
    let taken = shared_bytes.next_multiple_of(16);
    let occupancy = model::occupancy(
        device,
        kernel,
        launch.block.iter().product(),
        taken,
        progress.blocks,
    );
    let shared_in_use = u64::from(taken) * u64::from(occupancy.blocks);
    let grid = Arc::new(Grid {
        program: program.clone(),
        kernel: launch.kernel,
        grid: launch.grid,
        block: launch.block,
        shared_bytes,
        dynamic_shared: launch.dynamic_shared,
        params,
        stack_bytes: kernel.stack_bytes(launch.stack_limit),
        regions,
        constants,
        multiprocessors: device.multiprocessors,
        checks: check::Launched::new(
            launch.checks,
            program,
            global,
            shared_bytes,
            (progress.blocks, kernel.ordered),
        ),
        resident: occupancy.blocks as usize * device.multiprocessors as usize,
        sample: Sample::new(launch.observe, progress.blocks, device, shared_in_use),
        next: Apart(AtomicU64::new(0)),
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
    let mut counted = Counted::new(program);
    let (mut printed, mut traced) = (Vec::new(), Vec::new());
    let mut ledger = check::Ledger::default();
    for part in done {
        counted.add(&part.counted);
        printed.extend(part.printed);
        traced.extend(part.traced);
        ledger.add(part.ledger);
    }
    if fault.is_some() {
        ledger.keep_until(grid.failed.load(Ordering::Relaxed));
    }
    let findings = match &grid.checks {
        Some(checks) => checks.findings(ledger, &grid, global, fault.is_none()),
        None => Vec::new(),
    };
    printed.sort_by_key(|(block, _)| *block);
    let printed = printed.into_iter().flat_map(|(_, text)| text).collect();
    if let Some(fault) = fault {
        let sizes = Sizes {
            shared: kernel.shared_bytes,
            dynamic: launch.dynamic_shared,
            local: grid.stack_bytes,
            params: kernel.param_bytes,
            constants: program.constants.map_or(0, |(_, bytes)| bytes),
        };
        let miss = Miss::of(&fault.kind, global, sizes).map(Box::new);
        return Err(Fault {
            printed,
            findings,
            miss,
            ..fault
        });
    }
    let traffic = grid.regions.traffic(device.l2_bytes.into());
    let counts = counted.counts();
    let time = model::modelled(&model::Run {
        program,
        device,
        counted: &counted,
        counts: &counts,
        traffic,
        occupancy,
        blocks: grid.progress.blocks,
        threads: launch.block.iter().product(),
    });
    let profile = matches!(launch.observe, Observe::Everything | Observe::Trace)
        .then(|| collect::profile(program, &counted, &counts, traffic));
    Ok(Report {
        counts,
        time,
        profile,
        trace: trace::traced(program, traced),
        printed,
        findings,
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
        if done.is_err() {
            // Others may wait for the block that was running.
            grid.failed.store(0, Ordering::Relaxed);
            grid.sample.abandon();
        }
        // The receiver waits for every sender, so it is there.
        let _ = sender.send(done);
    });
    let done: std::thread::Result<Vec<Done>> = receiver.into_iter().collect();
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// What one host thread counted, and what its blocks printed and accessed.
struct Done {
    counted: Counted,
    printed: Vec<(u64, Vec<u8>)>,
    traced: Vec<(u64, trace::Noted)>,
    ledger: check::Ledger,
}

/// One host thread: takes blocks until there are none. Blocks that make no end within their
/// quantum take turns, up to `resident` of them, so that a block may wait for another.
fn run_blocks(grid: &Arc<Grid>, resident: usize) -> Done {
    let mut sm = Sm::new(grid.clone());
    let mut counted = Counted::new(&grid.program);
    let mut paused: VecDeque<Box<Block>> = VecDeque::new();
    let mut spare: Vec<Box<Block>> = Vec::new();
    loop {
        let fresh = if paused.len() < resident {
            grid.next_block()
        } else {
            None
        };
        let begins = fresh.is_some();
        let mut block = match fresh {
            Some(number) => {
                let mut block = spare.pop().unwrap_or_else(|| Box::new(Block::empty()));
                let threads: u32 = grid.block.iter().product();
                block.reset(
                    number,
                    unfold(number, grid.grid),
                    threads,
                    grid.shared_bytes,
                );
                if let Some(checks) = &grid.checks {
                    let shadow = block.shadow.get_or_insert_with(|| checks.shadow());
                    shadow.begin(threads.div_ceil(32) as usize);
                }
                block
            }
            None => match paused.pop_front() {
                Some(block) => block,
                None => break,
            },
        };
        let number = block.number;
        let part = grid.sample.part(number);
        // The first turn of an observed block is over: the next block may have the caches, or
        // empty ones where this block goes on using them.
        let pass_on = |caches| {
            if begins && part != Part::Plain {
                grid.sample.pass_on(number, caches);
            }
        };
        let failed = grid.failed.load(Ordering::Relaxed);
        if number > failed || failed < u64::MAX && block.clock > PATIENCE {
            pass_on(None);
            continue;
        }
        if begins && part != Part::Plain {
            block.caches = Some(grid.sample.take(number));
        }
        std::mem::swap(&mut sm.block, &mut block);
        let finished = sm.run_block(part, &mut counted);
        if finished || sm.fault.is_some() {
            check::close(&mut sm);
        }
        std::mem::swap(&mut sm.block, &mut block);
        if let Some(fault) = sm.fault.take() {
            pass_on(None);
            grid.fail(number, fault);
        } else if finished {
            pass_on(block.caches.take());
            grid.progress.done.0.fetch_add(1, Ordering::Relaxed);
            spare.push(block);
        } else {
            pass_on(None);
            paused.push_back(block);
        }
    }
    Done {
        counted,
        printed: sm.printed,
        traced: sm.traced,
        ledger: sm
            .checker
            .map_or_else(Default::default, |checker| checker.ledger),
    }
}

impl Sm {
    /// Runs the block until all its threads have exited (true), or until it has had its turn or
    /// has failed (false).
    fn run_block(&mut self, part: Part, counted: &mut Counted) -> bool {
        let counts = counted.part(part);
        std::mem::swap(&mut self.counts, &mut counts.counts);
        self.epoch = (self.block.number * u64::from(EPOCHS) / self.grid.progress.blocks) as u32;
        let program = &self.grid.program;
        match self.block.caches.take() {
            Some(caches) => {
                self.codes = Codes {
                    alone: program.observed.as_ptr(),
                    together: program.observed_together.as_ptr(),
                };
                self.slice = SLICE;
                let sites = std::mem::take(&mut counts.sites);
                let mut shapes = std::mem::take(&mut self.shapes);
                shapes.resize_with(sites.len(), Shapes::default);
                let noted = std::mem::take(&mut self.noted);
                let mut observer = Observer::new(sites, shapes, noted, caches);
                observer.trace = self.grid.sample.traces().then(Vec::new);
                self.observer = Some(Box::new(observer));
            }
            None => {
                self.codes = Codes {
                    alone: program.code.as_ptr(),
                    together: program.together.as_ptr(),
                };
                self.slice = QUANTUM;
            }
        }
        if self.checker.is_some() {
            self.unchecked = self.codes.alone;
            let checked = match self.observer {
                Some(_) => program.checked.observed(&program.observed),
                None => program.checked.code(&program.code),
            };
            self.codes.alone = checked.as_ptr();
        }
        self.code = self.codes.alone;
        let in_gangs = self.checker.is_none()
            && !self.grid.sample.traces()
            && !self.block.number.is_multiple_of(gang::APART)
            && (self.block.warps.len() > 1 || self.observer.is_some());
        self.gang_size = match in_gangs {
            false => 1,
            true => gang::size(&program.functions[self.grid.function()]),
        };
        self.began = self.clock.wrapping_sub(self.block.clock);
        let finished = self.run_turn();
        self.block.clock = self.clock.wrapping_sub(self.began);
        std::mem::swap(&mut self.counts, &mut counts.counts);
        if let Some(observer) = self.observer.take() {
            counts.sites = observer.sites;
            self.shapes = observer.shapes;
            self.noted = observer.noted;
            self.block.caches = Some(observer.caches);
            let accesses = observer.trace.into_iter().flatten();
            let number = self.block.number;
            self.traced.extend(accesses.map(|access| (number, access)));
        }
        finished
    }

    fn run_turn(&mut self) -> bool {
        self.block_deadline = self.clock + BLOCK_QUANTUM;
        let mut look = self.clock + LOOK;
        loop {
            let mut ran = false;
            for group in 0..self.block.warps.len().div_ceil(self.gang_size) {
                ran |= match self.gang_size {
                    1 => self.run_warp(group),
                    _ => self.run_group(group),
                };
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
            if self.clock >= look {
                look = self.clock + LOOK;
                if let Some((until, limit)) = self.grid.until
                    && Instant::now() >= until
                {
                    self.fault = Some(Fault::new(FaultKind::Timeout(limit), None));
                    return false;
                }
            }
            if self.clock >= self.block_deadline {
                return false;
            }
        }
    }

    /// Makes sure that a warp has begun, unless it ended in a gang without having to.
    pub(super) fn start(&mut self, index: usize) {
        let warp = &mut self.block.warps[index];
        if !warp.started() && warp.alive != 0 {
            let program = &self.grid.program;
            let entry = program.functions[self.grid.function()].entry;
            warp.start(entry, self.windows.take_kernel(program));
            warp.local = self.locals.take();
        }
    }

    /// Runs a warp until it waits or has had its turn; whether it had anything to run.
    pub(super) fn run_warp(&mut self, index: usize) -> bool {
        self.start(index);
        self.block.running = index;
        if self.block.warp().ready.is_empty() {
            return false;
        }
        let turn = self.block.warp_mut().turn.take().unwrap_or(Turn::NEW);
        self.begin_turn(turn);
        self.run_slice();
        true
    }

    /// Runs the running warp from where it stands until it waits or its slice is over.
    pub(super) fn run_slice(&mut self) {
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
                checks: None,
                resident: 1,
                sample: Sample::new(Observe::Sample, 1, &DeviceSpec::h200(), 0),
                next: Apart(AtomicU64::new(0)),
                progress: Arc::new(Running {
                    launch: 0,
                    kernel: "nothing".into(),
                    blocks: 1,
                    done: Apart(AtomicU64::new(0)),
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
