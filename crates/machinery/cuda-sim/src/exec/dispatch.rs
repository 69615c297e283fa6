//! A launch's blocks, run by host threads: a short launch by the calling one alone, which calls the others where
//! it takes longer than was thought.

use super::launch_cache;
use super::sm::Grid;
use super::worker::{Done, run_blocks};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock, PoisonError};
use std::thread;

/// Runs the blocks on the threads of `pool`, or on the simulator's own.
pub fn run_all(pool: Option<&ThreadPool>, grid: &Arc<Grid>) -> Vec<Done> {
    if pool.is_none() && launch_cache::with(&grid.program, |kept| kept.is_short(grid)) == Some(true)
    {
        return run_here_first(grid);
    }
    on_all_threads(pool, grid)
}

/// The simulator's own threads, one a core; none where the host has none to give.
fn own() -> Option<&'static ThreadPool> {
    static OWN: OnceLock<Option<ThreadPool>> = OnceLock::new();
    OWN.get_or_init(|| ThreadPoolBuilder::new().build().ok())
        .as_ref()
}

/// [`run_blocks`] on every thread of a pool, which takes the blocks as it gets to them.
///
/// The caller sleeps meanwhile. It must not lend a hand, as rayon would have it do for a pool it
/// belongs to: the work it would pick up may wait for the very driver call it is in.
fn on_all_threads(pool: Option<&ThreadPool>, grid: &Arc<Grid>) -> Vec<Done> {
    let own = match pool {
        Some(_) => None,
        None => own(),
    };
    let Some(pool) = pool.or(own) else {
        return vec![run_blocks(grid, grid.resident, false)];
    };
    // Together the host threads keep as many blocks under way as the device does.
    let resident = grid.resident.div_ceil(pool.current_num_threads());
    let (sender, receiver) = channel();
    let grid = grid.clone();
    pool.spawn_broadcast(move |_| run_and_send(&grid, resident, &sender));
    // The receiver waits for every sender.
    let done: thread::Result<Vec<Done>> = receiver.into_iter().collect();
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// [`run_blocks`] on this thread, which calls others if it takes long.
fn run_here_first(grid: &Arc<Grid>) -> Vec<Done> {
    let threads = own().map_or(1, ThreadPool::current_num_threads);
    let resident = grid.resident.div_ceil(threads);
    let (sender, receiver) = channel();
    let call = move |grid: &Arc<Grid>| {
        for _ in 1..threads {
            let (grid, sender) = (grid.clone(), sender.clone());
            if let Some(pool) = own() {
                pool.spawn(move || run_and_send(&grid, resident, &sender));
            }
        }
    };
    *grid.call.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(call));
    let mut done = vec![run_or_abandon(grid, resident, true)];
    // Where nobody was called, nobody sends.
    drop(grid.take_call());
    done.extend(receiver);
    let done: thread::Result<Vec<Done>> = done.into_iter().collect();
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

fn run_and_send(grid: &Arc<Grid>, resident: usize, to: &Sender<thread::Result<Done>>) {
    // The receiver waits for every sender, so it is there.
    let _ = to.send(run_or_abandon(grid, resident, false));
}

/// [`run_blocks`]; a panic is the answer: in a pool's thread it would end the process.
fn run_or_abandon(grid: &Arc<Grid>, resident: usize, may_call: bool) -> thread::Result<Done> {
    let done = catch_unwind(AssertUnwindSafe(|| run_blocks(grid, resident, may_call)));
    if done.is_err() {
        // Others may wait for the block that was running.
        grid.abandon();
    }
    done
}
