//! Graphs and those nodes whose parameters the driver API shares: all except kernel and memcpy nodes.

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
use crate::context::{context, device};
use crate::memory::{address, pointer};
use crate::status::{Result, check};

/// Defines functions that forward to the driver's function with the same arguments.
macro_rules! forwarded {
    ($($name:ident = $driver:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("Calls the driver's `", stringify!($driver), "`.")]
        pub unsafe fn $name($($argument: $type),*) -> Result {
            context()?;
            // SAFETY: runtime and driver function have the same contract.
            check(unsafe { cu::$driver($($argument),*) })
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
        params: *const CUDA_HOST_NODE_PARAMS,
    );
    host = cuGraphHostNodeGetParams(node: CUgraphNode, to: *mut CUDA_HOST_NODE_PARAMS);
    set_host = cuGraphHostNodeSetParams(node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS);
    memset = cuGraphMemsetNodeGetParams(node: CUgraphNode, to: *mut CUDA_MEMSET_NODE_PARAMS);
    set_memset = cuGraphMemsetNodeSetParams(
        node: CUgraphNode, params: *const CUDA_MEMSET_NODE_PARAMS,
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
    record_event = cuGraphEventRecordNodeGetEvent(node: CUgraphNode, to: *mut CUevent);
    set_record_event = cuGraphEventRecordNodeSetEvent(node: CUgraphNode, event: CUevent);
    add_event_wait = cuGraphAddEventWaitNode(
        to: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        event: CUevent,
    );
    wait_event = cuGraphEventWaitNodeGetEvent(node: CUgraphNode, to: *mut CUevent);
    set_wait_event = cuGraphEventWaitNodeSetEvent(node: CUgraphNode, event: CUevent);
    add_alloc = cuGraphAddMemAllocNode(
        to: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize,
        params: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
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
    debug_dot_print = cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint);
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

/// `cudaGraphAddMemsetNode`, which implies the thread's context.
pub unsafe fn add_memset(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    params: *const CUDA_MEMSET_NODE_PARAMS,
) -> Result {
    let context = context()?;
    // SAFETY: `cudaGraphAddMemsetNode` has the same requirements for `to`, `after` and `params` as
    // `cuGraphAddMemsetNode`.
    check(unsafe { cu::cuGraphAddMemsetNode(to, graph, after, count, params, context.0) })
}

/// `cudaGraphAddMemFreeNode`.
pub unsafe fn add_free(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    ptr: *mut c_void,
) -> Result {
    context()?;
    // SAFETY: `cudaGraphAddMemFreeNode` has the same requirements for `to`, `after` and `ptr` as
    // `cuGraphAddMemFreeNode`.
    check(unsafe { cu::cuGraphAddMemFreeNode(to, graph, after, count, address(ptr)) })
}

/// `cudaGraphMemFreeNodeGetParams`.
pub unsafe fn free(node: CUgraphNode, to: *mut c_void) -> Result {
    // SAFETY: `cudaGraphMemFreeNodeGetParams` requires `to` to point to a writable pointer.
    let to = unsafe { Out::new(to.cast::<*mut c_void>()) }?;
    context()?;
    let mut device_ptr = 0;
    // SAFETY: `device_ptr` is writable; the driver validates `node`.
    check(unsafe { cu::cuGraphMemFreeNodeGetParams(node, &mut device_ptr) })?;
    to.set(pointer(device_ptr));
    Ok(())
}

/// `cudaDeviceGetGraphMemAttribute`.
pub unsafe fn memory_attribute(ordinal: c_int, attribute: c_int, to: *mut c_void) -> Result {
    let device = device(ordinal)?;
    // SAFETY: `cudaDeviceGetGraphMemAttribute` has the same requirements for `to` as
    // `cuDeviceGetGraphMemAttribute`.
    check(unsafe { cu::cuDeviceGetGraphMemAttribute(device.handle, attribute, to) })
}

/// `cudaDeviceSetGraphMemAttribute`.
pub unsafe fn set_memory_attribute(ordinal: c_int, attribute: c_int, from: *mut c_void) -> Result {
    let device = device(ordinal)?;
    // SAFETY: `cudaDeviceSetGraphMemAttribute` has the same requirements for `from` as
    // `cuDeviceSetGraphMemAttribute`.
    check(unsafe { cu::cuDeviceSetGraphMemAttribute(device.handle, attribute, from) })
}

/// `cudaDeviceGraphMemTrim`.
pub unsafe fn trim_memory(ordinal: c_int) -> Result {
    let device = device(ordinal)?;
    // SAFETY: `device.handle` comes from `cuDeviceGet`.
    check(unsafe { cu::cuDeviceGraphMemTrim(device.handle) })
}

/// `cudaGraphConditionalHandleCreate`.
pub unsafe fn conditional_handle(
    to: *mut c_ulonglong,
    graph: CUgraph,
    value: c_uint,
    flags: c_uint,
) -> Result {
    let context = context()?;
    // SAFETY: `cudaGraphConditionalHandleCreate` has the same requirements for `to` as the function called
    // here.
    unsafe { conditional_handle_in(to, graph, context.0, value, flags) }
}

/// `cudaGraphAddNode`.
pub unsafe fn add_any(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    params: *mut AnyNode,
) -> Result {
    // SAFETY: `cudaGraphAddNode` has the same requirements for `to`, `after` and `params` as
    // `add_any_with_edges`.
    unsafe { add_any_with_edges(to, graph, after, std::ptr::null(), count, params) }
}

/// `cudaGraphAddNode` with edge data.
pub unsafe fn add_any_with_edges(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    edges: *const EdgeData,
    count: usize,
    params: *mut AnyNode,
) -> Result {
    context()?;
    // SAFETY: `cudaGraphAddNode` has the same requirements for `to`, `after`, `edges` and `params` as
    // `cuGraphAddNode_v2`.
    unsafe {
        with_driver_params(params, |params| {
            cu::cuGraphAddNode_v2(to, graph, after, edges, count, params)
        })
    }
}

/// `cudaGraphNodeSetParams`.
pub unsafe fn set_any(node: CUgraphNode, params: *mut AnyNode) -> Result {
    context()?;
    // SAFETY: `cudaGraphNodeSetParams` has the same requirements for `params` as `cuGraphNodeSetParams`.
    unsafe { with_driver_params(params, |params| cu::cuGraphNodeSetParams(node, params)) }
}

/// Calls `driver_call` with the driver's version of a node's parameters and returns its result. Results that
/// the driver writes into its structure are copied back to the program's.
///
/// # Safety
/// `params` must be null or point to a structure that is valid for reads and writes.
pub unsafe fn with_driver_params(
    params: *mut AnyNode,
    driver_call: impl FnOnce(*mut NodeParams) -> c_int,
) -> Result {
    const KERNEL: c_int = 0;
    const MEMCPY: c_int = 1;
    // SAFETY: `read` rejects a null `params`; `kind` selects the active member of both unions, and zero is
    // valid for every other field.
    unsafe {
        let kind = read(&raw const (*params).kind)?;
        let mut node: NodeParams = std::mem::zeroed();
        node.kind = kind;
        match kind {
            KERNEL => node.payload.kernel = kernels::driver_params(&(*params).of.kernel)?,
            MEMCPY => {
                let to = &raw mut node.payload.memcpy;
                (*to).flags = (*params).of.memcpy.flags;
                (*to).copy_ctx = context()?.0;
                (&raw mut (*to).copy_params)
                    .write(copies::to_driver_copy(&(*params).of.memcpy.copy)?);
            }
            // All other members have the same layout in both structures.
            _ => {
                node.payload.reserved1 = (*params).of.reserved1;
                check(driver_call(&mut node))?;
                (*params).of.reserved1 = node.payload.reserved1;
                return Ok(());
            }
        }
        check(driver_call(&mut node))
    }
}
