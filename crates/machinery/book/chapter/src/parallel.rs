//! Long arrays, such as references and inputs, filled by all processors with a progress bar.

use std::sync::Mutex;

use rayon::prelude::*;

use crate::progress::{self, lock};

/// A good chunk length for elements that do not depend on each other.
pub const CHUNK: usize = 1 << 16;

/// Returns `count` elements, computed by `fill(first, elements)` in chunks of `chunk` elements (the last may
/// be shorter); `first` is the index of the chunk's first element. The progress bar is named `label`.
///
/// # Panics
///
/// Panics if `chunk` is 0.
pub fn filled<T: Clone + Default + Send>(
    label: &'static str,
    count: usize,
    chunk: usize,
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let mut elements = vec![T::default(); count];
    let chunks: Vec<_> = elements.chunks_mut(chunk).map(Mutex::new).collect();
    for_each_index(label, chunks.len(), &|index| {
        let mut elements = lock(&chunks[index]);
        fill(index * chunk, &mut elements);
    });
    drop(chunks);
    elements
}

/// Calls `work` once for each number below `count`. Not generic over the element type, so that it is compiled
/// once here instead of in every chapter.
fn for_each_index(label: &'static str, count: usize, work: &(dyn Fn(usize) + Sync)) {
    let task = progress::task(label, count as u64);
    (0..count).into_par_iter().for_each(|index| {
        work(index);
        task.advance(1);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_filled_exactly_once() {
        for count in [0, 1, 99, 100, 301] {
            let elements = filled("numbers", count, 100, |first, elements: &mut [usize]| {
                for (element, index) in elements.iter_mut().zip(first..) {
                    *element += index + 1;
                }
            });
            assert!(elements.into_iter().eq(1..=count), "{count}");
        }
    }
}
