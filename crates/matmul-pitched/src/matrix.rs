//! The matrices as kernel arguments, and their contents on the host.

use common::PitchedBuffer;
use cust::DeviceCopy;
use cust::memory::DevicePointer;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::flags::{Fill, ProductFlags};

/// A matrix in device memory: `struct Matrix` of the kernels, whose `size_t` has 64 bits.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Matrix {
    /// The number of rows.
    pub rows: u64,
    /// The number of elements per row.
    pub cols: u64,
    /// The address of the first element.
    pub elements: DevicePointer<f32>,
    /// Elements from the start of a row to that of the next; at least `cols`.
    pub stride: u64,
}

// ANCHOR: stride
impl From<&PitchedBuffer<f32>> for Matrix {
    /// Converts all rows of `buffer`, one slice after the other.
    fn from(buffer: &PitchedBuffer<f32>) -> Self {
        Matrix {
            rows: buffer.rows() as u64,
            cols: buffer.width() as u64,
            elements: buffer.as_device_ptr(),
            // The pitch is a multiple of four bytes; otherwise floats would not be aligned.
            stride: (buffer.pitch() / size_of::<f32>()) as u64,
        }
    }
}
// ANCHOR_END: stride

/// Returns A (m×n) and B (n×p) in row-major order without padding; the same flags give the same
/// matrices on every machine.
pub fn factors(flags: &ProductFlags) -> (Vec<f32>, Vec<f32>) {
    let (m, n, p) = (flags.m as usize, flags.n as usize, flags.p as usize);
    match flags.fill {
        Fill::Identity => (identity(m, n), identity(n, p)),
        Fill::Random => {
            let mut generator = Pcg32::seed_from_u64(flags.seed);
            // From -1 to just below 1, in steps that a float represents exactly. Sums of n products
            // of such numbers are small: about the square root of n, divided by 3.
            let mut number = || (generator.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
            let mut numbers = |count| (0..count).map(|_| number()).collect();
            (numbers(m * n), numbers(n * p))
        }
    }
}

/// Returns a matrix with 1 where row and column are equal and 0 elsewhere, as in the note; it need
/// not be square.
fn identity(rows: usize, cols: usize) -> Vec<f32> {
    let mut elements = vec![0.0; rows * cols];
    for element in elements.iter_mut().step_by(cols + 1).take(rows.min(cols)) {
        *element = 1.0;
    }
    elements
}

/// Describes the element with this index in a matrix of `cols` columns.
pub fn element_name(index: usize, cols: usize) -> String {
    format!("row {}, column {}", index / cols, index % cols)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        product: ProductFlags,
    }

    fn factors_of(arguments: &str) -> (Vec<f32>, Vec<f32>) {
        let words = ["program"].into_iter().chain(arguments.split_whitespace());
        factors(&Program::try_parse_from(words).unwrap().product)
    }

    #[test]
    fn the_layout_is_that_of_the_kernels() {
        assert_eq!((size_of::<Matrix>(), align_of::<Matrix>()), (32, 8));
        assert_eq!(std::mem::offset_of!(Matrix, elements), 16);
    }

    #[test]
    fn identities_need_not_be_square() {
        assert_eq!(identity(2, 3), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(identity(3, 2), [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        assert_eq!(identity(3, 1), [1.0, 0.0, 0.0]);
        assert_eq!(identity(1, 3), [1.0, 0.0, 0.0]);
        let (a, b) = factors_of("--fill identity --m 2 --n 1 --p 2");
        assert_eq!((a, b), (vec![1.0, 0.0], vec![1.0, 0.0]));
    }

    #[test]
    fn random_matrices_have_the_given_size_and_range() {
        let (a, b) = factors_of("--m 50 --n 70 --p 30");
        assert_eq!((a.len(), b.len()), (50 * 70, 70 * 30));
        let all = || a.iter().chain(&b).copied();
        assert!(all().all(|number| (-1.0..1.0).contains(&number)));
        assert!(all().any(|number| number < -0.9) && all().any(|number| number > 0.9));
    }

    #[test]
    fn a_seed_decides_the_matrices() {
        let small = "--m 3 --n 5 --p 2 --seed";
        let seven = factors_of(&format!("{small} 7"));
        assert_eq!(seven, factors_of(&format!("{small} 7")));
        assert_ne!(seven, factors_of(&format!("{small} 8")));
        assert_ne!(seven.0[..10], seven.1[..]);
    }

    #[test]
    fn element_names_are_rows_and_columns() {
        assert_eq!(element_name(0, 320), "row 0, column 0");
        assert_eq!(element_name(650, 320), "row 2, column 10");
    }
}
