//! Execution of a launch, one SM per host thread. Short launches run on the calling thread, which wakes the
//! pool if one takes longer than expected.

use super::compiled;
use super::fault::{Diagnosis, Fault, FaultContext};
use super::launch_cache;
use super::profiler::trace::{self, Traced};
use super::sm::launch_spec::Submission;
use super::sm::{Grid, Launch};
use super::worker::{WorkerResult, run_blocks};
use crate::check::{self, AllocationAccesses, FaultKind, Finding, NamedArray};
use crate::memory::footprint::DeviceTraffic;
use crate::memory::lock;
use crate::profile::cache::MAX_LINES;
use crate::profile::collect::LaunchCounts;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

/// The results of the execution of a launch.
pub struct Outcome {
    /// The fault of the lowest-numbered block that had one. The counters are then incomplete, and there is no
    /// trace.
    pub fault: Option<Fault>,
    pub counted: Box<LaunchCounts>,
    /// Traffic between device memory and the L2 cache.
    pub traffic: DeviceTraffic,
    /// Each access in block order, or only the costliest accesses, if the launch was traced.
    pub trace: Vec<Traced>,
    /// Output of `printf` in block order.
    pub printed: Vec<u8>,
    /// The work that the blocks have submitted and that has not started, in block order.
    pub submissions: Vec<Submission>,
    /// Findings of the checks, after the fault, and accesses that a GPU does not detect, with and without checks.
    pub findings: Vec<Finding>,
    /// The device memory that the launch accessed, if the check of streams is on.
    pub accesses: Vec<AllocationAccesses>,
}

/// Runs a kernel until it completes or faults. Each SM of the device holds `blocks_per_sm` of its blocks.
///
/// Results and counters do not depend on the distribution of blocks over host threads: blocks of a kernel with
/// order-dependent atomics run one after the other, and so do those of a launch with a random schedule.
pub fn run(launch: &Launch, blocks_per_sm: u32) -> Outcome {
    let program = launch.program;
    let mut grid = Grid::new(launch, blocks_per_sm, compiled::of_launch(launch));
    launch_cache::with(program, |cached| {
        grid.sample.reuse(std::mem::take(&mut cached.caches))
    });
    let grid = Arc::new(grid);
    let _guard = launch.options.watch.show(grid.progress.clone());
    let result = run_on_workers(launch, &grid)
        .into_iter()
        .reduce(|mut all, part| {
            all.add(part);
            all
        });
    let WorkerResult {
        counted,
        mut printed,
        mut submissions,
        trace,
        mut findings,
    } = result.unwrap_or_else(|| WorkerResult::new(&program.listing));
    let fault = grid.take_fault();
    if fault.is_some() {
        findings.discard_after(grid.lowest_failed());
    } else {
        launch_cache::with(program, |cached| {
            cached.record_cost(&grid, counted.instructions());
            if grid.local_lines() < MAX_LINES / 2 {
                cached.caches.add(grid.sample.take_spare_caches());
            }
        });
    }
    let findings = grid.checks.as_ref().map(|checks| {
        let context = check::KernelContext {
            listing: &program.listing,
            kernel: grid.kernel_name(),
            dims: grid.dims,
        };
        checks.findings(findings, context, launch.global, fault.is_none())
    });
    let mut findings = findings.unwrap_or_default();
    if launch.options.checks.memory {
        findings.extend(Finding::extern_arrays(&program.listing, launch.kernel));
    }
    let checks = grid.checks.as_ref();
    let undetected: Vec<(Fault, u64)> = grid.take_undetected().collect();
    for (fault, count) in undetected {
        let fault = diagnosed(fault, launch, &grid);
        findings.extend(fault.undetected_finding(count, launch.options.checks));
    }
    let accesses = checks.map_or_else(Vec::new, |checks| checks.accesses(launch.global));
    let trace = trace.filter(|_| fault.is_none());
    let fault = fault.map(|fault| diagnosed(fault, launch, &grid));
    if let Some(fault) = &fault {
        fault.add_to(&mut findings, launch.options.checks);
    }
    printed.sort_by_key(|(block, _)| *block);
    submissions.sort_by_key(|submission| submission.block);
    Outcome {
        fault,
        counted,
        traffic: grid.regions.traffic(launch.device.l2_bytes.into()),
        trace: trace.map_or_else(Vec::new, |trace| trace::traced(&program.listing, *trace)),
        printed: printed.into_iter().flat_map(|(_, text)| text).collect(),
        submissions,
        findings,
        accesses,
    }
}

/// Returns a fault with its explanation, if there is one.
fn diagnosed(fault: Fault, launch: &Launch, grid: &Grid) -> Fault {
    let kernel = &launch.program.listing.kernels[launch.kernel];
    let constants = launch.program.constants;
    let location = fault.location.as_deref();
    let array = location.and_then(|location| {
        let array = location.array?;
        let named = NamedArray::of(array, &launch.program.listing)?;
        Some((array.start.into(), named))
    });
    let context = FaultContext {
        shared: kernel.shared_bytes,
        dynamic: launch.spec.dynamic_shared,
        local: location.map_or(0, |location| location.local_end),
        params: kernel.param_bytes,
        constants: constants.map_or(0, |(_, bytes)| bytes),
        dims: grid.dims,
        cluster_blocks: grid.blocks_per_cluster(),
        thread: location.map(|location| [location.block, location.thread]),
        array,
        exhausted_heap: (grid.heap.as_ref())
            .filter(|heap| heap.state().is_exhausted)
            .map(|heap| heap.bytes()),
    };
    let diagnosis = Diagnosis::of(&fault.kind, launch.global, &context);
    let diagnosis = diagnosis.map(|diagnosis| match location {
        Some(location) => diagnosis.with_source(&location.source),
        None => diagnosis,
    });
    let stalls = match fault.kind {
        FaultKind::Timeout { .. } | FaultKind::Interrupted { .. } => grid.stalls(),
        _ => Vec::new(),
    };
    Fault {
        diagnosis: diagnosis.map(Box::new),
        stalls,
        ..fault
    }
}

/// Runs all blocks: on this thread if they must run in order or the launch is short, otherwise on the threads
/// of a pool.
fn run_on_workers(launch: &Launch, grid: &Arc<Grid>) -> Vec<WorkerResult> {
    let checks = grid.checks.as_ref();
    let serial = launch.program.listing.kernels[launch.kernel].ordered
        || grid.schedule_seed.is_some()
        || checks.is_some_and(|checks| checks.is_serial());
    if serial || grid.progress.blocks == 1 {
        return vec![run_blocks(grid, grid.resident, false)];
    }
    let pool = launch.options.threads.as_deref();
    let is_short = || launch_cache::with(&grid.program, |cached| cached.is_short(grid));
    if pool.is_none() && is_short() == Some(true) {
        return run_on_caller(grid);
    }
    run_on_pool(pool, grid)
}

/// Returns the simulator's own pool, one thread per core, or `None` if the host cannot create threads.
fn shared_pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    POOL.get_or_init(|| ThreadPoolBuilder::new().build().ok())
        .as_ref()
}

/// Returns true if this thread does not belong to a pool. One that does, and waits for launches by a kernel, must run them
/// itself: the other threads of the pool may wait too.
fn is_foreign(pool: &&ThreadPool) -> bool {
    pool.current_thread_index().is_none()
}

/// Calls [`run_blocks`] on every thread of a pool; idle threads take the next block.
///
/// The caller sleeps meanwhile. It must not help out, as rayon would have it do for a pool it belongs to: the
/// work it would pick up may wait for the very driver call it is in.
fn run_on_pool(pool: Option<&ThreadPool>, grid: &Arc<Grid>) -> Vec<WorkerResult> {
    let pool = match pool {
        Some(pool) => Some(pool),
        None => shared_pool(),
    };
    let Some(pool) = pool.filter(is_foreign) else {
        return vec![run_blocks(grid, grid.resident, false)];
    };
    // All host threads together keep as many blocks resident as the device does.
    let resident = grid.resident.div_ceil(pool.current_num_threads());
    let (sender, receiver) = channel();
    let grid = grid.clone();
    pool.spawn_broadcast(move |_| run_and_send(&grid, resident, &sender));
    // The iterator ends when every sender is dropped.
    let results: thread::Result<Vec<WorkerResult>> = receiver.into_iter().collect();
    results.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Calls [`run_blocks`] on this thread, which wakes other workers if the launch takes long.
fn run_on_caller(grid: &Arc<Grid>) -> Vec<WorkerResult> {
    let pool = shared_pool().filter(is_foreign);
    let threads = pool.map_or(1, ThreadPool::current_num_threads);
    let resident = grid.resident.div_ceil(threads);
    let (sender, receiver) = channel();
    let wake = move |grid: &Arc<Grid>| {
        for _ in 1..threads {
            let (grid, sender) = (grid.clone(), sender.clone());
            if let Some(pool) = shared_pool() {
                pool.spawn(move || run_and_send(&grid, resident, &sender));
            }
        }
    };
    *lock(&grid.waker) = Some(Box::new(wake));
    let mut results = vec![run_or_abandon(grid, resident, true)];
    // Drop the unused waker, whose sender would otherwise keep the channel open.
    drop(grid.take_waker());
    results.extend(receiver);
    let results: thread::Result<Vec<WorkerResult>> = results.into_iter().collect();
    results.unwrap_or_else(|panic| resume_unwind(panic))
}

fn run_and_send(grid: &Arc<Grid>, resident: usize, sender: &Sender<thread::Result<WorkerResult>>) {
    // Sending cannot fail: the receiver outlives every sender.
    let _ = sender.send(run_or_abandon(grid, resident, false));
}

/// Calls [`run_blocks`] and returns a panic as an error: on a pool thread it would abort the process.
fn run_or_abandon(
    grid: &Arc<Grid>,
    resident: usize,
    can_wake_workers: bool,
) -> thread::Result<WorkerResult> {
    let result = catch_unwind(AssertUnwindSafe(|| {
        run_blocks(grid, resident, can_wake_workers)
    }));
    if result.is_err() {
        // Other workers may wait for the block that was running.
        grid.abandon();
    }
    result
}
