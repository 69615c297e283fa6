//! Unpredictable random numbers, for seeds of inputs and for tokens that submissions must not guess.

use std::hash::{BuildHasher, RandomState};

/// Returns a random number from the system's entropy, by way of the keys of a hash map.
pub fn random() -> u64 {
    RandomState::new().hash_one(0)
}
