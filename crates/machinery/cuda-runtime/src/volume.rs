//! Copies of blocks: of rows in layers, in linear memory and in arrays. All copies of more than one row
//! come to this.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cust_raw::{CUDA_MEMCPY3D, CUarray, CUmemorytype, CUstream};

use crate::arguments::read;
use crate::arrays::describe;
use crate::copies::Kind;
use crate::memory::address;
use crate::start::{context, device};
use crate::status::{Answer, Error, driver};
use crate::stream::{named, waited};
use crate::types::{Extent, Memcpy3D, Memcpy3DPeer, PitchedPtr};

/// One end of a copy.
#[derive(Clone, Copy)]
pub enum End {
    /// Linear memory: where it starts, from one row to the next, and rows of a layer.
    Linear {
        start: *const c_void,
        pitch: usize,
        rows: usize,
    },
    Array(CUarray),
}

/// An end of a copy, and where in it the copy begins: a byte of a row, a row, and a layer.
#[derive(Clone, Copy)]
pub struct From {
    pub end: End,
    pub at: [usize; 3],
}

/// A copy: so many bytes of a row, rows and layers.
#[derive(Clone, Copy)]
pub struct Copy {
    pub dst: From,
    pub src: From,
    pub bytes: usize,
    pub rows: usize,
    pub layers: usize,
    pub kind: Kind,
}

impl Copy {
    /// Copies, and waits.
    pub fn run(self) -> Answer {
        context()?;
        if self.is_empty() {
            return Ok(());
        }
        waited(
            || {
                // SAFETY: the program's promise to the function that it has called.
                driver(unsafe { cu::cuMemcpy3D_v2(&self.described()) })
            },
            |stream| self.start(stream),
        )
    }

    /// Copies in a stream.
    pub fn start(self, stream: CUstream) -> Answer {
        context()?;
        if self.is_empty() {
            return Ok(());
        }
        // SAFETY: the program's promise to the function that it has called.
        driver(unsafe { cu::cuMemcpy3DAsync_v2(&self.described(), named(stream)) })
    }

    fn is_empty(&self) -> bool {
        self.bytes == 0 || self.rows == 0 || self.layers == 0
    }

    /// The copy as the driver wants it.
    pub fn described(&self) -> CUDA_MEMCPY3D {
        let (from_host, to_host) = match self.kind {
            Kind::HostToHost => (true, true),
            Kind::HostToDevice => (true, false),
            Kind::DeviceToHost => (false, true),
            Kind::DeviceToDevice | Kind::Default => (false, false),
        };
        let unified = matches!(self.kind, Kind::Default);
        let src = Side::new(self.src.end, from_host, unified);
        let dst = Side::new(self.dst.end, to_host, unified);
        CUDA_MEMCPY3D {
            srcXInBytes: self.src.at[0],
            srcY: self.src.at[1],
            srcZ: self.src.at[2],
            srcLOD: 0,
            srcMemoryType: src.memory,
            srcHost: src.host,
            srcDevice: src.device,
            srcArray: src.array,
            reserved0: null_mut(),
            srcPitch: src.pitch,
            srcHeight: src.rows,
            dstXInBytes: self.dst.at[0],
            dstY: self.dst.at[1],
            dstZ: self.dst.at[2],
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

/// One end as the driver wants it.
struct Side {
    memory: CUmemorytype,
    host: *const c_void,
    device: u64,
    array: CUarray,
    pitch: usize,
    rows: usize,
}

impl Side {
    fn new(end: End, on_host: bool, unified: bool) -> Self {
        match end {
            End::Array(array) => Self {
                memory: CUmemorytype::CU_MEMORYTYPE_ARRAY,
                host: std::ptr::null(),
                device: 0,
                array,
                pitch: 0,
                rows: 0,
            },
            End::Linear { start, pitch, rows } => Self {
                memory: match (unified, on_host) {
                    (true, _) => CUmemorytype::CU_MEMORYTYPE_UNIFIED,
                    (false, true) => CUmemorytype::CU_MEMORYTYPE_HOST,
                    (false, false) => CUmemorytype::CU_MEMORYTYPE_DEVICE,
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

/// `cudaMemcpy3D`.
pub unsafe fn copy(how: *const Memcpy3D) -> Answer {
    // SAFETY: the caller's promise.
    asked(&unsafe { read(how) }?)?.run()
}

/// `cudaMemcpy3DAsync`.
pub unsafe fn copy_async(how: *const Memcpy3D, stream: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    asked(&unsafe { read(how) }?)?.start(stream)
}

/// `cudaMemcpy3DPeer`.
pub unsafe fn peer(how: *const Memcpy3DPeer) -> Answer {
    // SAFETY: the caller's promise.
    asked(&between(&unsafe { read(how) }?)?)?.run()
}

/// `cudaMemcpy3DPeerAsync`.
pub unsafe fn peer_async(how: *const Memcpy3DPeer, stream: CUstream) -> Answer {
    // SAFETY: the caller's promise.
    asked(&between(&unsafe { read(how) }?)?)?.start(stream)
}

/// A copy between devices: addresses say themselves which device they are of.
fn between(how: &Memcpy3DPeer) -> Answer<Memcpy3D> {
    /// `cudaMemcpyDefault`.
    const DEFAULT: c_int = 4;
    device(how.src_device)?;
    device(how.dst_device)?;
    Ok(Memcpy3D {
        src_array: how.src_array,
        src_pos: how.src_pos,
        src_ptr: how.src_ptr,
        dst_array: how.dst_array,
        dst_pos: how.dst_pos,
        dst_ptr: how.dst_ptr,
        extent: how.extent,
        kind: DEFAULT,
    })
}

/// The copy that a structure asks for. Where an array takes part, the extent counts its elements, and so
/// does a place in it; in linear memory both count bytes.
pub fn asked(how: &Memcpy3D) -> Answer<Copy> {
    let kind = Kind::new(how.kind)?;
    let (src, src_element) = end(how.src_array, &how.src_ptr)?;
    let (dst, dst_element) = end(how.dst_array, &how.dst_ptr)?;
    let element = match (src_element, dst_element) {
        (Some(src), Some(dst)) if src != dst => return Err(Error::INVALID_VALUE),
        (Some(element), _) | (_, Some(element)) => element,
        (None, None) => 1,
    };
    let Extent {
        width,
        height,
        depth,
    } = how.extent;
    let bytes = width.checked_mul(element).ok_or(Error::INVALID_VALUE)?;
    let at = |x: usize, element: Option<usize>| {
        let at = x.checked_mul(element.unwrap_or(1));
        at.ok_or(Error::INVALID_VALUE)
    };
    let (src_x, dst_x) = (
        at(how.src_pos.x, src_element)?,
        at(how.dst_pos.x, dst_element)?,
    );
    for (end, x) in [(src, src_x), (dst, dst_x)] {
        let end_of_row = x.checked_add(bytes).ok_or(Error::INVALID_VALUE)?;
        if let End::Linear { pitch, .. } = end
            && (height > 1 || depth > 1)
            && end_of_row > pitch
        {
            return Err(Error::INVALID_PITCH);
        }
    }
    Ok(Copy {
        dst: From {
            end: dst,
            at: [dst_x, how.dst_pos.y, how.dst_pos.z],
        },
        src: From {
            end: src,
            at: [src_x, how.src_pos.y, how.src_pos.z],
        },
        bytes,
        rows: height,
        layers: depth,
        kind,
    })
}

/// An end, and how many bytes an element of it has if it is an array. It has to be one of both.
fn end(array: CUarray, pointer: &PitchedPtr) -> Answer<(End, Option<usize>)> {
    match (array.is_null(), pointer.ptr.is_null()) {
        (false, true) => Ok((End::Array(array), Some(describe(array)?.format.bytes))),
        (true, false) => {
            let end = End::Linear {
                start: pointer.ptr,
                pitch: pointer.pitch,
                rows: pointer.ysize,
            };
            Ok((end, None))
        }
        _ => Err(Error::INVALID_VALUE),
    }
}
