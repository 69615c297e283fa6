//! Accesses of a shape that was seen before: what they come to is remembered.
//!
//! An access in a loop has the same shape again and again: the lanes' addresses move on together.
//! How many sectors, lines and turns it takes depends on the shape alone, and on where in a line of
//! 128 bytes it begins.

use crate::exec::lanes::LANES;

/// Bytes of a line: addresses that far apart have the same shape.
const LINE: u64 = 128;

/// Shapes remembered of one instruction, one for each word of a line where a warp's first lane may
/// be.
const SLOTS: usize = (LINE / 4) as usize;

/// What accesses of one instruction came to, by shape.
pub struct Shapes<T> {
    slots: [Option<Box<Shape<T>>>; SLOTS],
}

struct Shape<T> {
    mask: u32,
    /// Addresses relative to the line of the first lane that takes part; zero for those that do
    /// not.
    lanes: [u64; LANES],
    found: T,
}

impl<T> Default for Shapes<T> {
    fn default() -> Self {
        Shapes {
            slots: [const { None }; SLOTS],
        }
    }
}

impl<T> Shapes<T> {
    /// What an access comes to, computed by `find` if no other of its shape is remembered: of the
    /// lanes' addresses relative to a line, the second result.
    #[inline(always)]
    pub fn of(
        &mut self,
        addresses: &[u64; LANES],
        mask: u32,
        find: impl FnOnce(&[u64; LANES]) -> T,
    ) -> (&T, u64) {
        let first = addresses[mask.trailing_zeros() as usize % LANES];
        let line = first & !(LINE - 1);
        let mut lanes = [0; LANES];
        for (lane, (relative, address)) in lanes.iter_mut().zip(addresses).enumerate() {
            let keep = u64::from(mask >> lane & 1).wrapping_neg();
            *relative = address.wrapping_sub(line) & keep;
        }
        let slot = &mut self.slots[(first % LINE / 4) as usize];
        let same = slot.as_ref().is_some_and(|shape| {
            let mut differ = u64::from(shape.mask ^ mask);
            for (a, b) in shape.lanes.iter().zip(&lanes) {
                differ |= a ^ b;
            }
            differ == 0
        });
        if !same {
            let found = find(&lanes);
            match slot {
                // In place: an access without a shape of its own does this every time.
                Some(shape) => **shape = Shape { mask, lanes, found },
                None => *slot = Some(Box::new(Shape { mask, lanes, found })),
            }
        }
        match slot {
            Some(shape) => (&shape.found, line),
            None => unreachable!("it was put there"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start: u64, step: u64) -> [u64; LANES] {
        std::array::from_fn(|lane| start + lane as u64 * step)
    }

    #[test]
    fn a_shape_is_looked_at_once() {
        let mut shapes = Shapes::default();
        let mut times = 0;
        let mut of = |addresses: [u64; LANES], mask| {
            let mut new = false;
            let (&found, line) = shapes.of(&addresses, mask, |lanes| {
                new = true;
                times += 1;
                (times, lanes[5])
            });
            (new, found.0, line)
        };
        assert_eq!(of(row(1000, 4), u32::MAX), (true, 1, 896));
        // The same further on, by whole lines.
        assert_eq!(
            of(row(1000 + 128 * 77, 4), u32::MAX),
            (false, 1, 896 + 128 * 77)
        );
        // Other lanes, other steps, another place in the line.
        assert_eq!(of(row(1000, 4), u32::MAX >> 1), (true, 2, 896));
        assert_eq!(of(row(1000, 8), u32::MAX >> 1), (true, 3, 896));
        assert_eq!(of(row(1004, 8), u32::MAX >> 1), (true, 4, 896));
        // Those that another took the place of are looked at again; others are still known.
        assert_eq!(of(row(1000, 4), u32::MAX), (true, 5, 896));
        assert_eq!(of(row(1004, 8), u32::MAX >> 1), (false, 4, 896));
    }

    #[test]
    fn lanes_that_take_no_part_do_not_matter() {
        let mut shapes = Shapes::default();
        let mut addresses = row(256, 4);
        assert_eq!(shapes.of(&addresses, 0b110, |lanes| lanes[1]).1, 256);
        addresses[0] = 7;
        addresses[31] = u64::MAX;
        let again = shapes.of(&addresses, 0b110, |_| panic!("the shape is the same"));
        assert_eq!(*again.0, 4);
    }
}
