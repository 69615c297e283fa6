//! Graphs and their nodes, but for kernels and copies: what of them the driver takes as it is.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cuda_driver::functions as cu;
use cuda_driver::types::graph::{EdgeData, NodeParams};
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUevent, CUgraph,
    CUgraphNode, CUhostFn, CUuserObject,
};

use super::copies;
use super::kernels;
use super::types::AnyNode;
use crate::arguments::{Out, read};
use crate::memory::{address, pointer};
use crate::start::{context, device};
use crate::status::{Answer, driver};

/// Functions that call the driver's with the same arguments.
macro_rules! forwarded {
    ($($name:ident = $driver:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("The driver's `", stringify!($driver), "`.")]
        pub unsafe fn $name($($argument: $type),*) -> Answer {
            context()?;
            // SAFETY: the caller's promise.
            driver(unsafe { cu::$driver($($argument),*) })
        }
    )*};
}

forwarded! {
    create = cuGraphCreate(to: *mut CUgraph, flags: c_uint);
    destroy = cuGraphDestroy(graph: CUgraph);
    clone = cuGraphClone(to: *mut CUgraph, graph: CUgraph);
    find_in_clone = cuGraphNodeFindInClone(to: *mut CUgraphNode, node: CUgraphNode, clone: CUgraph);
    destroy_node = cuGraphDestroyNode(node: CUgraphNode);
    add_host = cuGraphAddHostNode(
        to: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        how: *const CUDA_HOST_NODE_PARAMS,
    );
    host = cuGraphHostNodeGetParams(node: CUgraphNode, to: *mut CUDA_HOST_NODE_PARAMS);
    set_host = cuGraphHostNodeSetParams(node: CUgraphNode, how: *const CUDA_HOST_NODE_PARAMS);
    memset = cuGraphMemsetNodeGetParams(node: CUgraphNode, to: *mut CUDA_MEMSET_NODE_PARAMS);
    set_memset = cuGraphMemsetNodeSetParams(
        node: CUgraphNode, how: *const CUDA_MEMSET_NODE_PARAMS,
    );
    add_child = cuGraphAddChildGraphNode(
        to: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        child: CUgraph,
    );
    child = cuGraphChildGraphNodeGetGraph(node: CUgraphNode, to: *mut CUgraph);
    add_empty = cuGraphAddEmptyNode(
        to: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
    );
    add_event_record = cuGraphAddEventRecordNode(
        to: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        event: CUevent,
    );
    recorded = cuGraphEventRecordNodeGetEvent(node: CUgraphNode, to: *mut CUevent);
    set_recorded = cuGraphEventRecordNodeSetEvent(node: CUgraphNode, event: CUevent);
    add_event_wait = cuGraphAddEventWaitNode(
        to: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        event: CUevent,
    );
    waited = cuGraphEventWaitNodeGetEvent(node: CUgraphNode, to: *mut CUevent);
    set_waited = cuGraphEventWaitNodeSetEvent(node: CUgraphNode, event: CUevent);
    add_alloc = cuGraphAddMemAllocNode(
        to: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        how: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    );
    alloc = cuGraphMemAllocNodeGetParams(node: CUgraphNode, to: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
    node_type = cuGraphNodeGetType(node: CUgraphNode, to: *mut c_int);
    nodes = cuGraphGetNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize);
    roots = cuGraphGetRootNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize);
    edges = cuGraphGetEdges(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    );
    edges_with_data = cuGraphGetEdges_v2(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData,
        count: *mut usize,
    );
    dependencies = cuGraphNodeGetDependencies(
        node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    );
    dependencies_with_data = cuGraphNodeGetDependencies_v2(
        node: CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count: *mut usize,
    );
    dependents = cuGraphNodeGetDependentNodes(
        node: CUgraphNode, to: *mut CUgraphNode, count: *mut usize,
    );
    dependents_with_data = cuGraphNodeGetDependentNodes_v2(
        node: CUgraphNode, to: *mut CUgraphNode, data: *mut EdgeData, count: *mut usize,
    );
    add_edges = cuGraphAddDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    );
    add_edges_with_data = cuGraphAddDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const EdgeData,
        count: usize,
    );
    remove_edges = cuGraphRemoveDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize,
    );
    remove_edges_with_data = cuGraphRemoveDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const EdgeData,
        count: usize,
    );
    draw = cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint);
    create_object = cuUserObjectCreate(
        to: *mut CUuserObject, data: *mut c_void, destroy: CUhostFn, references: c_uint,
        flags: c_uint,
    );
    retain_object = cuUserObjectRetain(object: CUuserObject, count: c_uint);
    release_object = cuUserObjectRelease(object: CUuserObject, count: c_uint);
    retain_in_graph = cuGraphRetainUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint,
    );
    release_in_graph = cuGraphReleaseUserObject(
        graph: CUgraph, object: CUuserObject, count: c_uint,
    );
    conditional_handle_in = cuGraphConditionalHandleCreate(
        to: *mut c_ulonglong, graph: CUgraph, of: cust_raw::CUcontext, value: c_uint, flags: c_uint,
    );
}

/// `cudaGraphAddMemsetNode`, in the thread's context.
pub unsafe fn add_memset(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    how: *const CUDA_MEMSET_NODE_PARAMS,
) -> Answer {
    let context = context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphAddMemsetNode(to, graph, after, count, how, context.0) })
}

/// `cudaGraphAddMemFreeNode`.
pub unsafe fn add_free(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    at: *mut c_void,
) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuGraphAddMemFreeNode(to, graph, after, count, address(at)) })
}

/// `cudaGraphMemFreeNodeGetParams`.
pub unsafe fn free(node: CUgraphNode, to: *mut c_void) -> Answer {
    // SAFETY: the caller promises room for a pointer.
    let to = unsafe { Out::new(to.cast::<*mut c_void>()) }?;
    context()?;
    let mut found = 0;
    // SAFETY: the driver writes an address.
    driver(unsafe { cu::cuGraphMemFreeNodeGetParams(node, &mut found) })?;
    to.set(pointer(found));
    Ok(())
}

/// `cudaDeviceGetGraphMemAttribute`.
pub unsafe fn memory_attribute(ordinal: c_int, attribute: c_int, to: *mut c_void) -> Answer {
    let device = device(ordinal)?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuDeviceGetGraphMemAttribute(device.handle, attribute, to) })
}

/// `cudaDeviceSetGraphMemAttribute`.
pub unsafe fn set_memory_attribute(ordinal: c_int, attribute: c_int, from: *mut c_void) -> Answer {
    let device = device(ordinal)?;
    // SAFETY: the caller's promise.
    driver(unsafe { cu::cuDeviceSetGraphMemAttribute(device.handle, attribute, from) })
}

/// `cudaDeviceGraphMemTrim`.
pub unsafe fn trim_memory(ordinal: c_int) -> Answer {
    let device = device(ordinal)?;
    // SAFETY: any device may be named.
    driver(unsafe { cu::cuDeviceGraphMemTrim(device.handle) })
}

/// `cudaGraphConditionalHandleCreate`.
pub unsafe fn conditional_handle(
    to: *mut c_ulonglong,
    graph: CUgraph,
    value: c_uint,
    flags: c_uint,
) -> Answer {
    let context = context()?;
    // SAFETY: the caller's promise.
    unsafe { conditional_handle_in(to, graph, context.0, value, flags) }
}

/// `cudaGraphAddNode`.
pub unsafe fn add_any(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    how: *mut AnyNode,
) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { add_any_with_edges(to, graph, after, std::ptr::null(), count, how) }
}

/// `cudaGraphAddNode` with data of the edges.
pub unsafe fn add_any_with_edges(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    edges: *const EdgeData,
    count: usize,
    how: *mut AnyNode,
) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    unsafe {
        with_driver_params(how, |how| {
            cu::cuGraphAddNode_v2(to, graph, after, edges, count, how)
        })
    }
}

/// `cudaGraphNodeSetParams`.
pub unsafe fn set_any(node: CUgraphNode, how: *mut AnyNode) -> Answer {
    context()?;
    // SAFETY: the caller's promise.
    unsafe { with_driver_params(how, |how| cu::cuGraphNodeSetParams(node, how)) }
}

/// What `call` answers, given the driver's structure of a node's parameters. What the driver writes into it
/// is written into the program's too.
///
/// # Safety
/// `how` must be null or the structure, which can be written to.
pub unsafe fn with_driver_params(
    how: *mut AnyNode,
    call: impl FnOnce(*mut NodeParams) -> c_int,
) -> Answer {
    const KERNEL: c_int = 0;
    const MEMCPY: c_int = 1;
    // SAFETY: the caller's promise; all zero is an empty node.
    unsafe {
        let kind = read(&raw const (*how).kind)?;
        let mut node: NodeParams = std::mem::zeroed();
        node.kind = kind;
        match kind {
            KERNEL => node.of.kernel = kernels::driver_params(&(*how).of.kernel)?,
            MEMCPY => {
                let to = &raw mut node.of.memcpy;
                (*to).flags = (*how).of.memcpy.flags;
                (*to).copy_ctx = context()?.0;
                (&raw mut (*to).copy_params).write(copies::described(&(*how).of.memcpy.copy)?);
            }
            // The structures are the same.
            _ => {
                node.of.reserved1 = (*how).of.reserved1;
                driver(call(&mut node))?;
                (*how).of.reserved1 = node.of.reserved1;
                return Ok(());
            }
        }
        driver(call(&mut node))
    }
}
