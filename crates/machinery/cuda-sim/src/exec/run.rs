//! Blocks handed to multiprocessors, one host thread each.

use super::block::Block;
use super::checked;
use super::fault::{Fault, Miss, Sizes};
use super::queue::{Queue, Taken};
use super::sm::{Grid, Launch, Program, Sm};
use super::trace::{self, Trace, Traced};
use crate::check::{self, Finding};
use crate::device::DeviceSpec;
use crate::memory::footprint::DeviceTraffic;
use crate::memory::global::Global;
use crate::profile::collect::{Counted, LaunchPart};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// Warp instructions a block may run once another has failed: it may be waiting for that one.
const PATIENCE: u64 = 1 << 24;

/// What a launch did that ran to its end.
pub struct Outcome {
    pub counted: Counted,
    /// Between device memory and the L2 cache.
    pub traffic: DeviceTraffic,
    /// Each access, block by block, or the costliest ones, if that was asked for.
    pub trace: Vec<Traced>,
    /// What the kernel printed, block by block.
    pub printed: Vec<u8>,
    /// What checks found, errors first.
    pub findings: Vec<Finding>,
}

/// Runs a kernel to its end, on a `device` whose multiprocessors hold `blocks_held` of its blocks.
///
/// Results and counts do not depend on how blocks fall on host threads: blocks of a kernel with
/// atomics whose order shows run one after the other, and so do those of a launch in an order that nobody
/// can foretell.
///
/// # Errors
/// The fault of the lowest-numbered block that had one.
pub fn run(
    program: &Arc<Program>,
    global: &Global,
    device: &DeviceSpec,
    launch: &Launch,
    blocks_held: u32,
) -> Result<Outcome, Fault> {
    let grid = Arc::new(Grid::new(program, global, device, launch, blocks_held));
    let _shown = launch.watch.map(|watch| watch.show(grid.progress.clone()));
    let kernel = &program.listing.kernels[launch.kernel];
    let checks = grid.checks.as_ref();
    let in_order =
        kernel.ordered || grid.order.is_some() || checks.is_some_and(|checks| checks.in_order());
    let done = if in_order || grid.progress.blocks == 1 {
        vec![run_blocks(&grid, grid.resident)]
    } else {
        on_all_threads(launch.threads, &grid)
    };
    let fault = grid.take_fault();
    let mut counted = Counted::new(&program.listing);
    let (mut printed, mut trace) = (Vec::new(), None::<Box<Trace>>);
    let mut ledger = check::Ledger::default();
    for part in done {
        counted.add(&part.counted);
        printed.extend(part.printed);
        match (&mut trace, part.trace) {
            (Some(all), Some(part)) => all.add(*part),
            (all, part) => *all = part,
        }
        ledger.add(part.ledger);
    }
    if fault.is_some() {
        ledger.keep_until(grid.failed());
    }
    let findings = match &grid.checks {
        Some(checks) => {
            let place = check::KernelContext {
                listing: &program.listing,
                kernel: grid.kernel_name(),
                dims: grid.dims,
            };
            checks.findings(ledger, place, global, fault.is_none())
        }
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
    Ok(Outcome {
        counted,
        traffic: grid.regions.traffic(device.l2_bytes.into()),
        trace: trace.map_or_else(Vec::new, |trace| trace::traced(&program.listing, *trace)),
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
    // Together the host threads keep as many blocks under way as the device does.
    let resident = grid.resident.div_ceil(pool.current_num_threads());
    let (sender, receiver) = std::sync::mpsc::channel();
    let grid = grid.clone();
    pool.spawn_broadcast(move |_| {
        // A panic goes to the caller: here it would end the process.
        let done = catch_unwind(AssertUnwindSafe(|| run_blocks(&grid, resident)));
        if done.is_err() {
            // Others may wait for the block that was running.
            grid.abandon();
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
    trace: Option<Box<Trace>>,
    ledger: check::Ledger,
}

/// One host thread: takes blocks until there are none. Blocks that make no end within their
/// quantum take turns, up to `resident` of them, so that a block may wait for another.
fn run_blocks(grid: &Arc<Grid>, resident: usize) -> Done {
    let mut sm = Sm::new(grid.clone());
    let mut counted = Counted::new(&grid.program.listing);
    let mut queue = Queue::new(resident);
    let mut spare: Vec<Box<Block>> = Vec::new();
    while let Some(taken) = queue.take(grid, sm.order.as_deref_mut()) {
        let begins = matches!(taken, Taken::Fresh(_));
        let mut block = match taken {
            Taken::Fresh(number) => {
                let mut block = spare.pop().unwrap_or_else(|| Box::new(Block::empty()));
                let threads = grid.dims.threads();
                block.reset(
                    number,
                    grid.dims.block_index(number),
                    threads,
                    (grid.shared_bytes, grid.poison),
                );
                if let Some(checks) = &grid.checks {
                    let shadow = block.shadow.get_or_insert_with(|| checks.shadow());
                    shadow.begin(threads.div_ceil(32) as usize);
                }
                block
            }
            Taken::Paused(block) => block,
        };
        let number = block.number;
        let part = grid.sample.part(number);
        // The first turn of an observed block is over: the next block may have the caches, or
        // empty ones where this block goes on using them.
        let pass_on = |caches| {
            if begins && part != LaunchPart::Plain {
                grid.sample.pass_on(number, caches);
            }
        };
        let failed = grid.failed();
        if number > failed || failed < u64::MAX && block.clock > PATIENCE {
            pass_on(None);
            continue;
        }
        if begins && part != LaunchPart::Plain {
            block.caches = Some(grid.sample.take(number));
        }
        std::mem::swap(&mut sm.block, &mut block);
        let finished = !sm.time_is_up_between_blocks() && sm.run_block(part, &mut counted);
        if finished || sm.fault.is_some() {
            checked::close(&mut sm);
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
            queue.put_aside(block);
        }
    }
    Done {
        counted,
        printed: sm.printed,
        trace: sm.trace,
        ledger: sm
            .checker
            .map_or_else(Default::default, |checker| checker.ledger),
    }
}
