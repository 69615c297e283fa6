//! Level 3: products of matrices, and systems with many right-hand sides.

use cuda_driver::{CallMemory, IllegalOperand, Operations};

use super::arguments::{Diagonal, Fill, Op, Scale, Side, Vector, leading, size};
use super::handle::{Handle, PointerMode, settings};
use super::level1::FactorOf;
use super::level2::selfadjoint_element;
use super::matrix::{Kind, Matrix};
use super::scalar::{Factor, Scalar, Sizes, StridedMut, multiply};
use super::*;
use crate::call::operations;
use crate::functions::CallResult;

/// Multiplies two matrices on the host: `a` has `sizes.m` rows and `b` has `sizes.k`.
fn product<T: Scalar>(sizes: Sizes, alpha: T, a: &[T], b: &[T]) -> Vec<T> {
    let Sizes { m, n, k } = sizes;
    let mut c = vec![T::zero(); m * n];
    let factor = |elements: &[T], rows: usize| Factor::new(elements.as_ptr(), rows, false, false);
    let target = StridedMut {
        start: c.as_mut_ptr(),
        column: m,
    };
    // SAFETY: the vectors have these sizes.
    unsafe { multiply(sizes, alpha, factor(a, m), factor(b, k), T::zero(), target) };
    c
}

/// Writes `alpha`'s product plus `beta` times the old elements to the stored elements of `c`.
fn accumulate<T: Scalar>(
    memory: &mut CallMemory<'_>,
    c: &Matrix,
    product: &[T],
    beta: T,
) -> Result<(), IllegalOperand> {
    let rows = c.rows;
    c.update(memory, !beta.is_zero(), |row, column, old| {
        let product = product[row + column * rows];
        let value = match beta.is_zero() {
            true => product,
            false => product + beta * old,
        };
        selfadjoint_element(c.kind, row, column, value)
    })
}

/// The product of a square matrix, on the left or the right, with a general one.
#[derive(Clone, Copy)]
struct SquareProduct {
    side: Side,
    /// The rows and columns of the general matrix and of the result.
    shape: [usize; 2],
}

impl SquareProduct {
    fn new(side: c_int, [m, n]: [c_int; 2]) -> Result<Self, Status> {
        Ok(Self {
            shape: [size(m)?, size(n)?],
            side: Side::new(side)?,
        })
    }

    fn order(self) -> usize {
        match self.side {
            Side::Left => self.shape[0],
            Side::Right => self.shape[1],
        }
    }

    fn sizes(self) -> Sizes {
        let [m, n] = self.shape;
        Sizes {
            m,
            n,
            k: self.order(),
        }
    }

    fn operations<T: Scalar>(self) -> Operations {
        operations(T::ARITHMETIC, self.sizes().operations::<T>())
    }

    fn compute<T: Scalar>(self, alpha: T, square: &[T], general: &[T]) -> Vec<T> {
        match self.side {
            Side::Left => product(self.sizes(), alpha, square, general),
            Side::Right => product(self.sizes(), alpha, general, square),
        }
    }
}

/// Submits `C = alpha * A * B + beta * C`, or `B * A`, with a symmetric or Hermitian matrix A.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
unsafe fn selfadjoint_product<T: Scalar>(
    handle: Handle,
    [side, uplo, m, n]: [c_int; 4],
    scales: [*const T; 2],
    [(a, lda), (b, ldb), (c, ldc)]: [(u64, c_int); 3],
    kind: fn(Fill) -> Kind,
) -> CallResult {
    let settings = settings(handle)?;
    let product = SquareProduct::new(side, [m, n])?;
    let (shape, order) = (product.shape, product.order());
    let kind = kind(Fill::new(uplo)?);
    let square = Matrix::full_square(a, order, leading(lda, order)?, kind);
    let general = Matrix::general(b, shape, leading(ldb, shape[0])?);
    let target = Matrix::general(c, shape, leading(ldc, shape[0])?);
    // SAFETY: the requirements are those of this function.
    let [alpha, beta] = unsafe { Scale::pair(&settings, scales) }?;
    if shape.contains(&0) {
        return Ok(());
    }
    let operations = product.operations::<T>();
    settings
        .stream
        .submit(vec![a, b, c], operations, move |memory| {
            let (alpha, beta) = (alpha.get(memory)?, beta.get(memory)?);
            let result = match alpha.is_zero() {
                true => vec![T::zero(); shape[0] * shape[1]],
                false => {
                    let square = square.read_dense::<T>(memory)?;
                    product.compute(alpha, &square, &general.read_dense(memory)?)
                }
            };
            accumulate(memory, &target, &result, beta)
        })
}

/// Generates the products with a symmetric or Hermitian matrix: name and kind.
macro_rules! selfadjoint_products {
    ($($(#[$doc:meta])* $name:ident, $kind:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The scalars must be readable in the pointer mode of the host.
        pub unsafe fn $name<T: Scalar>(
            handle: Handle, side: c_int, uplo: c_int, m: c_int, n: c_int, alpha: *const T, a: *const T, lda: c_int,
            b: *const T, ldb: c_int, beta: *const T, c: *mut T, ldc: c_int,
        ) -> CallResult {
            let matrices = [(a as u64, lda), (b as u64, ldb), (c as u64, ldc)];
            // SAFETY: the requirements are those of this function.
            unsafe { selfadjoint_product(handle, [side, uplo, m, n], [alpha, beta], matrices, Kind::$kind) }
        }
    )*};
}

selfadjoint_products! {
    /// `cublas?symm`.
    symm, Symmetric;
    /// `cublas?hemm`.
    hemm, Hermitian;
}

/// The terms of an update of rank k.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Terms {
    /// `A * B^T` alone: B is A in `syrk`.
    One,
    /// `A * B^T` and its transpose.
    Two,
}

/// Submits `C = alpha * A * B^T + beta * C`, or with the conjugate or with both orders, to the stored triangle of C.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
unsafe fn rank_k<T: Scalar, A: FactorOf<T>, B: FactorOf<T>>(
    handle: Handle,
    [uplo, trans, n, k]: [c_int; 4],
    (alpha, beta): (*const A, *const B),
    [a, b, c]: [(u64, c_int); 3],
    (kind, terms): (fn(Fill) -> Kind, Terms),
) -> CallResult {
    let settings = settings(handle)?;
    let (op, kind) = (Op::new(trans)?, kind(Fill::new(uplo)?));
    let (n, k) = (size(n)?, size(k)?);
    let [rows, columns] = op.stored([n, k]);
    let factor =
        |(start, ld)| Ok::<_, Status>(Matrix::general(start, [rows, columns], leading(ld, rows)?));
    let (first, second) = (factor(a)?, factor(b)?);
    let target = Matrix::full_square(c.0, n, leading(c.1, n)?, kind);
    // SAFETY: the requirements are those of this function.
    let (alpha, beta) = unsafe { (Scale::new(&settings, alpha)?, Scale::new(&settings, beta)?) };
    if n == 0 {
        return Ok(());
    }
    let is_hermitian = matches!(kind, Kind::Hermitian(_));
    let sizes = Sizes { m: n, n, k };
    let operands = vec![first.address, second.address, target.address];
    let operations = operations(T::ARITHMETIC, sizes.operations::<T>());
    settings.stream.submit(operands, operations, move |memory| {
        let (alpha, beta) = (alpha.get(memory)?.of(), beta.get(memory)?.of());
        let mut sum = vec![T::zero(); n * n];
        if !alpha.is_zero() && k > 0 {
            let a = first.read_dense::<T>(memory)?;
            let b = second.read_dense::<T>(memory)?;
            let is_transposed = op.is_transposed();
            let mut add = |alpha: T, left: &[T], right: &[T]| {
                let left = Factor::new(
                    left.as_ptr(),
                    rows,
                    is_transposed,
                    is_transposed && is_hermitian,
                );
                let right = Factor::new(
                    right.as_ptr(),
                    rows,
                    !is_transposed,
                    !is_transposed && is_hermitian,
                );
                let target = StridedMut {
                    start: sum.as_mut_ptr(),
                    column: n,
                };
                // SAFETY: the vectors have these sizes.
                unsafe { multiply(sizes, alpha, left, right, T::one(), target) };
            };
            add(alpha, &a, &b);
            if terms == Terms::Two {
                add(alpha.conj_if(is_hermitian), &b, &a);
            }
        }
        accumulate(memory, &target, &sum, beta)
    })
}

/// Generates the functions of rank k with one matrix: name, kind, and the types of the scalars.
macro_rules! rank_k_of_one {
    ($($(#[$doc:meta])* $name:ident, $kind:ident, $scale:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The scalars must be readable in the pointer mode of the host.
        pub unsafe fn $name<T>(
            handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const $scale, a: *const T, lda: c_int,
            beta: *const $scale, c: *mut T, ldc: c_int,
        ) -> CallResult
        where
            T: Scalar,
            $scale: FactorOf<T>,
        {
            let matrices = [(a as u64, lda), (a as u64, lda), (c as u64, ldc)];
            // SAFETY: the requirements are those of this function.
            unsafe { rank_k(handle, [uplo, trans, n, k], (alpha, beta), matrices, (Kind::$kind, Terms::One)) }
        }
    )*};
}

rank_k_of_one! {
    /// `cublas?syrk`.
    syrk, Symmetric, T;
    /// `cublas?herk`.
    herk, Hermitian, T::Real;
}

/// Generates the functions of rank k with two matrices: name, kind, terms, and the type of `beta`.
macro_rules! rank_k_of_two {
    ($($(#[$doc:meta])* $name:ident, $kind:ident, $terms:ident, $beta:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The scalars must be readable in the pointer mode of the host.
        pub unsafe fn $name<T>(
            handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int,
            b: *const T, ldb: c_int, beta: *const $beta, c: *mut T, ldc: c_int,
        ) -> CallResult
        where
            T: Scalar,
            $beta: FactorOf<T>,
        {
            let matrices = [(a as u64, lda), (b as u64, ldb), (c as u64, ldc)];
            // SAFETY: the requirements are those of this function.
            unsafe { rank_k(handle, [uplo, trans, n, k], (alpha, beta), matrices, (Kind::$kind, Terms::$terms)) }
        }
    )*};
}

rank_k_of_two! {
    /// `cublas?syr2k`.
    syr2k, Symmetric, Two, T;
    /// `cublas?her2k`.
    her2k, Hermitian, Two, T::Real;
    /// `cublas?syrkx`.
    syrkx, Symmetric, One, T;
    /// `cublas?herkx`.
    herkx, Hermitian, One, T::Real;
}

/// A triangular matrix with its operation, and the general matrix of a call.
#[derive(Clone, Copy)]
pub struct Triangular {
    product: SquareProduct,
    op: Op,
    kind: Kind,
    leading: [usize; 2],
}

impl Triangular {
    /// Checks the arguments of C.
    pub fn new(
        [side, uplo, trans, diag, m, n]: [c_int; 6],
        [lda, ldb]: [c_int; 2],
    ) -> Result<Self, Status> {
        let product = SquareProduct::new(side, [m, n])?;
        Ok(Self {
            product,
            op: Op::new(trans)?,
            kind: Kind::Triangular(Fill::new(uplo)?, Diagonal::new(diag)?),
            leading: [
                leading(lda, product.order())?,
                leading(ldb, product.shape[0])?,
            ],
        })
    }

    pub fn is_empty(&self) -> bool {
        self.product.shape.contains(&0)
    }

    pub fn operations<T: Scalar>(&self) -> Operations {
        self.product.operations::<T>()
    }

    fn square(&self, address: u64) -> Matrix {
        Matrix::full_square(address, self.product.order(), self.leading[0], self.kind)
    }

    fn general(&self, address: u64) -> Matrix {
        Matrix::general(address, self.product.shape, self.leading[1])
    }

    /// Solves `op(A) * X = alpha * B`, or `X * op(A)`, in the place of B.
    pub fn solve<T: Scalar>(
        &self,
        memory: &mut CallMemory<'_>,
        [a, b]: [u64; 2],
        alpha: T,
    ) -> Result<(), IllegalOperand> {
        let general = self.general(b);
        if alpha.is_zero() {
            return general.update(memory, false, |_, _, old: T| old);
        }
        let [m, n] = self.product.shape;
        let triangle = self.square(a).read::<T>(memory)?;
        let mut right = general.read_dense::<T>(memory)?;
        right.iter_mut().for_each(|element| *element *= alpha);
        match self.product.side {
            Side::Left => {
                triangle.solve_all(self.op, &mut right, m);
                general.write_dense(memory, &right)
            }
            Side::Right => {
                // The transpose: op(A)^T * X^T = alpha * B^T. With conjugates, A^H's transpose is the conjugate of A.
                let conj = |value: T| value.conj_if(self.op.is_conjugated());
                let mut rows: Vec<T> = (0..m * n).map(|i| conj(right[i / n + i % n * m])).collect();
                let op = match self.op {
                    Op::None => Op::Transpose,
                    Op::Transpose | Op::Conjugate => Op::None,
                };
                triangle.solve_all(op, &mut rows, n);
                general.update(memory, false, |row, column, _| conj(rows[column + row * n]))
            }
        }
    }
}

/// `cublas?trmm`.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
pub unsafe fn trmm<T: Scalar>(
    handle: Handle,
    side: c_int,
    uplo: c_int,
    trans: c_int,
    diag: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    c: *mut T,
    ldc: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let call = Triangular::new([side, uplo, trans, diag, m, n], [lda, ldb])?;
    let Triangular { product, op, .. } = call;
    let [rows, _] = product.shape;
    let target = Matrix::general(c as u64, product.shape, leading(ldc, rows)?);
    let (square, general) = (call.square(a as u64), call.general(b as u64));
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { Scale::new(&settings, alpha) }?;
    if call.is_empty() {
        return Ok(());
    }
    let operands = vec![a as u64, b as u64, c as u64];
    settings
        .stream
        .submit(operands, call.operations::<T>(), move |memory| {
            let alpha = alpha.get(memory)?;
            let stored = square.read_dense::<T>(memory)?;
            let order = product.order();
            let triangle: Vec<T> = match op.is_transposed() {
                false => stored,
                true => (0..order * order)
                    .map(|i| stored[i / order + i % order * order].conj_if(op.is_conjugated()))
                    .collect(),
            };
            let result = product.compute(alpha, &triangle, &general.read_dense(memory)?);
            accumulate(memory, &target, &result, T::zero())
        })
}

/// `cublas?trsm`.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
pub unsafe fn trsm<T: Scalar>(
    handle: Handle,
    side: c_int,
    uplo: c_int,
    trans: c_int,
    diag: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    b: *mut T,
    ldb: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let call = Triangular::new([side, uplo, trans, diag, m, n], [lda, ldb])?;
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { Scale::new(&settings, alpha) }?;
    if call.is_empty() {
        return Ok(());
    }
    let operands = [a as u64, b as u64];
    settings
        .stream
        .submit(operands.to_vec(), call.operations::<T>(), move |memory| {
            let alpha = alpha.get(memory)?;
            call.solve::<T>(memory, operands, alpha)
        })
}

/// Returns the operations that need this number of them per element.
fn per_element<T: Scalar>([rows, columns]: [usize; 2], count: f64) -> Operations {
    operations(T::ARITHMETIC, rows as f64 * columns as f64 * count)
}

/// `cublas?geam`: `C = alpha * op(A) + beta * op(B)`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn geam<T: Scalar>(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    beta: *const T,
    b: *const T,
    ldb: c_int,
    c: *mut T,
    ldc: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let shape = [size(m)?, size(n)?];
    let ops = [Op::new(transa)?, Op::new(transb)?];
    // A scalar on the device may not be zero, so that both matrices are needed.
    if settings.pointer_mode == PointerMode::Device && (a.is_null() || b.is_null()) {
        return Err(INVALID_VALUE);
    }
    let term = |op: Op, start, ld| {
        let [rows, columns] = op.stored(shape);
        Ok::<_, Status>(Matrix::general(start, [rows, columns], leading(ld, rows)?))
    };
    let terms = [term(ops[0], a as u64, lda)?, term(ops[1], b as u64, ldb)?];
    let target = Matrix::general(c as u64, shape, leading(ldc, shape[0])?);
    // SAFETY: the requirements are those of this function.
    let scales = unsafe { Scale::pair(&settings, [alpha, beta]) }?;
    if shape.contains(&0) {
        return Ok(());
    }
    let operands = vec![a as u64, b as u64, c as u64];
    settings
        .stream
        .submit(operands, per_element::<T>(shape, 3.0), move |memory| {
            let mut sum = vec![T::zero(); shape[0] * shape[1]];
            for ((scale, op), matrix) in scales.iter().zip(ops).zip(&terms) {
                let scale = scale.get(memory)?;
                if scale.is_zero() {
                    continue;
                }
                let elements = matrix.read_dense::<T>(memory)?;
                for (i, sum) in sum.iter_mut().enumerate() {
                    let (row, column) = (i % shape[0], i / shape[0]);
                    let element = match op.is_transposed() {
                        true => elements[column + row * matrix.rows].conj_if(op.is_conjugated()),
                        false => elements[i],
                    };
                    *sum += scale * element;
                }
            }
            target.write_dense(memory, &sum)
        })
}

/// `cublas?dgmm`: multiplies the rows or the columns of a matrix with the elements of a vector.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn dgmm<T: Scalar>(
    handle: Handle,
    side: c_int,
    m: c_int,
    n: c_int,
    a: *const T,
    lda: c_int,
    x: *const T,
    incx: c_int,
    c: *mut T,
    ldc: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let product = SquareProduct::new(side, [m, n])?;
    let SquareProduct { shape, .. } = product;
    let source = Matrix::general(a as u64, shape, leading(lda, shape[0])?);
    let target = Matrix::general(c as u64, shape, leading(ldc, shape[0])?);
    let factors = Vector::new(x as u64, product.order(), incx);
    if shape.contains(&0) {
        return Ok(());
    }
    let operands = vec![a as u64, x as u64, c as u64];
    settings
        .stream
        .submit(operands, per_element::<T>(shape, 1.0), move |memory| {
            let elements = source.read_dense::<T>(memory)?;
            let factors = factors.read::<T>(memory)?;
            target.update(memory, false, |row, column, _| {
                let factor = match product.side {
                    Side::Left => factors[row],
                    Side::Right => factors[column],
                };
                elements[row + column * shape[0]] * factor
            })
        })
}
