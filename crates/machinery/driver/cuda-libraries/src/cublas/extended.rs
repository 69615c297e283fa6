//! Functions of vectors whose element types are arguments (`cublasAxpyEx` and the like), and those of rank k.

use cuda_driver::{CallMemory, IllegalOperand};

use super::arguments::{Vector, submit_with_result};
use super::handle::{Handle, Settings, settings};
use super::level1::{inner, norm};
use super::scalar::{AnyScale, DataType, Element, Scalar, with_element, with_scalar};
use super::*;
use crate::call::operations;
use crate::functions::CallResult;

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

/// Generates the dot products: name, and true for those that conjugate `x`.
macro_rules! dot_products {
    ($($(#[$doc:meta])* $name:ident, $conjugated:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `result` must be writable in the pointer mode of the host.
        pub unsafe fn $name(
            handle: Handle, n: c_int, x: *const c_void, x_type: c_int, incx: c_int, y: *const c_void, y_type: c_int, incy: c_int,
            result: *mut c_void, result_type: c_int, execution: c_int,
        ) -> CallResult {
            let vectors = vec![AnyVector::new(n, (x, x_type, incx))?, AnyVector::new(n, (y, y_type, incy))?];
            let settings = settings(handle)?;
            with_scalar!(DataType::new(execution)?, T => {
                let dot = |x: &[Vec<T>]| inner(&x[0], &x[1], $conjugated);
                // SAFETY: the requirements are those of this function.
                unsafe { reduce::<T>(&settings, vectors, (result, result_type), dot) }
            })
        }
    )*};
}

dot_products! {
    /// `cublasDotEx`.
    dot, false;
    /// `cublasDotcEx`.
    dotc, true;
}

/// `cublasRotEx`.
///
/// # Safety
/// `c` and `s` must be readable in the pointer mode of the host.
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
    let scale = DataType::new(cs_type)?;
    // SAFETY: the requirements are those of this function.
    let [cosine, sine] = unsafe { AnyScale::pair(settings.pointer_mode, [c, s], scale) }?;
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
