//! Matrix multiplications: one or a batch, of elements whose type a function's name or its arguments state.

use cuda_driver::{Arithmetic, CallMemory, IllegalOperand};

use super::arguments::{Op, leading, size};
use super::batched::Batch;
use super::handle::{Handle, Settings, settings};
use super::scalar::{
    AnyScale, DataType, Element, Factor, Scalar, Sizes, StridedMut, multiply, read_as,
    with_element, with_scalar, write_as,
};
use super::*;
use crate::call::{Columns, operations};
use crate::functions::CallResult;

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
        // The numbers of `cublasComputeType_t`: 16F, 32F with its fast variants, 64F and 32I, each plain and pedantic.
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

    /// Returns the types of a multiplication whose matrices and scalars have one type.
    fn uniform(data_type: DataType) -> Self {
        let compute = match data_type {
            DataType::F16 => DataType::F32,
            other => other,
        };
        Self {
            matrices: [data_type; 3],
            compute,
            scale: data_type,
        }
    }

    pub fn arithmetic(&self) -> Arithmetic {
        match self.matrices[0] {
            DataType::F64 | DataType::C64 => Arithmetic::Double,
            DataType::F32 | DataType::C32 => Arithmetic::Single,
            _ => Arithmetic::Half,
        }
    }
}

/// The sizes, operations and leading dimensions of `C = alpha * op(A) * op(B) + beta * C`.
#[derive(Clone, Copy)]
struct Gemm {
    sizes: Sizes,
    ops: [Op; 2],
    /// The leading dimensions of A, B and C.
    leading: [usize; 3],
}

impl Gemm {
    /// Checks the arguments of C.
    fn new(
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

    fn is_empty(&self) -> bool {
        self.sizes.m == 0 || self.sizes.n == 0
    }

    /// Returns the memory of A, B and C.
    fn operands(&self, addresses: [u64; 3]) -> [Columns; 3] {
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

    /// Multiplies matrices in memory of the host; each factor is its first element and its leading dimension.
    ///
    /// # Safety
    /// The factors must be valid for these sizes, or unused because `alpha` or the length of the sums is zero; so must be
    /// `target`, which must not overlap them.
    unsafe fn multiply<T: Scalar>(
        &self,
        [alpha, beta]: [T; 2],
        factors: [(*const T, usize); 2],
        target: StridedMut<T>,
    ) {
        let factor = |i: usize| {
            let ((start, leading), op) = (factors[i], self.ops[i]);
            Factor::new(start, leading, op.is_transposed(), op.is_conjugated())
        };
        // SAFETY: the requirements are those of this function.
        unsafe { multiply(self.sizes, alpha, factor(0), factor(1), beta, target) };
    }

    /// Computes the product in device memory.
    fn compute<T: Scalar>(
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
        let target = StridedMut {
            start: match beta.is_zero() {
                true => c.write(memory)?,
                false => c.update(memory)?,
            },
            column: c.leading,
        };
        let factors = [(first, a.leading), (second, b.leading)];
        // SAFETY: the matrices are in device memory, where the memory of the call has found them.
        unsafe { self.multiply([alpha, beta], factors, target) };
        Ok(())
    }

    /// Computes the product in device memory, of and to elements of these types.
    fn compute_as<T: Scalar + Element>(
        &self,
        memory: &mut CallMemory<'_>,
        types: Types,
        addresses: [u64; 3],
        scales: [T; 2],
    ) -> Result<(), IllegalOperand> {
        if types.matrices == [types.compute; 3] {
            return self.compute::<T>(memory, addresses, scales);
        }
        let [a, b, c] = self.operands(addresses);
        let first = read_as::<T>(memory, a, types.matrices[0])?;
        let second = read_as::<T>(memory, b, types.matrices[1])?;
        let mut result = match scales[1].is_zero() {
            true => vec![T::zero(); c.rows * c.columns],
            false => read_as(memory, c, types.matrices[2])?,
        };
        let target = StridedMut {
            start: result.as_mut_ptr(),
            column: c.rows,
        };
        let factors = [(first.as_ptr(), a.rows), (second.as_ptr(), b.rows)];
        // SAFETY: the vectors have these sizes.
        unsafe { self.multiply(scales, factors, target) };
        write_as(memory, c, types.matrices[2], &result)
    }
}

/// Submits the multiplications of a batch.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
unsafe fn submit<S>(
    settings: &Settings,
    gemm: Gemm,
    types: Types,
    scales: [*const S; 2],
    batches: [Batch; 3],
    count: c_int,
) -> CallResult {
    let count = size(count)?;
    // SAFETY: the requirements are those of this function.
    let [alpha, beta] = unsafe {
        let scales = scales.map(|scale| scale.cast());
        AnyScale::pair(settings.pointer_mode, scales, types.scale)
    }?;
    if gemm.is_empty() || count == 0 {
        return Ok(());
    }
    with_scalar!(types.compute, T => {
        let operations = operations(types.arithmetic(), gemm.sizes.operations::<T>() * count as f64);
        let operands = batches.map(Batch::address).to_vec();
        Ok(settings.stream.submit(operands, operations, move |memory| {
            let scales = [alpha.get::<T>(memory)?, beta.get(memory)?];
            for index in 0..count {
                let addresses = Batch::addresses(&batches, memory, index)?;
                gemm.compute_as(memory, types, addresses, scales)?;
            }
            Ok(())
        })?)
    })
}

/// Returns the matrices of a strided batch, whose strides count elements of these types.
fn strided(addresses: [u64; 3], strides: [i64; 3], types: Types) -> [Batch; 3] {
    std::array::from_fn(|i| {
        let bytes = with_element!(types.matrices[i], E => size_of::<E>());
        Batch::Strided(addresses[i], strides[i] * bytes as i64)
    })
}

/// `cublas?gemm`, including `cublasHgemm`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemm<T: Element>(
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
    let types = Types::uniform(T::DATA_TYPE);
    let batches = [a as u64, b as u64, c as u64].map(|address| Batch::Strided(address, 0));
    // SAFETY: the requirements are those of this function.
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, 1) }
}

/// `cublas?gemmBatched`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemm_array<T: Element>(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const T,
    a: *const *const T,
    lda: c_int,
    b: *const *const T,
    ldb: c_int,
    beta: *const T,
    c: *const *mut T,
    ldc: c_int,
    count: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let gemm = Gemm::new([transa, transb], [m, n, k], [lda, ldb, ldc])?;
    let types = Types::uniform(T::DATA_TYPE);
    let batches = [a as u64, b as u64, c as u64].map(Batch::Array);
    // SAFETY: the requirements are those of this function.
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, count) }
}

/// `cublas?gemmStridedBatched`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemm_strided<T: Element>(
    handle: Handle,
    transa: c_int,
    transb: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const T,
    a: *const T,
    lda: c_int,
    stride_a: i64,
    b: *const T,
    ldb: c_int,
    stride_b: i64,
    beta: *const T,
    c: *mut T,
    ldc: c_int,
    stride_c: i64,
    count: c_int,
) -> CallResult {
    let settings = settings(handle)?;
    let gemm = Gemm::new([transa, transb], [m, n, k], [lda, ldb, ldc])?;
    let types = Types::uniform(T::DATA_TYPE);
    let batches = strided(
        [a as u64, b as u64, c as u64],
        [stride_a, stride_b, stride_c],
        types,
    );
    // SAFETY: the requirements are those of this function.
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, count) }
}

/// `cublasGemmEx`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemm_ex(
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
pub unsafe fn gemm_array_ex(
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
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, count) }
}

/// `cublasGemmStridedBatchedEx`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemm_strided_ex(
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
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, count) }
}

/// `CUBLAS_COMPUTE_32F`.
const COMPUTE_32F: c_int = 68;

/// `cublasSgemmEx` and `cublasCgemmEx`, which compute in `T`.
///
/// # Safety
/// The scalars must be readable in the pointer mode of the host.
pub unsafe fn gemm_ex_of<T: Element>(
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
    let settings = settings(handle)?;
    let gemm = Gemm::new([transa, transb], [m, n, k], [lda, ldb, ldc])?;
    let types = Types::new([a_type, b_type, c_type], COMPUTE_32F)?;
    let batches = [a as u64, b as u64, c as u64].map(|address| Batch::Strided(address, 0));
    // SAFETY: the requirements are those of this function.
    unsafe { submit(&settings, gemm, types, [alpha, beta], batches, 1) }
}
