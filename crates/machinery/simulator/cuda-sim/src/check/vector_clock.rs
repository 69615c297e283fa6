//! Vector clocks of blocks. A fence followed by an atomic or volatile store is a release; an atomic or
//! volatile load that reads the location afterwards is an acquire: accesses by the releasing block before its
//! fence happen before further accesses by the acquiring block.
//!
//! Each block counts its own time, from fence to fence. Its vector clock has an element for every other
//! block: the time until which that block's work happens before its own. A release publishes the whole clock,
//! so the relation is transitive. Source: PTX ISA section 8 (memory consistency model), release and acquire
//! patterns. The second fence of an acquire pattern is not required, because the sum over blocks in the CUDA
//! Programming Guide has none.

use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of clocks. In larger launches several blocks share a clock, and races between them go
/// unreported.
const MAX_CLOCKS: usize = 2048;

/// The maximum number of locations with a clock of their own. All further locations share one clock, which
/// may order too much and so hide races.
const MAX_LOCATIONS: usize = 1 << 12;

/// The key of the clock that further locations share.
const SHARED_LOCATION: u64 = u64::MAX;

/// A vector clock: for each block, the time until which its work happens before the owner's.
type Clock = Rc<Vec<u32>>;

/// The vector clocks of a launch's blocks.
pub struct VectorClocks {
    /// Each block's current time.
    time: Vec<u32>,
    /// Each block's vector clock; `None` if no other block happens before it.
    clocks: Vec<Option<Clock>>,
    /// Each block's vector clock at its last fence.
    fence_clocks: Vec<Option<Clock>>,
    /// The clocks released at each location.
    locations: HashMap<u64, Clock>,
}

impl VectorClocks {
    /// Creates the clocks of a launch of `blocks` blocks.
    pub fn new(blocks: u64) -> VectorClocks {
        let count = blocks.min(MAX_CLOCKS as u64) as usize;
        VectorClocks {
            time: vec![1; count],
            clocks: vec![None; count],
            fence_clocks: vec![None; count],
            locations: HashMap::new(),
        }
    }

    /// Returns the index of a block's clock.
    pub fn index(&self, block: u64) -> usize {
        (block % self.time.len() as u64) as usize
    }

    /// Returns a block's current time.
    pub fn time(&self, block: usize) -> u32 {
        self.time[block]
    }

    /// Records that a block executes a fence: saves its clock for later releases and advances its time.
    pub fn fence(&mut self, block: usize) {
        let mut clock = match &self.clocks[block] {
            Some(clock) => clock.to_vec(),
            None => vec![0; self.time.len()],
        };
        clock[block] = self.time[block];
        self.fence_clocks[block] = Some(Rc::new(clock));
        self.time[block] += 1;
    }

    /// Releases at a location the block's clock at its last fence. Called for an atomic or volatile store.
    pub fn release(&mut self, block: usize, location: u64) {
        let Some(fence_clock) = &self.fence_clocks[block] else {
            return;
        };
        let location =
            match self.locations.len() < MAX_LOCATIONS || self.locations.contains_key(&location) {
                true => location,
                false => SHARED_LOCATION,
            };
        match self.locations.get_mut(&location) {
            Some(clock) => join(clock, fence_clock),
            None => drop(self.locations.insert(location, fence_clock.clone())),
        }
    }

    /// Acquires the clocks released at a location: joins them into the block's clock.
    pub fn acquire(&mut self, block: usize, location: u64) {
        for location in [location, SHARED_LOCATION] {
            if let Some(released) = self.locations.get(&location) {
                match &mut self.clocks[block] {
                    Some(clock) => join(clock, released),
                    empty => *empty = Some(released.clone()),
                }
            }
        }
    }

    /// Returns true if an access by block `other` at `time` happens before the current accesses of `block`.
    pub fn happens_before(&self, other: usize, time: u32, block: usize) -> bool {
        let clock = self.clocks[block].as_ref();
        other == block || clock.is_some_and(|clock| clock[other] >= time)
    }
}

/// Joins two vector clocks: takes the maximum of each element.
fn join(clock: &mut Clock, other: &Clock) {
    if Rc::ptr_eq(clock, other)
        || clock
            .iter()
            .zip(&**other)
            .all(|(time, other)| time >= other)
    {
        return;
    }
    for (time, other) in Rc::make_mut(clock).iter_mut().zip(&**other) {
        *time = (*time).max(*other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_a_store_and_a_read_of_it_order_two_blocks() {
        let mut clocks = VectorClocks::new(4);
        let start = clocks.time(0);
        clocks.release(0, 8);
        clocks.acquire(1, 8);
        assert!(!clocks.happens_before(0, start, 1), "there was no fence");
        clocks.fence(0);
        let later = clocks.time(0);
        clocks.release(0, 8);
        clocks.acquire(2, 16);
        assert!(!clocks.happens_before(0, start, 1), "it has not read since");
        assert!(!clocks.happens_before(0, start, 2), "it read another place");
        clocks.acquire(1, 8);
        assert!(clocks.happens_before(0, start, 1));
        assert!(!clocks.happens_before(0, later, 1), "done after the fence");
        assert!(!clocks.happens_before(1, clocks.time(1), 0));
        // Happens-before is transitive: block 0, block 1, block 3.
        clocks.fence(1);
        clocks.release(1, 24);
        clocks.acquire(3, 24);
        assert!(clocks.happens_before(0, start, 3));
        assert!(clocks.happens_before(3, clocks.time(3), 3), "its own work");
    }

    #[test]
    fn blocks_and_locations_beyond_the_limits_share_clocks() {
        let mut clocks = VectorClocks::new(1 << 40);
        assert_eq!(clocks.index(MAX_CLOCKS as u64 + 3), clocks.index(3));
        let start = clocks.time(7);
        clocks.fence(7);
        for location in 0..MAX_LOCATIONS as u64 * 2 {
            clocks.release(7, location);
        }
        assert!(clocks.locations.len() <= MAX_LOCATIONS + 1);
        clocks.acquire(8, MAX_LOCATIONS as u64 * 2 - 1);
        assert!(clocks.happens_before(7, start, 8));
    }
}
