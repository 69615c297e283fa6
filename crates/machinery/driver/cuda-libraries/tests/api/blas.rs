//! cuBLAS: products and solutions in all storage formats.

use std::ffi::c_int;

use cuda_libraries::cublas::*;

use crate::device::{Array, Dense, Element, Handle, OPS, assert_close, numbers};

/// Runs a test for the four types with the functions that it names.
macro_rules! for_types {
    ($test:ident: $s:ident $d:ident $c:ident $z:ident) => {
        $test::<f32>($s);
        $test::<f64>($d);
        $test::<C32>($c);
        $test::<C64>($z);
    };
}

const LEADING: usize = 23;

/// Returns the part of a padded matrix with these sizes.
fn part<T: Element>(elements: &[T], rows: usize, columns: usize, leading: usize) -> Dense {
    Dense::new(rows, columns, |row, column| {
        elements[row + column * leading].exact()
    })
}

/// Asserts that the elements between the columns have not changed.
fn assert_padding<T: Element>(
    name: &str,
    before: &[T],
    after: &[T],
    [rows, columns, leading]: [usize; 3],
) {
    for index in 0..before.len() {
        if index % leading >= rows || index / leading >= columns {
            assert!(
                before[index] == after[index],
                "{name}: padding {index} has changed"
            );
        }
    }
}

type Gemm<T> = unsafe extern "C" fn(
    usize,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const T,
    *const T,
    c_int,
    *const T,
    c_int,
    *const T,
    *mut T,
    c_int,
) -> c_int;

fn gemm<T: Element>(function: Gemm<T>) {
    let handle = Handle::new();
    for [m, n, k] in [[1, 1, 1], [5, 7, 3], [22, 1, 9], [1, 20, 0], [70, 65, 130]] {
        let leading = m.max(n).max(k) + 3;
        for (i, [transa, transb]) in OPS.iter().flat_map(|&a| OPS.map(|b| [a, b])).enumerate() {
            let elements: Vec<T> = numbers(leading * leading, 1);
            let (a, b) = (
                Array::new(&elements),
                Array::new(&numbers(leading * leading, 2)),
            );
            // A factor of zero must not read the poisoned output.
            let is_zero = i % 2 == 0;
            let mut before: Vec<T> = numbers(leading * leading, 3);
            let (alpha, beta) = (
                T::make(0.75, -0.5),
                if is_zero {
                    T::zero()
                } else {
                    T::make(-0.25, 0.5)
                },
            );
            if is_zero {
                for index in (0..before.len()).filter(|i| i % leading < m && i / leading < n) {
                    before[index] = T::make(f64::NAN, f64::NAN);
                }
            }
            let c = Array::new(&before);
            let [mi, ni, ki, ld] = [m, n, k, leading].map(|size| size as c_int);
            // SAFETY: the pointers are valid.
            let status = unsafe {
                function(
                    handle.0, transa, transb, mi, ni, ki, &alpha, a.address, ld, b.address, ld,
                    &beta, c.address, ld,
                )
            };
            assert_eq!(status, 0);
            let shape = |op: c_int, rows, columns| {
                if op == 0 {
                    [rows, columns]
                } else {
                    [columns, rows]
                }
            };
            let operand = |elements: &[T], op, rows, columns| {
                let [rows, columns] = shape(op, rows, columns);
                part(elements, rows, columns, leading).op(op)
            };
            let product = operand(&elements, transa, m, k).times(&operand(&b.read(), transb, k, n));
            let old = match is_zero {
                true => Dense::new(m, n, |_, _| C64::new(0.0, 0.0)),
                false => part(&before, m, n, leading),
            };
            let expected = product.combined(alpha.exact(), &old, beta.exact());
            let after = c.read();
            let actual: Vec<T> = (0..m * n).map(|i| after[i % m + i / m * leading]).collect();
            let name = format!("gemm {m} {n} {k} {transa} {transb}");
            assert_close(&name, &actual, &expected.elements, k);
            assert_padding(&name, &before, &after, [m, n, leading]);
        }
    }
}

#[test]
fn matrices_are_multiplied() {
    for_types!(gemm: cublasSgemm_v2 cublasDgemm_v2 cublasCgemm_v2 cublasZgemm_v2);
}

/// Returns the exact elements of a matrix in storage `format`: `f`ull, `b`anded with `k` diagonals on each side of a
/// triangle, or `p`acked; of kind `s`ymmetric, `h`ermitian or `t`riangular.
fn expand<T: Element>(
    elements: &[T],
    n: usize,
    (format, k): (char, usize),
    (kind, upper, unit): (char, bool, bool),
) -> Dense {
    let stored = |row: usize, column: usize| {
        let inside = format != 'b' || row.abs_diff(column) <= k;
        let position = match (format, upper) {
            ('f', _) => row + column * LEADING,
            ('b', true) => k + row - column.min(k + row) + column * LEADING,
            ('b', false) => row.saturating_sub(column) + column * LEADING,
            (_, true) => row + column * (column + 1) / 2,
            (_, false) => row + column * (2 * n - column - 1) / 2,
        };
        if inside {
            elements[position].exact()
        } else {
            C64::new(0.0, 0.0)
        }
    };
    Dense::new(n, n, |row, column| {
        let is_stored = if upper { row <= column } else { row >= column };
        match kind {
            't' if row == column && unit => C64::new(1.0, 0.0),
            't' if is_stored => stored(row, column),
            't' => C64::new(0.0, 0.0),
            'h' if row == column => C64::new(stored(row, column).re, 0.0),
            _ if is_stored => stored(row, column),
            'h' => stored(column, row).conj(),
            _ => stored(column, row),
        }
    })
}

/// Returns the elements of a vector in order.
fn vector<T: Element>(elements: &[T], n: usize, increment: i32) -> Vec<T> {
    let step = increment.unsigned_abs() as usize;
    let at = |i: usize| {
        if increment < 0 {
            (n - 1 - i) * step
        } else {
            i * step
        }
    };
    (0..n).map(|i| elements[at(i)]).collect()
}

/// Returns a vector as a matrix.
fn column<T: Element>(elements: &[T]) -> Dense {
    Dense::new(elements.len(), 1, |row, _| elements[row].exact())
}

/// Checks the product of a symmetric or Hermitian matrix of each fill with a vector.
fn selfadjoint<T: Element>(
    (format, k): (char, usize),
    kind: char,
    call: impl Fn(usize, c_int, c_int, &T, *const T, *const T, &T, *mut T) -> c_int,
) {
    let handle = Handle::new();
    for n in [1, 6, 19] {
        for fill in [0, 1] {
            let (elements, x, y) = (
                numbers::<T>(LEADING * LEADING, 4),
                numbers::<T>(64, 5),
                numbers::<T>(64, 6),
            );
            let (a, xs, ys) = (Array::new(&elements), Array::new(&x), Array::new(&y));
            let (alpha, beta) = (T::make(0.5, 0.25), T::make(-1.5, 0.5));
            assert_eq!(
                call(
                    handle.0, fill, n as c_int, &alpha, a.address, xs.address, &beta, ys.address
                ),
                0
            );
            let matrix = expand(&elements, n, (format, k), (kind, fill == 1, false));
            let product = matrix.times(&column(&vector(&x, n, 2)));
            let expected =
                product.combined(alpha.exact(), &column(&vector(&y, n, -3)), beta.exact());
            let actual = vector(&ys.read(), n, -3);
            assert_close(
                &format!("{kind}{format}mv {n} {fill}"),
                &actual,
                &expected.elements,
                n,
            );
        }
    }
}

#[test]
fn symmetric_and_hermitian_matrices_are_multiplied_with_vectors() {
    const LD: c_int = LEADING as c_int;
    // SAFETY: the pointers are valid in all calls.
    unsafe {
        selfadjoint::<f32>(('f', 0), 's', |h, u, n, p, a, x, q, y| {
            cublasSsymv_v2(h, u, n, p, a, LD, x, 2, q, y, -3)
        });
        selfadjoint::<C64>(('f', 0), 's', |h, u, n, p, a, x, q, y| {
            cublasZsymv_v2(h, u, n, p, a, LD, x, 2, q, y, -3)
        });
        selfadjoint::<C32>(('f', 0), 'h', |h, u, n, p, a, x, q, y| {
            cublasChemv_v2(h, u, n, p, a, LD, x, 2, q, y, -3)
        });
        selfadjoint::<f64>(('b', 3), 's', |h, u, n, p, a, x, q, y| {
            cublasDsbmv_v2(h, u, n, 3, p, a, LD, x, 2, q, y, -3)
        });
        selfadjoint::<C64>(('b', 4), 'h', |h, u, n, p, a, x, q, y| {
            cublasZhbmv_v2(h, u, n, 4, p, a, LD, x, 2, q, y, -3)
        });
        selfadjoint::<f64>(('p', 0), 's', |h, u, n, p, a, x, q, y| {
            cublasDspmv_v2(h, u, n, p, a, x, 2, q, y, -3)
        });
        selfadjoint::<C64>(('p', 0), 'h', |h, u, n, p, a, x, q, y| {
            cublasZhpmv_v2(h, u, n, p, a, x, 2, q, y, -3)
        });
    }
}

/// Checks the product of a triangular matrix with a vector, and that the solution of its system undoes it.
fn triangular<T: Element>(
    (format, k): (char, usize),
    multiply: impl Fn(usize, [c_int; 4], *const T, *mut T) -> c_int,
    solve: impl Fn(usize, [c_int; 4], *const T, *mut T) -> c_int,
) {
    let handle = Handle::new();
    for n in [1, 7, 18] {
        for (fill, op) in [0, 1].into_iter().flat_map(|fill| OPS.map(|op| (fill, op))) {
            for unit in [0, 1] {
                let mut elements: Vec<T> = numbers(LEADING * LEADING, 7);
                for element in &mut elements {
                    // Small elements outside of the diagonal keep the systems well-conditioned.
                    *element *= T::make(0.125, 0.0);
                }
                for i in 0..n {
                    let diagonal = match (format, fill) {
                        ('f', _) => i + i * LEADING,
                        ('b', 1) => k + i * LEADING,
                        ('b', _) => i * LEADING,
                        (_, 1) => i * (i + 3) / 2,
                        _ => i + i * (2 * n - i - 1) / 2,
                    };
                    elements[diagonal] = T::make(1.5, 0.5);
                }
                let x: Vec<T> = numbers(64, 8);
                let (a, xs) = (Array::new(&elements), Array::new(&x));
                let arguments = [fill, op, unit, n as c_int];
                assert_eq!(multiply(handle.0, arguments, a.address, xs.address), 0);
                let matrix = expand(&elements, n, (format, k), ('t', fill == 1, unit == 1)).op(op);
                let expected = matrix.times(&column(&vector(&x, n, -2)));
                let name = format!("t{format}mv {n} {arguments:?}");
                assert_close(&name, &vector(&xs.read(), n, -2), &expected.elements, n);
                assert_eq!(solve(handle.0, arguments, a.address, xs.address), 0);
                let solution = vector(&xs.read(), n, -2);
                assert_close(
                    &format!("{name}, solved"),
                    &solution,
                    &column(&vector(&x, n, -2)).elements,
                    8 * n,
                );
            }
        }
    }
}

#[test]
fn triangular_matrices_are_multiplied_and_solved() {
    const LD: c_int = LEADING as c_int;
    // SAFETY: the pointers are valid in all calls.
    unsafe {
        triangular::<f32>(
            ('f', 0),
            |h, [u, t, d, n], a, x| cublasStrmv_v2(h, u, t, d, n, a, LD, x, -2),
            |h, [u, t, d, n], a, x| cublasStrsv_v2(h, u, t, d, n, a, LD, x, -2),
        );
        triangular::<C64>(
            ('f', 0),
            |h, [u, t, d, n], a, x| cublasZtrmv_v2(h, u, t, d, n, a, LD, x, -2),
            |h, [u, t, d, n], a, x| cublasZtrsv_v2(h, u, t, d, n, a, LD, x, -2),
        );
        triangular::<C32>(
            ('b', 3),
            |h, [u, t, d, n], a, x| cublasCtbmv_v2(h, u, t, d, n, 3, a, LD, x, -2),
            |h, [u, t, d, n], a, x| cublasCtbsv_v2(h, u, t, d, n, 3, a, LD, x, -2),
        );
        triangular::<f64>(
            ('p', 0),
            |h, [u, t, d, n], a, x| cublasDtpmv_v2(h, u, t, d, n, a, x, -2),
            |h, [u, t, d, n], a, x| cublasDtpsv_v2(h, u, t, d, n, a, x, -2),
        );
    }
}

type Trsm<T> = unsafe extern "C" fn(
    usize,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const T,
    *const T,
    c_int,
    *mut T,
    c_int,
) -> c_int;

/// Checks `op(A) * X = alpha * B` and `X * op(A) = alpha * B` by multiplication.
fn trsm<T: Element>(function: Trsm<T>) {
    let handle = Handle::new();
    let [m, n] = [13, 9];
    for (side, fill, op) in [0, 1]
        .into_iter()
        .flat_map(|s| [0, 1].map(|f| (s, f)))
        .flat_map(|(s, f)| OPS.map(|op| (s, f, op)))
    {
        let mut elements: Vec<T> = numbers(LEADING * LEADING, 9);
        elements
            .iter_mut()
            .for_each(|element| *element *= T::make(0.125, 0.0));
        (0..LEADING).for_each(|i| elements[i + i * LEADING] = T::make(1.25, -0.5));
        let before: Vec<T> = numbers(LEADING * LEADING, 10);
        let (a, b) = (Array::new(&elements), Array::new(&before));
        let alpha = T::make(0.5, 1.0);
        let ld = LEADING as c_int;
        // SAFETY: the pointers are valid.
        let status = unsafe {
            function(
                handle.0, side, fill, op, 0, m as c_int, n as c_int, &alpha, a.address, ld,
                b.address, ld,
            )
        };
        assert_eq!(status, 0);
        let order = if side == 0 { m } else { n };
        let matrix = expand(&elements, order, ('f', 0), ('t', fill == 1, false)).op(op);
        let after = b.read();
        let solution = part(&after, m, n, LEADING);
        let product = if side == 0 {
            matrix.times(&solution)
        } else {
            solution.times(&matrix)
        };
        let right = part(&before, m, n, LEADING);
        let expected: Vec<C64> = right.elements.iter().map(|x| alpha.exact() * x).collect();
        let largest = product
            .elements
            .iter()
            .zip(&expected)
            .map(|(x, y)| (x - y).norm())
            .fold(0.0, f64::max);
        assert!(
            largest <= 200.0 * T::EPSILON,
            "trsm {side} {fill} {op}: {largest}"
        );
        assert_padding("trsm", &before, &after, [m, n, LEADING]);
    }
}

#[test]
fn systems_with_many_right_hand_sides_are_solved() {
    for_types!(trsm: cublasStrsm_v2 cublasDtrsm_v2 cublasCtrsm_v2 cublasZtrsm_v2);
}

#[test]
fn reductions_are_written_to_the_host_or_the_device() {
    let handle = Handle::new();
    let elements = [3.0f32, -4.0, 0.5, -7.0, 1.0, 7.0];
    let x = Array::new(&elements);
    let (mut index, mut sum, mut norm) = (-1, f32::NAN, f32::NAN);
    // SAFETY: the pointers are valid.
    unsafe {
        assert_eq!(cublasIsamax_v2(handle.0, 6, x.address, 1, &mut index), 0);
        assert_eq!(index, 4, "the first of two");
        assert_eq!(cublasIsamin_v2(handle.0, 3, x.address, 2, &mut index), 0);
        assert_eq!(index, 2);
        assert_eq!(cublasSasum_v2(handle.0, 6, x.address, 1, &mut sum), 0);
        assert_eq!(sum, 22.5);
        assert_eq!(cublasSnrm2_v2(handle.0, 2, x.address, 1, &mut norm), 0);
        assert_eq!(norm, 5.0);
        assert_eq!(cublasSnrm2_v2(handle.0, 0, x.address, 1, &mut norm), 0);
        assert_eq!(norm, 0.0);
        assert_eq!(cublasSetPointerMode_v2(handle.0, 1), 0);
        let (result, factor) = (Array::new(&[f32::NAN]), Array::new(&[-2.0f32]));
        assert_eq!(
            cublasSdot_v2(handle.0, 6, x.address, 1, x.address, -1, result.address),
            0
        );
        assert_eq!(result.read(), [2.0 * (21.0 - 4.0 - 3.5)]);
        assert_eq!(cublasSscal_v2(handle.0, 2, factor.address, x.address, 3), 0);
        assert_eq!(x.read(), [-6.0, -4.0, 0.5, 14.0, 1.0, 7.0]);
    }
}

#[test]
fn batched_products_with_a_factor_of_zero_do_not_read_the_matrix() {
    let handle = Handle::new();
    let (a, x) = (Array::new(&[f32::NAN; 8]), Array::new(&[1.0f32; 4]));
    let y = Array::new(&[3.0f32; 4]);
    let (alpha, beta) = (0.0f32, 2.0f32);
    // SAFETY: the pointers are valid.
    let status = unsafe {
        cublasSgemvStridedBatched(
            handle.0, 0, 2, 2, &alpha, a.address, 2, 4, x.address, 1, 2, &beta, y.address, 1, 2, 2,
        )
    };
    assert_eq!(status, 0);
    assert_eq!(y.read(), [6.0; 4]);
}

#[test]
fn batches_are_factorized_and_inverted() {
    let handle = Handle::new();
    let (n, count) = (9, 3);
    let elements: Vec<f64> = numbers(n * n * count, 11);
    let (a, inverse) = (
        Array::new(&elements),
        Array::new(&vec![f64::NAN; n * n * count]),
    );
    let addresses = |array: &Array<f64>| {
        Array::new(
            &(0..count)
                .map(|i| array.address.wrapping_add(i * n * n))
                .collect::<Vec<_>>(),
        )
    };
    let (from, to) = (addresses(&a), addresses(&inverse));
    let (pivots, info) = (
        Array::new(&vec![0; n * count]),
        Array::new(&vec![-1; count]),
    );
    let (ni, batch) = (n as c_int, count as c_int);
    // SAFETY: the pointers are valid.
    unsafe {
        assert_eq!(
            cublasDgetrfBatched(
                handle.0,
                ni,
                from.address.cast_const(),
                ni,
                pivots.address,
                info.address,
                batch
            ),
            0
        );
        assert_eq!(
            cublasDgetriBatched(
                handle.0,
                ni,
                from.address.cast_const().cast(),
                ni,
                pivots.address,
                to.address.cast_const(),
                ni,
                info.address,
                batch
            ),
            0
        );
    }
    assert_eq!(info.read(), [0; 3]);
    for (matrix, inverse) in elements.chunks(n * n).zip(inverse.read().chunks(n * n)) {
        let product = part(matrix, n, n, n).times(&part(inverse, n, n, n));
        let identity = Dense::new(n, n, |row, column| {
            C64::new(f64::from(u8::from(row == column)), 0.0)
        });
        for (actual, expected) in product.elements.iter().zip(&identity.elements) {
            assert!((actual - expected).norm() < 1e-11, "{actual}");
        }
    }
}

#[test]
fn invalid_arguments_have_their_statuses() {
    let handle = Handle::new();
    let a = Array::new(&numbers::<f32>(16, 12));
    let one = 1.0f32;
    // SAFETY: the pointers are valid.
    unsafe {
        let gemm = |handle, op, m, ld, alpha: *const f32| {
            cublasSgemm_v2(
                handle, op, 0, m, 2, 2, alpha, a.address, ld, a.address, 2, &one, a.address, 4,
            )
        };
        assert_eq!(gemm(handle.0, 0, 2, 2, &one), 0);
        assert_eq!(gemm(0, 0, 2, 2, &one), 1, "no handle");
        assert_eq!(gemm(handle.0, 9, 2, 2, &one), 7, "operation");
        assert_eq!(gemm(handle.0, 0, -1, 2, &one), 7, "size");
        assert_eq!(gemm(handle.0, 0, 3, 2, &one), 7, "leading dimension");
        assert_eq!(gemm(handle.0, 0, 2, 2, std::ptr::null()), 7, "scalar");
        assert_eq!(
            cublasSgemv_v2(
                handle.0, 0, 2, 2, &one, a.address, 2, a.address, 0, &one, a.address, 1
            ),
            7,
            "increment"
        );
        assert_eq!(cublasCreate_v2(std::ptr::null_mut()), 7);
        assert_eq!(cublasDestroy_v2(987_654), 1);
    }
}
