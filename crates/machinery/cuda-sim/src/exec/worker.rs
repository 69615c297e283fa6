//! One host thread's share of a launch.

use super::block::Block;
use super::block_queue::{Queue, Taken};
use super::instrument::sanitizing;
use super::launch_cache;
use super::sm::{Grid, Sm};
use super::time_limit::{Call, SHORT};
use super::trace::Trace;
use crate::check::FindingSet;
use crate::profile::collect::{Counted, LaunchPart};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Warp instructions a block may run once another has failed: it may be waiting for that one.
const PATIENCE: u64 = 1 << 24;

/// What one host thread counted, and what its blocks printed and accessed.
pub struct Done {
    pub counted: Counted,
    pub printed: Vec<(u64, Vec<u8>)>,
    pub trace: Option<Box<Trace>>,
    pub findings: FindingSet,
}

/// One host thread: takes blocks until there are none. Blocks that make no end within their
/// quantum take turns, up to `resident` of them, so that a block may wait for another. `may_call`: it calls
/// other threads where it takes long.
pub fn run_blocks(grid: &Arc<Grid>, resident: usize, may_call: bool) -> Done {
    let may_keep = launch_cache::may_keep(grid);
    let (parts, counted, block) = launch_cache::with(&grid.program, |kept| match may_keep {
        true => (kept.parts.take(), kept.counted.take(), kept.block.take()),
        false => Default::default(),
    })
    .unwrap_or_default();
    let mut sm = match parts {
        Some(parts) => Sm::of(grid.clone(), *parts),
        None => Sm::new(grid.clone()),
    };
    if may_call {
        sm.looks.call = Call::Later;
    }
    let mut counted = counted.unwrap_or_else(|| Counted::new(&grid.program.listing));
    let mut queue = Queue::new(resident);
    let mut spare: Vec<Box<Block>> = block.into_iter().collect();
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
            sanitizing::close(&mut sm);
        }
        std::mem::swap(&mut sm.block, &mut block);
        if let Some(fault) = sm.fault.take() {
            pass_on(None);
            grid.fail(number, fault);
        } else if finished {
            pass_on(block.caches.take());
            grid.progress.done.it.fetch_add(1, Ordering::Relaxed);
            spare.push(block);
        } else {
            pass_on(None);
            queue.put_aside(block);
        }
    }
    let done = Done {
        counted,
        printed: std::mem::take(&mut sm.printed),
        trace: sm.trace.take(),
        findings: sm
            .checker
            .take()
            .map_or_else(Default::default, |checker| checker.findings),
    };
    if may_keep && sm.clock <= SHORT && grid.failed() == u64::MAX {
        launch_cache::with(&grid.program, |kept| {
            kept.parts = Some(Box::new(sm.into_parts()));
            kept.block = spare.pop();
        });
    }
    done
}
