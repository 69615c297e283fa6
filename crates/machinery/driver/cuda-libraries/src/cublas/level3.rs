//! Level 3: products of matrices, and systems with many right-hand sides.

use cuda_driver::{CallMemory, IllegalOperand, Operations};

use super::arguments::{Diagonal, Fill, Op, Scale, Side, Vector, leading, size};
use super::handle::{Handle, Settings, settings};
use super::level1::FactorOf;
use super::level2::selfadjoint_element;
use super::matrix::{Kind, Matrix, Storage};
use super::scalar::{Factor, Scalar, Sizes, StridedMut, multiply};
use super::*;
use crate::call::{Columns, operations};
use crate::functions::CallResult;

/// The sizes, operations and leading dimensions of `C = alpha * op(A) * op(B) + beta * C`.
#[derive(Clone, Copy)]
pub struct Gemm {
    pub sizes: Sizes,
    pub ops: [Op; 2],
    /// The leading dimensions of A, B and C.
    pub leading: [usize; 3],
}

impl Gemm {
    /// Checks the arguments of C.
    pub fn new(
        [transa, transb]: [c_int; 2],
        [m, n, k]: [c_int; 3],
        [lda, ldb, ldc]: [c_int; 3],
    ) -> Result<Self, Status> {
        let ops = [Op::new(transa)?, Op::new(transb)?];
        let (m, n, k) = (size(m)?, size(n)?, size(k)?);
        let leading = [
            leading(lda, ops[0].stored([m, k])[0])?,
            leading(ldb, ops[1].stored([k, n])[0])?,
            leading(ldc, m)?,
        ];
        Ok(Self {
            sizes: Sizes { m, n, k },
            ops,
            leading,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.m == 0 || self.sizes.n == 0
    }

    /// Returns the memory of A, B and C.
    pub fn operands(&self, addresses: [u64; 3]) -> [Columns; 3] {
        let Sizes { m, n, k } = self.sizes;
        let shapes = [
            self.ops[0].stored([m, k]),
            self.ops[1].stored([k, n]),
            [m, n],
        ];
        std::array::from_fn(|i| {
            let [rows, columns] = shapes[i];
            Columns {
                address: addresses[i],
                rows,
                columns,
                leading: self.leading[i],
            }
        })
    }

    /// Computes the product in device memory.
    pub fn compute<T: Scalar>(
        &self,
        memory: &mut CallMemory<'_>,
        addresses: [u64; 3],
        [alpha, beta]: [T; 2],
    ) -> Result<(), IllegalOperand> {
        let [a, b, c] = self.operands(addresses);
        let (first, second) = match alpha.is_zero() || self.sizes.k == 0 {
            true => (std::ptr::null(), std::ptr::null()),
            false => (a.read::<T>(memory)?, b.read::<T>(memory)?),
        };
        let start = match beta.is_zero() {
            true => c.write(memory)?,
            false => c.update(memory)?,
        };
        let factor = |start, i: usize| {
            let op = self.ops[i];
            Factor::new(
                start,
                self.leading[i],
                op.is_transposed(),
                op.is_conjugated(),
            )
        };
        let target = StridedMut {
            start,
            column: self.leading[2],
        };
        // SAFETY: the matrices are in device memory, where the memory of the call has found them.
        unsafe {
            multiply(
                self.sizes,
                alpha,
                factor(first, 0),
                factor(second, 1),
                beta,
                target,
            )
        };
        Ok(())
    }
}

/// `cublas?gemm`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn gemm<T: Scalar>(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: *const T,
    c: *mut T,
    ldc: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let gemm = Gemm::new([transa, transb], [m, n, k], [lda, ldb, ldc])?;
    // SAFETY: the requirements are those of this function.
    let (alpha, beta) = unsafe { (Scale::new(&settings, alpha)?, Scale::new(&settings, beta)?) };
    if gemm.is_empty() {
        return Ok(());
    }
    let addresses = [a as u64, b as u64, c as u64];
    let operations = operations(T::ARITHMETIC, gemm.sizes.operations::<T>());
    settings
        .stream
        .submit(addresses.to_vec(), operations, move |memory| {
            let scales = [alpha.get(memory)?, beta.get(memory)?];
            gemm.compute::<T>(memory, addresses, scales)
        })
}

/// Reads a general matrix without gaps between its columns.
pub fn read_dense<T: Scalar>(
    memory: &mut CallMemory<'_>,
    matrix: &Matrix,
) -> Result<Vec<T>, IllegalOperand> {
    Ok(matrix.read::<T>(memory)?.dense())
}

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
    [alpha, beta]: [*const T; 2],
    [a, b, c]: [(*const T, c_int); 3],
    kind: fn(Fill) -> Kind,
) -> CallResult {
    let settings = settings(handle)?;
    let shape = [size(m)?, size(n)?];
    let product = SquareProduct {
        side: Side::new(side)?,
        shape,
    };
    let kind = kind(Fill::new(uplo)?);
    let order = product.order();
    let square = Matrix::square(
        a.0,
        order,
        Storage::Full {
            leading: leading(a.1, order)?,
        },
        kind,
    );
    let [general, target] = [b, c]
        .map(|(start, ld)| Ok::<_, Status>(Matrix::general(start, shape, leading(ld, shape[0])?)));
    let (general, target) = (general?, target?);
    // SAFETY: the requirements are those of this function.
    let (alpha, beta) = unsafe { (Scale::new(&settings, alpha)?, Scale::new(&settings, beta)?) };
    if shape.contains(&0) {
        return Ok(());
    }
    let operands = [square, general, target].map(|matrix| matrix.address);
    settings.stream.submit(
        operands.to_vec(),
        product.operations::<T>(),
        move |memory| {
            let (alpha, beta) = (alpha.get(memory)?, beta.get(memory)?);
            let result = match alpha.is_zero() {
                true => vec![T::zero(); shape[0] * shape[1]],
                false => {
                    let square = read_dense::<T>(memory, &square)?;
                    product.compute(alpha, &square, &read_dense(memory, &general)?)
                }
            };
            accumulate(memory, &target, &result, beta)
        },
    )
}

/// `cublas?symm`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn symm<T: Scalar>(
    handle: Handle,
    side: c_int,
    uplo: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: *const T,
    c: *mut T,
    ldc: c_int,
) -> CallResult {
    let matrices = [(a, lda), (b, ldb), (c.cast_const(), ldc)];
    // SAFETY: the requirements are those of this function.
    unsafe {
        selfadjoint_product(
            handle,
            [side, uplo, m, n],
            [alpha, beta],
            matrices,
            Kind::Symmetric,
        )
    }
}

/// `cublas?hemm`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn hemm<T: Scalar>(
    handle: Handle,
    side: c_int,
    uplo: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    b: *const T,
    ldb: c_int,
    beta: *const T,
    c: *mut T,
    ldc: c_int,
) -> CallResult {
    let matrices = [(a, lda), (b, ldb), (c.cast_const(), ldc)];
    // SAFETY: the requirements are those of this function.
    unsafe {
        selfadjoint_product(
            handle,
            [side, uplo, m, n],
            [alpha, beta],
            matrices,
            Kind::Hermitian,
        )
    }
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
    [a, b, c]: [(*const T, c_int); 3],
    (kind, terms): (fn(Fill) -> Kind, Terms),
) -> CallResult {
    let settings = settings(handle)?;
    let (op, kind) = (Op::new(trans)?, kind(Fill::new(uplo)?));
    let (n, k) = (size(n)?, size(k)?);
    let [rows, columns] = op.stored([n, k]);
    let factor =
        |(start, ld)| Ok::<_, Status>(Matrix::general(start, [rows, columns], leading(ld, rows)?));
    let (first, second) = (factor(a)?, factor(b)?);
    let target = Matrix::square(
        c.0,
        n,
        Storage::Full {
            leading: leading(c.1, n)?,
        },
        kind,
    );
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
            let a = read_dense::<T>(memory, &first)?;
            let b = read_dense::<T>(memory, &second)?;
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
        #[allow(clippy::too_many_arguments, reason = "the signature is C's")]
        pub unsafe fn $name<T>(
            handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const $scale, a: *const T, lda: c_int,
            beta: *const $scale, c: *mut T, ldc: c_int,
        ) -> CallResult
        where
            T: Scalar,
            $scale: FactorOf<T>,
        {
            let matrices = [(a, lda), (a, lda), (c.cast_const(), ldc)];
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
        #[allow(clippy::too_many_arguments, reason = "the signature is C's")]
        pub unsafe fn $name<T>(
            handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const T, a: *const T, lda: c_int,
            b: *const T, ldb: c_int, beta: *const $beta, c: *mut T, ldc: c_int,
        ) -> CallResult
        where
            T: Scalar,
            $beta: FactorOf<T>,
        {
            let matrices = [(a, lda), (b, ldb), (c.cast_const(), ldc)];
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
        let shape = [size(m)?, size(n)?];
        let product = SquareProduct {
            side: Side::new(side)?,
            shape,
        };
        Ok(Self {
            product,
            op: Op::new(trans)?,
            kind: Kind::Triangular(Fill::new(uplo)?, Diagonal::new(diag)?),
            leading: [leading(lda, product.order())?, leading(ldb, shape[0])?],
        })
    }

    pub fn is_empty(&self) -> bool {
        self.product.shape.contains(&0)
    }

    pub fn operations<T: Scalar>(&self) -> Operations {
        self.product.operations::<T>()
    }

    fn square<T>(&self, address: *const T) -> Matrix {
        Matrix::square(
            address,
            self.product.order(),
            Storage::Full {
                leading: self.leading[0],
            },
            self.kind,
        )
    }

    fn general<T>(&self, address: *const T) -> Matrix {
        Matrix::general(address, self.product.shape, self.leading[1])
    }

    /// Solves `op(A) * X = alpha * B`, or `X * op(A)`, in the place of B.
    pub fn solve<T: Scalar>(
        &self,
        memory: &mut CallMemory<'_>,
        [a, b]: [u64; 2],
        alpha: T,
    ) -> Result<(), IllegalOperand> {
        let [a, b] = [a, b].map(|address| std::ptr::with_exposed_provenance::<T>(address as usize));
        let general = self.general(b);
        if alpha.is_zero() {
            return general.update(memory, false, |_, _, old: T| old);
        }
        let [m, n] = self.product.shape;
        let triangle = self.square(a).read::<T>(memory)?;
        let mut right = read_dense::<T>(memory, &general)?;
        right.iter_mut().for_each(|element| *element *= alpha);
        match self.product.side {
            Side::Left => {
                triangle.solve_all(self.op, &mut right, m);
                general.update(memory, false, |row, column, _| right[row + column * m])
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
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
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
    let target = Matrix::general(c.cast_const(), product.shape, leading(ldc, rows)?);
    let (square, general) = (call.square(a), call.general(b));
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
            let stored = read_dense::<T>(memory, &square)?;
            let order = product.order();
            let triangle: Vec<T> = match op.is_transposed() {
                false => stored,
                true => (0..order * order)
                    .map(|i| stored[i / order + i % order * order].conj_if(op.is_conjugated()))
                    .collect(),
            };
            let result = product.compute(alpha, &triangle, &read_dense(memory, &general)?);
            accumulate(memory, &target, &result, T::zero())
        })
}

/// `cublas?trsm`.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
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

/// Checks a matrix that is read if its scalar is not zero.
fn added<T>(settings: &Settings, pointer: *const T) -> CallResult {
    let is_unused = settings.pointer_mode == handle::PointerMode::Host;
    match pointer.is_null() && !is_unused {
        true => Err(INVALID_VALUE),
        false => Ok(()),
    }
}

/// `cublas?geam`: `C = alpha * op(A) + beta * op(B)`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
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
    added(&settings, a)?;
    added(&settings, b)?;
    let term = |op: Op, start, ld| {
        let [rows, columns] = op.stored(shape);
        Ok::<_, Status>(Matrix::general(start, [rows, columns], leading(ld, rows)?))
    };
    let terms = [term(ops[0], a, lda)?, term(ops[1], b, ldb)?];
    let target = Matrix::general(c.cast_const(), shape, leading(ldc, shape[0])?);
    // SAFETY: the requirements are those of this function.
    let scales = unsafe { [Scale::new(&settings, alpha)?, Scale::new(&settings, beta)?] };
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
                let elements = read_dense::<T>(memory, matrix)?;
                for (i, sum) in sum.iter_mut().enumerate() {
                    let (row, column) = (i % shape[0], i / shape[0]);
                    let element = match op.is_transposed() {
                        true => elements[column + row * matrix.rows].conj_if(op.is_conjugated()),
                        false => elements[i],
                    };
                    *sum += scale * element;
                }
            }
            target.update(memory, false, |row, column, _| sum[row + column * shape[0]])
        })
}

/// `cublas?dgmm`: multiplies the rows or the columns of a matrix with the elements of a vector.
///
/// # Safety
/// None: the device's memory is checked.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
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
    let shape = [size(m)?, size(n)?];
    let product = SquareProduct {
        side: Side::new(side)?,
        shape,
    };
    let matrix = |start, ld| Ok::<_, Status>(Matrix::general(start, shape, leading(ld, shape[0])?));
    let (source, target) = (matrix(a, lda)?, matrix(c.cast_const(), ldc)?);
    let factors = Vector::level1(x, product.order(), incx);
    if shape.contains(&0) {
        return Ok(());
    }
    let operands = vec![a as u64, x as u64, c as u64];
    settings
        .stream
        .submit(operands, per_element::<T>(shape, 1.0), move |memory| {
            let elements = read_dense::<T>(memory, &source)?;
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
