//! Rows in memory that are longer than a kernel is told: where the next one starts, the pitch alone says.

use crate::host::Case;

/// How many elements more a row has: so many that its pitch is another than that of the row without them.
pub fn more(case: &Case) -> usize {
    128 + case.integers(9, 1, 128)[0] as usize
}

/// Rows of `width` elements, each with the others behind it.
pub fn rows<T: Copy>(elements: &[T], width: usize, others: &[T]) -> Vec<T> {
    let rows = elements.chunks(width);
    rows.flat_map(|row| row.iter().chain(others))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_followed_by_the_others() {
        assert_eq!(rows(&[1, 2, 3, 4], 2, &[0, 9]), [1, 2, 0, 9, 3, 4, 0, 9]);
    }
}
