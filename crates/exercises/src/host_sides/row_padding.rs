//! Rows that are longer than the width passed to a kernel, so that only the pitch locates the next row.

use crate::host::Case;

/// Draws the number of extra elements per row: enough that the pitch differs from that of a row without them.
pub fn extra_elements(case: &Case) -> usize {
    128 + case.integers(9, 1, 128)[0] as usize
}

/// Lays out rows of `width` elements, each followed by the extra elements.
pub fn pad_rows<T: Copy>(elements: &[T], width: usize, extra: &[T]) -> Vec<T> {
    let rows = elements.chunks(width);
    rows.flat_map(|row| row.iter().chain(extra))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_followed_by_the_extra_elements() {
        assert_eq!(
            pad_rows(&[1, 2, 3, 4], 2, &[0, 9]),
            [1, 2, 0, 9, 3, 4, 0, 9]
        );
    }
}
