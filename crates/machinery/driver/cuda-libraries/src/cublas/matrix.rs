//! Matrices in device memory in the storage formats of BLAS: full, banded and packed; general, triangular, symmetric and
//! Hermitian.

use std::ops::Range;

use cuda_driver::{CallMemory, IllegalOperand};
use rayon::prelude::*;

use super::arguments::{Diagonal, Fill, Op};
use super::scalar::Scalar;
use crate::call::Columns;

/// The positions of elements in memory.
#[derive(Clone, Copy, Debug)]
pub enum Storage {
    Full {
        leading: usize,
    },
    /// Diagonals as rows, `upper` of which are above the main diagonal.
    Band {
        lower: usize,
        upper: usize,
        leading: usize,
    },
    /// The columns of a triangle one after another.
    Packed,
}

/// The elements that are stored, and what they imply for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    General,
    Triangular(Fill, Diagonal),
    Symmetric(Fill),
    Hermitian(Fill),
}

/// A matrix in device memory.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    pub address: u64,
    pub rows: usize,
    pub columns: usize,
    pub storage: Storage,
    pub kind: Kind,
}

impl Matrix {
    /// Creates a general matrix in full storage.
    pub fn general(address: u64, [rows, columns]: [usize; 2], leading: usize) -> Self {
        Self {
            address,
            rows,
            columns,
            storage: Storage::Full { leading },
            kind: Kind::General,
        }
    }

    /// Creates a square matrix of another kind in any storage.
    pub fn square(address: u64, order: usize, storage: Storage, kind: Kind) -> Self {
        Self {
            address,
            rows: order,
            columns: order,
            storage,
            kind,
        }
    }

    /// Creates a square matrix of another kind in full storage.
    pub fn full_square(address: u64, order: usize, leading: usize, kind: Kind) -> Self {
        Self::square(address, order, Storage::Full { leading }, kind)
    }

    /// Returns the rows of a column that are stored.
    fn stored(&self, column: usize) -> Range<usize> {
        let rows = self.rows;
        let triangle = match self.kind {
            Kind::General => 0..rows,
            Kind::Triangular(Fill::Upper, Diagonal::Unit) => 0..column,
            Kind::Triangular(Fill::Lower, Diagonal::Unit) => column + 1..rows,
            Kind::Triangular(Fill::Upper, _)
            | Kind::Symmetric(Fill::Upper)
            | Kind::Hermitian(Fill::Upper) => 0..column + 1,
            Kind::Triangular(Fill::Lower, _)
            | Kind::Symmetric(Fill::Lower)
            | Kind::Hermitian(Fill::Lower) => column..rows,
        };
        match self.storage {
            Storage::Band { lower, upper, .. } => {
                let start = triangle.start.max(column.saturating_sub(upper));
                let end = triangle.end.min(column.saturating_add(lower + 1));
                start.min(end)..end
            }
            _ => triangle,
        }
    }

    /// Returns the position in memory of a stored element.
    fn position(&self, row: usize, column: usize) -> usize {
        match self.storage {
            Storage::Full { leading } => row + column * leading,
            Storage::Band { upper, leading, .. } => upper + row - column + column * leading,
            Storage::Packed => match self.kind {
                Kind::Triangular(Fill::Lower, _)
                | Kind::Symmetric(Fill::Lower)
                | Kind::Hermitian(Fill::Lower) => row + (2 * self.rows - column - 1) * column / 2,
                _ => row + column * (column + 1) / 2,
            },
        }
    }

    /// Returns the memory of the stored elements of a column.
    fn column<T>(&self, column: usize) -> Columns {
        let stored = self.stored(column);
        let offset = match stored.is_empty() {
            true => 0,
            false => self.position(stored.start, column),
        };
        Columns::contiguous(
            self.address + (offset * size_of::<T>()) as u64,
            stored.len(),
        )
    }

    /// Returns the memory of all columns of a general matrix in full storage; `None` for others.
    fn all_columns(&self) -> Option<Columns> {
        match (self.kind, self.storage) {
            (Kind::General, Storage::Full { leading }) => Some(Columns {
                address: self.address,
                rows: self.rows,
                columns: self.columns,
                leading,
            }),
            _ => None,
        }
    }

    /// Reads the stored elements.
    pub fn read<T: Scalar>(
        &self,
        memory: &mut CallMemory<'_>,
    ) -> Result<HostMatrix<T>, IllegalOperand> {
        let mut matrix = HostMatrix {
            rows: self.rows,
            kind: self.kind,
            columns: Vec::with_capacity(self.columns),
            elements: Vec::new(),
        };
        let all = match self.all_columns() {
            Some(columns) => Some((columns.read::<T>(memory)?, columns.leading)),
            None => None,
        };
        for column in 0..self.columns {
            let stored = self.stored(column);
            let start: *const T = match all {
                Some((start, leading)) => start.wrapping_add(column * leading),
                None => self.column::<T>(column).read(memory)?,
            };
            matrix.columns.push((stored.start, matrix.elements.len()));
            // SAFETY: these are the elements of the column.
            matrix
                .elements
                .extend((0..stored.len()).map(|row| unsafe { start.add(row).read_unaligned() }));
        }
        Ok(matrix)
    }

    /// Reads all elements in column-major order without gaps, including those that are implied.
    pub fn read_dense<T: Scalar>(
        &self,
        memory: &mut CallMemory<'_>,
    ) -> Result<Vec<T>, IllegalOperand> {
        Ok(self.read::<T>(memory)?.dense())
    }

    /// Writes the stored elements. `elements` are all elements in column-major order without gaps.
    pub fn write_dense<T: Scalar>(
        &self,
        memory: &mut CallMemory<'_>,
        elements: &[T],
    ) -> Result<(), IllegalOperand> {
        let rows = self.rows;
        self.update(memory, false, |row, column, _| {
            elements[row + column * rows]
        })
    }

    /// Changes the stored elements: `change` gets the row, the column and the element, which is zero unless `reads` is true.
    pub fn update<T: Scalar>(
        &self,
        memory: &mut CallMemory<'_>,
        reads: bool,
        change: impl Fn(usize, usize, T) -> T,
    ) -> Result<(), IllegalOperand> {
        let mut access = |columns: Columns| match reads {
            true => columns.update::<T>(memory),
            false => columns.write(memory),
        };
        let all = match self.all_columns() {
            Some(columns) => Some((access(columns)?, columns.leading)),
            None => None,
        };
        for column in 0..self.columns {
            let stored = self.stored(column);
            let start: *mut T = match all {
                Some((start, leading)) => start.wrapping_add(column * leading),
                None => access(self.column::<T>(column))?,
            };
            for (index, row) in stored.enumerate() {
                let element = start.wrapping_add(index);
                let old = match reads {
                    // SAFETY: the element is in the column.
                    true => unsafe { element.read_unaligned() },
                    false => T::zero(),
                };
                // SAFETY: the element is in the column.
                unsafe { element.write_unaligned(change(row, column, old)) };
            }
        }
        Ok(())
    }
}

/// The stored elements of a matrix on the host.
pub struct HostMatrix<T> {
    rows: usize,
    kind: Kind,
    /// The first stored row of each column, and the index of its element.
    columns: Vec<(usize, usize)>,
    elements: Vec<T>,
}

impl<T: Scalar> HostMatrix<T> {
    /// Returns the first stored row of a column and its elements.
    fn column(&self, column: usize) -> (usize, &[T]) {
        let (first, start) = self.columns[column];
        let end = self.columns.get(column + 1);
        let end = end.map_or(self.elements.len(), |(_, end)| *end);
        (first, &self.elements[start..end])
    }

    /// Multiplies the matrix, or its transpose, with a vector.
    pub fn multiply(&self, op: Op, vector: &[T]) -> Vec<T> {
        let columns = self.columns.len();
        let length = op.stored([self.rows, columns])[0];
        let mut result = vec![T::zero(); length];
        let conjugated = op.is_conjugated();
        for column in 0..columns {
            let (first, elements) = self.column(column);
            let rows = first..first + elements.len();
            let dot = |result: &mut [T]| {
                let products = elements.iter().zip(&vector[rows.clone()]);
                let sum: T = products
                    .map(|(&element, &factor)| element.conj_if(conjugated) * factor)
                    .sum();
                result[column] += sum;
            };
            match self.kind {
                Kind::General | Kind::Triangular(..) => {
                    if op.is_transposed() {
                        dot(&mut result);
                    } else {
                        let factor = vector[column];
                        for (sum, &element) in result[rows].iter_mut().zip(elements) {
                            *sum += element * factor;
                        }
                    }
                    if let Kind::Triangular(_, Diagonal::Unit) = self.kind {
                        result[column] += vector[column];
                    }
                }
                Kind::Symmetric(_) | Kind::Hermitian(_) => {
                    let is_hermitian = matches!(self.kind, Kind::Hermitian(_));
                    let factor = vector[column];
                    let mut sum = T::zero();
                    for (row, &element) in rows.zip(elements) {
                        if row == column {
                            sum += self.diagonal(element) * factor;
                        } else {
                            result[row] += element * factor;
                            sum += element.conj_if(is_hermitian) * vector[row];
                        }
                    }
                    result[column] += sum;
                }
            }
        }
        result
    }

    /// Returns an element of the diagonal, whose imaginary part is zero in a Hermitian matrix whatever is stored.
    fn diagonal(&self, element: T) -> T {
        match self.kind {
            Kind::Hermitian(_) => T::from_real(element.re()),
            _ => element,
        }
    }

    /// Solves a triangular system, in the vector of the right-hand side.
    pub fn solve(&self, op: Op, vector: &mut [T]) {
        let Kind::Triangular(fill, diagonal) = self.kind else {
            unreachable!("only triangular matrices are solved");
        };
        let order = self.columns.len();
        let is_backward = (fill == Fill::Upper) != op.is_transposed();
        let conjugated = op.is_conjugated();
        for step in 0..order {
            let column = if is_backward { order - 1 - step } else { step };
            let (first, elements) = self.column(column);
            // The diagonal is the last element of an upper triangle's column and the first of a lower one's.
            let (pivot, first, others) = match (diagonal, fill) {
                (Diagonal::Unit, _) => (None, first, elements),
                (_, Fill::Upper) => {
                    let (pivot, others) = elements.split_last().expect("a diagonal is stored");
                    (Some(*pivot), first, others)
                }
                (_, Fill::Lower) => {
                    let (pivot, others) = elements.split_first().expect("a diagonal is stored");
                    (Some(*pivot), first + 1, others)
                }
            };
            let rows = first..first + others.len();
            if op.is_transposed() {
                let products = others.iter().zip(&vector[rows]);
                let sum: T = products
                    .map(|(&element, &known)| element.conj_if(conjugated) * known)
                    .sum();
                vector[column] -= sum;
            }
            if let Some(pivot) = pivot {
                vector[column] /= pivot.conj_if(conjugated);
            }
            if !op.is_transposed() {
                let known = vector[column];
                let first = if fill == Fill::Upper {
                    first
                } else {
                    column + 1
                };
                for (row, &element) in (first..).zip(others) {
                    vector[row] -= element * known;
                }
            }
        }
    }

    /// Solves a triangular system for each column of `length` elements.
    pub fn solve_all(&self, op: Op, columns: &mut [T], length: usize) {
        columns
            .par_chunks_mut(length.max(1))
            .for_each(|column| self.solve(op, column));
    }

    /// Returns all elements in column-major order, including those that are implied.
    pub fn dense(&self) -> Vec<T> {
        let rows = self.rows;
        let mut dense = vec![T::zero(); rows * self.columns.len()];
        for column in 0..self.columns.len() {
            let (first, elements) = self.column(column);
            for (row, &element) in (first..).zip(elements) {
                let mirrored = column + row * rows;
                match self.kind {
                    Kind::General | Kind::Triangular(..) => {}
                    Kind::Symmetric(_) => dense[mirrored] = element,
                    Kind::Hermitian(_) => dense[mirrored] = element.conj(),
                }
                dense[row + column * rows] = match row == column {
                    true => self.diagonal(element),
                    false => element,
                };
            }
            if let Kind::Triangular(_, Diagonal::Unit) = self.kind {
                dense[column + column * rows] = T::one();
            }
        }
        dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(kind: Kind) -> HostMatrix<f64> {
        HostMatrix {
            rows: 3,
            kind,
            columns: vec![(0, 0), (1, 3), (2, 5)],
            elements: vec![2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        }
    }

    #[test]
    fn solutions_multiply_to_the_right_hand_side() {
        let matrix = lower(Kind::Triangular(Fill::Lower, Diagonal::Stored));
        for op in [Op::None, Op::Transpose, Op::Conjugate] {
            let right = vec![1.0, -2.0, 5.0];
            let mut solution = right.clone();
            matrix.solve(op, &mut solution);
            let product = matrix.multiply(op, &solution);
            for (actual, expected) in product.iter().zip(&right) {
                assert!((actual - expected).abs() < 1e-12, "{product:?}");
            }
        }
    }

    #[test]
    fn implied_elements_are_in_the_dense_matrix() {
        let symmetric = lower(Kind::Symmetric(Fill::Lower));
        let expected = [2.0, 3.0, 4.0, 3.0, 5.0, 6.0, 4.0, 6.0, 7.0];
        assert_eq!(symmetric.dense(), expected);
        assert_eq!(
            symmetric.multiply(Op::None, &[1.0, 0.0, 2.0]),
            [10.0, 15.0, 18.0]
        );
    }

    #[test]
    fn positions_follow_the_storage() {
        let packed = |fill| {
            let kind = Kind::Symmetric(fill);
            Matrix::square(0, 4, Storage::Packed, kind)
        };
        assert_eq!(packed(Fill::Upper).position(1, 3), 7);
        assert_eq!(packed(Fill::Lower).position(3, 1), 6);
        assert_eq!(packed(Fill::Lower).position(3, 3), 9);
        let band = Matrix {
            rows: 5,
            columns: 4,
            storage: Storage::Band {
                lower: 1,
                upper: 2,
                leading: 7,
            },
            ..Matrix::general(0, [5, 4], 7)
        };
        assert_eq!(band.stored(0), 0..2);
        assert_eq!(band.stored(3), 1..5);
        assert_eq!(band.position(1, 3), 21);
        assert_eq!(band.position(3, 3), 23);
    }
}
