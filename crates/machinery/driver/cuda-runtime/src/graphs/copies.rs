//! Memcpy nodes: three-dimensional copies, contiguous bytes, and copies to and from device variables.

use std::ffi::{c_int, c_void};

use cuda_driver::functions as cu;
use cust_raw::{CUDA_MEMCPY3D, CUgraph, CUgraphExec, CUgraphNode, CUmemorytype};

use crate::arguments::{Out, read};
use crate::arrays::array_info;
use crate::context::context;
use crate::memcpy::CopyKind;
use crate::memcpy_3d::{self, Copy3D, Endpoint, Memory};
use crate::memory::pointer;
use crate::status::{Result, check};
use crate::symbols::{FROM_DEVICE_KINDS, TO_DEVICE_KINDS, checked_symbol_ptr};
use crate::types::{Extent, Memcpy3D, PitchedPtr, Pos};

/// Converts a copy to the driver's structure.
pub fn to_driver_copy(params: &Memcpy3D) -> Result<CUDA_MEMCPY3D> {
    Ok(memcpy_3d::from_params(params)?.driver_params())
}

/// Describes a copy of contiguous bytes in the driver's structure.
fn linear_copy(
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

/// Adds a memcpy node.
///
/// # Safety
/// `to` must be null or valid for writes, and `after` must point to `count` nodes.
unsafe fn add_driver_copy(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    copy: &CUDA_MEMCPY3D,
) -> Result {
    let context = context()?;
    // SAFETY: `to` is null or writable, `after` points to `count` nodes, and `copy` is a whole structure.
    check(unsafe { cu::cuGraphAddMemcpyNode(to, graph, after, count, copy, context.0) })
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

/// Defines the three functions that add and change memcpy nodes of one kind, given an expression for the copy.
macro_rules! memcpy_nodes {
    ($(
        $operands:literal $add:ident $set:ident $set_in:ident
        ($($argument:ident: $type:ty),*) $driver_copy:expr;
    )*) => {$(
        #[doc = concat!("Adds a node that copies ", $operands, ".")]
        #[allow(clippy::too_many_arguments, reason = "the parameters are those of the C API")]
        pub unsafe fn $add(
            to: *mut CUgraphNode,
            graph: CUgraph,
            after: *const CUgraphNode,
            count: usize,
            $($argument: $type),*
        ) -> Result {
            let copy = $driver_copy;
            // SAFETY: the C caller passes `to` null or writable and `count` nodes in `after`.
            unsafe { add_driver_copy(to, graph, after, count, &copy) }
        }

        #[doc = concat!("Makes a node copy ", $operands, ".")]
        pub unsafe fn $set(node: CUgraphNode, $($argument: $type),*) -> Result {
            let copy = $driver_copy;
            set_driver_copy(node, &copy)
        }

        #[doc = concat!("Makes a node of an executable graph copy ", $operands, ".")]
        pub unsafe fn $set_in(
            exec: CUgraphExec,
            node: CUgraphNode,
            $($argument: $type),*
        ) -> Result {
            let copy = $driver_copy;
            set_driver_copy_in(exec, node, &copy)
        }
    )*};
}

memcpy_nodes! {
    "a 3D block" add set set_in(params: *const Memcpy3D)
        // SAFETY: the C caller passes `params` null or readable.
        to_driver_copy(&unsafe { read(params) }?)?;
    "contiguous bytes" add_row set_row set_row_in(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int
    ) linear_copy(dst, src, bytes, kind)?;
    "to a device variable" add_to_symbol set_to_symbol set_to_symbol_in(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int
    ) linear_copy(checked_symbol_ptr(symbol, bytes, offset, kind, TO_DEVICE_KINDS)?, src, bytes, kind)?;
    "from a device variable" add_from_symbol set_from_symbol set_from_symbol_in(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int
    ) linear_copy(dst, checked_symbol_ptr(symbol, bytes, offset, kind, FROM_DEVICE_KINDS)?, bytes, kind)?;
}

/// `cudaGraphMemcpyNodeGetParams`.
pub unsafe fn get(node: CUgraphNode, to: *mut Memcpy3D) -> Result {
    // SAFETY: `cudaGraphMemcpyNodeGetParams` requires `to` to be null or writable.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut driver_copy = linear_copy(std::ptr::null_mut(), std::ptr::null(), 0, 0)?;
    // SAFETY: `driver_copy` is writable; the driver validates `node`.
    check(unsafe { cu::cuGraphMemcpyNodeGetParams(node, &mut driver_copy) })?;
    let src = NodeEndpoint::new(
        driver_copy.srcMemoryType,
        driver_copy.srcHost,
        driver_copy.srcDevice,
    );
    let dst = NodeEndpoint::new(
        driver_copy.dstMemoryType,
        driver_copy.dstHost,
        driver_copy.dstDevice,
    );
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
    to.set(Memcpy3D {
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
    });
    Ok(())
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
    fn new(memory: CUmemorytype, host: *const c_void, device: u64) -> Self {
        let (location, start, is_array) = match memory {
            CUmemorytype::CU_MEMORYTYPE_HOST => (Location::Host, host, false),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => {
                (Location::Device, pointer(device).cast_const(), false)
            }
            CUmemorytype::CU_MEMORYTYPE_ARRAY => (Location::Device, std::ptr::null(), true),
            CUmemorytype::CU_MEMORYTYPE_UNIFIED => {
                (Location::Unified, pointer(device).cast_const(), false)
            }
        };
        Self {
            location,
            start,
            is_array,
        }
    }
}

/// Returns the bytes per element if the end is an array, otherwise `None`.
fn element_bytes(endpoint: &NodeEndpoint, array: cust_raw::CUarray) -> Result<Option<usize>> {
    match endpoint.is_array {
        true => Ok(Some(array_info(array)?.format.bytes)),
        false => Ok(None),
    }
}
