//! Copies of rows with a distance between them (`cudaMemcpy2D…`), and to and from arrays.

use std::ffi::{c_int, c_void};

use cust_raw::{CUarray, CUstream};

use crate::arrays::describe;
use crate::copies::Kind;
use crate::status::{Answer, Error};
use crate::volume::{Copy, End, From};

/// Rows in linear memory. A row has to fit between the starts of two.
fn rows(start: *const c_void, pitch: usize, bytes: usize) -> Answer<From> {
    if bytes > pitch {
        return Err(Error::INVALID_PITCH);
    }
    Ok(From {
        end: End::Linear {
            start,
            pitch,
            rows: 0,
        },
        at: [0; 3],
    })
}

/// A part of an array, from a byte of a row on.
fn part(array: CUarray, x: usize, y: usize) -> Answer<From> {
    if array.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    Ok(From {
        end: End::Array(array),
        at: [x, y, 0],
    })
}

/// So many bytes of so many rows.
fn plane(dst: From, src: From, bytes: usize, rows: usize, kind: c_int) -> Answer<Copy> {
    Ok(Copy {
        dst,
        src,
        bytes,
        rows,
        layers: 1,
        kind: Kind::new(kind)?,
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
) -> Answer {
    let (dst, src) = (rows(dst, dst_pitch, bytes)?, rows(src, src_pitch, bytes)?);
    plane(dst, src, bytes, height, kind)?.run()
}

/// `cudaMemcpy2DAsync`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub unsafe fn copy_async(
    dst: *mut c_void,
    dst_pitch: usize,
    src: *const c_void,
    src_pitch: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
    stream: CUstream,
) -> Answer {
    let (dst, src) = (rows(dst, dst_pitch, bytes)?, rows(src, src_pitch, bytes)?);
    plane(dst, src, bytes, height, kind)?.start(stream)
}

/// `cudaMemcpy2DToArray`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub unsafe fn to_array(
    dst: CUarray,
    x: usize,
    y: usize,
    src: *const c_void,
    pitch: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
) -> Answer {
    plane(
        part(dst, x, y)?,
        rows(src, pitch, bytes)?,
        bytes,
        height,
        kind,
    )?
    .run()
}

/// `cudaMemcpy2DToArrayAsync`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
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
) -> Answer {
    plane(
        part(dst, x, y)?,
        rows(src, pitch, bytes)?,
        bytes,
        height,
        kind,
    )?
    .start(stream)
}

/// `cudaMemcpy2DFromArray`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub unsafe fn from_array(
    dst: *mut c_void,
    pitch: usize,
    src: CUarray,
    x: usize,
    y: usize,
    bytes: usize,
    height: usize,
    kind: c_int,
) -> Answer {
    plane(
        rows(dst, pitch, bytes)?,
        part(src, x, y)?,
        bytes,
        height,
        kind,
    )?
    .run()
}

/// `cudaMemcpy2DFromArrayAsync`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
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
) -> Answer {
    plane(
        rows(dst, pitch, bytes)?,
        part(src, x, y)?,
        bytes,
        height,
        kind,
    )?
    .start(stream)
}

/// `cudaMemcpy2DArrayToArray`.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
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
) -> Answer {
    let (dst, src) = (part(dst, dst_x, dst_y)?, part(src, src_x, src_y)?);
    plane(dst, src, bytes, height, kind)?.run()
}

/// A piece of a copy between an array and bytes in a row: its place in the array, its first byte in the
/// row of bytes, and its size.
struct Piece {
    x: usize,
    y: usize,
    from: usize,
    bytes: usize,
    rows: usize,
}

/// The pieces of a copy of `count` bytes to or from an array, from byte `x` of row `y` on, and on through
/// the rows below: the rest of the first row, whole rows, and the start of the last.
fn pieces(array: CUarray, x: usize, y: usize, count: usize) -> Answer<Vec<Piece>> {
    let described = describe(array)?;
    let row = described.extent.width * described.format.bytes;
    if x >= row {
        return Err(Error::INVALID_VALUE);
    }
    let first = count.min(row - x);
    let whole = (count - first) / row;
    let last = count - first - whole * row;
    let pieces = [
        (x, y, 0, first, 1),
        (0, y + 1, first, row, whole),
        (0, y + 1 + whole, first + whole * row, last, 1),
    ];
    let pieces = pieces.map(|(x, y, from, bytes, rows)| Piece {
        x,
        y,
        from,
        bytes,
        rows,
    });
    Ok(pieces.into_iter().collect())
}

/// `cudaMemcpyToArray`.
pub unsafe fn bytes_to_array(
    dst: CUarray,
    x: usize,
    y: usize,
    src: *const c_void,
    count: usize,
    kind: c_int,
) -> Answer {
    for piece in pieces(dst, x, y, count)? {
        let src = rows(src.wrapping_byte_add(piece.from), piece.bytes, piece.bytes)?;
        let dst = part(dst, piece.x, piece.y)?;
        plane(dst, src, piece.bytes, piece.rows, kind)?.run()?;
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
) -> Answer {
    for piece in pieces(dst, x, y, count)? {
        let src = rows(src.wrapping_byte_add(piece.from), piece.bytes, piece.bytes)?;
        let dst = part(dst, piece.x, piece.y)?;
        plane(dst, src, piece.bytes, piece.rows, kind)?.start(stream)?;
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
) -> Answer {
    for piece in pieces(src, x, y, count)? {
        let dst = rows(dst.wrapping_byte_add(piece.from), piece.bytes, piece.bytes)?;
        let src = part(src, piece.x, piece.y)?;
        plane(dst, src, piece.bytes, piece.rows, kind)?.run()?;
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
) -> Answer {
    for piece in pieces(src, x, y, count)? {
        let dst = rows(dst.wrapping_byte_add(piece.from), piece.bytes, piece.bytes)?;
        let src = part(src, piece.x, piece.y)?;
        plane(dst, src, piece.bytes, piece.rows, kind)?.start(stream)?;
    }
    Ok(())
}
