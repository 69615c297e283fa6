//! Which block a host thread takes up next.

use super::block::Block;
use super::random_schedule::{Depth, Order};
use super::sm::Grid;
use std::collections::VecDeque;

/// How many blocks that sleep are looked at before the one of them is woken that sleeps the least.
const PICKS: usize = 32;

/// The blocks that a host thread has under way, or is about to begin.
pub struct Queue {
    /// Blocks that have had a turn and not ended, the one that waits longest first.
    paused: VecDeque<Box<Block>>,
    /// Blocks that may begin in any order, where the order is one that nobody can foretell.
    fresh: Vec<u64>,
    /// The most blocks under way at a time.
    resident: usize,
}

/// A block whose turn it is.
pub enum Taken {
    /// It begins.
    Fresh(u64),
    /// It goes on.
    Paused(Box<Block>),
}

impl Queue {
    /// No blocks yet, and never more than `resident` at a time.
    pub fn new(resident: usize) -> Queue {
        Queue {
            paused: VecDeque::new(),
            fresh: Vec::new(),
            resident,
        }
    }

    /// The next block: one that has not begun, else one that has. None where none is left.
    pub fn take(&mut self, grid: &Grid, order: Option<&mut Order>) -> Option<Taken> {
        match order {
            None if self.paused.len() < self.resident => match grid.next_block() {
                Some(number) => Some(Taken::Fresh(number)),
                None => self.paused.pop_front().map(Taken::Paused),
            },
            None => self.paused.pop_front().map(Taken::Paused),
            Some(order) => self.take_any(grid, order),
        }
    }

    /// [`Queue::take`], in an order that nobody can foretell: whichever has not begun, else whichever has.
    fn take_any(&mut self, grid: &Grid, order: &mut Order) -> Option<Taken> {
        while self.fresh.len() + self.paused.len() < self.resident
            && let Some(number) = grid.next_block()
        {
            self.fresh.push(number);
        }
        if !self.fresh.is_empty() {
            let place = order.below(self.fresh.len());
            return Some(Taken::Fresh(self.fresh.swap_remove(place)));
        }
        if self.paused.is_empty() {
            return None;
        }
        let deepest = Some(order.wakes());
        let mut best = (Some(Depth::Waits), 0);
        for _ in 0..PICKS {
            let place = order.below(self.paused.len());
            let depth = self.paused[place].depth();
            if depth <= best.0 {
                best = (depth, place);
            }
            if depth <= deepest {
                break;
            }
        }
        self.paused.swap_remove_back(best.1).map(Taken::Paused)
    }

    /// Puts a block aside that has had its turn.
    pub fn put_aside(&mut self, block: Box<Block>) {
        self.paused.push_back(block);
    }
}
