//! The work of one host thread in a launch: runs blocks, and decides their order.

use super::instrument::sanitizing;
use super::launch_cache::{self, CachedState};
use super::profiler::trace::Trace;
use super::schedule::progress::{SHORT_LAUNCH, WakeTime};
use super::schedule::{Depth, RandomSchedule};
use super::sm::block::Block;
use super::sm::launch_spec::Submission;
use super::sm::{Grid, Sm};
use crate::check::FindingSet;
use crate::isa::Listing;
use crate::profile::collect::{LaunchCounts, LaunchPart};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum number of warp instructions of a block after another has faulted: it may be waiting for that one.
const MAX_AFTER_FAILURE: u64 = 1 << 24;

/// Counters, output and findings of one host thread.
pub struct WorkerResult {
    pub counted: Box<LaunchCounts>,
    pub printed: Vec<(u64, Vec<u8>)>,
    pub submissions: Vec<Submission>,
    pub trace: Option<Box<Trace>>,
    pub findings: FindingSet,
}

impl WorkerResult {
    /// Creates the result of a worker that ran no blocks.
    pub fn new(listing: &Listing) -> WorkerResult {
        WorkerResult {
            counted: Box::new(LaunchCounts::new(listing)),
            printed: Vec::new(),
            submissions: Vec::new(),
            trace: None,
            findings: FindingSet::default(),
        }
    }

    /// Adds the result of another worker.
    pub fn add(&mut self, other: WorkerResult) {
        self.counted.add(&other.counted);
        self.printed.extend(other.printed);
        self.submissions.extend(other.submissions);
        match (&mut self.trace, other.trace) {
            (Some(trace), Some(other)) => trace.add(*other),
            (None, other) => self.trace = other,
            (Some(_), None) => {}
        }
        self.findings.merge(other.findings);
    }
}

/// Runs blocks until none remain. Up to `resident` blocks that do not end within their quantum take turns, so
/// that a block may wait for another. If `can_wake_workers` is true, wakes other workers when the launch takes
/// long.
pub fn run_blocks(grid: &Arc<Grid>, resident: usize, can_wake_workers: bool) -> WorkerResult {
    let is_cacheable = launch_cache::is_cacheable(grid);
    let take_cached = |cached: &mut CachedState| {
        (
            cached.parts.pop(),
            cached.counted.pop(),
            cached.blocks.pop(),
        )
    };
    let (parts, counted, block) = is_cacheable
        .then(|| launch_cache::with(&grid.program, take_cached))
        .flatten()
        .unwrap_or_default();
    let mut sm = match parts {
        Some(parts) => Sm::with_parts(grid.clone(), *parts),
        None => Sm::new(grid.clone()),
    };
    if can_wake_workers {
        sm.watchdog.wake = WakeTime::AfterNextPoll;
    }
    let mut counted = counted.unwrap_or_else(|| Box::new(LaunchCounts::new(&grid.program.listing)));
    let mut queue = BlockQueue::new(resident);
    let mut spare: Vec<Box<Block>> = block.into_iter().collect();
    // The blocks that have ended before the rest of their cluster, which may access their shared memory.
    let mut retired: Vec<Box<Block>> = Vec::new();
    while let Some(next) = queue.next(grid, sm.schedule.as_deref_mut()) {
        let (starts, mut block) = match next {
            NextBlock::Fresh(number) => {
                let index = grid.dims.block_index(number);
                (true, prepared(grid, &mut spare, number, index))
            }
            NextBlock::FreshCluster(number) => {
                for block in prepared_cluster(grid, &mut spare, number) {
                    queue.push_paused(block);
                }
                continue;
            }
            NextBlock::Paused(mut block) => (std::mem::take(&mut block.is_new), block),
        };
        let number = block.number;
        // The caches of SMs are passed on in the order in which blocks start.
        let order = block.order;
        let cluster = block.cluster.clone();
        let part = grid.sample.part(order);
        // After the first turn of a profiled block, the next block may have the caches, or empty ones if this
        // block continues to use them.
        let pass_on = |caches| {
            if starts && part != LaunchPart::Plain {
                grid.sample.pass_on(order, caches);
            }
        };
        let failed = grid.lowest_failed();
        if failed < u64::MAX && !starts {
            grid.record_stall(&block);
        }
        // The lower blocks of a cluster may wait for the higher ones, unless one of them has failed.
        let is_obsolete = match &cluster {
            Some(cluster) => cluster.lowest_block > failed || cluster.has_failed(),
            None => number > failed,
        };
        if is_obsolete || failed < u64::MAX && block.clock > MAX_AFTER_FAILURE {
            pass_on(None);
            if let Some(cluster) = &cluster {
                cluster.fail();
                retired.push(block);
            }
            continue;
        }
        if starts && part != LaunchPart::Plain {
            block.caches = Some(grid.sample.take(order));
        }
        std::mem::swap(&mut sm.block, &mut block);
        let finished = !sm.is_timed_out_at_block_start() && sm.run_block(part, &mut counted);
        if finished || sm.fault.is_some() {
            sanitizing::close(&mut sm);
        }
        std::mem::swap(&mut sm.block, &mut block);
        if cluster.is_some() {
            block.update_cluster_barrier();
        }
        if let Some(fault) = sm.fault.take() {
            pass_on(None);
            grid.record_stall(&block);
            grid.record_fault(number, fault);
            if let Some(cluster) = cluster {
                cluster.fail();
                retired.push(block);
            }
        } else if finished {
            pass_on(block.caches.take());
            grid.progress.done.value.fetch_add(1, Ordering::Relaxed);
            for &error in block.last_errors.values() {
                grid.add_unfetched_error(error);
            }
            match cluster {
                None => spare.push(block),
                Some(cluster) => {
                    cluster.end(block.cluster_rank);
                    retired.push(block);
                    if cluster.has_ended() {
                        let belongs = |block: &mut Box<Block>| {
                            let of = block.cluster.as_ref();
                            of.is_none_or(|of| Arc::ptr_eq(of, &cluster))
                        };
                        spare.extend(retired.extract_if(.., belongs));
                    }
                    queue.record_end();
                }
            }
        } else {
            pass_on(None);
            queue.push_paused(block);
        }
    }
    let result = WorkerResult {
        counted,
        printed: std::mem::take(&mut sm.printed),
        submissions: std::mem::take(&mut sm.submissions),
        trace: sm.trace.take(),
        findings: sm
            .checker
            .take()
            .map_or_else(Default::default, |checker| checker.findings),
    };
    if is_cacheable && sm.clock <= SHORT_LAUNCH && grid.lowest_failed() == u64::MAX {
        launch_cache::with(&grid.program, |cached| {
            cached.parts.push(Box::new(sm.into_parts()));
            cached.blocks.extend(spare.pop());
        });
    }
    result
}

/// Returns a block that is ready to start, reusing one of `spare` if there is any.
#[expect(
    clippy::vec_box,
    reason = "the SM and the queue take blocks by their boxes, which keep them in place"
)]
fn prepared(grid: &Grid, spare: &mut Vec<Box<Block>>, number: u64, index: [u32; 3]) -> Box<Block> {
    let mut block = spare.pop().unwrap_or_else(|| Box::new(Block::empty()));
    let threads = grid.dims.threads();
    block.reset(number, index, threads, (grid.shared_bytes, grid.poison));
    if let Some(checks) = &grid.checks {
        let shadow = block.shadow.get_or_insert_with(|| checks.shadow());
        shadow.begin(threads.div_ceil(32) as usize);
    }
    block
}

/// Returns the blocks of a cluster by rank, ready to start.
#[expect(
    clippy::vec_box,
    reason = "the SM and the queue take blocks by their boxes, which keep them in place"
)]
fn prepared_cluster(grid: &Grid, spare: &mut Vec<Box<Block>>, number: u64) -> Vec<Box<Block>> {
    let size = grid.blocks_per_cluster();
    let mut blocks: Vec<_> = (0..size)
        .map(|rank| {
            let index = grid.block_of_cluster(number, rank);
            let mut block = prepared(grid, spare, grid.block_number(index), index);
            block.is_new = true;
            block.order = number * size + rank;
            block
        })
        .collect();
    Block::form_cluster(&mut blocks);
    blocks
}

/// Maximum number of sleeping blocks among which the one with the lightest sleep is woken.
const MAX_CANDIDATES: usize = 32;

/// The blocks that a host thread is running or is about to start.
pub struct BlockQueue {
    /// Blocks that have had a turn and have not ended, longest waiting first.
    paused: VecDeque<Box<Block>>,
    /// Blocks that have not started; used only under a random schedule.
    fresh: Vec<u64>,
    /// Maximum number of resident blocks.
    resident: usize,
    /// Number of turns since the last block of a cluster started or ended.
    turns: usize,
}

/// Number of turns per block of the running clusters after which another cluster starts, for which they may wait.
const CLUSTER_PATIENCE: usize = 4;

/// The block to run next.
pub enum NextBlock {
    /// A block to start, by number.
    Fresh(u64),
    /// A cluster to start, by number.
    FreshCluster(u64),
    /// A block to continue.
    Paused(Box<Block>),
}

impl BlockQueue {
    /// Creates a queue without blocks, for at most `resident` blocks at a time.
    pub fn new(resident: usize) -> BlockQueue {
        BlockQueue {
            paused: VecDeque::new(),
            fresh: Vec::new(),
            resident,
            turns: 0,
        }
    }

    /// Returns the next block: one that has not started, otherwise a paused one. Returns `None` if none
    /// remains.
    pub fn next(
        &mut self,
        grid: &Grid,
        schedule: Option<&mut RandomSchedule>,
    ) -> Option<NextBlock> {
        if grid.cluster != [1; 3]
            && let Some(number) = self.next_cluster(grid)
        {
            return Some(NextBlock::FreshCluster(number));
        }
        match schedule {
            None if grid.cluster != [1; 3] => self.paused.pop_front().map(NextBlock::Paused),
            None if self.paused.len() < self.resident => match grid.next_block() {
                Some(number) => Some(NextBlock::Fresh(number)),
                None => self.paused.pop_front().map(NextBlock::Paused),
            },
            None => self.paused.pop_front().map(NextBlock::Paused),
            Some(schedule) => self.next_random(grid, schedule),
        }
    }

    /// Implements [`BlockQueue::next`] under a random schedule: a random block that has not started,
    /// otherwise a random paused one.
    fn next_random(&mut self, grid: &Grid, schedule: &mut RandomSchedule) -> Option<NextBlock> {
        while grid.cluster == [1; 3]
            && self.fresh.len() + self.paused.len() < self.resident
            && let Some(number) = grid.next_block()
        {
            self.fresh.push(number);
        }
        if !self.fresh.is_empty() {
            let index = schedule.index_below(self.fresh.len());
            return Some(NextBlock::Fresh(self.fresh.swap_remove(index)));
        }
        if self.paused.is_empty() {
            return None;
        }
        let deepest = Some(schedule.wake_depth());
        let mut best = (Some(Depth::Spinning), 0);
        for _ in 0..MAX_CANDIDATES {
            let index = schedule.index_below(self.paused.len());
            let depth = self.paused[index].depth();
            if depth <= best.0 {
                best = (depth, index);
            }
            if depth <= deepest {
                break;
            }
        }
        self.paused.swap_remove_back(best.1).map(NextBlock::Paused)
    }

    /// Returns a cluster to start if no block remains to be continued, or if those that remain may wait for others.
    fn next_cluster(&mut self, grid: &Grid) -> Option<u64> {
        let size = grid.blocks_per_cluster() as usize;
        self.turns += 1;
        let waits = self.turns > CLUSTER_PATIENCE * self.paused.len()
            && self.paused.len() + size <= self.resident;
        if !self.paused.is_empty() && !waits {
            return None;
        }
        self.turns = 0;
        grid.next_cluster()
    }

    /// Records that a block of a cluster has ended.
    pub fn record_end(&mut self) {
        self.turns = 0;
    }

    /// Adds a block whose turn is over.
    pub fn push_paused(&mut self, block: Box<Block>) {
        self.paused.push_back(block);
    }
}
