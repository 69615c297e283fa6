//! Copies of vectors and matrices between host and device (`cublasSetMatrix` and the like).

use std::ffi::c_void;

use super::*;
use crate::functions::CallResult;

/// `CUBLAS_STATUS_MAPPING_ERROR`.
const MAPPING_ERROR: Status = Status(11);

/// The rows, the columns and the bytes per element of a copy.
type Shape = [c_int; 3];

/// A side of a copy: the first element and the leading dimension.
type Side = (u64, c_int);

/// Copies a matrix, with or without a stream.
///
/// # Safety
/// Memory of the host must be valid for the copy, until it is complete.
unsafe fn copy(shape: Shape, from: Side, to: Side, stream: Option<CUstream>) -> CallResult {
    /// `cudaMemcpyDefault`.
    const DEFAULT: c_int = 4;
    let [rows, columns, size] = shape.map(|value| usize::try_from(value).unwrap_or(usize::MAX));
    if shape.iter().any(|&value| value < 0)
        || size == 0
        || [from.1, to.1]
            .iter()
            .any(|&leading| leading < shape[0].max(1))
    {
        return Err(INVALID_VALUE);
    }
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let pitch = |side: Side| side.1 as usize * size;
    let target = std::ptr::with_exposed_provenance_mut::<c_void>(to.0 as usize);
    let source = std::ptr::with_exposed_provenance::<c_void>(from.0 as usize);
    // SAFETY: the requirements are those of this function.
    let code = unsafe {
        match stream {
            Some(stream) => cuda_runtime::cudaMemcpy2DAsync(
                target,
                pitch(to),
                source,
                pitch(from),
                rows * size,
                columns,
                DEFAULT,
                stream,
            ),
            None => cuda_runtime::cudaMemcpy2D(
                target,
                pitch(to),
                source,
                pitch(from),
                rows * size,
                columns,
                DEFAULT,
            ),
        }
    };
    match code {
        0 => Ok(()),
        _ => Err(MAPPING_ERROR),
    }
}

/// `cublasSetMatrix` and `cublasGetMatrix`.
///
/// # Safety
/// The memory must be valid for the copy.
pub unsafe fn matrix(
    rows: c_int,
    columns: c_int,
    size: c_int,
    from: *const c_void,
    from_leading: c_int,
    to: *mut c_void,
    to_leading: c_int,
) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe {
        copy(
            [rows, columns, size],
            (from as u64, from_leading),
            (to as u64, to_leading),
            None,
        )
    }
}

/// `cublasSetMatrixAsync` and `cublasGetMatrixAsync`.
///
/// # Safety
/// The memory must be valid until the copy is complete.
pub unsafe fn matrix_async(
    rows: c_int,
    columns: c_int,
    size: c_int,
    from: *const c_void,
    from_leading: c_int,
    to: *mut c_void,
    to_leading: c_int,
    stream: CUstream,
) -> CallResult {
    // SAFETY: the requirements are those of this function.
    unsafe {
        copy(
            [rows, columns, size],
            (from as u64, from_leading),
            (to as u64, to_leading),
            Some(stream),
        )
    }
}

/// Returns the copy of a vector as that of a matrix with one row, or with one column if its elements are contiguous.
fn vector_shape(
    length: c_int,
    size: c_int,
    increments: [c_int; 2],
) -> Result<(Shape, [c_int; 2]), Status> {
    match increments {
        _ if increments.iter().any(|&increment| increment <= 0) => Err(INVALID_VALUE),
        [1, 1] => Ok(([length, 1, size], [length.max(1); 2])),
        _ => Ok(([1, length, size], increments)),
    }
}

/// `cublasSetVector` and `cublasGetVector`.
///
/// # Safety
/// The memory must be valid for the copy.
pub unsafe fn vector(
    length: c_int,
    size: c_int,
    from: *const c_void,
    from_increment: c_int,
    to: *mut c_void,
    to_increment: c_int,
) -> CallResult {
    let (shape, [from_leading, to_leading]) =
        vector_shape(length, size, [from_increment, to_increment])?;
    // SAFETY: the requirements are those of this function.
    unsafe {
        copy(
            shape,
            (from as u64, from_leading),
            (to as u64, to_leading),
            None,
        )
    }
}

/// `cublasSetVectorAsync` and `cublasGetVectorAsync`.
///
/// # Safety
/// The memory must be valid until the copy is complete.
pub unsafe fn vector_async(
    length: c_int,
    size: c_int,
    from: *const c_void,
    from_increment: c_int,
    to: *mut c_void,
    to_increment: c_int,
    stream: CUstream,
) -> CallResult {
    let (shape, [from_leading, to_leading]) =
        vector_shape(length, size, [from_increment, to_increment])?;
    // SAFETY: the requirements are those of this function.
    unsafe {
        copy(
            shape,
            (from as u64, from_leading),
            (to as u64, to_leading),
            Some(stream),
        )
    }
}
