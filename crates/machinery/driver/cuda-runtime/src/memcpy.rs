//! Copies: of contiguous bytes (`cudaMemcpy`), of pitched rows (`cudaMemcpy2D`), to and from arrays, and of
//! three-dimensional blocks (`cudaMemcpy3D`), by which all copies of more than one row are implemented.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_driver::reason::CopyEnd;
use cuda_driver::types::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED,
    CUDA_MEMCPY3D, CUarray, CUmemorytype, CUstream,
};
use cuda_driver::{Reason, functions as cu};

use self::Rows::{Array, Pitched};
use crate::arrays::array_info;
use crate::context::{context, device};
use crate::errors::{Error, Result, check};
use crate::functions::{driver_stream, read, run_synchronously};
use crate::memory::address;
use crate::types::{Extent, Memcpy3D, Memcpy3DPeer, PitchedPtr};

functions! {
    // Contiguous bytes
    cudaMemcpy(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) | cudaMemcpy_ptds => copy;
    cudaMemcpyAsync(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpyAsync_ptsz => copy_async;
    cudaMemcpyPeer(
        dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: usize,
    ) | cudaMemcpyPeer_ptds
        = copy(dst, src, bytes, between(dst_device, src_device)?), unsafe;
    cudaMemcpyPeerAsync(
        dst: *mut c_void, dst_device: c_int, src: *const c_void, src_device: c_int, bytes: usize,
        stream: CUstream,
    ) | cudaMemcpyPeerAsync_ptsz
        = copy_async(dst, src, bytes, between(dst_device, src_device)?, stream), unsafe;

    // Pitched rows, and arrays
    cudaMemcpy2D(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2D_ptds
        = copy_2d(Pitched(dst, dst_pitch), Pitched(src, src_pitch), width, height, kind)?.run();
    cudaMemcpy2DAsync(
        dst: *mut c_void, dst_pitch: usize, src: *const c_void, src_pitch: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DAsync_ptsz
        = copy_2d(Pitched(dst, dst_pitch), Pitched(src, src_pitch), width, height, kind)?
            .start(stream);
    cudaMemcpy2DToArray(
        dst: CUarray, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2DToArray_ptds
        = copy_2d(Array(dst, [x, y]), Pitched(src, pitch), width, height, kind)?.run();
    cudaMemcpy2DToArrayAsync(
        dst: CUarray, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DToArrayAsync_ptsz
        = copy_2d(Array(dst, [x, y]), Pitched(src, pitch), width, height, kind)?.start(stream);
    cudaMemcpy2DFromArray(
        dst: *mut c_void, pitch: usize, src: CUarray, x: usize, y: usize, width: usize,
        height: usize, kind: c_int,
    ) | cudaMemcpy2DFromArray_ptds
        = copy_2d(Pitched(dst, pitch), Array(src, [x, y]), width, height, kind)?.run();
    cudaMemcpy2DFromArrayAsync(
        dst: *mut c_void, pitch: usize, src: CUarray, x: usize, y: usize, width: usize,
        height: usize, kind: c_int, stream: CUstream,
    ) | cudaMemcpy2DFromArrayAsync_ptsz
        = copy_2d(Pitched(dst, pitch), Array(src, [x, y]), width, height, kind)?.start(stream);
    cudaMemcpy2DArrayToArray(
        dst: CUarray, dst_x: usize, dst_y: usize, src: CUarray, src_x: usize, src_y: usize,
        width: usize, height: usize, kind: c_int,
    ) | cudaMemcpy2DArrayToArray_ptds
        = copy_2d(Array(dst, [dst_x, dst_y]), Array(src, [src_x, src_y]), width, height, kind)?.run();
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

    // Three-dimensional blocks
    cudaMemcpy3D(params: *const Memcpy3D) | cudaMemcpy3D_ptds
        = from_params(&read(params)?)?.run(), unsafe;
    cudaMemcpy3DAsync(params: *const Memcpy3D, stream: CUstream) | cudaMemcpy3DAsync_ptsz
        = from_params(&read(params)?)?.start(stream), unsafe;
    cudaMemcpy3DPeer(params: *const Memcpy3DPeer) | cudaMemcpy3DPeer_ptds
        = from_params(&peer_params(&read(params)?)?)?.run(), unsafe;
    cudaMemcpy3DPeerAsync(
        params: *const Memcpy3DPeer, stream: CUstream,
    ) | cudaMemcpy3DPeerAsync_ptsz
        = from_params(&peer_params(&read(params)?)?)?.start(stream), unsafe;
}

/// The direction of a copy (`cudaMemcpyKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyKind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// The direction follows from the unified addresses.
    Default,
}

impl CopyKind {
    /// Returns the direction with this number, or `cudaErrorInvalidMemcpyDirection`.
    pub fn new(number: c_int) -> Result<Self> {
        Ok(match number {
            0 => Self::HostToHost,
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            3 => Self::DeviceToDevice,
            4 => Self::Default,
            _ => return Err(Error::INVALID_DIRECTION.because(Reason::UnknownDirection(number))),
        })
    }
}

/// `cudaMemcpy`.
pub(crate) unsafe fn copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> Result {
    let direction = CopyKind::new(kind)?;
    context()?;
    if bytes == 0 {
        return Ok(());
    }
    let (to, from) = (address(dst), address(src));
    run_synchronously(
        || {
            // SAFETY: `cudaMemcpy` requires `dst` and `src` to be valid for `bytes` bytes on the side given
            // by `kind`.
            check(unsafe {
                match direction {
                    CopyKind::HostToDevice => cu::cuMemcpyHtoD_v2(to, src, bytes),
                    CopyKind::DeviceToHost => cu::cuMemcpyDtoH_v2(dst, from, bytes),
                    CopyKind::DeviceToDevice => cu::cuMemcpyDtoD_v2(to, from, bytes),
                    CopyKind::HostToHost | CopyKind::Default => cu::cuMemcpy(to, from, bytes),
                }
            })
        },
        // SAFETY: `cudaMemcpy` and `cudaMemcpyAsync` require the same of `dst` and `src`.
        |stream| unsafe { copy_async(dst, src, bytes, kind, stream) },
    )
}

/// `cudaMemcpyAsync`.
pub(crate) unsafe fn copy_async(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: CUstream,
) -> Result {
    let direction = CopyKind::new(kind)?;
    context()?;
    if bytes == 0 {
        return Ok(());
    }
    let (to, from) = (address(dst), address(src));
    let stream = driver_stream(stream);
    // SAFETY: `cudaMemcpyAsync` requires `dst` and `src` to be valid for `bytes` bytes on the side given by
    // `kind` until the stream has completed the copy.
    check(unsafe {
        match direction {
            CopyKind::HostToDevice => cu::cuMemcpyHtoDAsync_v2(to, src, bytes, stream),
            CopyKind::DeviceToHost => cu::cuMemcpyDtoHAsync_v2(dst, from, bytes, stream),
            CopyKind::DeviceToDevice => cu::cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
            CopyKind::HostToHost | CopyKind::Default => cu::cuMemcpyAsync(to, from, bytes, stream),
        }
    })
}

/// Returns the kind of a copy between two devices, `cudaMemcpyDefault`: unified addresses already identify their
/// devices, so the ordinals are only validated.
fn between(dst_device: c_int, src_device: c_int) -> Result<c_int> {
    device(dst_device)?;
    device(src_device)?;
    Ok(4)
}

/// One end of a copy of rows.
enum Rows {
    /// Rows in linear memory: the address of the first, and the distance between rows.
    Pitched(*const c_void, usize),
    /// The part of an array that starts at this byte of a row and this row.
    Array(CUarray, [usize; 2]),
}

impl Rows {
    /// Describes this end of a copy. Fails with `cudaErrorInvalidPitchValue` if a row's `bytes` exceed the
    /// pitch.
    fn endpoint(self, end: CopyEnd, bytes: usize) -> Result<Endpoint> {
        match self {
            Pitched(_, pitch) if bytes > pitch => {
                let reason = Reason::WidthExceedsPitch(end, bytes as u64, pitch as u64);
                Err(Error::INVALID_PITCH.because(reason))
            }
            Pitched(start, pitch) => Ok(Endpoint {
                memory: Memory::Linear {
                    start,
                    pitch,
                    rows: 0,
                },
                offset: [0; 3],
            }),
            Array(array, _) if array.is_null() => Err(Error::INVALID_VALUE),
            Array(array, [x, y]) => Ok(Endpoint {
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
            let bytes = Pitched(src.wrapping_byte_add(segment.offset), segment.bytes);
            let part = Array(dst, [segment.x, segment.y]);
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
            let bytes = Pitched(dst.wrapping_byte_add(segment.offset), segment.bytes);
            let part = Array(src, [segment.x, segment.y]);
            copy(copy_2d(bytes, part, segment.bytes, segment.rows, kind)?)
        })
}

/// The memory at one end of a copy.
#[derive(Clone, Copy)]
pub(crate) enum Memory {
    /// Linear memory: its address, the pitch in bytes, and the rows per layer.
    Linear {
        start: *const c_void,
        pitch: usize,
        rows: usize,
    },
    Array(CUarray),
}

/// One end of a copy: the memory, and the origin in it as a byte of a row, a row and a layer.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    pub memory: Memory,
    pub offset: [usize; 3],
}

/// A copy of `layers` × `rows` rows of `bytes` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Copy3D {
    pub dst: Endpoint,
    pub src: Endpoint,
    pub bytes: usize,
    pub rows: usize,
    pub layers: usize,
    pub kind: CopyKind,
}

impl Copy3D {
    /// Copies synchronously.
    pub fn run(self) -> Result {
        context()?;
        if self.is_empty() {
            return Ok(());
        }
        run_synchronously(
            || {
                // SAFETY: the program guarantees the copy's contract: both ends are valid for its extent.
                check(unsafe { cu::cuMemcpy3D_v2(&self.driver_params()) })
            },
            |stream| self.start(stream),
        )
    }

    /// Copies asynchronously in a stream.
    pub fn start(self, stream: CUstream) -> Result {
        context()?;
        if self.is_empty() {
            return Ok(());
        }
        // SAFETY: the program guarantees the copy's contract: both ends stay valid for its extent until the
        // stream has completed it.
        check(unsafe { cu::cuMemcpy3DAsync_v2(&self.driver_params(), driver_stream(stream)) })
    }

    fn is_empty(&self) -> bool {
        self.bytes == 0 || self.rows == 0 || self.layers == 0
    }

    /// Converts the copy to the driver's structure.
    pub fn driver_params(&self) -> CUDA_MEMCPY3D {
        let (from_host, to_host) = match self.kind {
            CopyKind::HostToHost => (true, true),
            CopyKind::HostToDevice => (true, false),
            CopyKind::DeviceToHost => (false, true),
            CopyKind::DeviceToDevice | CopyKind::Default => (false, false),
        };
        let unified = matches!(self.kind, CopyKind::Default);
        let src = DriverEndpoint::new(self.src.memory, from_host, unified);
        let dst = DriverEndpoint::new(self.dst.memory, to_host, unified);
        CUDA_MEMCPY3D {
            srcXInBytes: self.src.offset[0],
            srcY: self.src.offset[1],
            srcZ: self.src.offset[2],
            srcLOD: 0,
            srcMemoryType: src.memory,
            srcHost: src.host,
            srcDevice: src.device,
            srcArray: src.array,
            reserved0: null_mut(),
            srcPitch: src.pitch,
            srcHeight: src.rows,
            dstXInBytes: self.dst.offset[0],
            dstY: self.dst.offset[1],
            dstZ: self.dst.offset[2],
            dstLOD: 0,
            dstMemoryType: dst.memory,
            dstHost: dst.host.cast_mut(),
            dstDevice: dst.device,
            dstArray: dst.array,
            reserved1: null_mut(),
            dstPitch: dst.pitch,
            dstHeight: dst.rows,
            WidthInBytes: self.bytes,
            Height: self.rows,
            Depth: self.layers,
        }
    }
}

/// One end in the driver's representation.
struct DriverEndpoint {
    memory: CUmemorytype,
    host: *const c_void,
    device: u64,
    array: CUarray,
    pitch: usize,
    rows: usize,
}

impl DriverEndpoint {
    fn new(memory: Memory, on_host: bool, unified: bool) -> Self {
        match memory {
            Memory::Array(array) => Self {
                memory: CU_MEMORYTYPE_ARRAY,
                host: std::ptr::null(),
                device: 0,
                array,
                pitch: 0,
                rows: 0,
            },
            Memory::Linear { start, pitch, rows } => Self {
                memory: match (unified, on_host) {
                    (true, _) => CU_MEMORYTYPE_UNIFIED,
                    (false, true) => CU_MEMORYTYPE_HOST,
                    (false, false) => CU_MEMORYTYPE_DEVICE,
                },
                host: start,
                device: address(start),
                array: null_mut(),
                pitch,
                rows,
            },
        }
    }
}

/// Converts a copy between devices to one in the unified address space, whose addresses identify the devices.
fn peer_params(params: &Memcpy3DPeer) -> Result<Memcpy3D> {
    /// `cudaMemcpyDefault`.
    const DEFAULT: c_int = 4;
    device(params.src_device)?;
    device(params.dst_device)?;
    Ok(Memcpy3D {
        src_array: params.src_array,
        src_pos: params.src_pos,
        src_ptr: params.src_ptr,
        dst_array: params.dst_array,
        dst_pos: params.dst_pos,
        dst_ptr: params.dst_ptr,
        extent: params.extent,
        kind: DEFAULT,
    })
}

/// Validates the runtime's parameters. If an array is involved, the extent and the positions in that array
/// count its elements; in linear memory positions count bytes.
pub(crate) fn from_params(params: &Memcpy3D) -> Result<Copy3D> {
    let kind = CopyKind::new(params.kind)?;
    let (src, src_element) = endpoint_memory(params.src_array, &params.src_ptr)?;
    let (dst, dst_element) = endpoint_memory(params.dst_array, &params.dst_ptr)?;
    let element = match (src_element, dst_element) {
        (Some(src), Some(dst)) if src != dst => return Err(Error::INVALID_VALUE),
        (Some(element), _) | (_, Some(element)) => element,
        (None, None) => 1,
    };
    let Extent {
        width,
        height,
        depth,
    } = params.extent;
    let bytes = width.checked_mul(element).ok_or(Error::INVALID_VALUE)?;
    let offset = |x: usize, element: Option<usize>| {
        let offset = x.checked_mul(element.unwrap_or(1));
        offset.ok_or(Error::INVALID_VALUE)
    };
    let (src_x, dst_x) = (
        offset(params.src_pos.x, src_element)?,
        offset(params.dst_pos.x, dst_element)?,
    );
    for (memory, x) in [(src, src_x), (dst, dst_x)] {
        let end_of_row = x.checked_add(bytes).ok_or(Error::INVALID_VALUE)?;
        if let Memory::Linear { pitch, .. } = memory
            && (height > 1 || depth > 1)
            && end_of_row > pitch
        {
            return Err(Error::INVALID_PITCH);
        }
    }
    Ok(Copy3D {
        dst: Endpoint {
            memory: dst,
            offset: [dst_x, params.dst_pos.y, params.dst_pos.z],
        },
        src: Endpoint {
            memory: src,
            offset: [src_x, params.src_pos.y, params.src_pos.z],
        },
        bytes,
        rows: height,
        layers: depth,
        kind,
    })
}

/// Returns an end's memory and, for an array, the bytes per element. Fails unless exactly one of array and
/// pointer is given.
fn endpoint_memory(array: CUarray, pointer: &PitchedPtr) -> Result<(Memory, Option<usize>)> {
    match (array.is_null(), pointer.ptr.is_null()) {
        (false, true) => Ok((Memory::Array(array), Some(array_info(array)?.format.bytes))),
        (true, false) => {
            let memory = Memory::Linear {
                start: pointer.ptr,
                pitch: pointer.pitch,
                rows: pointer.ysize,
            };
            Ok((memory, None))
        }
        _ => Err(Error::INVALID_VALUE),
    }
}
