//! The cases of a grading: sizes and seeds of inputs.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::data::{Data, SizeRange, Time};
use crate::host::Case;

/// Returns the fixed sizes of the tests, then those drawn from the seed.
pub fn tests(data: &Data, seed: u64) -> Vec<Case> {
    let mut random = Pcg32::seed_from_u64(seed);
    let range = &data.sizes.random;
    let drawn = (0..range.count).map(|_| {
        let numbers = range.from.iter().zip(&range.to);
        let numbers = numbers.map(|(&from, &to)| draw(&mut random, from, to));
        numbers.collect::<Vec<u32>>()
    });
    let drawn: Vec<Vec<u32>> = drawn.collect();
    let sizes = data.sizes.tests.iter().cloned().chain(drawn);
    let inputs = sizes.map(|size| (size, random.next_u64()));
    inputs.map(|(size, seed)| Case { size, seed }).collect()
}

/// Returns the case at which counters are measured, if there is one.
pub fn graded(data: &Data, seed: u64) -> Option<Case> {
    let size = data.sizes.graded.clone()?;
    Some(Case { size, seed })
}

/// Draws one size beyond the graded one from the seed, which no submission can know in advance.
pub fn beyond(data: &Data, seed: u64) -> Option<Case> {
    let SizeRange { from, to } = data.sizes.beyond()?;
    let mut random = Pcg32::seed_from_u64(!seed);
    let numbers = from.iter().zip(&to);
    let size = numbers.map(|(&from, &to)| draw(&mut random, from, to));
    let size = size.collect();
    let seed = random.next_u64();
    Some(Case { size, seed })
}

/// Returns the fill patterns of uninitialized memory in three runs: NaN, a very large negative float and a
/// very large positive float; as integers they have different signs too.
pub fn fill_patterns(seed: u64) -> [u32; 3] {
    let mut random = Pcg32::seed_from_u64(seed.rotate_left(32));
    [0x7FC0_0000, 0xFE00_0000, 0x7E00_0000].map(|prefix| prefix | (random.next_u32() >> 10))
}

/// Returns the case at which a submission is timed.
pub fn timed(time: &Time, seed: u64) -> Case {
    let size = time.size.clone();
    Case { size, seed }
}

/// Draws a number from `from` to `to`, both included.
fn draw(random: &mut Pcg32, from: u32, to: u32) -> u32 {
    let count = u64::from(to - from) + 1;
    from + ((u64::from(random.next_u32()) * count) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_of_a_range_are_drawn() {
        let mut random = Pcg32::seed_from_u64(3);
        let mut seen = [0; 3];
        for _ in 0..300 {
            seen[draw(&mut random, 5, 7) as usize - 5] += 1;
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
        assert_eq!(draw(&mut random, 9, 9), 9);
        draw(&mut random, 0, u32::MAX);
    }

    #[test]
    fn fill_patterns_differ_widely() {
        for seed in 0..100 {
            let floats = fill_patterns(seed).map(f32::from_bits);
            assert!(
                floats[0].is_nan() && floats[1] < -1e37 && floats[2] > 1e37,
                "{floats:?}"
            );
        }
        assert_ne!(fill_patterns(1), fill_patterns(2));
    }
}
