//! Pseudorandom numbers for tests.

/// Returns the first `n` numbers of a fixed pseudorandom sequence.
pub fn random(n: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x853c_49e6_748f_ea9bu64;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        state ^ state >> 29
    })
    .take(n)
}
