//! The vectors: their contents, their expected sum, and their size in memory.

use chapter::memory::Footprint;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::flags::Flags;

/// Maximum number of vectors on the GPU at once: two operands and their sum.
const ON_DEVICE: u64 = 3;

/// Maximum number of vectors on the host at once, when a copy is compared: the operands, the sum twice, the
/// ends of the copies (two pageable and two pinned, of which the first is an operand), and the vector that is
/// compared.
const ON_HOST: u64 = 8;

/// Returns two vectors of `--count` random numbers in [0, 1); the same seed gives the same vectors on every
/// machine.
pub fn random(flags: &Flags) -> (Vec<f32>, Vec<f32>) {
    let mut generator = Pcg32::seed_from_u64(flags.seed);
    // In steps that a float represents exactly.
    let mut random = || (generator.next_u32() >> 8) as f32 / (1 << 24) as f32;
    let mut vector = || (0..flags.count).map(|_| random()).collect();
    (vector(), vector())
}

/// Returns the sum, computed by a plain loop with one addition per element, rounded like the kernel's.
pub fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// Returns the bytes of a vector of `count` elements.
pub fn bytes(count: u64) -> u64 {
    count * size_of::<f32>() as u64
}

/// Returns the bytes of all vectors at the peak.
pub fn memory_footprint(flags: &Flags) -> Footprint {
    let vector = bytes(flags.count);
    Footprint {
        device: ON_DEVICE * vector,
        host: ON_HOST * vector,
    }
}

/// Describes the element with this index.
pub fn element_name(index: usize) -> String {
    format!("element {index}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn flags(arguments: &str) -> Flags {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["vector-add"].into_iter().chain(words)).unwrap()
    }

    #[test]
    fn a_seed_decides_the_vectors() {
        let vectors = random(&flags("--count 50 --seed 1"));
        assert_eq!(vectors, random(&flags("--count 50 --seed 1")));
        assert_ne!(vectors, random(&flags("--count 50 --seed 2")));
        assert_ne!(vectors.0, vectors.1);
        assert_eq!((vectors.0.len(), vectors.1.len()), (50, 50));
    }

    #[test]
    fn elements_are_from_0_to_just_below_1() {
        let (a, b) = random(&flags("--count 5000"));
        assert!(
            a.iter()
                .chain(&b)
                .all(|element| (0.0..1.0).contains(element))
        );
        assert!(a.iter().any(|&element| element > 0.9));
        assert!(a.iter().any(|&element| element < 0.1));
    }

    #[test]
    fn a_sum_is_rounded_once() {
        assert_eq!(add(&[1.0, 0.5], &[1.0, -2.0]), [2.0, -1.5]);
        assert_eq!(add(&[1e8], &[1.0]), [1e8]);
    }

    #[test]
    fn memory_is_counted_without_overflow() {
        let footprint = memory_footprint(&flags("--count 17"));
        assert_eq!((footprint.device, footprint.host), (204, 544));
        let footprint = memory_footprint(&flags("--count 1099511627776"));
        assert_eq!(footprint.host, 1 << 45);
    }
}
