//! Accesses of a shape that was seen before: what they come to is remembered.
//!
//! An access in a loop has the same shape again and again: the lanes' addresses move on together.
//! How many sectors, lines and turns it takes depends on the shape alone, and on where in a line of
//! 128 bytes it begins.

use crate::lanes::LANES;

/// Bytes of a line: addresses that far apart have the same shape.
const LINE: u64 = 128;

/// Shapes remembered of one instruction: one for each word of a line where a warp's first lane may
/// be, and behind those further ones.
const WORDS: usize = (LINE / 4) as usize;
const FURTHER: usize = 128;

/// The factor of each lane's address in the hash that chooses the slot of a further shape.
const WEIGHTS: [u64; LANES] = {
    let (mut weights, mut lane) = ([0; LANES], 0);
    while lane < LANES {
        weights[lane] = (MIX * (2 * lane as u64 + 1)) & u32::MAX as u64;
        lane += 1;
    }
    weights
};

/// Fibonacci hashing: the top bits of a product with this depend on all bits of the other factor.
const MIX: u64 = 0x9e37_79b9;

/// What accesses of one instruction came to, by shape.
pub struct Shapes<T> {
    slots: [Option<Box<Shape<T>>>; WORDS + FURTHER],
}

struct Shape<T> {
    mask: u32,
    /// Where in its line the first lane that takes part is.
    within: u64,
    /// Addresses relative to that lane's; zero for those that take no part.
    lanes: [u64; LANES],
    found: T,
}

impl<T> Default for Shapes<T> {
    fn default() -> Self {
        Shapes {
            slots: [const { None }; WORDS + FURTHER],
        }
    }
}

impl<T: Default> Shapes<T> {
    /// What an access comes to, computed by `find` if no other of its shape is remembered: of the
    /// lanes' addresses relative to a line, the second result. `find` may be given what another
    /// access came to, to write over.
    #[inline(always)]
    pub fn of(
        &mut self,
        addresses: &[u64; LANES],
        mask: u32,
        find: impl FnOnce(&[u64; LANES], &mut T),
    ) -> (&T, u64) {
        let first = addresses[mask.trailing_zeros() as usize % LANES];
        let within = first % LINE;
        let mut lanes = [0; LANES];
        for lane in 0..LANES {
            let keep = u64::from(mask >> lane & 1).wrapping_neg();
            lanes[lane] = addresses[lane].wrapping_sub(first) & keep;
        }
        // Most instructions have one shape for each of these places.
        let mut slot = (within / 4) as usize;
        if !is(&self.slots[slot], mask, within, &lanes) {
            if self.slots[slot].is_some() {
                slot = further(within, &lanes);
            }
            if !is(&self.slots[slot], mask, within, &lanes) {
                let shape = self.slots[slot].get_or_insert_with(Box::default);
                shape.learn(mask, within, &lanes, find);
            }
        }
        match &self.slots[slot] {
            Some(shape) => (&shape.found, first - within),
            None => unreachable!("it was put there"),
        }
    }
}

/// Whether the shape in a slot is that of these addresses.
#[inline(always)]
fn is<T>(slot: &Option<Box<Shape<T>>>, mask: u32, within: u64, lanes: &[u64; LANES]) -> bool {
    let Some(shape) = slot else {
        return false;
    };
    let mut differ = u64::from(shape.mask ^ mask) | shape.within ^ within;
    for (a, b) in shape.lanes.iter().zip(lanes) {
        differ |= a ^ b;
    }
    differ == 0
}

/// The slot of a further shape: another one wherever in a line it begins.
#[inline(always)]
fn further(within: u64, lanes: &[u64; LANES]) -> usize {
    let mut mixed = 0_u64;
    for lane in 0..LANES {
        mixed = mixed.wrapping_add(u64::from(lanes[lane] as u32) * WEIGHTS[lane]);
    }
    let mixed = (mixed as u32).wrapping_mul(MIX as u32) >> (u32::BITS - FURTHER.ilog2());
    WORDS + (mixed as usize ^ (within / 4) as usize)
}

impl<T> Shape<T> {
    /// Becomes the shape of these addresses.
    #[inline(never)]
    fn learn(
        &mut self,
        mask: u32,
        within: u64,
        lanes: &[u64; LANES],
        find: impl FnOnce(&[u64; LANES], &mut T),
    ) {
        let mut relative = [0; LANES];
        for (lane, relative) in relative.iter_mut().enumerate() {
            let keep = u64::from(mask >> lane & 1).wrapping_neg();
            *relative = lanes[lane].wrapping_add(within) & keep;
        }
        find(&relative, &mut self.found);
        (self.mask, self.within, self.lanes) = (mask, within, *lanes);
    }
}

impl<T: Default> Default for Shape<T> {
    /// Of an access that nobody takes part in.
    fn default() -> Self {
        Shape {
            mask: 0,
            within: 0,
            lanes: [0; LANES],
            found: T::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start: u64, step: u64) -> [u64; LANES] {
        std::array::from_fn(|lane| start + lane as u64 * step)
    }

    /// What `shapes` say of an access, each found being a number of its own and a lane's place; and
    /// whether it was found just now.
    fn ask(
        shapes: &mut Shapes<(u32, u64)>,
        times: &mut u32,
        addresses: [u64; LANES],
        mask: u32,
    ) -> (bool, u64, u64) {
        let before = *times;
        let (&(_, lane), line) = shapes.of(&addresses, mask, |lanes, found| {
            *times += 1;
            *found = (*times, lanes[5]);
        });
        (*times > before, lane, line)
    }

    #[test]
    fn a_shape_is_looked_at_once() {
        let (mut shapes, mut times) = (Shapes::default(), 0);
        let mut of = |addresses, mask| ask(&mut shapes, &mut times, addresses, mask);
        let lane = 1000 % 128 + 5 * 4;
        assert_eq!(of(row(1000, 4), u32::MAX), (true, lane, 896));
        // The same further on, by whole lines.
        let further = 128 * 77;
        assert_eq!(
            of(row(1000 + further, 4), u32::MAX),
            (false, lane, 896 + further)
        );
        // Another place in the line, other lanes, other steps, one lane elsewhere.
        assert_eq!(of(row(1004, 4), u32::MAX), (true, lane + 4, 896));
        assert_eq!(of(row(1000, 4), u32::MAX >> 1), (true, lane, 896));
        assert_eq!(of(row(1000, 8), u32::MAX), (true, lane + 20, 896));
        let mut one = row(1000, 4);
        one[5] -= 896;
        assert_eq!(of(one, u32::MAX), (true, lane.wrapping_sub(896), 896));
        assert_eq!(of(one, u32::MAX), (false, lane.wrapping_sub(896), 896));
    }

    #[test]
    fn shapes_that_differ_in_where_they_begin_are_all_remembered() {
        let (mut shapes, mut times) = (Shapes::default(), 0);
        for pass in 0..2 {
            for word in 0..32 {
                let (new, lane, line) =
                    ask(&mut shapes, &mut times, row(4096 + word * 4, 4), u32::MAX);
                assert_eq!((new, lane, line), (pass == 0, word * 4 + 20, 4096));
            }
        }
    }

    #[test]
    fn what_another_took_the_place_of_is_looked_at_again() {
        let (mut shapes, mut times) = (Shapes::default(), 0);
        for pass in 0..2 {
            for step in 0..10 * FURTHER as u64 {
                let (_, lane, _) = ask(&mut shapes, &mut times, row(256, step * 4), u32::MAX);
                assert_eq!(lane, step * 20, "pass {pass}");
            }
        }
        assert!(times > 10 * FURTHER as u32);
    }

    #[test]
    fn lanes_that_take_no_part_do_not_matter() {
        let (mut shapes, mut times) = (Shapes::default(), 0);
        let mut addresses = row(256, 4);
        let mut of = |addresses| ask(&mut shapes, &mut times, addresses, 0b10_0010);
        assert_eq!(of(addresses), (true, 20, 256));
        addresses[0] = 7;
        addresses[31] = u64::MAX;
        assert_eq!(of(addresses), (false, 20, 256));
    }
}
