//! What the checks know of a block under way.

use super::checker::Launched;
use super::order::Order;
use super::shared::SharedShadow;

/// A block's. It goes from one block to the next of a multiprocessor.
pub struct Shadow {
    pub order: Order,
    pub shared: SharedShadow,
    /// Where the threads that wait at a barrier for all of the block have come from.
    pub barriers: [Option<Come>; 16],
}

/// The first that came to a barrier.
#[derive(Clone, Copy)]
pub struct Come {
    pub site: u32,
    pub thread: u32,
}

impl Shadow {
    /// Of no block yet.
    pub fn new(launched: &Launched) -> Shadow {
        Shadow {
            order: Order::default(),
            shared: SharedShadow::new(launched.shared_bytes, launched.granule, launched.checks),
            barriers: [None; 16],
        }
    }

    /// A block of so many warps begins.
    pub fn begin(&mut self, warps: usize) {
        let late = self.order.begin(warps);
        self.shared.begin(late);
        self.barriers = [None; 16];
    }

    /// A barrier opens: one for all the block's threads, or one that counts.
    pub fn open(&mut self, barrier: usize, counted: bool, waiting: impl Iterator<Item = usize>) {
        self.barriers[barrier] = None;
        if counted {
            self.order.open(barrier, waiting);
        } else {
            self.order.open_for_all();
        }
    }
}
