//! Numbers that nobody can guess.

use std::hash::{BuildHasher, RandomState};

/// One of the system's, through the keys of a hash map.
pub fn random() -> u64 {
    RandomState::new().hash_one(0)
}
