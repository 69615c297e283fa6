//! Filling a long array on all processors, with a progress bar.

use chapter::progress;
use rayon::prelude::*;

/// Elements that one processor fills at a time.
const CHUNK: usize = 1 << 16;

/// `count` elements, written by `fill(first, elements)` in chunks, of which `first` is the index of
/// the first element. A progress bar has the name `label`.
pub fn filled<T: Clone + Default + Send>(
    label: &'static str,
    count: usize,
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let task = progress::task(label, count as u64);
    let mut elements = vec![T::default(); count];
    let chunks = elements.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(chunk, elements)| {
        fill(chunk * CHUNK, elements);
        task.advance(elements.len() as u64);
    });
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_filled_once_and_in_its_place() {
        for count in [0, 1, CHUNK - 1, CHUNK, 3 * CHUNK + 1] {
            let elements = filled("numbers", count, |first, elements: &mut [usize]| {
                for (element, index) in elements.iter_mut().zip(first..) {
                    *element += index + 1;
                }
            });
            assert!(elements.into_iter().eq(1..=count), "{count}");
        }
    }
}
