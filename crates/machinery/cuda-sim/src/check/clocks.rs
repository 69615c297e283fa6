//! What blocks know of each other: a fence, then an atomic or a volatile store, make known what a
//! block did before; whoever reads that with an atomic or a volatile load comes after it.
//!
//! Each block counts its own time, from fence to fence. What a block knows is for each other block
//! the time until which that one's work comes before its own (a vector clock). A block makes known
//! what it knows itself, and so one may know of another through a third.
//! Source: PTX ISA section 8 (memory consistency), release and acquire patterns. The second fence of
//! an acquire pattern is not asked for: the CUDA Programming Guide's own sum over blocks has none.

use std::collections::HashMap;
use std::rc::Rc;

/// Blocks are told apart up to this number; beyond it several are taken for one, and nothing is
/// said of what these do to each other.
const MOST: usize = 2048;

/// At most so many places make something known each by itself; all others do it together.
const MOST_PLACES: usize = 1 << 12;

/// Stands for the places that are one.
const OTHER_PLACES: u64 = u64::MAX;

/// For each block the time until which its work is known.
type Known = Rc<Vec<u32>>;

/// The clocks of a launch's blocks.
pub struct Clocks {
    /// Each block's time.
    now: Vec<u32>,
    /// What each block knows; none where it knows of no other.
    known: Vec<Option<Known>>,
    /// What each block knew when it went past its last fence.
    fenced: Vec<Option<Known>>,
    /// What places make known.
    places: HashMap<u64, Known>,
}

impl Clocks {
    /// For a launch of so many blocks.
    pub fn new(blocks: u64) -> Clocks {
        let count = blocks.min(MOST as u64) as usize;
        Clocks {
            now: vec![1; count],
            known: vec![None; count],
            fenced: vec![None; count],
            places: HashMap::new(),
        }
    }

    /// A block's number among those that are told apart.
    pub fn of(&self, block: u64) -> usize {
        (block % self.now.len() as u64) as usize
    }

    /// A block's time.
    pub fn now(&self, block: usize) -> u32 {
        self.now[block]
    }

    /// A block goes past a fence.
    pub fn fence(&mut self, block: usize) {
        let mut known = match &self.known[block] {
            Some(known) => known.to_vec(),
            None => vec![0; self.now.len()],
        };
        known[block] = self.now[block];
        self.fenced[block] = Some(Rc::new(known));
        self.now[block] += 1;
    }

    /// A block stores to a place: who reads that knows what the block knew at its last fence.
    pub fn publish(&mut self, block: usize, place: u64) {
        let Some(fenced) = &self.fenced[block] else {
            return;
        };
        let place = match self.places.len() < MOST_PLACES || self.places.contains_key(&place) {
            true => place,
            false => OTHER_PLACES,
        };
        match self.places.get_mut(&place) {
            Some(known) => join(known, fenced),
            None => drop(self.places.insert(place, fenced.clone())),
        }
    }

    /// A block reads from a place what others have made known there.
    pub fn acquire(&mut self, block: usize, place: u64) {
        for place in [place, OTHER_PLACES] {
            if let Some(told) = self.places.get(&place) {
                match &mut self.known[block] {
                    Some(known) => join(known, told),
                    none => *none = Some(told.clone()),
                }
            }
        }
    }

    /// Whether what another block did at its time `then` comes before what this one does now.
    pub fn orders(&self, other: usize, then: u32, block: usize) -> bool {
        let known = self.known[block].as_ref();
        other == block || known.is_some_and(|known| known[other] >= then)
    }
}

/// Raises each time to the one in `other`, where that is later.
fn join(known: &mut Known, other: &Known) {
    if Rc::ptr_eq(known, other) || known.iter().zip(&**other).all(|(one, other)| one >= other) {
        return;
    }
    for (one, other) in Rc::make_mut(known).iter_mut().zip(&**other) {
        *one = (*one).max(*other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_a_store_and_a_read_of_it_order_two_blocks() {
        let mut clocks = Clocks::new(4);
        let then = clocks.now(0);
        clocks.publish(0, 8);
        clocks.acquire(1, 8);
        assert!(!clocks.orders(0, then, 1), "there was no fence");
        clocks.fence(0);
        let late = clocks.now(0);
        clocks.publish(0, 8);
        clocks.acquire(2, 16);
        assert!(!clocks.orders(0, then, 1), "it has not read since");
        assert!(!clocks.orders(0, then, 2), "it read another place");
        clocks.acquire(1, 8);
        assert!(clocks.orders(0, then, 1));
        assert!(!clocks.orders(0, late, 1), "done after the fence");
        assert!(!clocks.orders(1, clocks.now(1), 0));
        // Block 3 knows of block 0 through block 1.
        clocks.fence(1);
        clocks.publish(1, 24);
        clocks.acquire(3, 24);
        assert!(clocks.orders(0, then, 3));
        assert!(clocks.orders(3, clocks.now(3), 3), "its own work");
    }

    #[test]
    fn many_blocks_and_places_are_taken_for_fewer() {
        let mut clocks = Clocks::new(1 << 40);
        assert_eq!(clocks.of(MOST as u64 + 3), clocks.of(3));
        let then = clocks.now(7);
        clocks.fence(7);
        for place in 0..MOST_PLACES as u64 * 2 {
            clocks.publish(7, place);
        }
        assert!(clocks.places.len() <= MOST_PLACES + 1);
        clocks.acquire(8, MOST_PLACES as u64 * 2 - 1);
        assert!(clocks.orders(7, then, 8));
    }
}
