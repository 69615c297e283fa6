//! Which block a host thread takes up next.

use super::block::Block;
use super::random_schedule::{Depth, RandomSchedule};
use super::sm::Grid;
use std::collections::VecDeque;

/// How many blocks that sleep are looked at before the one of them is woken that sleeps the least.
const MAX_CANDIDATES: usize = 32;

/// The blocks that a host thread has under way, or is about to begin.
pub struct BlockQueue {
    /// Blocks that have had a turn and not ended, the one that waits longest first.
    paused: VecDeque<Box<Block>>,
    /// Blocks that may begin in any order, where the order is one that nobody can foretell.
    fresh: Vec<u64>,
    /// The most blocks under way at a time.
    resident: usize,
}

/// A block whose turn it is.
pub enum NextBlock {
    /// It begins.
    Fresh(u64),
    /// It goes on.
    Paused(Box<Block>),
}

impl BlockQueue {
    /// No blocks yet, and never more than `resident` at a time.
    pub fn new(resident: usize) -> BlockQueue {
        BlockQueue {
            paused: VecDeque::new(),
            fresh: Vec::new(),
            resident,
        }
    }

    /// The next block: one that has not begun, else one that has. None where none is left.
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

    /// [`BlockQueue::next`], in an order that nobody can foretell: whichever has not begun, else whichever has.
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

    /// Puts a block aside that has had its turn.
    pub fn push_paused(&mut self, block: Box<Block>) {
        self.paused.push_back(block);
    }
}
