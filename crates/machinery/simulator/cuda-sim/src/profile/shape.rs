//! A cache of the costs of accesses by their shape.
//!
//! An access in a loop often has the same shape in each iteration: the addresses of all lanes advance
//! together. The number of sectors, lines and wavefronts depends only on the shape and on the offset in a
//! 128-byte line.

use crate::lanes::LANES;

/// Bytes per line. Addresses that differ by a multiple of it have the same shape.
const LINE: u64 = 128;

/// The slots of the cache of one instruction: one for each word of a line at which the first active lane may
/// be, and `OVERFLOW` further slots.
const WORDS: usize = (LINE / 4) as usize;
const OVERFLOW: usize = 128;

/// The weights of the lanes' addresses in the hash that selects an overflow slot.
const WEIGHTS: [u64; LANES] = {
    let (mut weights, mut lane) = ([0; LANES], 0);
    while lane < LANES {
        weights[lane] = (MIX * (2 * lane as u64 + 1)) & u32::MAX as u64;
        lane += 1;
    }
    weights
};

/// The multiplier of Fibonacci hashing: the top bits of a product with it depend on all bits of the other
/// factor.
const MIX: u64 = 0x9e37_79b9;

/// The cached costs of the accesses of one instruction, by shape.
pub struct ShapeCache<T> {
    slots: [Option<Box<Shape<T>>>; WORDS + OVERFLOW],
}

struct Shape<T> {
    mask: u32,
    /// The offset of the first active lane's address in its line.
    within: u64,
    /// The lanes' addresses relative to the first active lane; zero for inactive lanes.
    lanes: [u64; LANES],
    value: T,
}

impl<T> Default for ShapeCache<T> {
    fn default() -> Self {
        ShapeCache {
            slots: [const { None }; WORDS + OVERFLOW],
        }
    }
}

impl<T: Default> ShapeCache<T> {
    /// Returns the cost of an access and the base address of its line. If the shape is not cached, calls
    /// `compute` with the lanes' addresses relative to that base; `compute` overwrites the given value, which
    /// may be that of an evicted shape.
    #[inline(always)]
    pub fn get_or_compute(
        &mut self,
        addresses: &[u64; LANES],
        mask: u32,
        compute: impl FnOnce(&[u64; LANES], &mut T),
    ) -> (&T, u64) {
        let first = addresses[mask.trailing_zeros() as usize % LANES];
        let within = first % LINE;
        let mut lanes = [0; LANES];
        for lane in 0..LANES {
            let select = u64::from(mask >> lane & 1).wrapping_neg();
            lanes[lane] = addresses[lane].wrapping_sub(first) & select;
        }
        // Most instructions have at most one shape per word of a line.
        let mut slot = (within / 4) as usize;
        if !matches(&self.slots[slot], mask, within, &lanes) {
            if self.slots[slot].is_some() {
                slot = overflow_slot(within, &lanes);
            }
            if !matches(&self.slots[slot], mask, within, &lanes) {
                let shape = self.slots[slot].get_or_insert_with(Box::default);
                shape.fill(mask, within, &lanes, compute);
            }
        }
        match &self.slots[slot] {
            Some(shape) => (&shape.value, first - within),
            None => unreachable!("the shape was inserted above"),
        }
    }
}

/// Returns true if the slot holds the shape of these addresses.
#[inline(always)]
fn matches<T>(slot: &Option<Box<Shape<T>>>, mask: u32, within: u64, lanes: &[u64; LANES]) -> bool {
    let Some(shape) = slot else {
        return false;
    };
    let mut differ = u64::from(shape.mask ^ mask) | shape.within ^ within;
    for (a, b) in shape.lanes.iter().zip(lanes) {
        differ |= a ^ b;
    }
    differ == 0
}

/// Returns the overflow slot of a shape. It differs for different offsets in a line.
#[inline(always)]
fn overflow_slot(within: u64, lanes: &[u64; LANES]) -> usize {
    let mut mixed = 0_u64;
    for lane in 0..LANES {
        mixed = mixed.wrapping_add(u64::from(lanes[lane] as u32) * WEIGHTS[lane]);
    }
    let mixed = (mixed as u32).wrapping_mul(MIX as u32) >> (u32::BITS - OVERFLOW.ilog2());
    WORDS + (mixed as usize ^ (within / 4) as usize)
}

impl<T> Shape<T> {
    /// Fills the entry with the shape of these addresses and its cost.
    #[inline(never)]
    fn fill(
        &mut self,
        mask: u32,
        within: u64,
        lanes: &[u64; LANES],
        compute: impl FnOnce(&[u64; LANES], &mut T),
    ) {
        let mut relative = [0; LANES];
        for (lane, relative) in relative.iter_mut().enumerate() {
            let select = u64::from(mask >> lane & 1).wrapping_neg();
            *relative = lanes[lane].wrapping_add(within) & select;
        }
        compute(&relative, &mut self.value);
        (self.mask, self.within, self.lanes) = (mask, within, *lanes);
    }
}

impl<T: Default> Default for Shape<T> {
    /// Returns the shape of an access without active lanes.
    fn default() -> Self {
        Shape {
            mask: 0,
            within: 0,
            lanes: [0; LANES],
            value: T::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start: u64, step: u64) -> [u64; LANES] {
        std::array::from_fn(|lane| start + lane as u64 * step)
    }

    /// Looks up an access whose cost is a serial number and the address of lane 5. Returns whether it was
    /// computed just now, that address, and the line.
    fn look_up(
        shapes: &mut ShapeCache<(u32, u64)>,
        computed: &mut u32,
        addresses: [u64; LANES],
        mask: u32,
    ) -> (bool, u64, u64) {
        let before = *computed;
        let (&(_, lane), line) = shapes.get_or_compute(&addresses, mask, |lanes, value| {
            *computed += 1;
            *value = (*computed, lanes[5]);
        });
        (*computed > before, lane, line)
    }

    #[test]
    fn a_shape_is_computed_once() {
        let (mut shapes, mut computed) = (ShapeCache::default(), 0);
        let mut get_or_compute =
            |addresses, mask| look_up(&mut shapes, &mut computed, addresses, mask);
        let all = u32::MAX;
        let lane = 1000 % 128 + 5 * 4;
        assert_eq!(get_or_compute(row(1000, 4), all), (true, lane, 896));
        // Moving by whole lines keeps the shape.
        let distance = 128 * 77;
        let moved = get_or_compute(row(1000 + distance, 4), all);
        assert_eq!(moved, (false, lane, 896 + distance));
        // Another offset in the line, other lanes, another stride, one lane elsewhere.
        assert_eq!(get_or_compute(row(1004, 4), all), (true, lane + 4, 896));
        assert_eq!(get_or_compute(row(1000, 4), all >> 1), (true, lane, 896));
        assert_eq!(get_or_compute(row(1000, 8), all), (true, lane + 20, 896));
        let mut strided = row(1000, 4);
        strided[5] -= 896;
        let lane = lane.wrapping_sub(896);
        assert_eq!(get_or_compute(strided, all), (true, lane, 896));
        assert_eq!(get_or_compute(strided, all), (false, lane, 896));
    }

    #[test]
    fn shapes_at_different_words_are_all_cached() {
        let (mut shapes, mut computed) = (ShapeCache::default(), 0);
        for pass in 0..2 {
            for word in 0..32 {
                let addresses = row(4096 + word * 4, 4);
                let found = look_up(&mut shapes, &mut computed, addresses, u32::MAX);
                assert_eq!(found, (pass == 0, word * 4 + 20, 4096));
            }
        }
    }

    #[test]
    fn evicted_shapes_are_computed_again() {
        let (mut shapes, mut computed) = (ShapeCache::default(), 0);
        for pass in 0..2 {
            for step in 0..10 * OVERFLOW as u64 {
                let (_, lane, _) =
                    look_up(&mut shapes, &mut computed, row(256, step * 4), u32::MAX);
                assert_eq!(lane, step * 20, "pass {pass}");
            }
        }
        assert!(computed > 10 * OVERFLOW as u32);
    }

    #[test]
    fn inactive_lanes_are_ignored() {
        let (mut shapes, mut computed) = (ShapeCache::default(), 0);
        let mut addresses = row(256, 4);
        let mut get_or_compute =
            |addresses| look_up(&mut shapes, &mut computed, addresses, 0b10_0010);
        assert_eq!(get_or_compute(addresses), (true, 20, 256));
        addresses[0] = 7;
        addresses[31] = u64::MAX;
        assert_eq!(get_or_compute(addresses), (false, 20, 256));
    }
}
