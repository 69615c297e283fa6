//! Copies of pitched rows (`cudaMemcpy2D…`), and copies to and from arrays.

use std::ffi::{c_int, c_void};

use cuda_driver::Reason;
use cuda_driver::reason::CopyEnd;
use cuda_driver::types::{CUarray, CUstream};

use crate::arrays::array_info;
use crate::errors::{Error, Result};
use crate::memcpy::CopyKind;
use crate::memcpy_3d::{Copy3D, Endpoint, Memory};

functions! {
    cudaMemcpy2D(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2D_ptds
        = copy_2d(pitched(dst, dst_pitch), pitched(src, src_pitch), width, height, kind)?.run();
    cudaMemcpy2DAsync(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DAsync_ptsz
        = copy_2d(pitched(dst, dst_pitch), pitched(src, src_pitch), width, height, kind)?
            .start(stream);
    cudaMemcpy2DToArray(
        dst: CUarray, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2DToArray_ptds
        = copy_2d(array(dst, x, y), pitched(src, pitch), width, height, kind)?.run();
    cudaMemcpy2DToArrayAsync(
        dst: CUarray, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DToArrayAsync_ptsz
        = copy_2d(array(dst, x, y), pitched(src, pitch), width, height, kind)?.start(stream);
    cudaMemcpy2DFromArray(
        dst: *mut c_void, pitch: usize, src: CUarray, x: usize, y: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2DFromArray_ptds
        = copy_2d(pitched(dst, pitch), array(src, x, y), width, height, kind)?.run();
    cudaMemcpy2DFromArrayAsync(
        dst: *mut c_void, pitch: usize, src: CUarray, x: usize, y: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DFromArrayAsync_ptsz
        = copy_2d(pitched(dst, pitch), array(src, x, y), width, height, kind)?.start(stream);
    cudaMemcpy2DArrayToArray(
        dst: CUarray, dst_x: usize, dst_y: usize, src: CUarray, src_x: usize, src_y: usize,
        width: usize, height: usize, kind: c_int,
    ) | cudaMemcpy2DArrayToArray_ptds
        = copy_2d(array(dst, dst_x, dst_y), array(src, src_x, src_y), width, height, kind)?.run();
    cudaMemcpyToArray(
        dst: CUarray, x: usize, y: usize, src: *const c_void, bytes: usize, kind: c_int,
    ) | cudaMemcpyToArray_ptds
        = bytes_to_array(dst, [x, y], src, bytes, kind, Copy3D::run);
    cudaMemcpyToArrayAsync(
        dst: CUarray, x: usize, y: usize, src: *const c_void, bytes: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyToArrayAsync_ptsz
        = bytes_to_array(dst, [x, y], src, bytes, kind, |copy| copy.start(stream));
    cudaMemcpyFromArray(
        dst: *mut c_void, src: CUarray, x: usize, y: usize, bytes: usize, kind: c_int,
    ) | cudaMemcpyFromArray_ptds
        = bytes_from_array(dst, src, [x, y], bytes, kind, Copy3D::run);
    cudaMemcpyFromArrayAsync(
        dst: *mut c_void, src: CUarray, x: usize, y: usize, bytes: usize, kind: c_int,
        stream: CUstream,
    ) | cudaMemcpyFromArrayAsync_ptsz
        = bytes_from_array(dst, src, [x, y], bytes, kind, |copy| copy.start(stream));
}

/// One end of a copy of rows.
enum Rows {
    /// Rows in linear memory: the address of the first, and the distance between rows.
    Pitched(*const c_void, usize),
    /// The part of an array that starts at this byte of a row and this row.
    Array(CUarray, [usize; 2]),
}

fn pitched(start: *const c_void, pitch: usize) -> Rows {
    Rows::Pitched(start, pitch)
}

fn array(array: CUarray, x: usize, y: usize) -> Rows {
    Rows::Array(array, [x, y])
}

impl Rows {
    /// Describes this end of a copy. Fails with `cudaErrorInvalidPitchValue` if a row's `bytes` exceed the
    /// pitch.
    fn endpoint(self, end: CopyEnd, bytes: usize) -> Result<Endpoint> {
        match self {
            Rows::Pitched(_, pitch) if bytes > pitch => {
                let reason = Reason::WidthExceedsPitch(end, bytes as u64, pitch as u64);
                Err(Error::INVALID_PITCH.because(reason))
            }
            Rows::Pitched(start, pitch) => Ok(Endpoint {
                memory: Memory::Linear {
                    start,
                    pitch,
                    rows: 0,
                },
                offset: [0; 3],
            }),
            Rows::Array(array, _) if array.is_null() => Err(Error::INVALID_VALUE),
            Rows::Array(array, [x, y]) => Ok(Endpoint {
                memory: Memory::Array(array),
                offset: [x, y, 0],
            }),
        }
    }
}

/// Describes a copy of `rows` rows of `bytes` bytes.
fn copy_2d(dst: Rows, src: Rows, bytes: usize, rows: usize, kind: c_int) -> Result<Copy3D> {
    Ok(Copy3D {
        dst: dst.endpoint(CopyEnd::Destination, bytes)?,
        src: src.endpoint(CopyEnd::Source, bytes)?,
        bytes,
        rows,
        layers: 1,
        kind: CopyKind::new(kind)?,
    })
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
fn segments(array: CUarray, [x, y]: [usize; 2], count: usize) -> Result<[Segment; 3]> {
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
    Ok(segments.map(|(x, y, offset, bytes, rows)| Segment {
        x,
        y,
        offset,
        bytes,
        rows,
    }))
}

/// Copies contiguous bytes to part of an array, which starts at a byte of a row and a row. `copy` makes the copy
/// of one rectangle.
fn bytes_to_array(
    dst: CUarray,
    start: [usize; 2],
    src: *const c_void,
    count: usize,
    kind: c_int,
    copy: impl Fn(Copy3D) -> Result,
) -> Result {
    segments(dst, start, count)?
        .into_iter()
        .try_for_each(|segment| {
            let bytes = pitched(src.wrapping_byte_add(segment.offset), segment.bytes);
            let part = array(dst, segment.x, segment.y);
            copy(copy_2d(part, bytes, segment.bytes, segment.rows, kind)?)
        })
}

/// Copies part of an array, which starts at a byte of a row and a row, to contiguous bytes. `copy` makes the copy
/// of one rectangle.
fn bytes_from_array(
    dst: *mut c_void,
    src: CUarray,
    start: [usize; 2],
    count: usize,
    kind: c_int,
    copy: impl Fn(Copy3D) -> Result,
) -> Result {
    segments(src, start, count)?
        .into_iter()
        .try_for_each(|segment| {
            let bytes = pitched(dst.wrapping_byte_add(segment.offset), segment.bytes);
            let part = array(src, segment.x, segment.y);
            copy(copy_2d(bytes, part, segment.bytes, segment.rows, kind)?)
        })
}
