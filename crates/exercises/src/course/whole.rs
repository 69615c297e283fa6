//! Whole numbers as floats: their sums and products come out exact, in whatever order, so that no
//! right answer differs from its reference.

use crate::host::Case;

/// So many, from -8 to 8; another `stream` gives others.
pub fn floats(case: &Case, stream: u64, len: usize) -> Vec<f32> {
    let numbers = case.integers(stream, len, 17);
    numbers
        .into_iter()
        .map(|number| number as f32 - 8.0)
        .collect()
}
