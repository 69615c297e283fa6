//! Three-dimensional copies between linear memory and arrays. All copies of more than one row are implemented
//! by them.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cuda_driver::functions as cu;
use cuda_driver::types::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED,
    CUDA_MEMCPY3D, CUarray, CUmemorytype, CUstream,
};

use crate::arrays::array_info;
use crate::context::{context, device};
use crate::errors::{Error, Result, check};
use crate::functions::read;
use crate::functions::{driver_stream, run_synchronously};
use crate::memcpy::CopyKind;
use crate::memory::address;
use crate::types::{Extent, Memcpy3D, Memcpy3DPeer, PitchedPtr};

functions! {
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
