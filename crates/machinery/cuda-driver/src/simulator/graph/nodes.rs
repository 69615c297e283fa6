//! Creation and destruction of graphs and nodes.

use std::ffi::{c_int, c_uint};

use cuda_sim::driver::CudaError;
use cust_raw::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr, CUevent, CUgraph, CUgraphNode,
};

use super::body::{GraphId, NodeId};
use super::objects;
use super::reading::{self, list};
use super::shape::check_edges;
use super::store::graphs;
use crate::report::say;
use crate::simulator::driver;
use crate::simulator::raw::{self, Out, handle, number};
use crate::simulator::work::Work;
use crate::status::Answer;
use crate::types::graph::{EdgeData, KernelNodeParams, MemsetNodeParams, NodeParams};

/// `cuGraphCreate`.
pub unsafe fn create(to: *mut CUgraph, flags: c_uint) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphCreate` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    if flags != 0 {
        return Err(CudaError::InvalidValue.into());
    }
    to.set(handle(graphs().create().0));
    Ok(())
}

/// `cuGraphDestroy`.
pub unsafe fn destroy(graph: CUgraph) -> Answer {
    let calls = graphs().destroy(graph_id(graph))?;
    Ok(objects::call(calls)?)
}

/// `cuGraphClone`.
pub unsafe fn clone(to: *mut CUgraph, graph: CUgraph) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphClone` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let mut graphs = graphs();
    if graphs.graph(graph_id(graph))?.has_memory() {
        return Err(CudaError::NotSupported.into());
    }
    to.set(handle(graphs.duplicate(graph_id(graph))?.0));
    Ok(())
}

/// `cuGraphNodeFindInClone`.
pub unsafe fn find_in_clone(to: *mut CUgraphNode, node: CUgraphNode, clone: CUgraph) -> Answer {
    // SAFETY: `to` is null or writable, as `cuGraphNodeFindInClone` requires of its caller.
    let to = unsafe { Out::new(to) }?;
    let graphs = graphs();
    let mut nodes = graphs.graph(graph_id(clone))?.nodes.iter();
    let found = nodes.find(|(_, copy)| copy.original == Some(node_id(node)));
    let (found, _) = found.ok_or(CudaError::InvalidValue)?;
    to.set(handle(found.0));
    Ok(())
}

/// `cuGraphDestroyNode`.
pub unsafe fn destroy_node(node: CUgraphNode) -> Answer {
    let calls = graphs().destroy_node(node_id(node))?;
    Ok(objects::call(calls)?)
}

/// The output for a new node's handle, its graph and its dependencies.
struct Place {
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
}

impl Place {
    /// Adds a node with the operation that `op` returns. Calls `op` only after the output pointer is validated.
    ///
    /// # Safety
    /// `to` must be null or writable, and `dependencies` must have `count` elements.
    unsafe fn add(self, work: impl FnOnce() -> Result<Work, CudaError>) -> Answer {
        // SAFETY: `to` is null or writable and the list has `count` elements, by this function's contract.
        let (to, after) = unsafe { (Out::new(self.to)?, list(self.after, self.count)?) };
        graphs().graph(graph_id(self.graph))?;
        let work = work()?;
        let after = after.into_iter().map(node_id).collect();
        let node = graphs().add(graph_id(self.graph), work, after)?;
        to.set(handle(node.0));
        Ok(())
    }
}

/// Generates the functions that add a node of one type, from the expression that creates the node's operation.
macro_rules! adders {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $work:expr;)*) => {$(
        $(#[$doc])*
        pub unsafe fn $name(
            to: *mut CUgraphNode,
            graph: CUgraph,
            after: *const CUgraphNode,
            count: usize,
            $($argument: $type),*
        ) -> Answer {
            let place = Place { to, graph, after, count };
            // SAFETY: `to`, `after` and the node's parameters meet the C function's contract, which the
            // callees share.
            unsafe { place.add(|| $work) }
        }
    )*};
}

adders! {
    /// `cuGraphAddKernelNode`, before CUDA 12.
    add_old_kernel(how: *const CUDA_KERNEL_NODE_PARAMS) reading::old_kernel(how).map(Work::Kernel);
    /// `cuGraphAddKernelNode`.
    add_kernel(how: *const KernelNodeParams) reading::kernel(how).map(Work::Kernel);
    /// `cuGraphAddMemcpyNode`.
    add_memcpy(how: *const CUDA_MEMCPY3D, _context: CUcontext) reading::copy(how);
    /// `cuGraphAddMemsetNode`.
    add_memset(how: *const CUDA_MEMSET_NODE_PARAMS, _context: CUcontext) reading::old_fill(how);
    /// `cuGraphAddHostNode`.
    add_host(how: *const CUDA_HOST_NODE_PARAMS) reading::host(how);
    /// `cuGraphAddEmptyNode`.
    add_empty() Ok(Work::Empty);
    /// `cuGraphAddChildGraphNode`.
    add_child(child: CUgraph) reading::child(child);
    /// `cuGraphAddEventRecordNode`.
    add_event_record(event: CUevent) known_event(event).map(Work::RecordEvent);
    /// `cuGraphAddEventWaitNode`.
    add_event_wait(event: CUevent) known_event(event).map(Work::WaitEvent);
    /// `cuGraphAddMemAllocNode`.
    add_alloc(how: *mut CUDA_MEM_ALLOC_NODE_PARAMS) reading::allocation(how);
    /// `cuGraphAddMemFreeNode`.
    add_free(address: CUdeviceptr) reading::freed(address);
    /// `cuGraphAddNode` before CUDA 13.
    add_any(how: *mut NodeParams) any(how);
}

/// `cuGraphAddNode`, with edge data.
pub unsafe fn add_any_with_edges(
    to: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    edges: *const EdgeData,
    count: usize,
    how: *mut NodeParams,
) -> Answer {
    // SAFETY: `edges` is null or has `count` elements; the other arguments are those of `cuGraphAddNode`,
    // whose caller
    // guarantees the same for both versions.
    unsafe {
        check_edges(edges, count)?;
        add_any(to, graph, after, count, how)
    }
}

/// Node types that the simulator does not support, by `CUgraphNodeType`.
const MISSING: [(c_int, &str); 4] = [
    (8, "nodes that signal external semaphores"),
    (9, "nodes that wait for external semaphores"),
    (12, "nodes of memory operations"),
    (13, "conditional nodes"),
];

/// Creates the operation of a node of any type. For an allocation node, writes its address to the structure.
///
/// # Safety
/// `params` must be null or a valid, writable structure.
pub unsafe fn any(how: *mut NodeParams) -> Result<Work, CudaError> {
    if how.is_null() {
        return Err(CudaError::InvalidValue);
    }
    // SAFETY: `params` is not null, so it is a valid structure, whose `kind` selects the field of the union.
    unsafe {
        let of = &raw mut (*how).of;
        match (*how).kind {
            0 => reading::kernel(&raw const (*of).kernel).map(Work::Kernel),
            1 => reading::any_copy(&raw const (*of).memcpy),
            2 => reading::fill(&*(&raw const (*of).memset).cast::<MemsetNodeParams>()),
            3 => reading::host(&raw const (*of).host),
            4 => reading::child((*of).graph),
            5 => Ok(Work::Empty),
            6 => known_event((*of).event).map(Work::WaitEvent),
            7 => known_event((*of).event).map(Work::RecordEvent),
            10 => reading::allocation(&raw mut (*of).alloc),
            11 => reading::freed((*of).free),
            other => Err(missing(other)),
        }
    }
}

/// Returns the error for a node type that the simulator does not support or that does not exist.
fn missing(kind: c_int) -> CudaError {
    match MISSING.iter().find(|(number, _)| *number == kind) {
        Some((_, name)) => {
            say(format_args!("the simulator does not do {name} in graphs"));
            CudaError::NotSupported
        }
        None => CudaError::InvalidValue,
    }
}

/// Returns the event of a handle, after a check that it exists.
pub fn known_event(event: CUevent) -> Result<cuda_sim::driver::EventId, CudaError> {
    let event = raw::event(event);
    driver()?.event_context(event)?;
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
