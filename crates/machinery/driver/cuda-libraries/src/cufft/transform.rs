//! Transforms on the host, with `rustfft`.

use num_complex::Complex;
use parking_lot::Mutex;
use rayon::prelude::*;
use rustfft::{FftDirection, FftNum, FftPlanner};

/// A real type of transforms.
pub trait Real: FftNum + num_traits::Float {
    const IS_DOUBLE: bool;

    /// Calls `f` with the planner of this type, which keeps the tables of earlier transforms.
    fn with_planner<R>(f: impl FnOnce(&mut FftPlanner<Self>) -> R) -> R;
}

/// Implements [`Real`].
macro_rules! reals {
    ($($type:ty, $is_double:literal;)*) => {$(
        impl Real for $type {
            const IS_DOUBLE: bool = $is_double;

            fn with_planner<R>(f: impl FnOnce(&mut FftPlanner<Self>) -> R) -> R {
                static PLANNER: Mutex<Option<FftPlanner<$type>>> = Mutex::new(None);
                f(PLANNER.lock().get_or_insert_with(FftPlanner::new))
            }
        }
    )*};
}

reals! {
    f32, false;
    f64, true;
}

/// Elements per task of a thread, at least.
const MIN_TASK: usize = 1 << 14;

/// Transforms contiguous arrays of three dimensions, without scaling.
pub fn transform<F: Real>(elements: &mut [Complex<F>], sizes: [usize; 3], direction: FftDirection) {
    let mut inner = 1;
    for length in sizes.into_iter().rev() {
        if length > 1 {
            transform_axis(elements, length, inner, direction);
        }
        inner *= length;
    }
}

/// Transforms all sequences of `length` elements at the distance `inner`.
fn transform_axis<F: Real>(
    elements: &mut [Complex<F>],
    length: usize,
    inner: usize,
    direction: FftDirection,
) {
    let fft = F::with_planner(|planner| planner.plan_fft(length, direction));
    let task = length * (MIN_TASK / length).max(1);
    if inner == 1 {
        elements
            .par_chunks_mut(task)
            .for_each(|chunk| fft.process(chunk));
        return;
    }
    for block in elements.chunks_mut(length * inner) {
        // The sequences of the block one after another.
        let mut columns: Vec<Complex<F>> = (0..inner)
            .into_par_iter()
            .flat_map_iter(|column| (0..length).map(move |row| column + row * inner))
            .map(|position| block[position])
            .collect();
        columns
            .par_chunks_mut(task)
            .for_each(|chunk| fft.process(chunk));
        block
            .par_chunks_mut(inner)
            .enumerate()
            .for_each(|(row, elements)| {
                for (column, element) in elements.iter_mut().enumerate() {
                    *element = columns[row + column * length];
                }
            });
    }
}

/// Returns all elements of a spectrum of real data from its first half, in which the last dimension has `half` elements.
pub fn complete<F: Real>(
    half_spectrum: &[Complex<F>],
    sizes: [usize; 3],
    half: usize,
) -> Vec<Complex<F>> {
    let [outer, middle, last] = sizes;
    let at = |z: usize, y: usize, x: usize| half_spectrum[(z * middle + y) * half + x];
    let mut full = Vec::with_capacity(outer * middle * last);
    for z in 0..outer {
        for y in 0..middle {
            full.extend((0..half).map(|x| at(z, y, x)));
            let mirror = |position: usize, size: usize| (size - position) % size;
            full.extend(
                (half..last).map(|x| at(mirror(z, outer), mirror(y, middle), last - x).conj()),
            );
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes a transform by its definition.
    fn expected(elements: &[Complex<f64>], sizes: [usize; 3], sign: f64) -> Vec<Complex<f64>> {
        let [outer, middle, last] = sizes;
        let positions: Vec<[usize; 3]> = (0..outer * middle * last)
            .map(|i| [i / last / middle, i / last % middle, i % last])
            .collect();
        let term = |k: &[usize; 3], n: &[usize; 3]| {
            let turns: f64 = (0..3)
                .map(|d| (k[d] * n[d] % sizes[d]) as f64 / sizes[d] as f64)
                .sum();
            Complex::from_polar(1.0, sign * std::f64::consts::TAU * turns)
        };
        let sum = |k| {
            positions
                .iter()
                .zip(elements)
                .map(|(n, x)| x * term(k, n))
                .sum()
        };
        positions.iter().map(sum).collect()
    }

    #[test]
    fn transforms_follow_the_definition() {
        for sizes in [[1, 1, 1], [1, 1, 7], [1, 4, 6], [3, 2, 5]] {
            let count = sizes.iter().product::<usize>();
            let elements: Vec<Complex<f64>> = (0..count)
                .map(|i| Complex::new((i * i % 11) as f64 - 4.0, (i % 5) as f64))
                .collect();
            for (direction, sign) in [(FftDirection::Forward, -1.0), (FftDirection::Inverse, 1.0)] {
                let mut actual = elements.clone();
                transform(&mut actual, sizes, direction);
                for (actual, expected) in actual.iter().zip(expected(&elements, sizes, sign)) {
                    assert!(
                        (actual - expected).norm() < 1e-10,
                        "{sizes:?}: {actual} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn spectra_of_real_data_are_completed() {
        for sizes in [[1, 1, 6], [1, 3, 5], [2, 3, 4]] {
            let count = sizes.iter().product::<usize>();
            let mut full: Vec<Complex<f64>> = (0..count)
                .map(|i| Complex::new((i * 7 % 13) as f64, 0.0))
                .collect();
            transform(&mut full, sizes, FftDirection::Forward);
            let half = sizes[2] / 2 + 1;
            let first: Vec<_> = full
                .chunks(sizes[2])
                .flat_map(|row| &row[..half])
                .copied()
                .collect();
            for (actual, expected) in complete(&first, sizes, half).iter().zip(&full) {
                assert!((actual - expected).norm() < 1e-10);
            }
        }
    }
}
