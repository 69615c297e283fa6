//! Level 2: matrices and vectors.

use cuda_driver::{CallMemory, IllegalOperand, Operations};

use super::arguments::{Diagonal, Fill, Op, Scale, Vector, leading, size};
use super::handle::{Handle, Settings, settings};
use super::matrix::{Kind, Matrix, Storage};
use super::scalar::Scalar;
use super::*;
use crate::call::operations;
use crate::functions::CallResult;

/// The matrix of a call, with its operation.
#[derive(Clone, Copy)]
pub struct Operand {
    pub matrix: Matrix,
    pub op: Op,
}

impl Operand {
    /// Returns the number of operations of a multiplication with a vector.
    fn operations<T: Scalar>(&self) -> Operations {
        let Matrix { rows, columns, .. } = self.matrix;
        let stored = match self.matrix.storage {
            Storage::Band { lower, upper, .. } => (lower + upper + 1).min(rows) * columns,
            _ => rows * columns,
        };
        let each = if T::IS_COMPLEX { 8.0 } else { 2.0 };
        operations(T::ARITHMETIC, stored as f64 * each)
    }

    /// Computes `y = alpha * op(A) * x + beta * y`. If `alpha` is zero, A and `x` are not read; if `beta` is, `y` is not.
    pub fn multiply<T: Scalar>(
        self,
        memory: &mut CallMemory<'_>,
        [alpha, beta]: [T; 2],
        [x, y]: [Vector; 2],
    ) -> Result<(), IllegalOperand> {
        let product = match alpha.is_zero() {
            true => vec![T::zero(); y.length],
            false => {
                let a = self.matrix.read::<T>(memory)?;
                a.multiply(self.op, &x.read(memory)?)
            }
        };
        let mut scaled = vec![T::zero(); y.length];
        if !beta.is_zero() {
            scaled = y.read(memory)?;
            scaled.iter_mut().for_each(|element| *element *= beta);
        }
        let results = product.into_iter().zip(scaled);
        y.write(
            memory,
            results.map(|(product, scaled)| alpha * product + scaled),
        )
    }
}

/// The storage of a triangle's band: with `k` diagonals on one side of the main one.
fn triangle_band(fill: Fill, k: usize, leading: usize) -> Storage {
    let [lower, upper] = match fill {
        Fill::Lower => [k, 0],
        Fill::Upper => [0, k],
    };
    Storage::Band {
        lower,
        upper,
        leading,
    }
}

/// The storage of a square matrix in C's arguments.
#[derive(Clone, Copy)]
enum Format {
    Full(c_int),
    /// The number of diagonals and the leading dimension.
    Band(c_int, c_int),
    Packed,
}

impl Format {
    fn storage(self, fill: Fill, order: usize) -> Result<Storage, Status> {
        Ok(match self {
            Format::Full(lda) => Storage::Full {
                leading: leading(lda, order)?,
            },
            Format::Band(k, lda) => {
                let k = size(k)?;
                triangle_band(fill, k, leading(lda, k + 1)?)
            }
            Format::Packed => Storage::Packed,
        })
    }
}

/// Submits `y = alpha * op(A) * x + beta * y`.
fn multiply<T: Scalar>(
    settings: &Settings,
    operand: Operand,
    [alpha, beta]: [Scale<T>; 2],
    (x, incx): (*const T, c_int),
    (y, incy): (*mut T, c_int),
) -> CallResult {
    let Operand { matrix, op } = operand;
    let [rows, columns] = op.stored([matrix.rows, matrix.columns]);
    let vectors = [
        Vector::level2(x, columns, incx)?,
        Vector::level2(y, rows, incy)?,
    ];
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let operands = vec![matrix.address, x as u64, y as u64];
    settings
        .stream
        .submit(operands, operand.operations::<T>(), move |memory| {
            let scales = [alpha.get(memory)?, beta.get(memory)?];
            operand.multiply(memory, scales, vectors)
        })
}

/// `cublas?gemv`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemv<T: Scalar>(
    handle: Handle,
    trans: c_int,
    m: c_int,
    n: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    x: *const T,
    incx: c_int,
    beta: *const T,
    y: *mut T,
    incy: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let (rows, columns) = (size(m)?, size(n)?);
    let matrix = Matrix::general(a as u64, [rows, columns], leading(lda, rows)?);
    let operand = Operand {
        matrix,
        op: Op::new(trans)?,
    };
    // SAFETY: the requirements are those of this function.
    let scales = unsafe { Scale::pair(&settings, [alpha, beta]) }?;
    multiply(&settings, operand, scales, (x, incx), (y, incy))
}

/// `cublas?gbmv`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gbmv<T: Scalar>(
    handle: Handle,
    trans: c_int,
    m: c_int,
    n: c_int,
    kl: c_int,
    ku: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    x: *const T,
    incx: c_int,
    beta: *const T,
    y: *mut T,
    incy: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let (rows, columns, lower, upper) = (size(m)?, size(n)?, size(kl)?, size(ku)?);
    let leading = leading(lda, lower + upper + 1)?;
    let matrix = Matrix {
        storage: Storage::Band {
            lower,
            upper,
            leading,
        },
        ..Matrix::general(a as u64, [rows, columns], leading)
    };
    let operand = Operand {
        matrix,
        op: Op::new(trans)?,
    };
    // SAFETY: the requirements are those of this function.
    let scales = unsafe { Scale::pair(&settings, [alpha, beta]) }?;
    multiply(&settings, operand, scales, (x, incx), (y, incy))
}

/// A symmetric or Hermitian matrix in C's arguments.
struct Selfadjoint {
    uplo: c_int,
    n: c_int,
    address: u64,
    format: Format,
    kind: fn(Fill) -> Kind,
}

impl Selfadjoint {
    fn matrix(&self) -> Result<Matrix, Status> {
        let fill = Fill::new(self.uplo)?;
        let order = size(self.n)?;
        let storage = self.format.storage(fill, order)?;
        Ok(Matrix::square(
            self.address,
            order,
            storage,
            (self.kind)(fill),
        ))
    }
}

/// Generates the functions that multiply a symmetric or Hermitian matrix with a vector: name, kind, the arguments that
/// describe the storage between `n` and `x`, and the storage.
macro_rules! symmetric_products {
    ($($(#[$doc:meta])* $name:ident, $kind:ident, [$($before:ident: $before_type:ty),*], [$($after:ident: $after_type:ty),*], $format:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The scalars must be readable in the pointer mode of the host.
        pub unsafe fn $name<T: Scalar>(
            handle: Handle, uplo: c_int, n: c_int, $($before: $before_type,)* alpha: *const T, a: *const T, $($after: $after_type,)*
            x: *const T, incx: c_int, beta: *const T, y: *mut T, incy: c_int,
        ) -> CallResult {
            let settings = settings(handle)?;
            let matrix = Selfadjoint { uplo, n, address: a as u64, format: $format, kind: Kind::$kind }.matrix()?;
            // SAFETY: the requirements are those of this function.
            let scales = unsafe { Scale::pair(&settings, [alpha, beta]) }?;
            multiply(&settings, Operand { matrix, op: Op::None }, scales, (x, incx), (y, incy))
        }
    )*};
}

symmetric_products! {
    /// `cublas?symv`.
    symv, Symmetric, [], [lda: c_int], Format::Full(lda);
    /// `cublas?hemv`.
    hemv, Hermitian, [], [lda: c_int], Format::Full(lda);
    /// `cublas?sbmv`.
    sbmv, Symmetric, [k: c_int], [lda: c_int], Format::Band(k, lda);
    /// `cublas?hbmv`.
    hbmv, Hermitian, [k: c_int], [lda: c_int], Format::Band(k, lda);
    /// `cublas?spmv`.
    spmv, Symmetric, [], [], Format::Packed;
    /// `cublas?hpmv`.
    hpmv, Hermitian, [], [], Format::Packed;
}

/// Submits the multiplication of a triangular matrix with a vector, or the solution of its system, in place.
fn triangular<T: Scalar>(
    handle: Handle,
    [uplo, trans, diag, n]: [c_int; 4],
    (a, format): (*const T, Format),
    (x, incx): (*mut T, c_int),
    solves: bool,
) -> CallResult {
    let settings = settings(handle)?;
    let (fill, op) = (Fill::new(uplo)?, Op::new(trans)?);
    let order = size(n)?;
    let kind = Kind::Triangular(fill, Diagonal::new(diag)?);
    let matrix = Matrix::square(a as u64, order, format.storage(fill, order)?, kind);
    let vector = Vector::level2(x, order, incx)?;
    if order == 0 {
        return Ok(());
    }
    let operands = vec![matrix.address, vector.address];
    let operations = Operand { matrix, op }.operations::<T>();
    settings.stream.submit(operands, operations, move |memory| {
        let a = matrix.read::<T>(memory)?;
        let mut x = vector.read::<T>(memory)?;
        match solves {
            true => a.solve(op, &mut x),
            false => x = a.multiply(op, &x),
        }
        vector.write(memory, x)
    })
}

/// Generates the functions of triangular matrices and vectors: name, the arguments that describe the storage between `n`
/// and `x`, the storage, and true for those that solve a system.
macro_rules! triangular_functions {
    ($($(#[$doc:meta])* $name:ident, [$($before:ident: $before_type:ty),*], [$($after:ident: $after_type:ty),*], $format:expr, $solves:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// None: the device's memory is checked.
        pub unsafe fn $name<T: Scalar>(
            handle: Handle, uplo: c_int, trans: c_int, diag: c_int, n: c_int, $($before: $before_type,)* a: *const T, $($after: $after_type,)*
            x: *mut T, incx: c_int,
        ) -> CallResult {
            triangular(handle, [uplo, trans, diag, n], (a, $format), (x, incx), $solves)
        }
    )*};
}

triangular_functions! {
    /// `cublas?trmv`.
    trmv, [], [lda: c_int], Format::Full(lda), false;
    /// `cublas?trsv`.
    trsv, [], [lda: c_int], Format::Full(lda), true;
    /// `cublas?tbmv`.
    tbmv, [k: c_int], [lda: c_int], Format::Band(k, lda), false;
    /// `cublas?tbsv`.
    tbsv, [k: c_int], [lda: c_int], Format::Band(k, lda), true;
    /// `cublas?tpmv`.
    tpmv, [], [], Format::Packed, false;
    /// `cublas?tpsv`.
    tpsv, [], [], Format::Packed, true;
}

/// Generates the functions that submit `A += alpha * x * y^T`: name, and true for those that conjugate `y`.
macro_rules! rank_ones {
    ($($(#[$doc:meta])* $name:ident, $conjugated:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `alpha` must be readable in the pointer mode of the host.
        pub unsafe fn $name<T: Scalar>(
            handle: Handle, m: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *const T, incy: c_int, a: *mut T,
            lda: c_int,
        ) -> CallResult {
            let settings = settings(handle)?;
            let (rows, columns) = (size(m)?, size(n)?);
            // SAFETY: the requirements are those of this function.
            let alpha = unsafe { Scale::new(&settings, alpha) }?;
            let (first, second) = (Vector::level2(x, rows, incx)?, Vector::level2(y, columns, incy)?);
            let matrix = Matrix::general(a as u64, [rows, columns], leading(lda, rows)?);
            if rows == 0 || columns == 0 {
                return Ok(());
            }
            let operands = vec![x as u64, y as u64, a as u64];
            let operations = Operand { matrix, op: Op::None }.operations::<T>();
            settings.stream.submit(operands, operations, move |memory| {
                let alpha = alpha.get(memory)?;
                let x = first.read::<T>(memory)?;
                let y = second.read::<T>(memory)?;
                matrix.update(memory, true, |row, column, old: T| {
                    old + alpha * x[row] * y[column].conj_if($conjugated)
                })
            })
        }
    )*};
}

rank_ones! {
    /// `cublas?ger` and `cublas?geru`.
    geru, false;
    /// `cublas?gerc`.
    gerc, true;
}

/// Returns an element of a Hermitian or symmetric matrix after an update: the diagonal of a Hermitian one is real.
pub fn selfadjoint_element<T: Scalar>(kind: Kind, row: usize, column: usize, value: T) -> T {
    match kind {
        Kind::Hermitian(_) if row == column => T::from_real(value.re()),
        _ => value,
    }
}

/// Submits `A += alpha * x * x^T`, or with the conjugate, to the stored triangle.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
unsafe fn self_rank_one<T: Scalar, S: level1::FactorOf<T>>(
    handle: Handle,
    target: &Selfadjoint,
    alpha: *const S,
    (x, incx): (*const T, c_int),
) -> CallResult {
    let settings = settings(handle)?;
    let matrix = target.matrix()?;
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { Scale::new(&settings, alpha) }?;
    let vector = Vector::level2(x, matrix.rows, incx)?;
    if matrix.rows == 0 {
        return Ok(());
    }
    let is_hermitian = matches!(matrix.kind, Kind::Hermitian(_));
    let operations = Operand {
        matrix,
        op: Op::None,
    }
    .operations::<T>();
    settings
        .stream
        .submit(vec![matrix.address, x as u64], operations, move |memory| {
            let alpha = alpha.get(memory)?.of();
            let x = vector.read::<T>(memory)?;
            matrix.update(memory, true, |row, column, old: T| {
                let value = old + alpha * x[row] * x[column].conj_if(is_hermitian);
                selfadjoint_element(matrix.kind, row, column, value)
            })
        })
}

/// Generates the functions that add a vector's product with itself to a matrix: name, kind, the type of `alpha`, the
/// arguments that describe the storage, and the storage.
macro_rules! self_rank_ones {
    ($($(#[$doc:meta])* $name:ident, $kind:ident, $alpha:ty, [$($after:ident: $after_type:ty),*], $format:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `alpha` must be readable in the pointer mode of the host.
        pub unsafe fn $name<T>(
            handle: Handle, uplo: c_int, n: c_int, alpha: *const $alpha, x: *const T, incx: c_int, a: *mut T, $($after: $after_type,)*
        ) -> CallResult
        where
            T: Scalar,
            $alpha: level1::FactorOf<T>,
        {
            let target = Selfadjoint { uplo, n, address: a as u64, format: $format, kind: Kind::$kind };
            // SAFETY: the requirements are those of this function.
            unsafe { self_rank_one(handle, &target, alpha, (x, incx)) }
        }
    )*};
}

self_rank_ones! {
    /// `cublas?syr`.
    syr, Symmetric, T, [lda: c_int], Format::Full(lda);
    /// `cublas?her`.
    her, Hermitian, T::Real, [lda: c_int], Format::Full(lda);
    /// `cublas?spr`.
    spr, Symmetric, T, [], Format::Packed;
    /// `cublas?hpr`.
    hpr, Hermitian, T::Real, [], Format::Packed;
}

/// Submits `A += alpha * x * y^T + alpha * y * x^T`, or with conjugates, to the stored triangle.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
unsafe fn self_rank_two<T: Scalar>(
    handle: Handle,
    target: &Selfadjoint,
    alpha: *const T,
    [(x, incx), (y, incy)]: [(*const T, c_int); 2],
) -> CallResult {
    let settings = settings(handle)?;
    let matrix = target.matrix()?;
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { Scale::new(&settings, alpha) }?;
    let (first, second) = (
        Vector::level2(x, matrix.rows, incx)?,
        Vector::level2(y, matrix.rows, incy)?,
    );
    if matrix.rows == 0 {
        return Ok(());
    }
    let is_hermitian = matches!(matrix.kind, Kind::Hermitian(_));
    let operations = Operand {
        matrix,
        op: Op::None,
    }
    .operations::<T>();
    let operands = vec![matrix.address, x as u64, y as u64];
    settings.stream.submit(operands, operations, move |memory| {
        let alpha = alpha.get(memory)?;
        let x = first.read::<T>(memory)?;
        let y = second.read::<T>(memory)?;
        let conj = |value: T| value.conj_if(is_hermitian);
        matrix.update(memory, true, |row, column, old: T| {
            let value =
                old + alpha * x[row] * conj(y[column]) + conj(alpha) * y[row] * conj(x[column]);
            selfadjoint_element(matrix.kind, row, column, value)
        })
    })
}

/// Generates the functions that add the product of two vectors to a matrix: name, kind, the arguments that describe the
/// storage, and the storage.
macro_rules! self_rank_twos {
    ($($(#[$doc:meta])* $name:ident, $kind:ident, [$($after:ident: $after_type:ty),*], $format:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `alpha` must be readable in the pointer mode of the host.
        pub unsafe fn $name<T: Scalar>(
            handle: Handle, uplo: c_int, n: c_int, alpha: *const T, x: *const T, incx: c_int, y: *const T, incy: c_int, a: *mut T, $($after: $after_type,)*
        ) -> CallResult {
            let target = Selfadjoint { uplo, n, address: a as u64, format: $format, kind: Kind::$kind };
            // SAFETY: the requirements are those of this function.
            unsafe { self_rank_two(handle, &target, alpha, [(x, incx), (y, incy)]) }
        }
    )*};
}

self_rank_twos! {
    /// `cublas?syr2`.
    syr2, Symmetric, [lda: c_int], Format::Full(lda);
    /// `cublas?her2`.
    her2, Hermitian, [lda: c_int], Format::Full(lda);
    /// `cublas?spr2`.
    spr2, Symmetric, [], Format::Packed;
    /// `cublas?hpr2`.
    hpr2, Hermitian, [], Format::Packed;
}

/// Submits a copy of a triangle from one storage to another.
fn convert<T: Scalar>(
    handle: Handle,
    [uplo, n]: [c_int; 2],
    [(from, from_format), (to, to_format)]: [(u64, Format); 2],
) -> CallResult {
    let settings = settings(handle)?;
    let (fill, order) = (Fill::new(uplo)?, size(n)?);
    let kind = Kind::Triangular(fill, Diagonal::Stored);
    let source = Matrix::square(from, order, from_format.storage(fill, order)?, kind);
    let target = Matrix::square(to, order, to_format.storage(fill, order)?, kind);
    if order == 0 {
        return Ok(());
    }
    let operands = vec![source.address, target.address];
    let copied = operations(T::ARITHMETIC, 0.0);
    settings.stream.submit(operands, copied, move |memory| {
        let elements = source.read_dense::<T>(memory)?;
        target.write_dense(memory, &elements)
    })
}

/// `cublas?tpttr`: copies a packed triangle to full storage.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn tpttr<T: Scalar>(
    handle: Handle,
    uplo: c_int,
    n: c_int,
    packed: *const T,
    a: *mut T,
    lda: c_int,
) -> CallResult {
    let copy = [
        (packed as u64, Format::Packed),
        (a as u64, Format::Full(lda)),
    ];
    convert::<T>(handle, [uplo, n], copy)
}

/// `cublas?trttp`: copies a triangle in full storage to packed storage.
///
/// # Safety
/// None: the device's memory is checked.
pub unsafe fn trttp<T: Scalar>(
    handle: Handle,
    uplo: c_int,
    n: c_int,
    a: *const T,
    lda: c_int,
    packed: *mut T,
) -> CallResult {
    let copy = [
        (a as u64, Format::Full(lda)),
        (packed as u64, Format::Packed),
    ];
    convert::<T>(handle, [uplo, n], copy)
}
