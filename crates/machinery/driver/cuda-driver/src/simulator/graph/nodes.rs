//! Creation and destruction of graphs and nodes.

use std::ffi::{c_int, c_uint};

use cuda_sim::driver::CudaError;
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr, CUevent, CUgraph, CUgraphNode,
};

use super::body::{GraphId, NodeId};
use super::objects;
use super::params_in::{self, list};
use super::store::graphs;
use super::topology::check_edges;
use crate::log::warn;
use crate::simulator::lock_driver_drained;
use crate::simulator::raw::{self, Out, handle, number};
use crate::simulator::stream_op::StreamOp;
use crate::status::CallResult;
use crate::types::graph::{EdgeData, KernelNodeParams, MemsetNodeParams, NodeParams};

/// `cuGraphCreate`.
pub unsafe fn create(out: *mut CUgraph, flags: c_uint) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphCreate` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    out.set(handle(graphs().create().0));
    Ok(())
}

/// `cuGraphDestroy`.
pub unsafe fn destroy(graph: CUgraph) -> CallResult {
    let destructors = graphs().destroy(graph_id(graph))?;
    Ok(objects::call_destructors(destructors)?)
}

/// `cuGraphClone`.
pub unsafe fn clone(out: *mut CUgraph, graph: CUgraph) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphClone` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    let mut graphs = graphs();
    if graphs.graph(graph_id(graph))?.has_memory() {
        return Err(CudaError::NotSupported.into());
    }
    out.set(handle(graphs.duplicate(graph_id(graph))?.0));
    Ok(())
}

/// `cuGraphNodeFindInClone`.
pub unsafe fn find_in_clone(
    out: *mut CUgraphNode,
    node: CUgraphNode,
    clone: CUgraph,
) -> CallResult {
    // SAFETY: `out` is null or writable, as `cuGraphNodeFindInClone` requires of its caller.
    let out = unsafe { Out::new(out) }?;
    let graphs = graphs();
    let mut nodes = graphs.graph(graph_id(clone))?.nodes.iter();
    let clone_node = nodes.find(|(_, memcpy)| memcpy.original == Some(node_id(node)));
    let (clone_node, _) = clone_node.ok_or(CudaError::InvalidValue)?;
    out.set(handle(clone_node.0));
    Ok(())
}

/// `cuGraphDestroyNode`.
pub unsafe fn destroy_node(node: CUgraphNode) -> CallResult {
    let destructors = graphs().destroy_node(node_id(node))?;
    Ok(objects::call_destructors(destructors)?)
}

/// The output for a new node's handle, its graph and its dependencies.
struct NewNode {
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    count: usize,
}

impl NewNode {
    /// Adds a node with the operation that `op` returns. Calls `op` only after the output pointer is validated.
    ///
    /// # Safety
    /// `out` must be null or writable, and `dependencies` must have `count` elements.
    unsafe fn add(self, op: impl FnOnce() -> Result<StreamOp, CudaError>) -> CallResult {
        // SAFETY: `out` is null or writable and the list has `count` elements, by this function's contract.
        let (out, dependencies) =
            unsafe { (Out::new(self.out)?, list(self.dependencies, self.count)?) };
        graphs().graph(graph_id(self.graph))?;
        let op = op()?;
        let dependencies = dependencies.into_iter().map(node_id).collect();
        let node = graphs().add(graph_id(self.graph), op, dependencies)?;
        out.set(handle(node.0));
        Ok(())
    }
}

/// Generates the functions that add a node of one type, from the expression that creates the node's operation.
macro_rules! adders {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $op:expr;)*) => {$(
        $(#[$doc])*
        pub unsafe fn $name(
            out: *mut CUgraphNode,
            graph: CUgraph,
            dependencies: *const CUgraphNode,
            count: usize,
            $($argument: $type),*
        ) -> CallResult {
            let new_node = NewNode { out, graph, dependencies, count };
            // SAFETY: `out`, `dependencies` and the node's parameters meet the C function's contract, which the
            // callees share.
            unsafe { new_node.add(|| $op) }
        }
    )*};
}

adders! {
    /// `cuGraphAddKernelNode`, before CUDA 12.
    add_kernel_v1(params: *const CUDA_KERNEL_NODE_PARAMS) params_in::kernel_v1(params).map(StreamOp::Kernel);
    /// `cuGraphAddKernelNode`.
    add_kernel(params: *const KernelNodeParams) params_in::kernel(params).map(StreamOp::Kernel);
    /// `cuGraphAddMemcpyNode`.
    add_memcpy(params: *const CUDA_MEMCPY3D, _context: CUcontext) params_in::memcpy(params);
    /// `cuGraphAddMemsetNode`.
    add_memset(params: *const CUDA_MEMSET_NODE_PARAMS, _context: CUcontext) params_in::memset_v1(params);
    /// `cuGraphAddHostNode`.
    add_host(params: *const CUDA_HOST_NODE_PARAMS) params_in::host(params);
    /// `cuGraphAddEmptyNode`.
    add_empty() Ok(StreamOp::Empty);
    /// `cuGraphAddChildGraphNode`.
    add_child(child: CUgraph) params_in::child(child);
    /// `cuGraphAddEventRecordNode`.
    add_event_record(event: CUevent) existing_event(event).map(StreamOp::RecordEvent);
    /// `cuGraphAddEventWaitNode`.
    add_event_wait(event: CUevent) existing_event(event).map(StreamOp::WaitEvent);
    /// `cuGraphAddMemAllocNode`.
    add_alloc(params: *mut CUDA_MEM_ALLOC_NODE_PARAMS) params_in::allocation(params);
    /// `cuGraphAddMemFreeNode`.
    add_free(address: CUdeviceptr) params_in::free_op(address);
    /// `cuGraphAddNode` before CUDA 13.
    add_any(params: *mut NodeParams) read_any(params);
}

/// `cuGraphAddNode`, with edge data.
pub unsafe fn add_any_with_edges(
    out: *mut CUgraphNode,
    graph: CUgraph,
    dependencies: *const CUgraphNode,
    edges: *const EdgeData,
    count: usize,
    params: *mut NodeParams,
) -> CallResult {
    // SAFETY: `edges` is null or has `count` elements; the other arguments are those of `cuGraphAddNode`,
    // whose caller guarantees the same for both versions.
    unsafe {
        check_edges(edges, count)?;
        add_any(out, graph, dependencies, count, params)
    }
}

/// Node types that the simulator does not support, by `CUgraphNodeType`.
const UNSUPPORTED: [(c_int, &str); 4] = [
    (8, "external semaphore signal nodes"),
    (9, "external semaphore wait nodes"),
    (12, "batch memory operation nodes"),
    (13, "conditional nodes"),
];

/// Creates the operation of a node of any type. For an allocation node, writes its address to the structure.
///
/// # Safety
/// `params` must be null or a valid, writable structure.
pub unsafe fn read_any(params: *mut NodeParams) -> Result<StreamOp, CudaError> {
    if params.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `params` is not null, so it is a valid structure, whose `kind` selects the field of the union.
    unsafe {
        let payload = &raw mut (*params).payload;
        match (*params).kind {
            0 => params_in::kernel(&raw const (*payload).kernel).map(StreamOp::Kernel),
            1 => params_in::memcpy_any(&raw const (*payload).memcpy),
            2 => params_in::memset(&*(&raw const (*payload).memset).cast::<MemsetNodeParams>()),
            3 => params_in::host(&raw const (*payload).host),
            4 => params_in::child((*payload).graph),
            5 => Ok(StreamOp::Empty),
            6 => existing_event((*payload).event).map(StreamOp::WaitEvent),
            7 => existing_event((*payload).event).map(StreamOp::RecordEvent),
            10 => params_in::allocation(&raw mut (*payload).alloc),
            11 => params_in::free_op((*payload).free),
            other => Err(unsupported_node(other)),
        }
    }
}

/// Returns the error for a node type that the simulator does not support or that does not exist.
fn unsupported_node(kind: c_int) -> CudaError {
    match UNSUPPORTED.iter().find(|(number, _)| *number == kind) {
        Some((_, name)) => {
            warn(format_args!(
                "the simulator does not support {name} in graphs"
            ));
            CudaError::NotSupported
        }
        None => CudaError::InvalidValue,
    }
}

/// Returns the event of a handle, after a check that it exists.
pub fn existing_event(event: CUevent) -> Result<cuda_sim::driver::EventId, CudaError> {
    let event = raw::event(event);
    lock_driver_drained()?.event_context(event)?;
    Ok(event)
}

/// Returns the number of a graph's handle.
pub fn graph_id(graph: CUgraph) -> GraphId {
    GraphId(number(graph))
}

/// Returns the number of a node's handle.
pub fn node_id(node: CUgraphNode) -> NodeId {
    NodeId(number(node))
}
