//! Copies of pitched rows (`cudaMemcpy2D…`), and copies to and from arrays.

use std::ffi::{c_int, c_void};

use cust_raw::{CUarray, CUstream};

use crate::arrays::array_info;
use crate::memcpy::CopyKind;
use crate::memcpy_3d::{Copy3D, Endpoint, Memory};
use crate::status::{Error, Result};

/// Describes rows in linear memory. Fails with `cudaErrorInvalidPitchValue` if a row exceeds the pitch.
fn linear_endpoint(start: *const c_void, pitch: usize, bytes: usize) -> Result<Endpoint> {
    if bytes > pitch {
        return Err(Error::INVALID_PITCH);
    }
    Ok(Endpoint {
        memory: Memory::Linear {
            start,
            pitch,
            rows: 0,
        },
        offset: [0; 3],
    })
}

/// Describes the part of an array that starts at byte `x` of row `y`.
fn array_endpoint(array: CUarray, x: usize, y: usize) -> Result<Endpoint> {
    if array.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    Ok(Endpoint {
        memory: Memory::Array(array),
        offset: [x, y, 0],
    })
}

/// Describes a copy of `rows` rows of `bytes` bytes.
fn copy_2d(dst: Endpoint, src: Endpoint, bytes: usize, rows: usize, kind: c_int) -> Result<Copy3D> {
    Ok(Copy3D {
        dst,
        src,
        bytes,
        rows,
        layers: 1,
        kind: CopyKind::new(kind)?,
    })
}

/// `cudaMemcpy2D`.
pub unsafe fn copy(
    dst: *mut c_void,
    dst_pitch: usize,
    src: *const c_void,
    src_pitch: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
) -> Result {
    let (dst, src) = (
        linear_endpoint(dst, dst_pitch, bytes)?,
        linear_endpoint(src, src_pitch, bytes)?,
    );
    copy_2d(dst, src, bytes, height, kind)?.run()
}

/// `cudaMemcpy2DAsync`.
#[expect(
    clippy::too_many_arguments,
    reason = "the parameters are those of the C API"
)]
pub unsafe fn copy_async(
    dst: *mut c_void,
    dst_pitch: usize,
    src: *const c_void,
    src_pitch: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    let (dst, src) = (
        linear_endpoint(dst, dst_pitch, bytes)?,
        linear_endpoint(src, src_pitch, bytes)?,
    );
    copy_2d(dst, src, bytes, height, kind)?.start(stream)
}

/// `cudaMemcpy2DToArray`.
#[expect(
    clippy::too_many_arguments,
    reason = "the parameters are those of the C API"
)]
pub unsafe fn to_array(
    dst: CUarray,
    x: usize,
    y: usize,
    src: *const c_void,
    pitch: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
) -> Result {
    copy_2d(
        array_endpoint(dst, x, y)?,
        linear_endpoint(src, pitch, bytes)?,
        bytes,
        height,
        kind,
    )?
    .run()
}

/// `cudaMemcpy2DToArrayAsync`.
#[expect(
    clippy::too_many_arguments,
    reason = "the parameters are those of the C API"
)]
pub unsafe fn to_array_async(
    dst: CUarray,
    x: usize,
    y: usize,
    src: *const c_void,
    pitch: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    copy_2d(
        array_endpoint(dst, x, y)?,
        linear_endpoint(src, pitch, bytes)?,
        bytes,
        height,
        kind,
    )?
    .start(stream)
}

/// `cudaMemcpy2DFromArray`.
#[expect(
    clippy::too_many_arguments,
    reason = "the parameters are those of the C API"
)]
pub unsafe fn from_array(
    dst: *mut c_void,
    pitch: usize,
    src: CUarray,
    x: usize,
    y: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
) -> Result {
    copy_2d(
        linear_endpoint(dst, pitch, bytes)?,
        array_endpoint(src, x, y)?,
        bytes,
        height,
        kind,
    )?
    .run()
}

/// `cudaMemcpy2DFromArrayAsync`.
#[expect(
    clippy::too_many_arguments,
    reason = "the parameters are those of the C API"
)]
pub unsafe fn from_array_async(
    dst: *mut c_void,
    pitch: usize,
    src: CUarray,
    x: usize,
    y: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    copy_2d(
        linear_endpoint(dst, pitch, bytes)?,
        array_endpoint(src, x, y)?,
        bytes,
        height,
        kind,
    )?
    .start(stream)
}

/// `cudaMemcpy2DArrayToArray`.
#[expect(
    clippy::too_many_arguments,
    reason = "the parameters are those of the C API"
)]
pub unsafe fn between_arrays(
    dst: CUarray,
    dst_x: usize,
    dst_y: usize,
    src: CUarray,
    src_x: usize,
    src_y: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
) -> Result {
    let (dst, src) = (
        array_endpoint(dst, dst_x, dst_y)?,
        array_endpoint(src, src_x, src_y)?,
    );
    copy_2d(dst, src, bytes, height, kind)?.run()
}

/// A rectangular segment of a copy between an array and contiguous bytes: its origin in the array, its
/// offset in the bytes, and its size.
struct Segment {
    x: usize,
    y: usize,
    offset: usize,
    bytes: usize,
    rows: usize,
}

/// Splits a copy of `count` bytes, which starts at byte `x` of row `y` of an array and continues through the
/// following rows, into rectangles: the rest of the first row, the whole rows, and the start of the last.
fn segments(array: CUarray, x: usize, y: usize, count: usize) -> Result<Vec<Segment>> {
    let info = array_info(array)?;
    let row = info.extent.width * info.format.bytes;
    if x >= row {
        return Err(Error::INVALID_VALUE);
    }
    let first = count.min(row - x);
    let whole_rows = (count - first) / row;
    let last = count - first - whole_rows * row;
    let segments = [
        (x, y, 0, first, 1),
        (0, y + 1, first, row, whole_rows),
        (0, y + 1 + whole_rows, first + whole_rows * row, last, 1),
    ];
    let segments = segments.map(|(x, y, offset, bytes, rows)| Segment {
        x,
        y,
        offset,
        bytes,
        rows,
    });
    Ok(segments.into_iter().collect())
}

/// `cudaMemcpyToArray`.
pub unsafe fn bytes_to_array(
    dst: CUarray,
    x: usize,
    y: usize,
    src: *const c_void,
    count: usize,
    kind: c_int,
) -> Result {
    for segment in segments(dst, x, y, count)? {
        let src = linear_endpoint(
            src.wrapping_byte_add(segment.offset),
            segment.bytes,
            segment.bytes,
        )?;
        let dst = array_endpoint(dst, segment.x, segment.y)?;
        copy_2d(dst, src, segment.bytes, segment.rows, kind)?.run()?;
    }
    Ok(())
}

/// `cudaMemcpyToArrayAsync`.
pub unsafe fn bytes_to_array_async(
    dst: CUarray,
    x: usize,
    y: usize,
    src: *const c_void,
    count: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    for segment in segments(dst, x, y, count)? {
        let src = linear_endpoint(
            src.wrapping_byte_add(segment.offset),
            segment.bytes,
            segment.bytes,
        )?;
        let dst = array_endpoint(dst, segment.x, segment.y)?;
        copy_2d(dst, src, segment.bytes, segment.rows, kind)?.start(stream)?;
    }
    Ok(())
}

/// `cudaMemcpyFromArray`.
pub unsafe fn bytes_from_array(
    dst: *mut c_void,
    src: CUarray,
    x: usize,
    y: usize,
    count: usize,
    kind: c_int,
) -> Result {
    for segment in segments(src, x, y, count)? {
        let dst = linear_endpoint(
            dst.wrapping_byte_add(segment.offset),
            segment.bytes,
            segment.bytes,
        )?;
        let src = array_endpoint(src, segment.x, segment.y)?;
        copy_2d(dst, src, segment.bytes, segment.rows, kind)?.run()?;
    }
    Ok(())
}

/// `cudaMemcpyFromArrayAsync`.
pub unsafe fn bytes_from_array_async(
    dst: *mut c_void,
    src: CUarray,
    x: usize,
    y: usize,
    count: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    for segment in segments(src, x, y, count)? {
        let dst = linear_endpoint(
            dst.wrapping_byte_add(segment.offset),
            segment.bytes,
            segment.bytes,
        )?;
        let src = array_endpoint(src, segment.x, segment.y)?;
        copy_2d(dst, src, segment.bytes, segment.rows, kind)?.start(stream)?;
    }
    Ok(())
}
