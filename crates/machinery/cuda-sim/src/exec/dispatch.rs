//! A launch's blocks, run by host threads: a short launch by the calling one alone, which calls the others where
//! it takes longer than was thought.

use super::launch_cache;
use super::sm::Grid;
use super::worker::{WorkerResult, run_blocks};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock, PoisonError};
use std::thread;

/// Runs the blocks on the threads of `pool`, or on the simulator's own.
pub fn run_all(pool: Option<&ThreadPool>, grid: &Arc<Grid>) -> Vec<WorkerResult> {
    if pool.is_none()
        && launch_cache::with(&grid.program, |cached| cached.is_short(grid)) == Some(true)
    {
        return run_on_caller(grid);
    }
    on_all_threads(pool, grid)
}

/// The simulator's own threads, one a core; none where the host has none to give.
fn shared_pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    POOL.get_or_init(|| ThreadPoolBuilder::new().build().ok())
        .as_ref()
}

/// [`run_blocks`] on every thread of a pool, which takes the blocks as it gets to them.
///
/// The caller sleeps meanwhile. It must not lend a hand, as rayon would have it do for a pool it
/// belongs to: the work it would pick up may wait for the very driver call it is in.
fn on_all_threads(pool: Option<&ThreadPool>, grid: &Arc<Grid>) -> Vec<WorkerResult> {
    let shared = match pool {
        Some(_) => None,
        None => shared_pool(),
    };
    let Some(pool) = pool.or(shared) else {
        return vec![run_blocks(grid, grid.resident, false)];
    };
    // Together the host threads keep as many blocks under way as the device does.
    let resident = grid.resident.div_ceil(pool.current_num_threads());
    let (sender, receiver) = channel();
    let grid = grid.clone();
    pool.spawn_broadcast(move |_| run_and_send(&grid, resident, &sender));
    // The receiver waits for every sender.
    let done: thread::Result<Vec<WorkerResult>> = receiver.into_iter().collect();
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// [`run_blocks`] on this thread, which calls others if it takes long.
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
    let mut done = vec![run_or_abandon(grid, resident, true)];
    // Where nobody was called, nobody sends.
    drop(grid.take_waker());
    done.extend(receiver);
    let done: thread::Result<Vec<WorkerResult>> = done.into_iter().collect();
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

fn run_and_send(grid: &Arc<Grid>, resident: usize, sender: &Sender<thread::Result<WorkerResult>>) {
    // The receiver waits for every sender, so it is there.
    let _ = sender.send(run_or_abandon(grid, resident, false));
}

/// [`run_blocks`]; a panic is the answer: in a pool's thread it would end the process.
fn run_or_abandon(
    grid: &Arc<Grid>,
    resident: usize,
    can_wake_workers: bool,
) -> thread::Result<WorkerResult> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        run_blocks(grid, resident, can_wake_workers)
    }));
    if done.is_err() {
        // Others may wait for the block that was running.
        grid.abandon();
    }
    done
}
