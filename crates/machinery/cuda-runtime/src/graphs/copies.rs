//! Nodes that copy: blocks, rows of bytes, to and from variables.

use std::ffi::{c_int, c_void};

use cuda_driver::functions as cu;
use cust_raw::{CUDA_MEMCPY3D, CUgraph, CUgraphExec, CUgraphNode, CUmemorytype};

use crate::arguments::{Out, read};
use crate::arrays::describe;
use crate::copies::Kind;
use crate::memory::pointer;
use crate::start::context;
use crate::status::{Answer, driver};
use crate::symbols::{FROM, TO, target};
use crate::types::{Extent, Memcpy3D, PitchedPtr, Pos};
use crate::volume::{self, Copy, End, From};

/// A copy as the driver wants it.
pub fn described(how: &Memcpy3D) -> Answer<CUDA_MEMCPY3D> {
    Ok(volume::asked(how)?.described())
}

/// A copy of a row of bytes as the driver wants it.
fn row(dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int) -> Answer<CUDA_MEMCPY3D> {
    let end = |start| From {
        end: End::Linear {
            start,
            pitch: bytes,
            rows: 1,
        },
        at: [0; 3],
    };
    let copy = Copy {
        dst: end(dst),
        src: end(src),
        bytes,
        rows: 1,
        layers: 1,
        kind: Kind::new(kind)?,
    };
    Ok(copy.described())
}

/// A node that copies.
///
/// # Safety
/// The handle must be null or writable, the list as long as it says.
unsafe fn add_described(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    copy: &CUDA_MEMCPY3D,
) -> Answer {
    let context = context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphAddMemcpyNode(to, graph, after, count, copy, context.0) })
}

/// Has a node copy something else.
fn set_described(node: CUgraphNode, copy: &CUDA_MEMCPY3D) -> Answer {
    context()?;
    // SAFETY: the structure is whole; any handle may be named.
    driver(unsafe { cu::cuGraphMemcpyNodeSetParams(node, copy) })
}

/// Has a node of an executable graph copy something else.
fn set_described_in(exec: CUgraphExec, node: CUgraphNode, copy: &CUDA_MEMCPY3D) -> Answer {
    let context = context()?;
    // SAFETY: as above.
    driver(unsafe { cu::cuGraphExecMemcpyNodeSetParams(exec, node, copy, context.0) })
}

/// The three functions that make and change nodes of one kind of copy, by what describes the copy.
macro_rules! copies {
    ($(
        $what:literal $add:ident $set:ident $set_in:ident
        ($($argument:ident: $type:ty),*) $described:expr;
    )*) => {$(
        #[doc = concat!("Adds a node that copies ", $what, ".")]
        #[allow(clippy::too_many_arguments, reason = "they are C's")]
        pub unsafe fn $add(
            to: *mut CUgraphNode,
            graph: CUgraph,
            after: *const CUgraphNode,
            count: usize,
            $($argument: $type),*
        ) -> Answer {
            let copy = $described;
            // SAFETY: the caller's promise.
            unsafe { add_described(to, graph, after, count, &copy) }
        }

        #[doc = concat!("Has a node copy ", $what, ".")]
        pub unsafe fn $set(node: CUgraphNode, $($argument: $type),*) -> Answer {
            let copy = $described;
            set_described(node, &copy)
        }

        #[doc = concat!("Has a node of an executable graph copy ", $what, ".")]
        pub unsafe fn $set_in(
            exec: CUgraphExec,
            node: CUgraphNode,
            $($argument: $type),*
        ) -> Answer {
            let copy = $described;
            set_described_in(exec, node, &copy)
        }
    )*};
}

copies! {
    "a block" add set set_in(how: *const Memcpy3D)
        // SAFETY: the caller's promise.
        described(&unsafe { read(how) }?)?;
    "a row of bytes" add_row set_row set_row_in(
        dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int
    ) row(dst, src, bytes, kind)?;
    "to a variable" add_to_symbol set_to_symbol set_to_symbol_in(
        symbol: *const c_void, src: *const c_void, bytes: usize, offset: usize, kind: c_int
    ) row(target(symbol, bytes, offset, kind, TO)?, src, bytes, kind)?;
    "from a variable" add_from_symbol set_from_symbol set_from_symbol_in(
        dst: *mut c_void, symbol: *const c_void, bytes: usize, offset: usize, kind: c_int
    ) row(dst, target(symbol, bytes, offset, kind, FROM)?, bytes, kind)?;
}

/// `cudaGraphMemcpyNodeGetParams`.
pub unsafe fn get(node: CUgraphNode, to: *mut Memcpy3D) -> Answer {
    // SAFETY: the caller's promise.
    let to = unsafe { Out::new(to) }?;
    context()?;
    let mut found = row(std::ptr::null_mut(), std::ptr::null(), 0, 0)?;
    // SAFETY: the driver writes the structure.
    driver(unsafe { cu::cuGraphMemcpyNodeGetParams(node, &mut found) })?;
    let src = Side::new(found.srcMemoryType, found.srcHost, found.srcDevice);
    let dst = Side::new(found.dstMemoryType, found.dstHost, found.dstDevice);
    let (src_element, dst_element) = (
        element(&src, found.srcArray)?,
        element(&dst, found.dstArray)?,
    );
    let element = src_element.or(dst_element);
    let pitched = |side: &Side, pitch: usize, height: usize| PitchedPtr {
        ptr: side.start.cast_mut(),
        pitch,
        xsize: found.WidthInBytes,
        ysize: height,
    };
    to.set(Memcpy3D {
        src_array: found.srcArray,
        src_pos: Pos {
            x: found.srcXInBytes / src_element.unwrap_or(1),
            y: found.srcY,
            z: found.srcZ,
        },
        src_ptr: pitched(&src, found.srcPitch, found.srcHeight),
        dst_array: found.dstArray,
        dst_pos: Pos {
            x: found.dstXInBytes / dst_element.unwrap_or(1),
            y: found.dstY,
            z: found.dstZ,
        },
        dst_ptr: pitched(&dst, found.dstPitch, found.dstHeight),
        extent: Extent {
            width: found.WidthInBytes / element.unwrap_or(1),
            height: found.Height,
            depth: found.Depth,
        },
        kind: match (src.on, dst.on) {
            (On::Either, _) | (_, On::Either) => 4,
            (On::Host, On::Host) => 0,
            (On::Host, On::Device) => 1,
            (On::Device, On::Host) => 2,
            (On::Device, On::Device) => 3,
        },
    });
    Ok(())
}

/// Whose memory an end of a copy is in.
#[derive(Clone, Copy)]
enum On {
    Host,
    Device,
    /// The address says it itself.
    Either,
}

/// One end of a copy as the driver has it. An array has no address.
struct Side {
    on: On,
    start: *const c_void,
    array: bool,
}

impl Side {
    fn new(memory: CUmemorytype, host: *const c_void, device: u64) -> Self {
        let (on, start, array) = match memory {
            CUmemorytype::CU_MEMORYTYPE_HOST => (On::Host, host, false),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => (On::Device, pointer(device).cast_const(), false),
            CUmemorytype::CU_MEMORYTYPE_ARRAY => (On::Device, std::ptr::null(), true),
            CUmemorytype::CU_MEMORYTYPE_UNIFIED => {
                (On::Either, pointer(device).cast_const(), false)
            }
        };
        Self { on, start, array }
    }
}

/// The bytes of an element, if the end is an array.
fn element(side: &Side, array: cust_raw::CUarray) -> Answer<Option<usize>> {
    match side.array {
        true => Ok(Some(describe(array)?.format.bytes)),
        false => Ok(None),
    }
}
