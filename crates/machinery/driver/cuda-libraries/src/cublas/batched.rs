//! Batches of matrices: at addresses in device memory, or at a constant distance. Small systems are factorized and solved
//! in batches only.

use super::arguments::{Op, Scale, Vector, leading, read_element, size, write_element};
use super::handle::{Handle, settings};
use super::level2::Operand;
use super::level3::Triangular;
use super::matrix::Matrix;
use super::scalar::Scalar;
use super::*;
use crate::call::{Columns, operations};
use crate::functions::CallResult;
use cuda_driver::{CallMemory, IllegalOperand, Operations};

/// The addresses of the matrices of a batch.
#[derive(Clone, Copy)]
pub enum Batch {
    /// The address of an array of addresses.
    Array(u64),
    /// The address of the first matrix, and the bytes to the next.
    Strided(u64, i64),
}

impl Batch {
    pub fn strided<T>(first: *const T, stride: i64) -> Self {
        Batch::Strided(first as u64, stride * size_of::<T>() as i64)
    }

    /// Returns the address of a matrix.
    pub fn get(self, memory: &mut CallMemory<'_>, index: usize) -> Result<u64, IllegalOperand> {
        match self {
            Batch::Array(addresses) => read_element(memory, addresses + 8 * index as u64),
            Batch::Strided(first, stride) => {
                Ok(first.wrapping_add_signed(stride.wrapping_mul(index as i64)))
            }
        }
    }

    /// Returns the addresses of the matrices of several batches.
    pub fn addresses<const N: usize>(
        batches: &[Self; N],
        memory: &mut CallMemory<'_>,
        index: usize,
    ) -> Result<[u64; N], IllegalOperand> {
        let mut addresses = [0; N];
        for (address, batch) in addresses.iter_mut().zip(batches) {
            *address = batch.get(memory, index)?;
        }
        Ok(addresses)
    }

    /// Returns the address that C has passed.
    pub fn address(self) -> u64 {
        match self {
            Batch::Array(address) | Batch::Strided(address, _) => address,
        }
    }
}

/// Submits products of matrices and vectors.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
unsafe fn gemvs<T: Scalar>(
    handle: Handle,
    [trans, m, n, lda]: [c_int; 4],
    scales: [*const T; 2],
    [incx, incy]: [c_int; 2],
    batches: [Batch; 3],
    count: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let (op, shape, count) = (Op::new(trans)?, [size(m)?, size(n)?], size(count)?);
    let leading = leading(lda, shape[0])?;
    // SAFETY: the requirements are those of this function.
    let [alpha, beta] = unsafe { Scale::pair(&settings, scales) }?;
    if incx == 0 || incy == 0 {
        return Err(INVALID_VALUE);
    }
    let [rows, columns] = op.stored(shape);
    if shape.contains(&0) || count == 0 {
        return Ok(());
    }
    let elements = shape[0] as f64 * shape[1] as f64 * count as f64;
    let operations = operations(T::ARITHMETIC, 2.0 * elements);
    let operands = batches.map(Batch::address).to_vec();
    settings.stream.submit(operands, operations, move |memory| {
        let scales = [alpha.get(memory)?, beta.get(memory)?];
        for index in 0..count {
            let [a, x, y] = Batch::addresses(&batches, memory, index)?;
            let matrix = Matrix::general(a, shape, leading);
            let vectors = [Vector::new(x, columns, incx), Vector::new(y, rows, incy)];
            Operand { matrix, op }.multiply::<T>(memory, scales, vectors)?;
        }
        Ok(())
    })
}

/// `cublas?gemvBatched`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemv_array<T: Scalar>(
    handle: Handle,
    trans: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const *const T,
    lda: c_int,
    x: *const *const T,
    incx: c_int,
    beta: *const T,
    y: *const *mut T,
    incy: c_int,
    count: c_int,
) -> CallResult {
    let batches = [a as u64, x as u64, y as u64].map(Batch::Array);
    // SAFETY: the requirements are those of this function.
    unsafe {
        gemvs(
            handle,
            [trans, m, n, lda],
            [alpha, beta],
            [incx, incy],
            batches,
            count,
        )
    }
}

/// `cublas?gemvStridedBatched`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemv_strided<T: Scalar>(
    handle: Handle,
    trans: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    stride_a: i64,
    x: *const T,
    incx: c_int,
    stride_x: i64,
    beta: *const T,
    y: *mut T,
    incy: c_int,
    stride_y: i64,
    count: c_int,
) -> CallResult {
    let batches = [
        Batch::strided(a, stride_a),
        Batch::strided(x, stride_x),
        Batch::strided(y, stride_y),
    ];
    // SAFETY: the requirements are those of this function.
    unsafe {
        gemvs(
            handle,
            [trans, m, n, lda],
            [alpha, beta],
            [incx, incy],
            batches,
            count,
        )
    }
}

/// `cublas?trsmBatched`.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
pub unsafe fn trsm_array<T: Scalar>(
    handle: Handle,
    side: c_int,
    uplo: c_int,
    trans: c_int,
    diag: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const *const T,
    lda: c_int,
    b: *const *mut T,
    ldb: c_int,
    count: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let call = Triangular::new([side, uplo, trans, diag, m, n], [lda, ldb])?;
    let count = size(count)?;
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { Scale::new(&settings, alpha) }?;
    if call.is_empty() || count == 0 {
        return Ok(());
    }
    let batches = [a as u64, b as u64].map(Batch::Array);
    let operations = call.operations::<T>();
    let operations = Operations {
        count: operations.count * count as f64,
        ..operations
    };
    settings
        .stream
        .submit(vec![a as u64, b as u64], operations, move |memory| {
            let alpha = alpha.get(memory)?;
            for index in 0..count {
                let addresses = Batch::addresses(&batches, memory, index)?;
                call.solve::<T>(memory, addresses, alpha)?;
            }
            Ok(())
        })
}

/// Returns the square of the absolute value, by which pivots are selected.
fn square<T: Scalar>(element: T) -> T::Real {
    element.re() * element.re() + element.im() * element.im()
}

/// An LU factorization on the host: both factors in one matrix in column-major order.
struct Factorization<T> {
    order: usize,
    elements: Vec<T>,
    /// The row that each row was exchanged with, from 0.
    pivots: Vec<usize>,
    /// The first pivot that is zero, from 1; 0 if there is none.
    singular: c_int,
}

impl<T: Scalar> Factorization<T> {
    /// Factorizes a matrix, with row exchanges if `pivoting` is true.
    fn new(mut elements: Vec<T>, order: usize, pivoting: bool) -> Self {
        let mut singular = 0;
        let mut pivots = Vec::with_capacity(order);
        for step in 0..order {
            let mut pivot = step;
            if pivoting {
                for row in step + 1..order {
                    let [candidate, best] =
                        [row, pivot].map(|row| square(elements[row + step * order]));
                    if candidate > best {
                        pivot = row;
                    }
                }
            }
            pivots.push(pivot);
            if pivot != step {
                for column in 0..order {
                    elements.swap(step + column * order, pivot + column * order);
                }
            }
            let diagonal = elements[step + step * order];
            if diagonal.is_zero() {
                if singular == 0 {
                    singular = step as c_int + 1;
                }
                continue;
            }
            for row in step + 1..order {
                elements[row + step * order] /= diagonal;
            }
            for column in step + 1..order {
                let factor = elements[step + column * order];
                for row in step + 1..order {
                    let product = elements[row + step * order] * factor;
                    elements[row + column * order] -= product;
                }
            }
        }
        Self {
            order,
            elements,
            pivots,
            singular,
        }
    }

    /// Solves the system, or that of the transpose, for one right-hand side in place.
    fn solve(&self, op: Op, right: &mut [T]) {
        let order = self.order;
        let at = |row: usize, column: usize| {
            self.elements[row + column * order].conj_if(op.is_conjugated())
        };
        if op.is_transposed() {
            for row in 0..order {
                for column in 0..row {
                    let known = right[column];
                    right[row] -= at(column, row) * known;
                }
                right[row] /= at(row, row);
            }
            for row in (0..order).rev() {
                for column in row + 1..order {
                    let known = right[column];
                    right[row] -= at(column, row) * known;
                }
            }
            for (row, &pivot) in self.pivots.iter().enumerate().rev() {
                right.swap(row, pivot);
            }
            return;
        }
        for (row, &pivot) in self.pivots.iter().enumerate() {
            right.swap(row, pivot);
        }
        for row in 0..order {
            for column in 0..row {
                let known = right[column];
                right[row] -= at(row, column) * known;
            }
        }
        for row in (0..order).rev() {
            for column in row + 1..order {
                let known = right[column];
                right[row] -= at(row, column) * known;
            }
            right[row] /= at(row, row);
        }
    }

    /// Returns the inverse in column-major order.
    fn inverse(&self) -> Vec<T> {
        let order = self.order;
        let mut inverse = vec![T::zero(); order * order];
        for (column, elements) in inverse.chunks_mut(order.max(1)).enumerate() {
            elements[column] = T::one();
            self.solve(Op::None, elements);
        }
        inverse
    }
}

/// The operations of factorizations of a batch.
fn factorizations<T: Scalar>(order: usize, count: usize) -> Operations {
    let each = 2.0 / 3.0 * (order as f64).powi(3) * if T::IS_COMPLEX { 4.0 } else { 1.0 };
    operations(T::ARITHMETIC, each * count as f64)
}

/// The inverses that a call writes: the matrices, their leading dimension, and the address of a status per matrix.
#[derive(Clone, Copy)]
struct Inverses {
    matrices: Batch,
    leading: usize,
    info: u64,
}

impl Inverses {
    /// Writes the inverse of one matrix unless it is singular, and its status.
    fn write<T: Scalar>(
        self,
        memory: &mut CallMemory<'_>,
        index: usize,
        factors: &Factorization<T>,
    ) -> Result<(), IllegalOperand> {
        if factors.singular == 0 {
            let address = self.matrices.get(memory, index)?;
            let matrix = Matrix::general(address, [factors.order; 2], self.leading);
            matrix.write_dense(memory, &factors.inverse())?;
        }
        write_element(memory, self.info + 4 * index as u64, factors.singular)
    }
}

/// The pivots of a matrix of a batch: positions from 1.
fn pivots(address: u64, order: usize, index: usize) -> Columns {
    Columns::contiguous(address + (4 * order * index) as u64, order)
}

/// `cublas?getrfBatched`: factorizes matrices, with row exchanges unless `pivot` is null.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn getrf<T: Scalar>(
    handle: Handle,
    n: c_int,
    a: *const *mut T,
    lda: c_int,
    pivot: *mut c_int,
    info: *mut c_int,
    count: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let (order, count) = (size(n)?, size(count)?);
    let leading = leading(lda, order)?;
    let (batch, pivot, info) = (Batch::Array(a as u64), pivot as u64, info as u64);
    if order == 0 || count == 0 {
        return Ok(());
    }
    let operands = vec![a as u64, pivot, info];
    settings
        .stream
        .submit(operands, factorizations::<T>(order, count), move |memory| {
            for index in 0..count {
                let matrix = Matrix::general(batch.get(memory, index)?, [order; 2], leading);
                let elements = matrix.read_dense::<T>(memory)?;
                let factors = Factorization::new(elements, order, pivot != 0);
                matrix.write_dense(memory, &factors.elements)?;
                if pivot != 0 {
                    let start: *mut c_int = pivots(pivot, order, index).write(memory)?;
                    for (step, &exchanged) in factors.pivots.iter().enumerate() {
                        // SAFETY: there is one pivot per row.
                        unsafe { start.add(step).write(exchanged as c_int + 1) };
                    }
                }
                write_element(memory, info + 4 * index as u64, factors.singular)?;
            }
            Ok(())
        })
}

/// Reads a factorization of `cublas?getrfBatched`.
fn read_factors<T: Scalar>(
    memory: &mut CallMemory<'_>,
    batch: Batch,
    [order, leading]: [usize; 2],
    (pivot, index): (u64, usize),
) -> Result<Factorization<T>, IllegalOperand> {
    let matrix = Matrix::general(batch.get(memory, index)?, [order; 2], leading);
    let elements = matrix.read_dense::<T>(memory)?;
    let rows = match pivot {
        0 => (0..order).collect(),
        _ => {
            let start: *const c_int = pivots(pivot, order, index).read(memory)?;
            // SAFETY: there is one pivot per row.
            let pivots = (0..order).map(|step| unsafe { start.add(step).read() });
            // A pivot that no factorization has written must not lead out of the matrix.
            pivots
                .map(|pivot| (pivot as usize).wrapping_sub(1).min(order - 1))
                .collect()
        }
    };
    let singular = (0..order).find(|&step| elements[step + step * order].is_zero());
    Ok(Factorization {
        order,
        elements,
        pivots: rows,
        singular: singular.map_or(0, |step| step as c_int + 1),
    })
}

/// `cublas?getriBatched`: inverts matrices from their factorizations.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn getri<T: Scalar>(
    handle: Handle,
    n: c_int,
    a: *const *const T,
    lda: c_int,
    pivot: *const c_int,
    c: *const *mut T,
    ldc: c_int,
    info: *mut c_int,
    count: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let (order, count) = (size(n)?, size(count)?);
    let (from, from_leading) = (Batch::Array(a as u64), leading(lda, order)?);
    let inverses = Inverses {
        matrices: Batch::Array(c as u64),
        leading: leading(ldc, order)?,
        info: info as u64,
    };
    let pivot = pivot as u64;
    if order == 0 || count == 0 {
        return Ok(());
    }
    let operands = vec![a as u64, pivot, c as u64, info as u64];
    let operations = factorizations::<T>(order, 2 * count);
    settings.stream.submit(operands, operations, move |memory| {
        for index in 0..count {
            let (sizes, pivot) = ([order, from_leading], (pivot, index));
            let factors = read_factors::<T>(memory, from, sizes, pivot)?;
            inverses.write(memory, index, &factors)?;
        }
        Ok(())
    })
}

/// `cublas?matinvBatched`: inverts matrices of order 32 at most.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn matinv<T: Scalar>(
    handle: Handle,
    n: c_int,
    a: *const *const T,
    lda: c_int,
    inverse: *const *mut T,
    ldinv: c_int,
    info: *mut c_int,
    count: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let (order, count) = (size(n)?, size(count)?);
    let (from, from_leading) = (Batch::Array(a as u64), leading(lda, order)?);
    let inverses = Inverses {
        matrices: Batch::Array(inverse as u64),
        leading: leading(ldinv, order)?,
        info: info as u64,
    };
    if order > 32 {
        return Err(INVALID_VALUE);
    }
    if order == 0 || count == 0 {
        return Ok(());
    }
    let operands = vec![a as u64, inverse as u64, info as u64];
    let operations = factorizations::<T>(order, 3 * count);
    settings.stream.submit(operands, operations, move |memory| {
        for index in 0..count {
            let matrix = Matrix::general(from.get(memory, index)?, [order; 2], from_leading);
            let factors = Factorization::new(matrix.read_dense::<T>(memory)?, order, true);
            inverses.write(memory, index, &factors)?;
        }
        Ok(())
    })
}

/// `cublas?getrsBatched`: solves systems with factorizations. `info` is on the host.
///
/// # Safety
/// `info` must be writable.
pub unsafe fn getrs<T: Scalar>(
    handle: Handle,
    trans: c_int,
    n: c_int,
    nrhs: c_int,
    a: *const *const T,
    lda: c_int,
    pivot: *const c_int,
    b: *const *mut T,
    ldb: c_int,
    info: *mut c_int,
    count: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let op = Op::new(trans)?;
    let (order, columns, count) = (size(n)?, size(nrhs)?, size(count)?);
    let [a_leading, b_leading] = [leading(lda, order)?, leading(ldb, order)?];
    if info.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the pointer is writable, by this function's contract.
    unsafe { info.write(0) };
    if order == 0 || columns == 0 || count == 0 {
        return Ok(());
    }
    let (factors, right, pivot) = (Batch::Array(a as u64), Batch::Array(b as u64), pivot as u64);
    let operands = vec![a as u64, b as u64, pivot];
    let each = 2.0 * (order * order * columns) as f64;
    let operations = operations(T::ARITHMETIC, each * count as f64);
    settings.stream.submit(operands, operations, move |memory| {
        for index in 0..count {
            let lu = read_factors::<T>(memory, factors, [order, a_leading], (pivot, index))?;
            let matrix = Matrix::general(right.get(memory, index)?, [order, columns], b_leading);
            let mut solution = matrix.read_dense(memory)?;
            solution
                .chunks_mut(order)
                .for_each(|column| lu.solve(op, column));
            matrix.write_dense(memory, &solution)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorizations_solve_and_invert() {
        // Column-major: the first pivot must be exchanged.
        let matrix = [0.0, 2.0, 1.0, 3.0, 1.0, -1.0, 1.0, 4.0, 5.0];
        let factors = Factorization::new(matrix.to_vec(), 3, true);
        assert_eq!((factors.singular, factors.pivots[0]), (0, 1));
        for op in [Op::None, Op::Transpose] {
            let mut solution = vec![1.0, 2.0, 3.0];
            factors.solve(op, &mut solution);
            for (row, expected) in [1.0, 2.0, 3.0].into_iter().enumerate() {
                let element = |column: usize| match op {
                    Op::None => matrix[row + 3 * column],
                    _ => matrix[column + 3 * row],
                };
                let actual: f64 = (0..3)
                    .map(|column| element(column) * solution[column])
                    .sum();
                assert!((actual - expected).abs() < 1e-12, "{op:?}: {solution:?}");
            }
        }
        let inverse = factors.inverse();
        let first: f64 = (0..3).map(|i| matrix[3 * i] * inverse[i]).sum();
        assert!((first - 1.0).abs() < 1e-12);
        let singular = Factorization::new(vec![1.0, 2.0, 2.0, 4.0], 2, true);
        assert_eq!(singular.singular, 2);
    }
}
