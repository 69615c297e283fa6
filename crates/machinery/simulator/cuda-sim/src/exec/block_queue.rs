//! The order in which a host thread runs blocks.

use super::schedule::{Depth, RandomSchedule};
use super::sm::Grid;
use super::sm::block::Block;
use std::collections::VecDeque;

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
}

/// The block to run next.
pub enum NextBlock {
    /// A block to start, by number.
    Fresh(u64),
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
        }
    }

    /// Returns the next block: one that has not started, otherwise a paused one. Returns `None` if none
    /// remains.
    pub fn next(
        &mut self,
        grid: &Grid,
        schedule: Option<&mut RandomSchedule>,
    ) -> Option<NextBlock> {
        match schedule {
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
        while self.fresh.len() + self.paused.len() < self.resident
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

    /// Adds a block whose turn is over.
    pub fn push_paused(&mut self, block: Box<Block>) {
        self.paused.push_back(block);
    }
}
