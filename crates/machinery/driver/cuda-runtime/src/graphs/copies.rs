//! Memcpy nodes: three-dimensional copies, contiguous bytes, and copies to and from device variables.

use std::ffi::{c_int, c_void};

use cuda_driver::functions as cu;
use cuda_driver::types::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED,
    CUDA_MEMCPY3D, CUarray, CUgraph, CUgraphExec, CUgraphNode, CUmemorytype,
};

use crate::arrays::array_info;
use crate::context::context;
use crate::errors::{Error, Result, check};
use crate::functions::read;
use crate::memcpy::CopyKind::{self, DeviceToHost, HostToDevice};
use crate::memcpy_3d::{Copy3D, Endpoint, Memory, from_params};
use crate::memory::pointer;
use crate::symbols::symbol_ptr;
use crate::types::{Extent, Memcpy3D, PitchedPtr, Pos};

functions! {
    // A 3D block
    cudaGraphAddMemcpyNode(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        params: *const Memcpy3D,
    )
        => cuGraphAddMemcpyNode(
            node, graph, after, count, &to_driver_copy(&read(params)?)?, context()?.0,
        ), no_context;
    cudaGraphMemcpyNodeGetParams(node: CUgraphNode, to: *mut Memcpy3D) -> to = get(node);
    cudaGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const Memcpy3D)
        = set_driver_copy(node, &to_driver_copy(&read(params)?)?), unsafe;
    cudaGraphExecMemcpyNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, params: *const Memcpy3D,
    ) = set_driver_copy_in(exec, node, &to_driver_copy(&read(params)?)?), unsafe;

    // Contiguous bytes
    cudaGraphAddMemcpyNode1D(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    )
        => cuGraphAddMemcpyNode(
            node, graph, after, count, &linear(dst, src, bytes, kind)?, context()?.0,
        ), no_context;
    cudaGraphMemcpyNodeSetParams1D(
        node: CUgraphNode, dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int,
    ) = set_driver_copy(node, &linear(dst, src, bytes, kind)?);
    cudaGraphExecMemcpyNodeSetParams1D(
        exec: CUgraphExec, node: CUgraphNode, dst: *mut c_void, src: *const c_void, bytes: usize,
        kind: c_int,
    ) = set_driver_copy_in(exec, node, &linear(dst, src, bytes, kind)?);

    // Device variables
    cudaGraphAddMemcpyNodeToSymbol(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int,
    )
        => cuGraphAddMemcpyNode(
            node, graph, after, count,
            &linear(symbol_ptr(symbol, bytes, offset, kind, HostToDevice)?, src, bytes, kind)?,
            context()?.0,
        ), no_context;
    cudaGraphMemcpyNodeSetParamsToSymbol(
        node: CUgraphNode, symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize,
        kind: c_int,
    ) = set_driver_copy(
        node, &linear(symbol_ptr(symbol, bytes, offset, kind, HostToDevice)?, src, bytes, kind)?,
    );
    cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec: CUgraphExec, node: CUgraphNode, symbol: *const c_void, src: *const c_void,
        bytes: usize, offset: usize, kind: c_int,
    ) = set_driver_copy_in(
        exec, node,
        &linear(symbol_ptr(symbol, bytes, offset, kind, HostToDevice)?, src, bytes, kind)?,
    );
    cudaGraphAddMemcpyNodeFromSymbol(
        node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int,
    )
        => cuGraphAddMemcpyNode(
            node, graph, after, count,
            &linear(dst, symbol_ptr(symbol, bytes, offset, kind, DeviceToHost)?, bytes, kind)?,
            context()?.0,
        ), no_context;
    cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: CUgraphNode, dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize,
        kind: c_int,
    ) = set_driver_copy(
        node, &linear(dst, symbol_ptr(symbol, bytes, offset, kind, DeviceToHost)?, bytes, kind)?,
    );
    cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: CUgraphExec, node: CUgraphNode, dst: *mut c_void, symbol: *const c_void,
        bytes: usize, offset: usize, kind: c_int,
    ) = set_driver_copy_in(
        exec, node,
        &linear(dst, symbol_ptr(symbol, bytes, offset, kind, DeviceToHost)?, bytes, kind)?,
    );
}

/// Converts a copy to the driver's structure.
pub(crate) fn to_driver_copy(params: &Memcpy3D) -> Result<CUDA_MEMCPY3D> {
    Ok(from_params(params)?.driver_params())
}

/// Describes a copy of contiguous bytes in the driver's structure.
fn linear(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> Result<CUDA_MEMCPY3D> {
    let endpoint = |start| Endpoint {
        memory: Memory::Linear {
            start,
            pitch: bytes,
            rows: 1,
        },
        offset: [0; 3],
    };
    let copy = Copy3D {
        dst: endpoint(dst),
        src: endpoint(src),
        bytes,
        rows: 1,
        layers: 1,
        kind: CopyKind::new(kind)?,
    };
    Ok(copy.driver_params())
}

/// Replaces the copy of a node.
fn set_driver_copy(node: CUgraphNode, copy: &CUDA_MEMCPY3D) -> Result {
    context()?;
    // SAFETY: `copy` is a whole structure; the driver validates `node`.
    check(unsafe { cu::cuGraphMemcpyNodeSetParams(node, copy) })
}

/// Replaces the copy of a node in an executable graph.
fn set_driver_copy_in(exec: CUgraphExec, node: CUgraphNode, copy: &CUDA_MEMCPY3D) -> Result {
    let context = context()?;
    // SAFETY: `copy` is a whole structure; the driver validates `exec` and `node`.
    check(unsafe { cu::cuGraphExecMemcpyNodeSetParams(exec, node, copy, context.0) })
}

/// `cudaGraphMemcpyNodeGetParams`.
fn get(node: CUgraphNode) -> Result<Memcpy3D> {
    context()?;
    let mut driver_copy = linear(std::ptr::null_mut(), std::ptr::null(), 0, 0)?;
    // SAFETY: `driver_copy` is writable; the driver validates `node`.
    check(unsafe { cu::cuGraphMemcpyNodeGetParams(node, &mut driver_copy) })?;
    let src = NodeEndpoint::new(
        driver_copy.srcMemoryType,
        driver_copy.srcHost,
        driver_copy.srcDevice,
    )?;
    let dst = NodeEndpoint::new(
        driver_copy.dstMemoryType,
        driver_copy.dstHost,
        driver_copy.dstDevice,
    )?;
    let (src_element, dst_element) = (
        element_bytes(&src, driver_copy.srcArray)?,
        element_bytes(&dst, driver_copy.dstArray)?,
    );
    let element_bytes = src_element.or(dst_element);
    let pitched = |endpoint: &NodeEndpoint, pitch: usize, height: usize| PitchedPtr {
        ptr: endpoint.start.cast_mut(),
        pitch,
        xsize: driver_copy.WidthInBytes,
        ysize: height,
    };
    Ok(Memcpy3D {
        src_array: driver_copy.srcArray,
        src_pos: Pos {
            x: driver_copy.srcXInBytes / src_element.unwrap_or(1),
            y: driver_copy.srcY,
            z: driver_copy.srcZ,
        },
        src_ptr: pitched(&src, driver_copy.srcPitch, driver_copy.srcHeight),
        dst_array: driver_copy.dstArray,
        dst_pos: Pos {
            x: driver_copy.dstXInBytes / dst_element.unwrap_or(1),
            y: driver_copy.dstY,
            z: driver_copy.dstZ,
        },
        dst_ptr: pitched(&dst, driver_copy.dstPitch, driver_copy.dstHeight),
        extent: Extent {
            width: driver_copy.WidthInBytes / element_bytes.unwrap_or(1),
            height: driver_copy.Height,
            depth: driver_copy.Depth,
        },
        kind: match (src.location, dst.location) {
            (Location::Unified, _) | (_, Location::Unified) => 4,
            (Location::Host, Location::Host) => 0,
            (Location::Host, Location::Device) => 1,
            (Location::Device, Location::Host) => 2,
            (Location::Device, Location::Device) => 3,
        },
    })
}

/// The memory space of one end of a copy.
#[derive(Clone, Copy)]
enum Location {
    Host,
    Device,
    /// The unified address identifies the space.
    Unified,
}

/// One end of a copy in the driver's representation. An array has no address.
struct NodeEndpoint {
    location: Location,
    start: *const c_void,
    is_array: bool,
}

impl NodeEndpoint {
    /// Converts one end. Returns [`Error::INVALID_VALUE`] for a memory type that the enum lacks.
    fn new(memory: CUmemorytype, host: *const c_void, device: u64) -> Result<Self> {
        let (location, start, is_array) = match memory {
            CU_MEMORYTYPE_HOST => (Location::Host, host, false),
            CU_MEMORYTYPE_DEVICE => (Location::Device, pointer(device).cast_const(), false),
            CU_MEMORYTYPE_ARRAY => (Location::Device, std::ptr::null(), true),
            CU_MEMORYTYPE_UNIFIED => (Location::Unified, pointer(device).cast_const(), false),
            _ => return Err(Error::INVALID_VALUE),
        };
        Ok(Self {
            location,
            start,
            is_array,
        })
    }
}

/// Returns the bytes per element if the end is an array, otherwise `None`.
fn element_bytes(endpoint: &NodeEndpoint, array: CUarray) -> Result<Option<usize>> {
    if !endpoint.is_array {
        return Ok(None);
    }
    Ok(Some(array_info(array)?.format.bytes))
}
