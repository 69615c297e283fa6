//! Distribution of blocks over host threads. Short launches run on the calling thread, which wakes the pool if
//! one takes longer than expected.

use super::launch_cache;
use super::sm::Grid;
use super::worker::{WorkerResult, run_blocks};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock, PoisonError};
use std::thread;

/// Runs the blocks on the threads of `pool`, or on the simulator's own pool.
pub fn run_all(pool: Option<&ThreadPool>, grid: &Arc<Grid>) -> Vec<WorkerResult> {
    if pool.is_none()
        && launch_cache::with(&grid.program, |cached| cached.is_short(grid)) == Some(true)
    {
        return run_on_caller(grid);
    }
    on_all_threads(pool, grid)
}

/// Returns the simulator's own pool, one thread per core, or `None` if the host cannot create threads.
fn shared_pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    POOL.get_or_init(|| ThreadPoolBuilder::new().build().ok())
        .as_ref()
}

/// Calls [`run_blocks`] on every thread of a pool; idle threads take the next block.
///
/// The caller sleeps meanwhile. It must not help out, as rayon would have it do for a pool it belongs to: the
/// work it would pick up may wait for the very driver call it is in.
fn on_all_threads(pool: Option<&ThreadPool>, grid: &Arc<Grid>) -> Vec<WorkerResult> {
    let shared = match pool {
        Some(_) => None,
        None => shared_pool(),
    };
    let Some(pool) = pool.or(shared) else {
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
    let threads = shared_pool().map_or(1, ThreadPool::current_num_threads);
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
    *grid.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(wake));
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
