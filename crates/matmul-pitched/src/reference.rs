//! The CPU reference of the matrix multiplication.
//!
//! Each element accumulates its products in the kernels' order, and `mul_add` corresponds to `fmaf` in
//! `kernels/matmul-pitched.cu`, so that the results are equal bit by bit. The surrounding loops are blocked
//! for the caches: all cores share the rows of C, and a panel of B is used for many of them before the next
//! one is loaded.

use chapter::progress::filled;

/// Rows of C per task.
const ROWS_PER_TASK: usize = 64;
/// Rows and columns of a panel of B: 128 KB.
const PANEL_DEPTH: usize = 64;
const PANEL_WIDTH: usize = 512;

/// Returns C = A·B in row-major order: `a` has rows of `n` elements, and `b` has `n` rows of `p`.
///
/// # Panics
///
/// Panics if `a` and `b` do not have such rows, or have no elements.
pub fn product(a: &[f32], b: &[f32], n: usize, p: usize) -> Vec<f32> {
    assert!(n > 0 && a.len().is_multiple_of(n), "A has no such rows");
    assert!(p > 0 && b.len() == n * p, "B has no such rows");
    let m = a.len() / n;
    filled("CPU reference", m * p, ROWS_PER_TASK * p, |first, c| {
        let a = &a[first / p * n..];
        for top in (0..n).step_by(PANEL_DEPTH) {
            for left in (0..p).step_by(PANEL_WIDTH) {
                for (c, a) in c.chunks_mut(p).zip(a.chunks(n)) {
                    let c = &mut c[left..p.min(left + PANEL_WIDTH)];
                    let a = &a[top..n.min(top + PANEL_DEPTH)];
                    add_products(c, a, &b[top * p + left..], p);
                }
            }
        }
    })
}

/// Adds the product of part of a row of A and a panel of B, whose rows are `p` elements apart, to part of a
/// row of C. Without the target features, `mul_add` would be a function call on most computers.
#[multiversion::multiversion(targets("x86_64+avx2+fma"))]
fn add_products(c: &mut [f32], a: &[f32], panel: &[f32], p: usize) {
    for (a, b) in a.iter().zip(panel.chunks(p)) {
        for (sum, b) in c.iter_mut().zip(b) {
            *sum = a.mul_add(*b, *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{Fill, ProductFlags};
    use crate::matrix;

    /// The note's loop, as one thread per element computes it.
    fn plain(a: &[f32], b: &[f32], n: usize, p: usize) -> Vec<f32> {
        let element = |row: usize, col: usize| {
            (0..n).fold(0.0, |sum: f32, i| {
                a[row * n + i].mul_add(b[i * p + col], sum)
            })
        };
        let rows = 0..a.len() / n;
        rows.flat_map(|row| (0..p).map(move |col| element(row, col)))
            .collect()
    }

    #[test]
    fn the_reference_equals_a_product_computed_by_hand() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
        assert_eq!(product(&a, &b, 3, 2), [58.0, 64.0, 139.0, 154.0]);
        assert_eq!(product(&a, &b, 1, 6).len(), 36);
    }

    #[test]
    fn every_size_equals_the_plain_loop_bit_by_bit() {
        // Below, at and above every block size of the loops.
        let sizes = [
            (1, 1, 1),
            (64, 64, 512),
            (63, 63, 511),
            (65, 65, 513),
            (130, 7, 33),
            (3, 200, 5),
            (2, 129, 1030),
        ];
        for (m, n, p) in sizes {
            let flags = ProductFlags {
                m,
                n,
                p,
                fill: Fill::Random,
                seed: 3,
            };
            let (a, b) = matrix::factors(&flags);
            let (n, p) = (n as usize, p as usize);
            let bits = |c: Vec<f32>| c.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            assert_eq!(
                bits(product(&a, &b, n, p)),
                bits(plain(&a, &b, n, p)),
                "{flags}"
            );
        }
    }

    #[test]
    fn identities_give_an_identity() {
        let flags = ProductFlags {
            m: 5,
            n: 9,
            p: 7,
            fill: Fill::Identity,
            seed: 0,
        };
        let (a, b) = matrix::factors(&flags);
        let c = product(&a, &b, 9, 7);
        for (index, element) in c.iter().enumerate() {
            let expected = if index / 7 == index % 7 { 1.0 } else { 0.0 };
            assert_eq!(*element, expected, "{}", matrix::element_name(index, 7));
        }
    }

    #[test]
    #[should_panic(expected = "B has no such rows")]
    fn mismatched_matrices_panic() {
        product(&[1.0; 6], &[1.0; 5], 3, 2);
    }
}
