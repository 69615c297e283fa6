//! Functions whose element types are arguments (`cublasGemmEx` and the like), and those of half precision.

use super::arguments::{Vector, read_element, size, submit_with_result};
use super::batched::Batch;
use super::handle::{Handle, PointerMode, Settings, settings};
use super::level1::{inner, norm};
use super::level3::Gemm;
use super::scalar::{Factor, Scalar, StridedMut, multiply};
use super::*;
use crate::call::{Columns, operations};
use crate::functions::CallResult;
use cuda_driver::{Arithmetic, CallMemory, IllegalOperand};
use half::bf16;

/// `CUBLAS_STATUS_NOT_SUPPORTED`.
pub const NOT_SUPPORTED: Status = Status(15);

/// A type of elements in memory.
pub trait Element: Copy + Send + Sync + 'static {
    /// Returns the real and the imaginary part.
    fn parts(self) -> [f64; 2];
    /// Rounds a number to the type.
    fn from_parts(parts: [f64; 2]) -> Self;
}

/// Implements [`Element`] for types with conversions from and to parts.
macro_rules! elements {
    ($($type:ty, |$value:ident| $parts:expr, |$re:ident, $im:ident| $from:expr;)*) => {$(
        impl Element for $type {
            fn parts(self) -> [f64; 2] {
                let $value = self;
                $parts
            }

            fn from_parts([$re, $im]: [f64; 2]) -> Self {
                let _ = $im;
                $from
            }
        }
    )*};
}

elements! {
    f32, |x| [x.into(), 0.0], |re, im| re as f32;
    f64, |x| [x, 0.0], |re, im| re;
    f16, |x| [x.to_f64(), 0.0], |re, im| f16::from_f64(re);
    bf16, |x| [x.to_f64(), 0.0], |re, im| bf16::from_f64(re);
    i8, |x| [x.into(), 0.0], |re, im| re as i8;
    i32, |x| [x.into(), 0.0], |re, im| re as i32;
    C32, |x| [x.re.into(), x.im.into()], |re, im| C32::new(re as f32, im as f32);
    C64, |x| [x.re, x.im], |re, im| C64::new(re, im);
}

/// `cudaDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    F32,
    F64,
    F16,
    Bf16,
    I8,
    I32,
    C32,
    C64,
}

impl DataType {
    pub fn new(value: c_int) -> Result<Self, Status> {
        Ok(match value {
            0 => Self::F32,
            1 => Self::F64,
            2 => Self::F16,
            3 => Self::I8,
            4 => Self::C32,
            5 => Self::C64,
            10 => Self::I32,
            14 => Self::Bf16,
            _ => return Err(NOT_SUPPORTED),
        })
    }
}

/// Evaluates an expression in which a name stands for the element type of a [`DataType`].
macro_rules! with_element {
    ($data_type:expr, $name:ident => $value:expr) => {
        match $data_type {
            DataType::F32 => with_element!(@ $name f32 $value),
            DataType::F64 => with_element!(@ $name f64 $value),
            DataType::F16 => with_element!(@ $name f16 $value),
            DataType::Bf16 => with_element!(@ $name bf16 $value),
            DataType::I8 => with_element!(@ $name i8 $value),
            DataType::I32 => with_element!(@ $name i32 $value),
            DataType::C32 => with_element!(@ $name C32 $value),
            DataType::C64 => with_element!(@ $name C64 $value),
        }
    };
    (@ $name:ident $type:ident $value:expr) => {{
        type $name = $type;
        $value
    }};
}

pub(super) use with_element;

/// Evaluates an expression in which a name stands for the type that a call computes in.
macro_rules! with_scalar {
    ($data_type:expr, $name:ident => $value:expr) => {
        match $data_type {
            DataType::F32 => with_element!(@ $name f32 $value),
            DataType::F64 => with_element!(@ $name f64 $value),
            DataType::C32 => with_element!(@ $name C32 $value),
            DataType::C64 => with_element!(@ $name C64 $value),
            _ => Err(NOT_SUPPORTED),
        }
    };
}

pub(super) use with_scalar;

/// A scalar argument of any type.
#[derive(Clone, Copy)]
pub enum AnyScale {
    Value([f64; 2]),
    Device(u64, DataType),
}

impl AnyScale {
    /// Reads a scalar on the host, or keeps its address on the device.
    ///
    /// # Safety
    /// In the pointer mode of the host, `pointer` must be null or readable.
    pub unsafe fn new(
        mode: PointerMode,
        pointer: *const c_void,
        data_type: DataType,
    ) -> Result<Self, Status> {
        if pointer.is_null() {
            return Err(INVALID_VALUE);
        }
        Ok(match mode {
            PointerMode::Device => Self::Device(pointer as u64, data_type),
            PointerMode::Host => with_element!(data_type, E => {
                // SAFETY: the pointer is readable, by this function's contract.
                Self::Value(unsafe { pointer.cast::<E>().read_unaligned() }.parts())
            }),
        })
    }

    pub fn get<T: Element>(self, memory: &mut CallMemory<'_>) -> Result<T, IllegalOperand> {
        let parts = match self {
            Self::Value(parts) => parts,
            Self::Device(address, data_type) => {
                with_element!(data_type, E => read_element::<E>(memory, address)?.parts())
            }
        };
        Ok(T::from_parts(parts))
    }
}

/// Reads a matrix without gaps between its columns, and converts its elements.
pub fn read_as<T: Element>(
    memory: &mut CallMemory<'_>,
    columns: Columns,
    data_type: DataType,
) -> Result<Vec<T>, IllegalOperand> {
    let Columns {
        rows,
        columns: count,
        leading,
        ..
    } = columns;
    with_element!(data_type, E => {
        let start: *const E = columns.read(memory)?;
        let positions = (0..count).flat_map(|column| (0..rows).map(move |row| row + column * leading));
        // SAFETY: the element is in the matrix.
        let element = |position| unsafe { start.add(position).read_unaligned() };
        Ok(positions.map(|position| T::from_parts(element(position).parts())).collect())
    })
}

/// Converts elements without gaps between the columns and writes them to a matrix.
pub fn write_as<T: Element>(
    memory: &mut CallMemory<'_>,
    columns: Columns,
    data_type: DataType,
    elements: &[T],
) -> Result<(), IllegalOperand> {
    let Columns { rows, leading, .. } = columns;
    with_element!(data_type, E => {
        let start: *mut E = columns.write(memory)?;
        for (i, element) in elements.iter().enumerate() {
            let position = i % rows + i / rows * leading;
            // SAFETY: the element is in the matrix.
            unsafe { start.add(position).write_unaligned(E::from_parts(element.parts())) };
        }
        Ok(())
    })
}

/// The types of a matrix multiplication.
#[derive(Clone, Copy)]
pub struct Types {
    /// The types of A, B and C.
    matrices: [DataType; 3],
    /// The type that products and sums have here. Sums of halves are rounded at the end only.
    pub compute: DataType,
    /// The type of the scalars.
    pub scale: DataType,
}

impl Types {
    /// Checks the arguments of C for a combination that cuBLAS documents.
    pub fn new(matrices: [c_int; 3], compute: c_int) -> Result<Self, Status> {
        let [a, b, c] = matrices.map(DataType::new);
        Self::of([a?, b?, c?], compute)
    }

    /// Checks a combination of types.
    pub fn of(matrices: [DataType; 3], compute: c_int) -> Result<Self, Status> {
        use DataType::{Bf16, C32, C64, F16, F32, F64, I8, I32};
        let (compute, scale) = match (compute, matrices) {
            (64 | 65, [F16, F16, F16]) => (F32, F16),
            (
                68 | 69 | 74 | 75 | 77,
                [F16, F16, F16 | F32] | [Bf16, Bf16, Bf16 | F32] | [I8, I8, F32] | [F32, F32, F32],
            ) => (F32, F32),
            (68 | 69 | 74 | 75 | 77, [C32, C32, C32]) => (C32, C32),
            (70 | 71, [F64, F64, F64]) => (F64, F64),
            (70 | 71, [C64, C64, C64]) => (C64, C64),
            (72 | 73, [I8, I8, I32]) => (F64, I32),
            _ => return Err(NOT_SUPPORTED),
        };
        Ok(Self {
            matrices,
            compute,
            scale,
        })
    }

    pub fn arithmetic(&self) -> Arithmetic {
        match self.matrices[0] {
            DataType::F64 | DataType::C64 => Arithmetic::Double,
            DataType::F32 | DataType::C32 => Arithmetic::Single,
            _ => Arithmetic::Half,
        }
    }

    /// Computes a product in device memory.
    fn compute<T: Scalar + Element>(
        &self,
        memory: &mut CallMemory<'_>,
        gemm: &Gemm,
        addresses: [u64; 3],
        scales: [T; 2],
    ) -> Result<(), IllegalOperand> {
        if self.matrices == [self.compute; 3] {
            return gemm.compute::<T>(memory, addresses, scales);
        }
        let [alpha, beta] = scales;
        let [a, b, c] = gemm.operands(addresses);
        let first = read_as::<T>(memory, a, self.matrices[0])?;
        let second = read_as::<T>(memory, b, self.matrices[1])?;
        let mut result = match beta.is_zero() {
            true => vec![T::zero(); c.rows * c.columns],
            false => read_as(memory, c, self.matrices[2])?,
        };
        let factor = |elements: &[T], rows: usize, op: arguments::Op| {
            Factor::new(
                elements.as_ptr(),
                rows,
                op.is_transposed(),
                op.is_conjugated(),
            )
        };
        let [first, second] = [
            factor(&first, a.rows, gemm.ops[0]),
            factor(&second, b.rows, gemm.ops[1]),
        ];
        let target = StridedMut {
            start: result.as_mut_ptr(),
            column: c.rows,
        };
        // SAFETY: the vectors have these sizes.
        unsafe { multiply(gemm.sizes, alpha, first, second, beta, target) };
        write_as(memory, c, self.matrices[2], &result)
    }
}

/// Submits the multiplications of a batch.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
unsafe fn submit(
    settings: &Settings,
    gemm: Gemm,
    types: Types,
    [alpha, beta]: [*const c_void; 2],
    batches: [Batch; 3],
    count: usize,
) -> CallResult {
    let mode = settings.pointer_mode;
    // SAFETY: the requirements are those of this function.
    let (alpha, beta) = unsafe {
        (
            AnyScale::new(mode, alpha, types.scale)?,
            AnyScale::new(mode, beta, types.scale)?,
        )
    };
    if gemm.is_empty() || count == 0 {
        return Ok(());
    }
    with_scalar!(types.compute, T => {
        let operations = operations(types.arithmetic(), gemm.sizes.operations::<T>() * count as f64);
        let operands = batches.map(Batch::address).to_vec();
        Ok(settings.stream.submit(operands, operations, move |memory| {
            let scales = [alpha.get::<T>(memory)?, beta.get(memory)?];
            for index in 0..count {
                let mut addresses = [0; 3];
                for (address, batch) in addresses.iter_mut().zip(&batches) {
                    *address = batch.get(memory, index)?;
                }
                types.compute(memory, &gemm, addresses, scales)?;
            }
            Ok(())
        })?)
    })
}

/// `cublasGemmEx`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn gemm(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: *const c_void,
    a_type: c_int,
    lda: c_int,
    b: *const c_void,
    b_type: c_int,
    ldb: c_int,
    beta: *const c_void,
    c: *mut c_void,
    c_type: c_int,
    ldc: c_int,
    compute: c_int,
    _: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let gemm = Gemm::new([transa, transb], [m, n, k], [lda, ldb, ldc])?;
    let types = Types::new([a_type, b_type, c_type], compute)?;
    let batches = [a as u64, b as u64, c as u64].map(|address| Batch::Strided(address, 0));
    // SAFETY: the requirements are those of this function.
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, 1) }
}

/// `cublasGemmBatchedEx`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn gemm_array(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: *const *const c_void,
    a_type: c_int,
    lda: c_int,
    b: *const *const c_void,
    b_type: c_int,
    ldb: c_int,
    beta: *const c_void,
    c: *const *mut c_void,
    c_type: c_int,
    ldc: c_int,
    count: c_int,
    compute: c_int,
    _: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let gemm = Gemm::new([transa, transb], [m, n, k], [lda, ldb, ldc])?;
    let types = Types::new([a_type, b_type, c_type], compute)?;
    let batches = [a as u64, b as u64, c as u64].map(Batch::Array);
    // SAFETY: the requirements are those of this function.
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, size(count)?) }
}

/// Returns the matrices of a strided batch, whose strides count elements of these types.
fn strided(addresses: [u64; 3], strides: [i64; 3], types: Types) -> [Batch; 3] {
    std::array::from_fn(|i| {
        let bytes = with_element!(types.matrices[i], E => size_of::<E>());
        Batch::Strided(addresses[i], strides[i] * bytes as i64)
    })
}

/// `cublasGemmStridedBatchedEx`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn gemm_strided(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: *const c_void,
    a_type: c_int,
    lda: c_int,
    stride_a: i64,
    b: *const c_void,
    b_type: c_int,
    ldb: c_int,
    stride_b: i64,
    beta: *const c_void,
    c: *mut c_void,
    c_type: c_int,
    ldc: c_int,
    stride_c: i64,
    count: c_int,
    compute: c_int,
    _: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let gemm = Gemm::new([transa, transb], [m, n, k], [lda, ldb, ldc])?;
    let types = Types::new([a_type, b_type, c_type], compute)?;
    let batches = strided(
        [a as u64, b as u64, c as u64],
        [stride_a, stride_b, stride_c],
        types,
    );
    // SAFETY: the requirements are those of this function.
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, size(count)?) }
}

/// `CUBLAS_COMPUTE_16F` and `CUBLAS_COMPUTE_32F`.
const COMPUTE_16F: c_int = 64;
const COMPUTE_32F: c_int = 68;
/// `CUDA_R_16F`.
const R_16F: c_int = 2;

/// `cublasSgemmEx` and `cublasCgemmEx`, which compute in `T`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn gemm_of<T: Scalar>(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const T,
    a: *const c_void,
    a_type: c_int,
    lda: c_int,
    b: *const c_void,
    b_type: c_int,
    ldb: c_int,
    beta: *const T,
    c: *mut c_void,
    c_type: c_int,
    ldc: c_int,
) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe {
        gemm(
            handle,
            transa,
            transb,
            m,
            n,
            k,
            alpha.cast(),
            a,
            a_type,
            lda,
            b,
            b_type,
            ldb,
            beta.cast(),
            c,
            c_type,
            ldc,
            COMPUTE_32F,
            0,
        )
    }
}

/// `cublasHgemm`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn hgemm(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const f16,
    a: *const f16,
    lda: c_int,
    b: *const f16,
    ldb: c_int,
    beta: *const f16,
    c: *mut f16,
    ldc: c_int,
) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe {
        gemm(
            handle,
            transa,
            transb,
            m,
            n,
            k,
            alpha.cast(),
            a.cast(),
            R_16F,
            lda,
            b.cast(),
            R_16F,
            ldb,
            beta.cast(),
            c.cast(),
            R_16F,
            ldc,
            COMPUTE_16F,
            0,
        )
    }
}

/// `cublasHgemmBatched`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn hgemm_array(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const f16,
    a: *const *const f16,
    lda: c_int,
    b: *const *const f16,
    ldb: c_int,
    beta: *const f16,
    c: *const *mut f16,
    ldc: c_int,
    count: c_int,
) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe {
        gemm_array(
            handle,
            transa,
            transb,
            m,
            n,
            k,
            alpha.cast(),
            a.cast(),
            R_16F,
            lda,
            b.cast(),
            R_16F,
            ldb,
            beta.cast(),
            c.cast(),
            R_16F,
            ldc,
            count,
            COMPUTE_16F,
            0,
        )
    }
}

/// `cublasHgemmStridedBatched`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn hgemm_strided(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const f16,
    a: *const f16,
    lda: c_int,
    stride_a: i64,
    b: *const f16,
    ldb: c_int,
    stride_b: i64,
    beta: *const f16,
    c: *mut f16,
    ldc: c_int,
    stride_c: i64,
    count: c_int,
) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe {
        gemm_strided(
            handle,
            transa,
            transb,
            m,
            n,
            k,
            alpha.cast(),
            a.cast(),
            R_16F,
            lda,
            stride_a,
            b.cast(),
            R_16F,
            ldb,
            stride_b,
            beta.cast(),
            c.cast(),
            R_16F,
            ldc,
            stride_c,
            count,
            COMPUTE_16F,
            0,
        )
    }
}

/// A vector whose element type is an argument.
#[derive(Clone, Copy)]
struct AnyVector {
    vector: Vector,
    data_type: DataType,
}

impl AnyVector {
    fn new(
        length: c_int,
        (start, data_type, increment): (*const c_void, c_int, c_int),
    ) -> Result<Self, Status> {
        let length = usize::try_from(length).unwrap_or(0);
        Ok(Self {
            vector: Vector::level1(start, length, increment),
            data_type: DataType::new(data_type)?,
        })
    }

    fn read<T: Element>(self, memory: &mut CallMemory<'_>) -> Result<Vec<T>, IllegalOperand> {
        with_element!(self.data_type, E => {
            let elements = self.vector.read::<E>(memory)?;
            Ok(elements.into_iter().map(|element| T::from_parts(element.parts())).collect())
        })
    }

    fn write<T: Element>(
        self,
        memory: &mut CallMemory<'_>,
        elements: impl Iterator<Item = T>,
    ) -> Result<(), IllegalOperand> {
        with_element!(self.data_type, E => {
            self.vector.write(memory, elements.map(|element| E::from_parts(element.parts())))
        })
    }
}

/// `cublasAxpyEx`.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn axpy(
    handle: Handle,
    n: c_int,
    alpha: *const c_void,
    alpha_type: c_int,
    x: *const c_void,
    x_type: c_int,
    incx: c_int,
    y: *mut c_void,
    y_type: c_int,
    incy: c_int,
    execution: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let from = AnyVector::new(n, (x, x_type, incx))?;
    let to = AnyVector::new(n, (y.cast_const(), y_type, incy))?;
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { AnyScale::new(settings.pointer_mode, alpha, DataType::new(alpha_type)?) }?;
    with_scalar!(DataType::new(execution)?, T => {
        if from.vector.length == 0 {
            return Ok(());
        }
        let operations = operations(T::ARITHMETIC, 2.0 * from.vector.length as f64);
        Ok(settings.stream.submit(vec![x as u64, y as u64], operations, move |memory| {
            let alpha: T = alpha.get(memory)?;
            let x = from.read::<T>(memory)?;
            let y = to.read::<T>(memory)?;
            to.write(memory, x.into_iter().zip(y).map(|(x, y)| alpha * x + y))
        })?)
    })
}

/// `cublasScalEx`.
///
/// # Safety
/// `alpha` must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn scal(
    handle: Handle,
    n: c_int,
    alpha: *const c_void,
    alpha_type: c_int,
    x: *mut c_void,
    x_type: c_int,
    incx: c_int,
    execution: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let vector = AnyVector::new(n, (x.cast_const(), x_type, incx))?;
    // SAFETY: the requirements are those of this function.
    let alpha = unsafe { AnyScale::new(settings.pointer_mode, alpha, DataType::new(alpha_type)?) }?;
    with_scalar!(DataType::new(execution)?, T => {
        if vector.vector.length == 0 || incx <= 0 {
            return Ok(());
        }
        let operations = operations(T::ARITHMETIC, vector.vector.length as f64);
        Ok(settings.stream.submit(vec![x as u64], operations, move |memory| {
            let alpha: T = alpha.get(memory)?;
            let x = vector.read::<T>(memory)?;
            vector.write(memory, x.into_iter().map(|x| alpha * x))
        })?)
    })
}

/// Submits a reduction whose result has a type that is an argument.
///
/// # Safety
/// `result` must be writable in the pointer mode of the host.
unsafe fn reduce<T: Scalar + Element>(
    settings: &Settings,
    vectors: Vec<AnyVector>,
    (result, result_type): (*mut c_void, c_int),
    reduction: impl Fn(&[Vec<T>]) -> T + Send + Sync + 'static,
) -> CallResult {
    let result_type = DataType::new(result_type)?;
    let length = vectors[0].vector.length;
    let operations = operations(T::ARITHMETIC, 2.0 * length as f64);
    let operands = vectors.iter().map(|vector| vector.vector.address).collect();
    let work = move |memory: &mut CallMemory<'_>| {
        let elements: Result<Vec<_>, _> =
            vectors.iter().map(|vector| vector.read(memory)).collect();
        Ok(reduction(&elements?))
    };
    with_element!(result_type, E => {
        let work = move |memory: &mut CallMemory<'_>| Ok(E::from_parts(work(memory)?.parts()));
        // SAFETY: the requirements are those of this function.
        unsafe { submit_with_result(settings, result.cast::<E>(), operands, operations, work) }
    })
}

/// Submits a dot product.
///
/// # Safety
/// `result` must be writable in the pointer mode of the host.
unsafe fn any_dot(
    handle: Handle,
    vectors: Vec<AnyVector>,
    result: (*mut c_void, c_int),
    execution: c_int,
    conjugated: bool,
) -> CallResult {
    let settings = settings(handle)?;
    with_scalar!(DataType::new(execution)?, T => {
        // SAFETY: the requirements are those of this function.
        unsafe { reduce::<T>(&settings, vectors, result, move |x| inner(&x[0], &x[1], conjugated)) }
    })
}

/// `cublasDotEx`.
///
/// # Safety
/// `result` must be writable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn dot(
    handle: Handle,
    n: c_int,
    x: *const c_void,
    x_type: c_int,
    incx: c_int,
    y: *const c_void,
    y_type: c_int,
    incy: c_int,
    result: *mut c_void,
    result_type: c_int,
    execution: c_int,
) -> CallResult {
    let vectors = vec![
        AnyVector::new(n, (x, x_type, incx))?,
        AnyVector::new(n, (y, y_type, incy))?,
    ];
    // SAFETY: the requirements are those of this function.
    unsafe { any_dot(handle, vectors, (result, result_type), execution, false) }
}

/// `cublasDotcEx`.
///
/// # Safety
/// `result` must be writable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn dotc(
    handle: Handle,
    n: c_int,
    x: *const c_void,
    x_type: c_int,
    incx: c_int,
    y: *const c_void,
    y_type: c_int,
    incy: c_int,
    result: *mut c_void,
    result_type: c_int,
    execution: c_int,
) -> CallResult {
    let vectors = vec![
        AnyVector::new(n, (x, x_type, incx))?,
        AnyVector::new(n, (y, y_type, incy))?,
    ];
    // SAFETY: the requirements are those of this function.
    unsafe { any_dot(handle, vectors, (result, result_type), execution, true) }
}

/// `cublasRotEx`.
///
/// # Safety
/// `c` and `s` must be readable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn rot(
    handle: Handle,
    n: c_int,
    x: *mut c_void,
    x_type: c_int,
    incx: c_int,
    y: *mut c_void,
    y_type: c_int,
    incy: c_int,
    c: *const c_void,
    s: *const c_void,
    cs_type: c_int,
    execution: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let first = AnyVector::new(n, (x.cast_const(), x_type, incx))?;
    let second = AnyVector::new(n, (y.cast_const(), y_type, incy))?;
    let (mode, scale) = (settings.pointer_mode, DataType::new(cs_type)?);
    // SAFETY: the requirements are those of this function.
    let (cosine, sine) = unsafe {
        (
            AnyScale::new(mode, c, scale)?,
            AnyScale::new(mode, s, scale)?,
        )
    };
    with_scalar!(DataType::new(execution)?, T => {
        if first.vector.length == 0 {
            return Ok(());
        }
        let operations = operations(T::ARITHMETIC, 6.0 * first.vector.length as f64);
        settings.stream.submit(vec![x as u64, y as u64], operations, move |memory| {
            let (c, s): (T, T) = (cosine.get(memory)?, sine.get(memory)?);
            let x = first.read::<T>(memory)?;
            let y = second.read::<T>(memory)?;
            let pairs = || x.iter().zip(&y);
            first.write(memory, pairs().map(|(&x, &y)| c * x + s * y))?;
            second.write(memory, pairs().map(|(&x, &y)| c * y - s.conj() * x))
        })
    })
}

/// Generates functions of rank k whose matrices have single complex elements: name, function and type of the scalars.
macro_rules! rank_k_of_types {
    ($($(#[$doc:meta])* $name:ident, $function:ident, $scale:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The scalars must be readable in the pointer mode of the host.
        #[allow(clippy::too_many_arguments, reason = "the signature is C's")]
        pub unsafe fn $name(
            handle: Handle, uplo: c_int, trans: c_int, n: c_int, k: c_int, alpha: *const $scale, a: *const c_void, a_type: c_int,
            lda: c_int, beta: *const $scale, c: *mut c_void, c_type: c_int, ldc: c_int,
        ) -> CallResult {
            if [DataType::new(a_type)?, DataType::new(c_type)?] != [DataType::C32; 2] {
                return Err(NOT_SUPPORTED);
            }
            // SAFETY: the requirements are those of this function.
            unsafe {
                level3::$function::<C32>(handle, uplo, trans, n, k, alpha, a.cast(), lda, beta, c.cast(), ldc)
            }
        }
    )*};
}

rank_k_of_types! {
    /// `cublasCsyrkEx` and `cublasCsyrk3mEx`.
    csyrk, syrk, C32;
    /// `cublasCherkEx` and `cublasCherk3mEx`.
    cherk, herk, f32;
}

/// `cublasNrm2Ex`.
///
/// # Safety
/// `result` must be writable in the pointer mode of the host.
#[allow(clippy::too_many_arguments, reason = "the signature is C's")]
pub unsafe fn nrm2(
    handle: Handle,
    n: c_int,
    x: *const c_void,
    x_type: c_int,
    incx: c_int,
    result: *mut c_void,
    result_type: c_int,
    execution: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let vectors = vec![AnyVector::new(n, (x, x_type, incx))?];
    with_scalar!(DataType::new(execution)?, T => {
        // SAFETY: the requirements are those of this function.
        unsafe { reduce::<T>(&settings, vectors, (result, result_type), |x| T::from_real(norm(&x[0]))) }
    })
}
