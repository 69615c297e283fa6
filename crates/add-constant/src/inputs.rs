//! The array of inputs. In the note they are all zeros, so a sum at the wrong index is hard to detect; here
//! they are random.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Returns `count` numbers from 0 to 255; the same seed gives the same numbers on every machine.
pub fn random(count: u32, seed: u64) -> Vec<i32> {
    let mut generator = Pcg32::seed_from_u64(seed);
    (0..count)
        .map(|_| (generator.next_u32() >> 24) as i32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_inputs() {
        let inputs = random(1000, 1);
        assert_eq!(inputs, random(1000, 1));
        assert_ne!(inputs, random(1000, 2));
        assert_eq!(inputs[..5], FIRST);
        assert!(inputs.iter().all(|input| (0..256).contains(input)));
        assert!(inputs.contains(&0) && inputs.contains(&255));
    }

    /// The first inputs of seed 1: another generator would change every input.
    const FIRST: [i32; 5] = [51, 125, 202, 17, 248];
}
